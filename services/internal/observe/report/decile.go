package report

import (
	"math"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

const (
	deciles = 10
	// Deciles are of so many values at most, of leastRanked at least, and found anew after rankEvery. At most mostRanks
	// queues and attributes have them. A new leader goes on with up to seeds values of each decile of a slot.
	ranked, leastRanked, rankEvery, mostRanks, seeds = 512, 20, 64, 256, 16
)

// Ranks say in which decile of the latest tickets of a queue that had a match a value is. The zero value knows none.
type Ranks struct{ of map[Key]*ranks }

// ranks are of an attribute: its latest values, how many came, and the values that divide them.
type ranks struct {
	recent []float32
	came   int
	edges  [deciles - 1]float32
}

// find finds the ranks of an attribute in a queue.
func (r *Ranks) find(queue, attribute string) *ranks {
	key := Key{Queue: queue, Config: attribute}
	one := r.of[key]
	if one == nil {
		if r.of == nil || len(r.of) == mostRanks {
			r.of = map[Key]*ranks{}
		}
		one = &ranks{}
		r.of[key] = one
	}
	return one
}

// Divide says what a match is to each decile of its tickets, by their values of an attribute; NaN is none.
func (r *Ranks) Divide(m *Match, attribute string, values []float32) {
	clear(m.deciles[:])
	if len(values) == 0 {
		return
	}
	ranks := r.find(m.Key.Queue, attribute)
	for i, v := range values[:min(len(values), len(m.Waits))] {
		decile := ranks.add(v)
		if decile == 0 {
			continue
		}
		one := m.deciles[decile-1]
		if one == nil {
			one = &Match{Key: m.Key, Values: slices.Clone(m.Values)}
			one.Key.Region, one.Key.Canary, one.Key.Decile = "", 0, decile
			m.deciles[decile-1] = one
		}
		players := 1
		if i < len(m.Parties) {
			players = int(m.Parties[i])
		}
		one.Players += players
		one.Waits = append(one.Waits, m.Waits[i])
		one.Values = append(one.Values, Value{Own, attribute, float64(v)})
	}
}

// Seed goes on with what was stored by a leader before.
func (r *Ranks) Seed(slot *pb.ReportSlot) {
	for _, one := range slot.GetDeciles().GetSeries() {
		for _, m := range one.GetDistributions() {
			for range min(one.GetTickets(), seeds) {
				if m.GetKind() == Own {
					r.find(one.GetQueue(), m.GetName()).add(float32(m.GetSum() / float64(one.GetTickets())))
				}
			}
		}
	}
}

// add adds a value, and returns its decile: 0 if too few are known, or it is none.
func (r *ranks) add(v float32) (decile int) {
	if v != v {
		return 0
	}
	if len(r.recent) < ranked {
		r.recent = append(r.recent, v)
	} else {
		r.recent[r.came%ranked] = v
	}
	if r.came++; r.came < leastRanked {
		return 0
	}
	if r.came < rankEvery || r.came%rankEvery == 0 {
		sorted := slices.Sorted(slices.Values(r.recent))
		for i := range r.edges {
			at := len(sorted) * (i + 1) / deciles
			r.edges[i] = (sorted[at-1] + sorted[at]) / 2
		}
	}
	below, _ := slices.BinarySearch(r.edges[:], math.Nextafter32(v, math.MaxFloat32))
	return below + 1
}
