// Package runner runs match functions. A runner hosts a few of the projects: it
// follows their feeds into an index in memory, keeps instances of their
// functions in sandboxes, and answers runs, which come to it over the bus.
//
// Runners need no coordinator. Each says twice a second what it hosts, hears the
// others, and computes the same placement from that (see placed). A project that
// moves is served by its old hosts until new ones serve it, and one that has too
// much to do is hosted by more runners (see demand).
//
//	Runner ── host, one a project ── function ── version, one a generation ── seat ── sandbox.Instance
//	            └ feed: index and position
//
// Three parties meet in a function: runs, which wait for a seat; seats, each
// with an instance, which take runs; and the host, which says which version is wanted.
// A new version's seats take from the same queue, so an update is no pause.
//
// A runner keeps no state that could be lost. What it is asked for twice it
// does twice; the director's claims decide what counts.
package runner
