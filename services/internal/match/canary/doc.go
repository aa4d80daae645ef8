// Package canary decides which runs of a function get its canary, an upload that runs for a part of them, and compares
// its matches and runs with the other upload's. It has no I/O.
package canary
