package matchfn

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/block"
)

// Asked returns the numbers of the tickets for which the caller asks why they are in no match, ascending; usually
// none. A function need not look at it. One that does calls [Run.Explain] for the tickets that it proposes in no match.
func (r *Run) Asked() []uint32 { return r.in.Asked }

// Explain says why a ticket of [Run.Asked] is in no match: a reason for people, such as the name of a rule, and how
// many other tickets could be with it if it were not for that; a negative number if that is unknown. A reason may have
// 1,024 bytes, a ticket 16 reasons. What is more is left out, and so are other tickets.
func (r *Run) Explain(ticket uint32, reason string, candidates int) {
	if _, asked := slices.BinarySearch(r.in.Asked, ticket); !asked || reason == "" {
		return
	}
	if r.explained == nil {
		r.explained = map[uint32]int{}
	}
	if r.explained[ticket]++; r.explained[ticket] > block.MaxReasons {
		return
	}
	r.out.Explain(block.Explanation{Ticket: ticket, Reason: cut(reason, block.MaxReason), Candidates: candidates})
}

// cut cuts a text to so many bytes, between two characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xC0 == 0x80 {
		most--
	}
	return text[:most]
}
