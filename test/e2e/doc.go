// Package e2e tests the system as its users meet it: real processes, the HTTP API with real tokens, match functions
// compiled to WebAssembly, and game servers that answer over UDP.
//
// Most scenarios run in both forms of the system: as one process (dev), and with each service as a process of its own
// (services), with a Redis and a NATS server. In another system of many processes (faults), these are also killed,
// frozen and replaced. With -short only dev plays.
//
//	system_test.go     a running system and its processes
//	replica_test.go    one process and its output
//	dev_test.go        the system as one process, and what is true only of that
//	services_test.go   the system as many processes behind a balancer
//	kill_test.go       processes are killed and frozen
//	outage_test.go     Redis or NATS cannot be reached
//	rolling_test.go    all processes are replaced
//	gateway_test.go    the services behind the gateway of deploy, for make gateway
//	image_test.go      the services as the image runs them, for make image
//	project_test.go    a scenario's project: tokens, functions, configs
//	ticket_test.go     a scenario's tickets
//	*_test.go          the scenarios by topic
//
// Scenarios share a system and run in parallel, each in a project of its own. They do not sleep: each waits for what it
// wants to see, as long as a busy machine may need.
package e2e
