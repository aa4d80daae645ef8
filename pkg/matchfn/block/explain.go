package block

import (
	"unicode/utf8"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// kindAsked is the section of a request with the numbers of the tickets that the function is asked about.
const kindAsked = 26

// Limits of explanations. FORMAT.md names them too.
const (
	// MaxAsked bounds the tickets that a request asks about.
	MaxAsked = 1000
	// MaxReasons bounds the explanations of each ticket, and MaxReason the bytes of each.
	MaxReasons = 16
	MaxReason  = 1024
	// MaxCandidates bounds the number of candidates that an explanation can name.
	MaxCandidates = 1<<32 - 2
)

// unknownCandidates says that an explanation names no number of candidates.
const unknownCandidates = 1<<32 - 1

// Explanation is a reason why a ticket is in no match.
type Explanation struct {
	Ticket uint32
	// Reason is text for people.
	Reason string
	// Candidates is how many other tickets could be with it without the reason; negative if unknown.
	Candidates int
}

// explanation is the record of an explanation, as the format defines it.
type explanation struct{ ticket, candidates, start, size uint32 }

// Asked adds the numbers of n tickets that the function is asked about, at most MaxAsked. They must be ascending and
// unique. A request that has a base asks about none.
func (b *RequestBuilder) Asked(n int) []uint32 { return column[uint32](b.column(kindAsked, "", n*4)) }

// Asked adds what Asked of a RequestBuilder adds.
func (s *RequestSize) Asked(n int) {
	if n > 0 {
		s.section("", 4*n)
	}
}

// Explain adds a reason why a ticket that the request asks about is in no match.
func (b *AnswerBuilder) Explain(e Explanation) {
	candidates := uint32(unknownCandidates)
	if e.Candidates >= 0 {
		candidates = uint32(min(e.Candidates, MaxCandidates))
	}
	b.explanations = append(b.explanations,
		explanation{e.Ticket, candidates, uint32(len(b.reasons)), uint32(len(e.Reason))})
	b.reasons = append(b.reasons, e.Reason...)
}

// Explanations returns the answer's explanations, in its order.
func (a *Answer) Explanations() []Explanation {
	var all []Explanation
	for _, e := range a.explanations {
		of := Explanation{
			Ticket: e.ticket, Reason: string(a.reasons[e.start : e.start+e.size]), Candidates: int(e.candidates),
		}
		if e.candidates == unknownCandidates {
			of.Candidates = -1
		}
		all = append(all, of)
	}
	return all
}

// checkExplanations checks the explanations of an answer to a request with this many tickets.
func (a *Answer) checkExplanations(tickets int) error {
	if n := len(a.explanations); n > MaxAsked*MaxReasons {
		return message.Errorf("answer: %d explanations are more than %d", n, MaxAsked*MaxReasons)
	}
	for i, e := range a.explanations {
		end := uint64(e.start) + uint64(e.size)
		switch {
		case uint64(e.ticket) >= uint64(tickets):
			return message.Errorf("answer: explanation %d is about ticket %d of %d", i, e.ticket, tickets)
		case e.size == 0 || e.size > MaxReason || end > uint64(len(a.reasons)) || !utf8.Valid(a.reasons[e.start:end]):
			return message.Errorf("answer: explanation %d is not 1 to %d bytes of UTF-8", i, MaxReason)
		}
	}
	return nil
}
