package report

import (
	"math"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

const (
	deciles = 10
	// Deciles are of the latest mostLatest values, of leastLatest at least; their edges are found anew after edgesEvery.
	// At most mostDivided queues and attributes have them.
	mostLatest, leastLatest, edgesEvery, mostDivided, seeds = 512, 20, 64, 256, 16
)

// Divider divides tickets by the latest ones of their queue that had a match. The zero value knows none.
type Divider struct{ of map[[2]string]*latest }

// latest are the latest values of an attribute in a queue: some of them, how many came, and what divides them.
type latest struct {
	values []float32
	came   int
	edges  [deciles - 1]float32
}

// latestOf returns what is known of an attribute in a queue.
func (d *Divider) latestOf(queue, attribute string) *latest {
	key := [2]string{queue, attribute}
	one := d.of[key]
	if one == nil {
		if d.of == nil || len(d.of) == mostDivided {
			d.of = map[[2]string]*latest{}
		}
		one = &latest{}
		d.of[key] = one
	}
	return one
}

// Divide adds to a match what tables by decile show of it, by its tickets' values of an attribute; NaN is none.
func (d *Divider) Divide(m *Match, attribute string, values []float32) {
	clear(m.deciles[:])
	if len(values) == 0 {
		return
	}
	known := d.latestOf(m.Key.Queue, attribute)
	for i, v := range values[:min(len(values), len(m.Waits))] {
		decile := known.add(v)
		if decile == 0 {
			continue
		}
		one := m.deciles[decile-1]
		if one == nil {
			one = &Match{Key: m.Key, Values: slices.DeleteFunc(slices.Clone(m.Values),
				func(v Value) bool { return v.Kind == Measure || v.Name != attribute })}
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

// Seed goes on with a slot that a leader before stored, up to seeds values of each decile of a queue.
func (d *Divider) Seed(slot *pb.ReportSlot) {
	t := Table{By: []string{"queue", "decile"}}
	t.Add(0, slot)
	rows := t.Rows()
	for n := range int64(seeds) { // in turn, so that edges that are found meanwhile are not of a few deciles alone
		for _, row := range rows {
			for _, own := range row.Distributions {
				if own.Kind == Own && n < own.Count {
					d.latestOf(row.Queue, own.Name).add(float32(own.Mean))
				}
			}
		}
	}
}

// add adds a value, and returns its decile: 0 if too few are known, if nearly all are the same, or if it is none. A
// value that several deciles have is in the middle one.
func (l *latest) add(v float32) (decile int) {
	if v != v {
		return 0
	}
	if len(l.values) < mostLatest {
		l.values = append(l.values, v)
	} else {
		l.values[l.came%mostLatest] = v
	}
	if l.came++; l.came < leastLatest {
		return 0
	}
	if l.came < edgesEvery || l.came%edgesEvery == 0 {
		sorted := slices.Sorted(slices.Values(l.values))
		for i := range l.edges {
			at := len(sorted) * (i + 1) / deciles
			l.edges[i] = (sorted[at-1] + sorted[at]) / 2
		}
	}
	if l.edges[0] == l.edges[deciles-2] {
		return 0
	}
	below, _ := slices.BinarySearch(l.edges[:], v)
	upTo, _ := slices.BinarySearch(l.edges[:], math.Nextafter32(v, math.MaxFloat32))
	return (below+upTo)/2 + 1
}
