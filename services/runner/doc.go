// Package runner runs match functions. A runner hosts some of the projects. For each of them it follows the feed of
// tickets into an index in memory, keeps instances of the match functions in sandboxes, and answers the runs that
// arrive over the bus.
//
// Runners need no coordinator. Each one sends heartbeats with what it hosts, receives the others' heartbeats, and
// computes the same placement from them (placement.go, peers.go). When a project moves, its old hosts serve it until
// the new ones do. A project under load gets more hosts (scaler.go).
//
//	Runner ── hostedProject ── function ── version, one a generation ── slot ── sandbox.Instance
//	            └ feed: index and position
//
// Runs wait at the runner's gate (package gate), which gives them a slot of the runner and a slot of their function in
// fair order. Each slot of a function holds one instance. The slots of a new version take from the same queue, so an
// update does not interrupt service. Runs that wait (backlog.go), instances (instancequota.go) and memory for runs
// (invokers.go) are bounded over all projects.
//
// A runner has no state that could be lost. A run that is requested twice is done twice: the director's claims decide
// which proposals count.
package runner
