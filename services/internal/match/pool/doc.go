// Package pool is the in-memory index of a project's waiting tickets, and the pools that select from it.
//
// The index is columnar. Every ticket has a slot, and every attribute a column with one 64-bit key per slot. A filter
// is a branch-free scan of its column into a bitmap, and a pool is the AND of its filters' bitmaps. Keys are floats in
// a form that sorts as an unsigned integer (see key): an interval costs one subtraction and one comparison, and zeroed
// memory means "absent".
//
// Slots are used in the order of arrival, and are not reused: a dropped ticket leaves a hole. When holes outnumber
// tickets the columns are compacted. Unlike a free list, this keeps the slots close to the order of creation, in which
// every selection is sorted, and frees memory after a crowd has left.
//
// Memory is at most proportional to the attribute values that the tickets have, whatever the attributes' names: a
// column that few tickets use lists its slots (12 bytes a value) instead of covering all of them (8 bytes a slot), and
// a column that no ticket uses is removed.
//
// An index has a bounded number of columns, because players may invent names. The values of further names stay with
// their tickets (see rest.go). Names that runs ask for are pinned (see Index.Use): they have a column, which takes the
// place of the least used one that is not pinned. Selections find values with and without a column alike; only the time
// differs.
package pool
