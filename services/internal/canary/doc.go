// Package canary says which runs of a function get its canary, an upload that runs for a part of them, and whether the
// matches and runs of it are worse than those of the other one. It has no I/O.
//
// A canary of configs or queues is compared with what the other upload did for the same configs or queues before, less
// what became of the others meanwhile. A canary of blocks of time is compared with the other blocks.
//
// Everything is tested in one direction: is the canary worse? Tests are repeated, and there are several of them. All
// together they take a canary that is like the other upload for a worse one with a probability of Alpha at most.
package canary
