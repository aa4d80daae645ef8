// Package canary says which runs of a function get its canary, an upload that runs for a part of them, and compares the
// matches and runs of it with those of the other one. It has no I/O, and decides nothing.
package canary
