// Package e2e tests the system as its users meet it: real processes, the HTTP
// API with real tokens, match functions compiled to WebAssembly, and game
// servers that answer over UDP.
//
// The scenarios are written once and hold in both forms of the system: dev, one
// process, and every service as its own process beside a Redis and a NATS
// server. The storms, in which processes are killed, follow them.
//
//	system_test.go     a running system: its processes, who may do what to them
//	dev_test.go        the system as one process, and what is true of that alone
//	outage_test.go     what becomes of it while Redis or NATS cannot be reached
//	services_test.go   the system as many processes behind a balancer, and their storms
//	rolling_test.go    all of those are replaced while players come
//	gateway_test.go    the same system behind the gateway that is in deploy, for make gateway
//	project_test.go    one scenario's part of it: tokens, tickets, functions, configs
//	*_test.go          the scenarios, by what they are about
//
// Scenarios share a system and run side by side, each in a project of its own.
// None of them sleeps: each waits for what it wants to see, for as long as a
// loaded machine may need.
package e2e
