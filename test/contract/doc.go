// Package contract tests the API that users were promised. Each requirement is a test of its own with a short name.
//
// The tests know only a base URL, tokens and a project, so they run against any installation. They also check each
// answer against the OpenAPI document.
//
//	run.go       runs the requirements
//	trial.go     runs one requirement: its failures and what it waits for
//	call.go      requests and answers
//	check.go     checks answers against the OpenAPI document
//	report.go    prints a table of the outcomes
//	target.go    where the tests run, and the callers with their tokens
//	studio.go    configs, tickets and functions for the requirements
//	*_area.go    the requirements by area
//
// Requirements share the project. Those about matchmaking are separated by lanes: a lane is a number that their tickets
// have as an attribute and their configs select. None of them sleeps.
package contract
