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
	proposals []proposal
	tickets   []uint32 // of proposals other than pairs
	nonPairs  int      // number of those proposals
	teams     []team   // added by Team
	teamOnly  int      // number of proposals whose teams were all added by Team
	parts     []part
	data      []byte
	out       []byte

	explanations []explanation
	reasons      []byte // the texts of the explanations
	columns      []byte // the JSON of Columns
}

// proposal is a proposal before Finish. Most games are for two tickets, and time for each of them counts in
// WebAssembly: so both tickets are stored with the score.
type proposal struct {
	score float64
	// first and second are the tickets of a pair. For any other proposal, first is the place of its first ticket in
	// tickets, and second is noPair.
	first, second uint32
}

// noPair is not a ticket number: that would need 2³² tickets.
const noPair = math.MaxUint32

// team is a team that Team added, with the place of its first ticket in tickets.
type team struct{ proposal, start uint32 }

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
	b.proposals, b.tickets, b.nonPairs, b.teams, b.teamOnly = b.proposals[:0], b.tickets[:0], 0, b.teams[:0], 0
	b.parts, b.data = b.parts[:0], b.data[:0]
	b.explanations, b.reasons, b.columns = b.explanations[:0], b.reasons[:0], nil
}

// Len returns the number of proposals.
func (b *AnswerBuilder) Len() int { return len(b.proposals) }

// Propose begins a proposal and returns its number, from 0. Its tickets, if any, are its first team.
//
// It is small enough to be inlined: in WebAssembly the call would take longer than the work.
func (b *AnswerBuilder) Propose(score float64, tickets ...uint32) int {
	p := proposal{score, uint32(len(b.tickets)), noPair}
	if len(tickets) == 2 {
		p.first, p.second = tickets[0], tickets[1]
	}
	if p.second == noPair {
		b.tickets = append(b.tickets, tickets...)
		b.nonPairs++
	}
	b.proposals = append(b.proposals, p)
	return len(b.proposals) - 1
}

// Team adds a team to the latest proposal and returns its number within the proposal, from 0. Without a proposal it
// does nothing.
func (b *AnswerBuilder) Team(tickets ...uint32) int {
	latest := len(b.proposals) - 1
	if latest < 0 {
		return 0
	}
	p := &b.proposals[latest]
	if x, y := p.first, p.second; y != noPair { // no longer a pair
		p.first, p.second = uint32(len(b.tickets)), noPair
		b.tickets = append(b.tickets, x, y)
		b.nonPairs++
	}
	first := uint32(len(b.tickets)) // the begin of the first team that Team added
	number := 0
	for ; number < len(b.teams) && b.teams[len(b.teams)-1-number].proposal == uint32(latest); number++ {
		first = b.teams[len(b.teams)-1-number].start
	}
	if p.first < first {
		number++ // the first team was added by Propose
	} else if number == 0 {
		b.teamOnly++
	}
	b.teams = append(b.teams, team{uint32(latest), uint32(len(b.tickets))})
	b.tickets = append(b.tickets, tickets...)
	return number
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
	copy(b.layout([kindCount]int{kindError: len(text)})[kindError], text)
	return b.out
}

// Finish returns the answer. It is valid until the next call of Fail or Finish.
func (b *AnswerBuilder) Finish() []byte {
	b.sortParts()
	n := len(b.proposals)
	size := [kindCount]int{
		kindTeams:   4 * (n + len(b.teams) - b.teamOnly),
		kindTickets: 4 * (2*(n-b.nonPairs) + len(b.tickets)),
		kindScores:  8 * n, kindParts: partSize * len(b.parts), kindData: len(b.data),
		kindExplanations: explanationSize * len(b.explanations), kindReasons: len(b.reasons),
		kindColumns: len(b.columns),
	}
	if len(b.teams) > b.teamOnly {
		size[kindProposals] = 4 * n
	}
	areas := b.layout(size)
	teams, tickets := column[uint32](areas[kindTeams]), column[uint32](areas[kindTickets])
	scores := column[float64](areas[kindScores])
	if b.nonPairs == 0 {
		writePairs(b.proposals, teams, tickets, scores)
	} else {
		b.writeProposals(teams, column[uint32](areas[kindProposals]), tickets)
		for i, p := range b.proposals {
			scores[i] = p.score
		}
	}
	copy(areas[kindParts], bytesOf(b.parts))
	copy(areas[kindData], b.data)
	copy(areas[kindExplanations], bytesOf(b.explanations))
	copy(areas[kindReasons], b.reasons)
	copy(areas[kindColumns], b.columns)
	return b.out
}

// writePairs writes the columns of proposals that are all pairs.
func writePairs(pairs []proposal, ends, tickets []uint32, scores []float64) {
	end := uint32(0)
	for len(pairs) >= 4 && len(ends) >= 4 && len(tickets) >= 8 && len(scores) >= 4 {
		p, e, t, s := (*[4]proposal)(pairs), (*[4]uint32)(ends), (*[8]uint32)(tickets), (*[4]float64)(scores)
		e[0], e[1], e[2], e[3] = end+2, end+4, end+6, end+8
		t[0], t[1], t[2], t[3] = p[0].first, p[0].second, p[1].first, p[1].second
		t[4], t[5], t[6], t[7] = p[2].first, p[2].second, p[3].first, p[3].second
		s[0], s[1], s[2], s[3] = p[0].score, p[1].score, p[2].score, p[3].score
		end += 8
		pairs, ends, tickets, scores = pairs[4:], ends[4:], tickets[8:], scores[4:]
	}
	for i, p := range pairs {
		end += 2
		ends[i], tickets[2*i], tickets[2*i+1], scores[i] = end, p.first, p.second, p.score
	}
}

// writeProposals writes the columns of any proposals. ends is empty if each has one team. It writes from the last to
// the first: the builder has the places where teams begin, which are the ends of the teams before.
func (b *AnswerBuilder) writeProposals(teams, ends, tickets []uint32) {
	added, rest := b.teams, b.tickets
	writeTeam := func(start uint32) { // whose tickets are rest[start:]
		n := len(tickets) - copy(tickets[len(tickets)-len(rest[start:]):], rest[start:])
		teams[len(teams)-1] = uint32(len(tickets))
		teams, tickets, rest = teams[:len(teams)-1], tickets[:n], rest[:start]
	}
	for i, p := range slices.Backward(b.proposals) {
		if len(ends) > 0 {
			ends[i] = uint32(len(teams))
		}
		if p.second != noPair {
			n := len(tickets) - 2
			tickets[n], tickets[n+1] = p.first, p.second
			teams[len(teams)-1] = uint32(n + 2)
			teams, tickets = teams[:len(teams)-1], tickets[:n]
			continue
		}
		first := true // the team of Propose is not empty
		for n := len(added) - 1; n >= 0 && added[n].proposal == uint32(i); n-- {
			writeTeam(added[n].start)
			added = added[:n]
			first = int(p.first) < len(rest)
		}
		if first {
			writeTeam(p.first)
		}
	}
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

// layout begins an answer with sections of these sizes, by kind, and returns their bytes. It leaves out sections of
// size 0.
func (b *AnswerBuilder) layout(sizes [kindCount]int) (areas [kindCount][]byte) {
	table, count := headerSize, 0
	for _, size := range sizes {
		table += align8(size)
		count += min(size, 1)
	}
	total := table + count*entrySize
	if cap(b.out) < total {
		b.out = aligned(max(total, 2*cap(b.out)))
	}
	b.out = b.out[:total]
	start, entry := headerSize, b.out[table:]
	for kind, size := range sizes {
		if size == 0 {
			continue
		}
		putEntry(entry, uint32(kind), 0, 0, start, size)
		end := start + align8(size)
		clear(b.out[start+size : end])
		areas[kind] = b.out[start : start+size]
		start, entry = end, entry[entrySize:]
	}
	putHeader(b.out, answerMagic, table, count)
	return areas
}
