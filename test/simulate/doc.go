// Package simulate runs a whole matchmaking system in a world of its own: the real services on the real scripts, in a
// bubble of testing/synctest, with a Redis in memory, a bus and a hosting system in the process. It is made of tests.
//
// Every call of the state, every delivery on the bus, every request of a client and every call of the hosting system
// waits at a gate. The gate lets one go at a time. A seed says which one, and whether it is lost, repeated, delayed or
// carried out without an answer. Ids follow from the seed too. The same seed gives a similar world, and the same one
// when the test is built for replay: otherwise the order of goroutines, of maps and of timers differs.
//
// Timers run by the bubble's time, which stands still while anything works. What a timer starts passes the gate.
//
// The history goes to the checker of the chaos tests. A file for each part:
//
//	gate     one thing at a time, faults
//	link     connections to the state; redis is the state, lua runs its scripts
//	bus      messages; queue has the work queue, events the stream of events, modules the modules of functions
//	box      match functions in the process
//	fleet    the hosting system
//	process  services that are killed and started again
//	world    all of this together
//	replay   the same world again
//	walk     calls of the state at random, on the same Redis; walkstep has each
//	truth    what must be true of all that Redis has, in a world and on a walk
//	clients  what uses it: studio, and package workload; removal deletes a project
package simulate
