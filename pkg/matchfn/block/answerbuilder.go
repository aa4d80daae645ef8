package block

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
)

// AnswerBuilder writes answers into memory that it reuses. Its zero value is ready to use. It does not check its
// arguments: the runner does.
type AnswerBuilder struct {
	scores  []float64
	tickets []uint32
	teams   []uint32 // ends, in tickets
	// proposals are ends, in teams; empty if each proposal has one team.
	proposals []uint32
	empty     bool // whether the latest proposal's only team waits for its tickets
	parts     []part
	data      []byte
	out       []byte

	explanations []explanation
	reasons      []byte // the texts of the explanations
	columns      []byte // the JSON of Columns
}

// part is one record of the section of parts, as the format defines it.
type part struct {
	proposal uint32
	field    Field
	subject  uint32
	name     uint32 // length of the name, the first bytes of the part's data
	start    uint32
	size     uint32
}

// Reset discards all proposals.
func (b *AnswerBuilder) Reset() {
	b.scores, b.tickets, b.teams, b.proposals = b.scores[:0], b.tickets[:0], b.teams[:0], b.proposals[:0]
	b.parts, b.data = b.parts[:0], b.data[:0]
	b.explanations, b.reasons, b.columns = b.explanations[:0], b.reasons[:0], nil
}

// Len returns the number of proposals.
func (b *AnswerBuilder) Len() int { return len(b.scores) }

// Propose begins a proposal and returns its number, from 0. Its tickets, if any, are its first team.
func (b *AnswerBuilder) Propose(score float64, tickets ...uint32) int {
	b.tickets = append(b.tickets, tickets...)
	b.teams = append(b.teams, uint32(len(b.tickets)))
	b.scores, b.empty = append(b.scores, score), len(tickets) == 0
	if len(b.proposals) > 0 {
		b.proposals = append(b.proposals, uint32(len(b.teams)))
	}
	return len(b.scores) - 1
}

// Team adds a team to the latest proposal and returns its number within the proposal, from 0. Without a proposal it
// does nothing.
func (b *AnswerBuilder) Team(tickets ...uint32) int {
	latest := len(b.scores) - 1
	if latest < 0 {
		return 0
	}
	b.tickets = append(b.tickets, tickets...)
	if b.empty {
		b.empty, b.teams[len(b.teams)-1] = false, uint32(len(b.tickets))
		return 0
	}
	for i := len(b.proposals); i <= latest; i++ { // each had one team so far
		b.proposals = append(b.proposals, uint32(i+1))
	}
	b.teams = append(b.teams, uint32(len(b.tickets)))
	b.proposals[latest]++
	if latest == 0 {
		return len(b.teams) - 1
	}
	return len(b.teams) - 1 - int(b.proposals[latest-1])
}

// Set adds a part to a proposal. The last of several values counts.
func (b *AnswerBuilder) Set(proposal int, field Field, subject uint32, name string, value []byte) {
	start := len(b.data)
	b.data = append(append(b.data, name...), value...)
	b.parts = append(b.parts, part{
		proposal: uint32(proposal),
		field:    field,
		subject:  subject,
		name:     uint32(len(name)),
		start:    uint32(start),
		size:     uint32(len(b.data) - start),
	})
}

// SetNumber is Set for a float64.
func (b *AnswerBuilder) SetNumber(proposal int, field Field, subject uint32, name string, value float64) {
	var bits [8]byte
	le.PutUint64(bits[:], math.Float64bits(value))
	b.Set(proposal, field, subject, name, bits[:])
}

// Fail returns the answer of a failed run: no proposals, and the reason. The reason is cut to MaxError bytes and made
// valid UTF-8. The answer is valid until the next call of Fail or Finish.
func (b *AnswerBuilder) Fail(text string) []byte {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > MaxError {
		text = strings.ToValidUTF8(text[:MaxError], "")
	}
	if text == "" {
		text = "failed without saying why"
	}
	return b.layout([kindCount][]byte{kindError: []byte(text)})
}

// Finish returns the answer. It is valid until the next call of Fail or Finish.
func (b *AnswerBuilder) Finish() []byte {
	b.sortParts()
	sections := [kindCount][]byte{
		kindTeams: bytesOf(b.teams), kindProposals: bytesOf(b.proposals), kindTickets: bytesOf(b.tickets),
		kindScores: bytesOf(b.scores), kindParts: bytesOf(b.parts), kindData: b.data,
		kindExplanations: bytesOf(b.explanations), kindReasons: b.reasons, kindColumns: b.columns,
	}
	return b.layout(sections)
}

// sortParts sorts the parts as the format requires, and keeps the last of the parts with the same proposal, field,
// subject and name.
//
// The parts of a proposal are usually added together. So each proposal has a few adjacent parts to sort, which is much
// faster in WebAssembly than sorting all of them.
func (b *AnswerBuilder) sortParts() {
	byProposal := func(p, q part) int { return cmp.Compare(p.proposal, q.proposal) }
	if !slices.IsSortedFunc(b.parts, byProposal) {
		slices.SortStableFunc(b.parts, byProposal)
	}
	order := func(p, q part) int {
		switch {
		case p.field != q.field:
			return cmp.Compare(p.field, q.field)
		case p.subject != q.subject:
			return cmp.Compare(p.subject, q.subject)
		}
		return bytes.Compare(b.data[p.start:p.start+p.name], b.data[q.start:q.start+q.name])
	}
	kept := b.parts[:0]
	for rest := b.parts; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].proposal == rest[0].proposal {
			n++
		}
		parts := rest[:n]
		slices.SortStableFunc(parts, order)
		for i, p := range parts {
			if i+1 < n && order(p, parts[i+1]) == 0 {
				continue // set again
			}
			kept = append(kept, p)
		}
		rest = rest[n:]
	}
	b.parts = kept
}

// layout writes an answer of these sections, by kind. It leaves out the ones of size 0.
func (b *AnswerBuilder) layout(sections [kindCount][]byte) []byte {
	table, count := headerSize, 0
	for _, section := range sections {
		table += align8(len(section))
		count += min(len(section), 1)
	}
	total := table + count*entrySize
	if cap(b.out) < total {
		b.out = aligned(max(total, 2*cap(b.out)))
	}
	b.out = b.out[:total]
	start, entry := headerSize, b.out[table:]
	for kind, section := range sections {
		if size := len(section); size > 0 {
			putEntry(entry, uint32(kind), 0, 0, start, size)
			clear(b.out[start+copy(b.out[start:], section) : start+align8(size)])
			start, entry = start+align8(size), entry[entrySize:]
		}
	}
	putHeader(b.out, answerMagic, table, count)
	return b.out
}
