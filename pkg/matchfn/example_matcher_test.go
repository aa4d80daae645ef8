package matchfn_test

import (
	"fmt"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

// mirrors pairs tickets of the same level. It keeps tickets that wait alone.
type mirrors struct {
	alone map[float64]uint32 // by level
	level map[uint32]float64
}

func beginMirrors(*matchfn.Settings) (matchfn.Matcher, error) {
	return &mirrors{alone: map[float64]uint32{}, level: map[uint32]float64{}}, nil
}

func (m *mirrors) Match(r *matchfn.Run) error {
	for _, number := range r.Gone() {
		delete(m.alone, m.level[number])
		delete(m.level, number)
	}
	for i, level := range r.Attribute("level") {
		number := r.First() + uint32(i)
		other, found := m.alone[level]
		if !found {
			m.alone[level], m.level[number] = number, level
			continue
		}
		r.Propose(1, other, number)
		delete(m.alone, level)
		delete(m.level, other)
	}
	return nil
}

// A function that keeps its tickets gets the new ones in each run.
func ExampleRegisterMatcher() {
	function := matchfn.NewMatcher(beginMirrors, matchfn.Attributes("level"), matchfn.Properties())
	crowd := fake.NewCrowd(function, "")
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	join := func(level float64) int {
		return crowd.Add(now, fake.Ticket{Attributes: map[string]float64{"level": level}})
	}
	join(1)
	leaves := join(2)
	join(3)
	run := func() {
		proposals, err := crowd.Run(now)
		if err != nil {
			fmt.Println(err)
		}
		for _, p := range proposals {
			fmt.Println("a match of", p.Tickets())
			for _, id := range p.Tickets() {
				crowd.Remove(int(id))
			}
		}
	}
	run()
	crowd.Remove(leaves)
	join(2)
	join(3)
	run()
	// Output: a match of [2 4]
}
