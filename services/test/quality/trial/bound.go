package trial

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/services/test/quality/world"
)

// Bound is the best case of each player alone, who knows who will come, under the demands of a game: means over
// players, and the part of them who leave in any case. No engine that keeps to the demands has less wait or fewer who
// leave. The spread is the mean over all who can have a match: an engine that lets those with few companions leave may
// have less.
type Bound struct{ Wait, Spread, Abandoned float64 }

// sampled bounds how many tickets of a world are looked at.
const sampled = 3000

// Hindsight computes the bound. A ticket's companions are those who are there at a time when it is, whose skill is
// within the last bound of skill, and who have a region in common with it within the last bound of latency.
func Hindsight(w *world.World, tickets []world.Ticket) Bound {
	var measured []int
	for i := range tickets {
		if tickets[i].Measured {
			measured = append(measured, i)
		}
	}
	step := max(1, len(measured)/sampled)
	var b Bound
	players, matched := 0.0, 0.0
	for at := 0; at < len(measured); at += step {
		t := &tickets[measured[at]]
		n := float64(len(t.Players))
		players += n
		when, spread, ok := best(w, tickets, measured[at])
		if !ok {
			b.Abandoned += n
			b.Wait += n * (t.Leaves - t.Arrives)
			continue
		}
		matched += n
		b.Wait += n * (when - t.Arrives)
		b.Spread += n * spread
	}
	return Bound{Wait: b.Wait / players, Spread: b.Spread / matched, Abandoned: b.Abandoned / players}
}

// companion is a ticket that could be in a match with another, from a time on.
type companion struct {
	from, skill float64
	players     int
}

// best returns the first time when enough companions have come, and the least spread of a match of some of them.
func best(w *world.World, tickets []world.Ticket, i int) (when, spread float64, ok bool) {
	t := &tickets[i]
	skill, most := t.Skill(), w.Game.Spread.Last()
	need := w.Game.Players() - len(t.Players)
	var all []companion
	look := func(o *world.Ticket) {
		if o.Leaves > t.Arrives && math.Abs(o.Skill()-skill) <= most && common(t, o, w.Game.Ping.Last()) {
			all = append(all, companion{math.Max(t.Arrives, o.Arrives), o.Skill(), len(o.Players)})
		}
	}
	for j := i - 1; j >= 0 && tickets[j].Arrives > t.Arrives-world.MaxPatience; j-- {
		look(&tickets[j])
	}
	for j := i + 1; j < len(tickets) && tickets[j].Arrives < t.Leaves; j++ {
		look(&tickets[j])
	}
	slices.SortFunc(all, func(a, b companion) int { return cmp.Compare(a.from, b.from) })
	there := 0
	for _, c := range all {
		if there += c.players; there >= need {
			when, ok = c.from, true
			break
		}
	}
	if !ok {
		return 0, 0, false
	}
	// Of all windows of skill with the ticket and enough players, the narrowest.
	slices.SortFunc(all, func(a, b companion) int { return cmp.Compare(a.skill, b.skill) })
	spread = math.Inf(1)
	within, to := 0, 0
	for from := range all {
		for to < len(all) && (within < need || all[to].skill < skill) {
			within += all[to].players
			to++
		}
		if within < need {
			break
		}
		spread = math.Min(spread, math.Max(skill, all[to-1].skill)-math.Min(skill, all[from].skill))
		if all[from].skill > skill {
			break
		}
		within -= all[from].players
	}
	return when, spread, true
}

// common returns whether two tickets have a region that is near enough for both.
func common(a, b *world.Ticket, most float64) bool {
	for region := range world.Regions {
		if mean(a, region) <= most && mean(b, region) <= most {
			return true
		}
	}
	return false
}

func mean(t *world.Ticket, region int) float64 {
	sum := 0.0
	for i := range t.Players {
		sum += t.Players[i].Ping[region]
	}
	return sum / float64(len(t.Players))
}
