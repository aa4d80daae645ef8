package pool

import (
	"iter"
	"maps"
)

// trace notes the span of a ticket that is sampled.
func (ix *Index) trace(t *ticket, span string) {
	if ix.traced == nil {
		ix.traced = map[*ticket]string{}
	}
	ix.traced[t] = span
}

// selectTraced notes the spans of the selected tickets that are sampled.
func (v View) selectTraced(s *Selection) {
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

// Trace is the span of ticket i, and whether it is sampled.
func (s *Selection) Trace(i uint32) (string, bool) {
	trace, ok := s.traced[i]
	return trace, ok
}

// Traces are the spans of the tickets that are sampled, by number.
func (s *Selection) Traces() iter.Seq2[uint32, string] { return maps.All(s.traced) }
