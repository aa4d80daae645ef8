// Package report keeps how good the matches of a project were: how many there were, how long their tickets waited, how
// far attributes differ in them, what functions measured, and whether odds came true. It keeps counts, sums and
// distributions, no match by itself.
//
// Time is divided into slots of five minutes, of which a day's are kept, and beside them into slots of an hour, for 30
// days, and of a day, for 90. A slot has a bound in bytes, and each config may use as much of it as it leaves free: one
// whose function makes up regions or measures leaves others alone. What has no room is counted.
package report

import (
	"math"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

const (
	// SlotTime is how long the shortest slot is.
	SlotTime = 5 * time.Minute
	// Slots is how many are kept of the shortest.
	Slots = 288
	// slotBytes bounds a slot, about.
	slotBytes = 64 << 10
	// LargestParty stands for parties of as many players, and of more.
	LargestParty = 6
)

// The kinds of what is told of matches.
const (
	Wait    = "wait"    // of tickets, in seconds, until they were matched
	Spread  = "spread"  // of an attribute: the greatest value less the least
	Gap     = "gap"     // of an attribute: the greatest mean of a team less the least
	Own     = "value"   // of an attribute, of the tickets of a decile
	Measure = "measure" // what the function measured
)

// About how many bytes a series, a distribution and one of its buckets take when they are stored, beside names.
const (
	seriesBytes       = 64
	distributionBytes = 24
	bucketBytes       = 6
)

// Span is a way to divide time into slots.
type Span struct {
	// Name tells what is stored apart.
	Name string
	// Slot is how long a slot is, and Slots is how many are kept. bytes bounds one, and its deciles again.
	Slot  time.Duration
	Slots int64
	bytes int
}

// Spans are the spans of which reports are kept, the shortest slots first: at most 36, 45 and 12 MiB.
func Spans() []Span {
	return []Span{
		{"", SlotTime, Slots, slotBytes},
		{":1h", time.Hour, 30 * 24, slotBytes / 2},
		{":1d", 24 * time.Hour, 90, slotBytes},
	}
}

// SlotOf is the number of the slot that a time is in.
func (s Span) SlotOf(t time.Time) int64 { return t.UnixMilli() / s.Slot.Milliseconds() }

// NewBook returns an empty book of a slot.
func (s Span) NewBook(slot int64) *Book {
	book := func(bytes int) *Book {
		return &Book{Slot: slot, limit: bytes, series: map[Key]*series{}, byOwner: map[string]int{}}
	}
	b := book(s.bytes)
	b.deciles = book(s.bytes)
	return b
}

// SlotOf is the number of the slot of five minutes that a time is in.
func SlotOf(t time.Time) int64 { return Spans()[0].SlotOf(t) }

// Key is what the matches of a series have in common.
type Key struct {
	Config   string
	Revision int64
	Function string
	Upload   int64
	Queue    string
	Region   string
	// Party is how many players the ticket has that waited, and of a match, how many its largest party has: from 1 to
	// LargestParty, or 0 if unknown.
	Party int
	// Decile of the tickets, from 1 to 10; 0 outside of tables by decile.
	Decile int
	// Canary says when the step of the function's canary began, or the block of time, that the match is of, in Unix
	// milliseconds; 0 without one. No table is divided by it.
	Canary int64
	// Slot is the number of the slot in a row of a table; 0 elsewhere.
	Slot int64
}

// bytes is about how many bytes a series takes.
func (k *Key) bytes() int {
	return seriesBytes + len(k.Config) + len(k.Function) + len(k.Queue) + len(k.Region)
}

// Match is a match that was made.
type Match struct {
	// Key is the match's, without the party.
	Key     Key
	Players int
	// Waits are for how many seconds each ticket waited, NaN if unknown. Parties is how many players each has; nil if
	// each has one, or if unknown.
	Waits   []float64
	Parties []uint32
	Values  []Value
	deciles [deciles]*Match
}

// Value is something that is told of a match.
type Value struct {
	Kind, Name string
	Value      float64
}

// Book has the matches of one slot. It is for one goroutine at a time.
type Book struct {
	Slot    int64
	limit   int // in bytes
	series  map[Key]*series
	leftOut int64
	bytes   int
	byOwner map[string]int // bytes of each config
	deciles *Book          // of tickets by their decile; nil in itself
}

// series are matches with the same key.
type series struct {
	matches, tickets, players    int64
	results, resultPlayers, left int64
	distributions                map[named]*distribution
	odds                         []Odds // in order of their ratings
}

type named struct{ kind, name string }

// Add adds a match.
func (b *Book) Add(m *Match) {
	key, fits := m.Key, true
	if key.Decile == 0 {
		key.Party = Largest(m.Parties, len(m.Waits), m.Players)
	}
	for _, one := range m.deciles {
		if one != nil {
			b.deciles.Add(one)
		}
	}
	s := b.find(key)
	if s == nil {
		b.leftOut++
		return
	}
	s.matches++
	s.players += int64(m.Players)
	for _, v := range m.Values {
		fits = b.count(s, &key, named{v.Kind, v.Name}, v.Value) && fits
	}
	whole := s
	for i, wait := range m.Waits {
		own := key
		if m.Parties != nil {
			own.Party = PartyOf(m.Parties, i)
		}
		if own.Party == key.Party {
			s = whole
		} else if s = b.find(own); s == nil {
			fits = false
			continue
		}
		if s.tickets++; !math.IsNaN(wait) {
			fits = b.count(s, &own, named{kind: Wait}, wait) && fits
		}
	}
	if !fits {
		b.leftOut++
	}
}

// Largest is how many players the largest party of a match has, LargestParty at most. parties is how many players each
// ticket has, or nil; it is 0 if unknown.
func Largest(parties []uint32, tickets, players int) int {
	largest := uint32(0)
	for _, n := range parties {
		largest = max(largest, n)
	}
	switch {
	case largest > 0:
		return min(int(largest), LargestParty)
	case players <= tickets:
		return 1
	}
	return 0
}

// PartyOf is how many players ticket i has, LargestParty at most. Without parties each has one.
func PartyOf(parties []uint32, i int) int {
	if i < len(parties) {
		return min(max(int(parties[i]), 1), LargestParty)
	}
	return 1
}

// find returns the series of a key, and makes it if there is none; nil if there is no room.
func (b *Book) find(key Key) *series {
	s := b.series[key]
	if s == nil && b.use(key.Config, key.bytes()) {
		s = &series{distributions: map[named]*distribution{}}
		b.series[key] = s
	}
	return s
}

// count counts a value. It returns false if there is no room for it.
func (b *Book) count(s *series, key *Key, of named, value float64) bool {
	d := s.distributions[of]
	if d == nil {
		if !b.use(key.Config, distributionBytes+len(of.name)) {
			return false
		}
		d = &distribution{}
		s.distributions[of] = d
	}
	at := bucketOf(value)
	if !d.has(at) && !b.use(key.Config, bucketBytes) {
		return false
	}
	d.add(at, 1)
	d.sum += min(max(value, -largest), largest)
	return true
}

// use takes room for a config, if there is some.
func (b *Book) use(config string, bytes int) bool {
	if b.byOwner[config]+bytes > b.limit-b.bytes-bytes {
		return false
	}
	b.byOwner[config] += bytes
	b.bytes += bytes
	return true
}

// Message is the book as it is stored.
func (b *Book) Message() *pb.ReportSlot {
	m := &pb.ReportSlot{LeftOut: b.leftOut}
	if b.deciles != nil && len(b.deciles.series) > 0 {
		m.Deciles = b.deciles.Message()
	}
	for key, s := range b.series {
		one := &pb.ReportSeries{
			Config: key.Config, Revision: key.Revision, Function: key.Function, Upload: key.Upload, Queue: key.Queue,
			Region: key.Region, Party: int32(key.Party), Decile: int32(key.Decile), Canary: key.Canary, Matches: s.matches,
			Tickets: s.tickets, Players: s.players, Results: s.results, ResultPlayers: s.resultPlayers, Left: s.left,
		}
		for of, d := range s.distributions {
			one.Distributions = append(one.Distributions, d.message(of))
		}
		for i := range s.odds {
			one.Odds = append(one.Odds, s.odds[i].Message())
		}
		m.Series = append(m.Series, one)
	}
	return m
}

// Merge adds what was stored of the same slot.
func (b *Book) Merge(m *pb.ReportSlot) {
	b.leftOut += m.GetLeftOut()
	if b.deciles != nil {
		b.deciles.Merge(m.GetDeciles())
	}
	for _, one := range m.GetSeries() {
		key := keyOf(one)
		s := b.find(key)
		if s == nil {
			b.leftOut += one.GetMatches()
			continue
		}
		s.merge(one, func(bytes int) bool { return b.use(key.Config, bytes) },
			func() bool { return b.use(key.Config, bucketBytes) })
	}
}

// merge adds what was stored. room is asked for each distribution and rating that is new, by its bytes, and bucket for
// each bucket: what has no room is left out.
func (s *series) merge(m *pb.ReportSeries, room func(bytes int) bool, bucket func() bool) {
	s.matches += m.GetMatches()
	s.tickets += m.GetTickets()
	s.players += m.GetPlayers()
	s.results += m.GetResults()
	s.resultPlayers += m.GetResultPlayers()
	s.left += m.GetLeft()
	s.addOdds(m.GetOdds(), room)
	for _, d := range m.GetDistributions() {
		of := named{d.GetKind(), d.GetName()}
		into := s.distributions[of]
		if into == nil {
			if !room(distributionBytes + len(of.name)) {
				continue
			}
			into = &distribution{}
			s.distributions[of] = into
		}
		into.merge(d, bucket)
	}
}

func keyOf(s *pb.ReportSeries) Key {
	return Key{Config: s.GetConfig(), Revision: s.GetRevision(), Function: s.GetFunction(), Upload: s.GetUpload(),
		Queue: s.GetQueue(), Region: s.GetRegion(), Party: int(s.GetParty()), Decile: int(s.GetDecile()),
		Canary: s.GetCanary()}
}
