package trial

import (
	"math"
	"slices"

	"matchmaker.dev/services/test/quality/engine"
	"matchmaker.dev/services/test/quality/world"
)

// Choice compares what the function and a literal reading make of the same players at the same moment: the first match
// of each, if it is for the same oldest ticket.
type Choice struct {
	Moments int // that both made one for the same ticket
	Other   int // of them, tickets with another match
	// Spread and Gap are the values of the function's match less the reading's, where the matches differ.
	Spread, Gap Sample
	Better      int // one is less, and neither is greater
	Worse       int // one is greater, and neither is less
}

// Add adds what was found elsewhere.
func (c *Choice) Add(more *Choice) {
	c.Moments, c.Other = c.Moments+more.Moments, c.Other+more.Other
	c.Spread, c.Gap = append(c.Spread, more.Spread...), append(c.Gap, more.Gap...)
	c.Better, c.Worse = c.Better+more.Better, c.Worse+more.Worse
}

// Beside plays the tickets of a world with the literal reading of a language, and lets the function look at the same
// players each time that it makes a match.
func Beside(w *world.World, tickets []world.Ticket, l world.Language, seed uint64) (*Choice, error) {
	theirs, err := engine.New(engine.Literal(l), &w.Game, seed)
	if err != nil {
		return nil, err
	}
	ours, err := engine.New(engine.On(l), &w.Game, seed)
	if err != nil {
		return nil, err
	}
	b := &beside{theirs: theirs, ours: ours}
	_, err = play(w, tickets, engine.Literal(l), b, seed)
	return &b.found, err
}

// beside is the engine theirs, beside ours.
type beside struct {
	theirs, ours engine.Engine
	found        Choice
}

func (b *beside) Match(now float64, waiting []*world.Ticket) ([]engine.Match, error) {
	theirs, err := b.theirs.Match(now, waiting)
	if err != nil || len(theirs) == 0 {
		return theirs, err
	}
	ours, err := b.ours.Match(now, waiting)
	if err == nil && len(ours) > 0 && first(&ours[0]) == first(&theirs[0]) {
		b.found.add(&ours[0], &theirs[0], waiting)
	}
	return theirs, err
}

// first is a match's oldest ticket.
func first(m *engine.Match) int { return slices.Min(slices.Concat(m.Teams...)) }

func (c *Choice) add(ours, theirs *engine.Match, waiting []*world.Ticket) {
	c.Moments++
	if slices.Equal(partition(ours), partition(theirs)) {
		return
	}
	c.Other++
	spread, gap := evenness(ours, waiting)
	otherSpread, otherGap := evenness(theirs, waiting)
	c.Spread, c.Gap = append(c.Spread, spread-otherSpread), append(c.Gap, gap-otherGap)
	less, more := spread < otherSpread || gap < otherGap, spread > otherSpread || gap > otherGap
	switch {
	case less && !more:
		c.Better++
	case more && !less:
		c.Worse++
	}
}

// partition is the tickets of a match, team by team, the one with the oldest ticket first.
func partition(m *engine.Match) (all []int) {
	teams := make([][]int, len(m.Teams))
	for i, team := range m.Teams {
		teams[i] = append(slices.Sorted(slices.Values(team)), -1)
	}
	slices.SortFunc(teams, slices.Compare[[]int])
	return slices.Concat(teams...)
}

// evenness is how far the players of a match are apart, and the means of its teams.
func evenness(m *engine.Match, waiting []*world.Ticket) (spread, gap float64) {
	least, most := math.Inf(1), math.Inf(-1)
	var means []float64
	for _, team := range m.Teams {
		sum, n := 0.0, 0.0
		for _, at := range team {
			for i := range waiting[at].Players {
				skill := waiting[at].Players[i].Skill
				least, most = math.Min(least, skill), math.Max(most, skill)
				sum, n = sum+skill, n+1
			}
		}
		means = append(means, sum/n)
	}
	return most - least, slices.Max(means) - slices.Min(means)
}
