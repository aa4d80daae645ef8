// Package contract is the interface that users were promised, as a suite: every
// requirement of it is a test of its own, with a short name.
//
// The suite knows a base URL, tokens and a project, and nothing else: it runs against any installation.
// Each answer that it sees must also be as the OpenAPI document describes it.
//
//	run.go       runs the requirements, and prints a table of what became of each
//	trial.go     one requirement on trial: requests, failures, what can be waited for
//	check.go     holds answers against the OpenAPI document
//	target.go    where it runs, and in whose name
//	studio.go    what requirements do over and over: configs, tickets, functions
//	*_area.go    the requirements, by area
//
// Requirements share the project. Those about matchmaking keep apart by lane: a number that their tickets have
// as an attribute and their configs ask for. None of them sleeps.
package contract
