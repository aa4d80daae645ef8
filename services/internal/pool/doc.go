// Package pool is the in-memory index of a project's waiting tickets, and the
// pools that select from it.
//
// The index is columnar. Every ticket has a slot, every attribute a column
// with one 64-bit key per slot; a filter is a branch-free scan of its column into
// a bitmap, a pool the AND of its filters' bitmaps. Keys are floats in a form
// that sorts as an unsigned integer (see key), so that an interval costs one
// subtraction and one comparison, and that zeroed memory means "absent".
//
// Slots are given out in the order of arrival and are not reused: a dropped
// ticket leaves a hole, and when holes outnumber tickets the columns are
// compacted. Against a free list this keeps the slots close to the order of
// creation, which every selection is brought into, and gives memory back after
// a crowd has left.
//
// Memory is at most proportional to the attribute values that the tickets have,
// whatever their names: a column that few tickets use lists its slots
// (12 bytes a value) instead of covering all of them (8 bytes a slot), and a
// column that no ticket uses is removed.
package pool
