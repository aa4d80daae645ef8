// Package embedded brings along the servers that `matchmaker dev` and the tests need: a NATS server in this process,
// and a Redis server as its child.
//
// Both listen on the loopback interface without a password and keep their data in a folder of their own. A folder
// serves one process at a time: starting on a folder in use is a *problem.Error of kind Conflict that names it. What a
// crashed process left behind does not hinder its successor.
package embedded
