package block

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
)

// AnswerBuilder writes answers, one after another, into memory that it keeps.
// The zero value is ready. It does not check what it is told: the runner does.
type AnswerBuilder struct {
	// pairs are the latest proposals, behind those that the columns have. They become columns when a proposal comes
	// that is none, or at the end: most games are of two, and in WebAssembly what is done for each of them counts.
	pairs []pair

	teams []uint32 // where each team's tickets end
	// proposals is where each proposal's teams end; kept only when uneven, for mostly each has one.
	proposals []uint32
	uneven    bool
	tickets   []uint32
	scores    []float64
	parts     []part
	data      []byte
	out       []byte
}

// pair is a proposal of one team of two tickets, the second in the upper half.
type pair struct {
	score   float64
	tickets uint64
}

// part is one record of the section of parts, laid out as in the format.
type part struct {
	proposal uint32
	field    Field
	subject  uint32
	name     uint32 // length of the name, the first bytes of the part's data
	start    uint32
	size     uint32
}

// Reset forgets everything that was proposed.
func (b *AnswerBuilder) Reset() {
	b.pairs = b.pairs[:0]
	b.teams, b.proposals, b.uneven, b.tickets = b.teams[:0], b.proposals[:0], false, b.tickets[:0]
	b.scores, b.parts, b.data = b.scores[:0], b.parts[:0], b.data[:0]
}

// Len returns the number of proposals.
func (b *AnswerBuilder) Len() int { return len(b.scores) + len(b.pairs) }

// Propose begins a proposal and returns its number, from 0. Its tickets, if any, are its first team.
func (b *AnswerBuilder) Propose(score float64, tickets ...uint32) int {
	n := len(b.pairs)
	if len(tickets) != 2 || n == cap(b.pairs) {
		return b.propose(score, tickets)
	}
	b.pairs = b.pairs[:n+1]
	b.pairs[n] = pair{score, uint64(tickets[0]) | uint64(tickets[1])<<32}
	return len(b.scores) + n
}

// propose is Propose for what is no pair, and where there is no room for one.
func (b *AnswerBuilder) propose(score float64, tickets []uint32) int {
	if len(tickets) == 2 {
		b.pairs = append(b.pairs, pair{score, uint64(tickets[0]) | uint64(tickets[1])<<32})
		return b.Len() - 1
	}
	b.settle()
	n := len(b.scores)
	if b.uneven || len(b.teams) < n {
		b.keepEnds()
		b.proposals = append(b.proposals, uint32(len(b.teams)))
	}
	b.scores = append(b.scores, score)
	if len(tickets) > 0 {
		b.tickets = append(b.tickets, tickets...)
		b.endTeam()
	}
	return n
}

// settle moves the pairs into the columns.
func (b *AnswerBuilder) settle() {
	n := len(b.pairs)
	if n == 0 {
		return
	}
	if len(b.teams) < len(b.scores) {
		b.keepEnds() // the one before the pairs has no team
	}
	teams, tickets, scores := len(b.teams), len(b.tickets), len(b.scores)
	b.teams, b.tickets, b.scores = longer(b.teams, n), longer(b.tickets, 2*n), longer(b.scores, n)
	unzip(b.pairs, b.teams[teams:], b.tickets[tickets:], b.scores[scores:], uint32(tickets))
	b.pairs = b.pairs[:0]
	for i := range n {
		if !b.uneven {
			break
		}
		b.proposals = append(b.proposals, uint32(teams+i+1))
	}
}

// longer returns a slice with n more elements, of no particular contents.
func longer[S ~[]T, T any](s S, n int) S { return slices.Grow(s, n)[:len(s)+n] }

// unzip makes columns of pairs; start is how many tickets there are before them.
func unzip(pairs []pair, ends, tickets []uint32, scores []float64, start uint32) {
	for len(pairs) >= 4 && len(ends) >= 4 && len(tickets) >= 8 && len(scores) >= 4 {
		p, e, t, s := (*[4]pair)(pairs), (*[4]uint32)(ends), (*[8]uint32)(tickets), (*[4]float64)(scores)
		e[0], e[1], e[2], e[3] = start+2, start+4, start+6, start+8
		t[0], t[1], t[2], t[3] = uint32(p[0].tickets), uint32(p[0].tickets>>32), uint32(p[1].tickets), uint32(p[1].tickets>>32)
		t[4], t[5], t[6], t[7] = uint32(p[2].tickets), uint32(p[2].tickets>>32), uint32(p[3].tickets), uint32(p[3].tickets>>32)
		s[0], s[1], s[2], s[3] = p[0].score, p[1].score, p[2].score, p[3].score
		start += 8
		pairs, ends, tickets, scores = pairs[4:], ends[4:], tickets[8:], scores[4:]
	}
	for i, p := range pairs {
		start += 2
		ends[i], tickets[2*i], tickets[2*i+1], scores[i] = start, uint32(p.tickets), uint32(p.tickets>>32), p.score
	}
}

// Team adds a team to the proposal begun last and returns its number within
// the proposal, from 0. Without a proposal it does nothing.
func (b *AnswerBuilder) Team(tickets ...uint32) int {
	b.settle()
	last := len(b.scores) - 1
	if last < 0 {
		return 0
	}
	if len(b.teams) > last {
		b.keepEnds()
	}
	b.tickets = append(b.tickets, tickets...)
	b.endTeam()
	if !b.uneven {
		return 0
	}
	first := uint32(0)
	if last > 0 {
		first = b.proposals[last-1]
	}
	return len(b.teams) - int(first) - 1
}

// endTeam ends a team of the proposal begun last.
func (b *AnswerBuilder) endTeam() {
	b.teams = append(b.teams, uint32(len(b.tickets)))
	if b.uneven {
		b.proposals[len(b.proposals)-1] = uint32(len(b.teams))
	}
}

// keepEnds writes down where the teams of each proposal so far end: they are not, or not to remain, one for each.
func (b *AnswerBuilder) keepEnds() {
	if b.uneven {
		return
	}
	b.uneven = true
	for i := range b.scores {
		b.proposals = append(b.proposals, uint32(min(i+1, len(b.teams))))
	}
}

// Set adds a part to any proposal so far. Said twice, the later value holds.
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

// SetNumber is Set with the eight bytes of a float64.
func (b *AnswerBuilder) SetNumber(proposal int, field Field, subject uint32, name string, value float64) {
	var bits [8]byte
	le.PutUint64(bits[:], math.Float64bits(value))
	b.Set(proposal, field, subject, name, bits[:])
}

// Fail returns the answer of a run that failed: no proposals, and why. The text
// is cut to MaxError bytes and made valid UTF-8. It is valid until the next
// call of Fail or Finish.
func (b *AnswerBuilder) Fail(text string) []byte {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > MaxError {
		text = strings.ToValidUTF8(text[:MaxError], "")
	}
	if text == "" {
		text = "failed without saying why"
	}
	return b.write([]output{{kindError, []byte(text)}})
}

// Finish returns the answer. It is valid until the next call of Fail or Finish.
func (b *AnswerBuilder) Finish() []byte {
	b.sortParts()
	b.settle()
	sections := make([]output, 0, 6)
	if len(b.scores) > 0 {
		if len(b.teams) < len(b.scores) {
			b.keepEnds()
		}
		sections = append(sections, output{kindTeams, bytesOf(b.teams)})
		if b.uneven {
			sections = append(sections, output{kindProposals, bytesOf(b.proposals)})
		}
		sections = append(sections, output{kindTickets, bytesOf(b.tickets)})
		if slices.ContainsFunc(b.scores, func(s float64) bool { return s != 0 }) {
			sections = append(sections, output{kindScores, bytesOf(b.scores)})
		}
	}
	if len(b.parts) > 0 {
		sections = append(sections, output{kindParts, bytesOf(b.parts)}, output{kindData, b.data})
	}
	return b.write(sections)
}

// sortParts brings the parts into the order of the format and keeps the last
// of those that say the same thing.
//
// What is said of one proposal is mostly said at once: so each has few parts, which lie together, to sort. Sorting all of
// them would take longer in WebAssembly than all else.
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
		one := rest[:n]
		slices.SortStableFunc(one, order)
		for i, p := range one {
			if i+1 < n && order(p, one[i+1]) == 0 {
				continue // said again
			}
			kept = append(kept, p)
		}
		rest = rest[n:]
	}
	b.parts = kept
}

type output struct {
	kind uint32
	data []byte
}

func (b *AnswerBuilder) write(sections []output) []byte {
	table := headerSize
	for _, s := range sections {
		table += align8(len(s.data))
	}
	size := table + len(sections)*entrySize
	if cap(b.out) < size {
		b.out = aligned(max(size, 2*cap(b.out)))
	}
	b.out = b.out[:size]
	start := headerSize
	for i, s := range sections {
		putEntry(b.out[table+i*entrySize:], s.kind, 0, 0, start, len(s.data))
		end := start + copy(b.out[start:], s.data)
		start += align8(len(s.data))
		clear(b.out[end:start])
	}
	putHeader(b.out, answerMagic, table, len(sections))
	return b.out
}
