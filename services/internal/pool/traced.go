package pool

import (
	"iter"
	"maps"
)

// mark notes that a ticket is sampled.
func (ix *Index) mark(t *ticket, trace string) {
	if ix.traced == nil {
		ix.traced = map[*ticket]string{}
	}
	ix.traced[t] = trace
}

// marked notes the tickets of the union that are sampled, by their numbers.
func (v View) marked(s *Selection) {
	clear(s.traced)
	if len(v.ix.traced) == 0 {
		return
	}
	if s.traced == nil {
		s.traced = map[uint32]string{}
	}
	for t, trace := range v.ix.traced {
		if s.union.has(t.slot) {
			s.traced[s.numbers[t.slot]] = trace
		}
	}
}

// Traced is how many tickets are sampled.
func (s *Selection) Traced() int { return len(s.traced) }

// Trace is the mark of ticket i, and whether it is sampled.
func (s *Selection) Trace(i uint32) (string, bool) {
	trace, ok := s.traced[i]
	return trace, ok
}

// Traces are the marks of those that are sampled, by their numbers.
func (s *Selection) Traces() iter.Seq2[uint32, string] { return maps.All(s.traced) }
