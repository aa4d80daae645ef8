// Package snapshot keeps the indexes of a runner over its restart, in a folder that only the runner may read.
//
// A file is encrypted with a secret of its own, which is not on the disk: without it the file says nothing of players.
// A file is read once, and is gone before it is read.
//
// It has, in this order:
//
//   - the eight bytes of magic, whose last one is the format's version
//   - the length of the header in four bytes, and the header: JSON
//   - chunks: the length of each in four bytes, whose highest bit marks the last chunk, and AES-256-GCM of up to
//     chunkSize bytes. The nonce is the chunk's number, and whether it is the last. The digest of all that precedes the
//     first chunk is authenticated with each.
//
// So a file that was torn, changed or put together from others is noticed, as late as it is read.
package snapshot
