//go:build !wasip1

package block

import (
	"math"
	"unicode/utf8"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// restAfter is how many bytes of parts are checked without a rest. They take about half a millisecond.
const restAfter = 64 << 10

// AnswerReader checks answers. It reuses the memory that this takes. Its zero value is ready to use.
type AnswerReader struct {
	// Rest is called after each half of a millisecond, about, in which parts of an answer are checked; may be nil.
	Rest func()

	// seen[t] is base plus the number of the latest proposal with ticket t. So it need not be cleared between answers.
	seen []uint32
	base uint32
}

// ParseAnswer checks a single answer; see [AnswerReader.Read].
func ParseAnswer(block []byte, tickets, backfills int) (*Answer, error) {
	return new(AnswerReader).Read(block, tickets, backfills)
}

// Read checks a whole answer to a request with this many tickets and backfill tickets, and returns a view of it. Errors
// are for the function's author. Read does not panic on any bytes, and its time is linear in the length of the block
// and the number of tickets.
func (r *AnswerReader) Read(block []byte, tickets, backfills int) (*Answer, error) {
	if limit := MaxAnswer(tickets, backfills); len(block) > limit {
		return nil, message.Errorf("answer: %d bytes are more than the %d that are allowed", len(block), limit)
	}
	var table [MaxSections]section
	block = realign(block)
	if len(block) >= headerSize && le.Uint32(block[16:]) > MaxSections {
		return nil, message.Errorf("answer: %d sections are more than %d", le.Uint32(block[16:]), MaxSections)
	}
	sections, err := parseTable(block, answerMagic, table[:0])
	if err != nil {
		return nil, err
	}
	a, err := readSections(sections)
	if err != nil || a.Failure != "" {
		return a, err
	}
	if err := a.checkColumns(); err != nil {
		return nil, err
	}
	if err := a.checkExplanations(tickets); err != nil {
		return nil, err
	}
	if err := r.checkProposals(a, tickets, backfills); err != nil {
		return nil, err
	}
	return a, nil
}

// readSections views the sections as columns.
func readSections(sections []section) (*Answer, error) {
	a := &Answer{}
	found := uint32(0)
	for _, s := range sections {
		if s.kind == 0 || s.kind >= kindCount {
			continue // of a later version of the format
		}
		if found&(1<<s.kind) != 0 {
			return nil, message.Errorf("answer: section %d is there twice", s.kind)
		}
		found |= 1 << s.kind
		size := 1
		switch s.kind {
		case kindTeams:
			size, a.teams = 4, column[uint32](s.data)
		case kindProposals:
			size, a.proposals = 4, column[uint32](s.data)
		case kindTickets:
			size, a.tickets = 4, column[uint32](s.data)
		case kindScores:
			size, a.scores = 8, column[float64](s.data)
		case kindParts:
			size, a.parts = partSize, column[part](s.data)
		case kindData:
			a.data = s.data
		case kindExplanations:
			size, a.explanations = explanationSize, column[explanation](s.data)
		case kindReasons:
			a.reasons = s.data
		case kindColumns:
			a.columns = s.data
		case kindError:
			if len(s.data) == 0 || len(s.data) > MaxError || !utf8.Valid(s.data) {
				return nil, message.Errorf("answer: the error is not 1 to %d bytes of UTF-8", MaxError)
			}
			a.Failure = string(s.data)
		}
		if len(s.data)%size != 0 {
			return nil, message.Errorf("answer: section %d has %d bytes, not a multiple of %d", s.kind, len(s.data), size)
		}
	}
	if a.Failure != "" {
		return &Answer{Failure: a.Failure}, nil
	}
	return a, nil
}

// checkColumns checks that the lengths of the columns match.
func (a *Answer) checkColumns() error {
	if err := checkEnds("teams", a.teams, len(a.tickets)); err != nil {
		return err
	}
	if a.proposals != nil {
		if err := checkEnds("proposals", a.proposals, len(a.teams)); err != nil {
			return err
		}
	}
	if a.scores != nil && len(a.scores) != a.Len() {
		return message.Errorf("answer: %d scores for %d proposals", len(a.scores), a.Len())
	}
	for p, score := range a.scores {
		if score-score != 0 { // NaN, or infinite
			return message.Errorf("answer: the score of proposal %d is %v", p, score)
		}
	}
	return nil
}

// checkEnds checks that ends divide n elements completely.
func checkEnds(what string, ends []uint32, n int) error {
	before := uint32(0)
	for i, end := range ends {
		if end < before {
			return message.Errorf("answer: %s: end %d is %d, after %d", what, i, end, before)
		}
		before = end
	}
	if uint64(before) != uint64(n) {
		return message.Errorf("answer: %s: the last end is %d of %d", what, before, n)
	}
	return nil
}

// checkProposals checks the tickets and the parts of every proposal.
func (r *AnswerReader) checkProposals(a *Answer, tickets, backfills int) error {
	n := a.Len()
	if uint64(len(r.seen)) < uint64(tickets) || uint64(r.base)+uint64(n) >= math.MaxUint32 {
		r.seen, r.base = make([]uint32, max(tickets, len(r.seen))), 0
	}
	seen := r.seen[:tickets]
	base := r.base
	r.base += uint32(n)
	budget := uint64(len(a.data))
	left, unrested := a.parts, uint32(0)
	next := uint32(0) // where the next proposal's tickets begin
	for p := range n {
		mark := base + uint32(p) + 1
		begin := next
		if next = a.end(p); next-begin == 2 && (len(left) == 0 || left[0].proposal != uint32(p)) {
			// The usual pair needs no access to seen, which would miss the processor's cache.
			if x, y := a.tickets[begin], a.tickets[begin+1]; uint64(max(x, y)) < uint64(tickets) && x != y {
				continue
			}
		}
		if err := checkTickets(p, a.tickets[begin:next], seen, mark); err != nil {
			return err
		}
		if len(left) == 0 {
			continue
		}
		c := partChecker{a: a, proposal: p, backfills: backfills, seen: seen, mark: mark, budget: &budget}
		for len(left) > 0 && left[0].proposal == uint32(p) {
			if err := c.check(left[0]); err != nil {
				return message.Errorf("answer: proposal %d: %s: %s", p, left[0].field.String(), err)
			}
			unrested += partSize + left[0].size
			left = left[1:]
			if unrested >= restAfter && r.Rest != nil {
				r.Rest()
				unrested = 0
			}
		}
	}
	if len(left) > 0 {
		return message.Errorf("answer: a part names proposal %d, out of order or of range", left[0].proposal)
	}
	return nil
}

// checkTickets checks the tickets of proposal p and sets seen to mark for each.
func checkTickets(p int, tickets, seen []uint32, mark uint32) error {
	if len(tickets) == 0 {
		return message.Errorf("answer: proposal %d has no tickets", p)
	}
	for _, t := range tickets {
		if uint64(t) >= uint64(len(seen)) {
			return message.Errorf("answer: proposal %d has ticket %d of %d", p, t, len(seen))
		}
		// mistake double: continue
		if seen[t] == mark {
			return message.Errorf("answer: proposal %d has ticket %d twice", p, t)
		}
		seen[t] = mark
	}
	return nil
}
