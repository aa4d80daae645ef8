package state

// replyBytes is the most bytes of entries that Redis is asked for in a round trip: it serves no other client while it
// writes a reply. With its framing a reply has 2 MiB at most. Entries that carry more than usual may exceed it once,
// until pace knows of them.
const replyBytes = 2<<20 - 200<<10

// Entries per read. That many of the largest entries fit into replyBytes, and a reader asks for more when entries are
// smaller.
const (
	firstEntries = 12
	mostEntries  = 1000
)

// pace is how many entries are asked for at once. Redis limits replies in entries, not in bytes.
type pace struct {
	count   int
	largest int // bytes of an entry; what was read long ago counts less
}

// next is how many entries to ask for. The first is read alone, since nothing is known of its size.
func (p *pace) next() int { return max(p.count, 1) }

// learn notes the size of a reply. It reports whether there may be more entries.
func (p *pace) learn(entries, largest int) (more bool) {
	more = entries >= p.next()
	p.largest = max(largest, p.largest-p.largest/16)
	// Twice as many as before: a reader that is up to date does not ask for a thousand.
	p.count = min(max(2*entries, firstEntries), mostEntries, max(replyBytes/max(p.largest, 1), 1))
	return more
}
