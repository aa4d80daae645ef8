package invocation

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// measured is of how many tickets attributes are read at a time: changes of the index wait meanwhile.
const measured = 1024

// Bytes of a measure in a part of an answer, about, beside its name, and of a ticket's number of players and value.
const (
	measureSize = 24
	ticketSize  = 7
)

// measurer says of proposals how good they are: what their function measured, and what the config's report asks for.
type measurer struct {
	report *pb.Report // nil if it asks for nothing
	index  *pool.Index
	rest   []uint32    // tickets of the answer that come next
	values [][]float64 // of each attribute of the report, of the tickets before rest that were read
	at     int         // of the next ticket in values
}

// begin begins an answer with these tickets.
func (m *measurer) begin(tickets []uint32) {
	m.rest, m.at = tickets, 0
	m.values = slices.Grow(m.values[:0], len(m.report.GetAttributes()))[:len(m.report.GetAttributes())]
	for i := range m.values {
		m.values[i] = m.values[i][:0]
	}
}

// asked reports whether every proposal is measured.
func (m *measurer) asked() bool { return m.report != nil }

// size is about how many bytes the measures take that a report asks for, of so many proposals with so many tickets.
func (m *measurer) size(proposals, tickets int) int {
	if m.report == nil {
		return 0
	}
	return measureSize*len(m.report.GetAttributes())*proposals + ticketSize*tickets
}

// of returns the measures of proposal i, nil if there are none. It must be called for each proposal in order.
func (m *measurer) of(a *block.Answer, i int, own []block.Measure, s *pool.Selection) *pb.Measures {
	if m.report == nil && len(own) == 0 {
		return nil
	}
	all := &pb.Measures{}
	for _, one := range own {
		all.Own = append(all.Own, &pb.Measure{Name: one.Name, Value: one.Value})
	}
	if m.report == nil {
		return all
	}
	tickets := a.Tickets(i)
	if s.PlayersOf(tickets) > 0 {
		for _, number := range tickets {
			all.Parties = append(all.Parties, uint32(s.Players(number)))
		}
	}
	if len(m.values) == 0 {
		return all
	}
	if m.at+len(tickets) > len(m.values[0]) {
		m.read(max(measured, len(tickets)), s)
	}
	for _, v := range m.values[0][m.at : m.at+len(tickets)] {
		all.Values = append(all.Values, float32(v))
	}
	for n := range m.values {
		if one := differ(a, i, m.values[n][m.at:m.at+len(tickets)], s); one != nil {
			one.Attribute = uint32(n)
			all.Attributes = append(all.Attributes, one)
		}
	}
	m.at += len(tickets)
	return all
}

// read drops the values that were used, and reads the values of n more tickets.
func (m *measurer) read(n int, s *pool.Selection) {
	more := m.rest[:min(n, len(m.rest))]
	m.rest = m.rest[len(more):]
	m.index.View(func(v pool.View) {
		for i, name := range m.report.GetAttributes() {
			left := append(m.values[i][:0], m.values[i][m.at:]...)
			left = slices.Grow(left, len(more))
			m.values[i] = left[:len(left)+len(more)]
			v.Values(s, name, more, m.values[i][len(left):])
		}
	})
	m.at = 0
}

// differ returns how far an attribute differs in proposal i, whose tickets have these values, team by team. It is nil
// if fewer than two tickets have one.
func differ(a *block.Answer, i int, values []float64, s *pool.Selection) *pb.AttributeMeasure {
	least, most, have := math.Inf(1), math.Inf(-1), 0
	lowest, highest, teams := math.Inf(1), math.Inf(-1), 0
	for t := range a.Teams(i) {
		sum, weight := 0.0, 0.0
		for n, number := range a.Team(i, t) {
			v := values[n]
			if math.IsNaN(v) {
				continue
			}
			players := float64(s.Players(number))
			least, most, have = min(least, v), max(most, v), have+1
			sum, weight = sum+v*players, weight+players
		}
		values = values[len(a.Team(i, t)):]
		if weight > 0 {
			lowest, highest, teams = min(lowest, sum/weight), max(highest, sum/weight), teams+1
		}
	}
	if have < 2 || math.IsInf(most-least, 0) {
		return nil
	}
	one := &pb.AttributeMeasure{Spread: most - least}
	if gap := highest - lowest; teams > 1 && gap-gap == 0 {
		one.Gap = new(gap)
	}
	return one
}
