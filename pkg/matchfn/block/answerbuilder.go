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
	proposals []proposal
	tickets   []uint32 // of proposals that are no pairs
	others    int      // how many those are
	teams     []team   // that Team began
	hollow    int      // how many proposals have no other teams
	parts     []part
	data      []byte
	out       []byte
}

// proposal is what is noted of a proposal. Most games are of two, and in WebAssembly what is done for each of them counts: so those two
// are in one place with the score, until Finish makes columns.
type proposal struct {
	score float64
	// first and second are the tickets of a pair. Of any other proposal first is where its tickets begin, and second is noPair.
	first, second uint32
}

// noPair is no ticket's number: there would have to be 2³² of them.
const noPair = math.MaxUint32

// team is where the tickets of a proposal's team begin.
type team struct{ proposal, start uint32 }

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
	b.proposals, b.tickets, b.others, b.teams, b.hollow = b.proposals[:0], b.tickets[:0], 0, b.teams[:0], 0
	b.parts, b.data = b.parts[:0], b.data[:0]
}

// Len returns the number of proposals.
func (b *AnswerBuilder) Len() int { return len(b.proposals) }

// Propose begins a proposal and returns its number, from 0. Its tickets, if any, are its first team.
//
// It is small enough to become part of its caller: in WebAssembly a call costs more than all that it does.
func (b *AnswerBuilder) Propose(score float64, tickets ...uint32) int {
	p := proposal{score, uint32(len(b.tickets)), noPair}
	if len(tickets) == 2 {
		p.first, p.second = tickets[0], tickets[1]
	}
	if p.second == noPair {
		b.tickets = append(b.tickets, tickets...)
		b.others++
	}
	b.proposals = append(b.proposals, p)
	return len(b.proposals) - 1
}

// Team adds a team to the proposal begun last and returns its number within
// the proposal, from 0. Without a proposal it does nothing.
func (b *AnswerBuilder) Team(tickets ...uint32) int {
	latest := len(b.proposals) - 1
	if latest < 0 {
		return 0
	}
	p := &b.proposals[latest]
	if x, y := p.first, p.second; y != noPair { // it is no pair any more
		p.first, p.second = uint32(len(b.tickets)), noPair
		b.tickets = append(b.tickets, x, y)
		b.others++
	}
	first := uint32(len(b.tickets)) // where the first team begins that Team began
	number := 0
	for ; number < len(b.teams) && b.teams[len(b.teams)-1-number].proposal == uint32(latest); number++ {
		first = b.teams[len(b.teams)-1-number].start
	}
	if p.first < first {
		number++ // there is a team of Propose before them
	} else if number == 0 {
		b.hollow++
	}
	b.teams = append(b.teams, team{uint32(latest), uint32(len(b.tickets))})
	b.tickets = append(b.tickets, tickets...)
	return number
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
	copy(b.lay([kinds]int{kindError: len(text)})[kindError], text)
	return b.out
}

// Finish returns the answer. It is valid until the next call of Fail or Finish.
func (b *AnswerBuilder) Finish() []byte {
	b.sortParts()
	n := len(b.proposals)
	size := [kinds]int{
		kindTeams: 4 * (n + len(b.teams) - b.hollow), kindTickets: 4 * (2*(n-b.others) + len(b.tickets)), kindScores: 8 * n,
		kindParts: partSize * len(b.parts), kindData: len(b.data),
	}
	if len(b.teams) > b.hollow {
		size[kindProposals] = 4 * n
	}
	room := b.lay(size)
	teams, tickets, scores := column[uint32](room[kindTeams]), column[uint32](room[kindTickets]), column[float64](room[kindScores])
	if b.others == 0 {
		unzip(b.proposals, teams, tickets, scores)
	} else {
		b.cut(teams, column[uint32](room[kindProposals]), tickets)
		for i, p := range b.proposals {
			scores[i] = p.score
		}
	}
	copy(room[kindParts], bytesOf(b.parts))
	copy(room[kindData], b.data)
	return b.out
}

// unzip makes columns of pairs.
func unzip(pairs []proposal, ends, tickets []uint32, scores []float64) {
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

// cut makes columns of proposals of any form; ends is empty where each has one team. It goes from the last one to the first, because what
// is noted is where teams begin, and so where those before them end.
func (b *AnswerBuilder) cut(teams, ends, tickets []uint32) {
	begun, rest := b.teams, b.tickets
	team := func(start uint32) { // the one whose tickets are the rest from there
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
		own := true
		for n := len(begun) - 1; n >= 0 && begun[n].proposal == uint32(i); n-- {
			team(begun[n].start)
			begun = begun[:n]
			own = int(p.first) < len(rest)
		}
		if own {
			team(p.first)
		}
	}
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

// lay lays out an answer with sections of these sizes, by kind, and returns where they are to be written. One of size 0 is left out.
func (b *AnswerBuilder) lay(sizes [kinds]int) (rooms [kinds][]byte) {
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
		rooms[kind] = b.out[start : start+size]
		start, entry = end, entry[entrySize:]
	}
	putHeader(b.out, answerMagic, table, count)
	return rooms
}
