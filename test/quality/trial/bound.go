package trial

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/services/test/quality/world"
)

// Bound is the best case of each player alone, as if all arrivals were known, under the demands of a game: means over
// players, and the part of them that leaves in any case. No engine that keeps to the demands has less wait or fewer
// players that leave. The spread is the mean over all that can have a match: an engine that lets players with few
// companions leave may have less.
type Bound struct{ Wait, Spread, Abandoned float64 }

// sampled bounds how many tickets of a world are looked at.
const sampled = 3000

// Hindsight computes the bound. A ticket's companions are the tickets that are there at a time when it is, whose skill
// is within the last bound of skill, and that have a region in common with it within the last bound of latency.
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

// companion is a ticket that could be in a match with another.
type companion struct {
	apart   float64 // in skill
	players int
}

// nearest keeps companions by how far apart they are, no more than some of them.
type nearest struct {
	all  []companion
	most int
}

func (n *nearest) add(c companion) {
	if len(n.all) == n.most {
		if c.apart >= n.all[n.most-1].apart {
			return
		}
		n.all = n.all[:n.most-1]
	}
	at, _ := slices.BinarySearchFunc(n.all, c, func(o, c companion) int { return cmp.Compare(o.apart, c.apart) })
	n.all = slices.Insert(n.all, at, c)
}

// best returns the first time when enough companions have come, and the least spread of a match of some of them.
func best(w *world.World, tickets []world.Ticket, i int) (when, spread float64, ok bool) {
	t := &tickets[i]
	skill, most := t.Skill(), w.Game.Spread.Last()
	need := w.Game.Players() - len(t.Players)
	there := 0
	// Each companion has a player at least, so no more of them than players are needed count on a side.
	below, above := nearest{most: need}, nearest{most: need}
	look := func(o *world.Ticket) {
		if o.Leaves <= t.Arrives || math.Abs(o.Skill()-skill) > most || !common(t, o, w.Game.Ping.Last()) {
			return
		}
		if there += len(o.Players); !ok && there >= need {
			when, ok = math.Max(t.Arrives, o.Arrives), true
		}
		c := companion{math.Abs(o.Skill() - skill), len(o.Players)}
		if o.Skill() < skill {
			below.add(c)
		} else {
			above.add(c)
		}
	}
	for j := i - 1; j >= 0 && tickets[j].Arrives > t.Arrives-world.MaxPatience; j-- {
		look(&tickets[j])
	}
	for j := i + 1; j < len(tickets) && tickets[j].Arrives < t.Leaves; j++ {
		look(&tickets[j])
	}
	if !ok {
		return 0, 0, false
	}
	return when, narrowest(below.all, above.all, need), true
}

// narrowest returns the least spread of enough players on both sides of a skill.
func narrowest(below, above []companion, need int) float64 {
	spread := math.Inf(1)
	players, down := 0, len(below) // of those below that are taken
	for _, c := range below {
		players += c.players
	}
	reach := 0.0 // how far up
	for up := -1; up < len(above); up++ {
		if up >= 0 {
			players, reach = players+above[up].players, above[up].apart
		}
		for down > 0 && players-below[down-1].players >= need {
			down--
			players -= below[down].players
		}
		if players >= need {
			if down > 0 {
				spread = math.Min(spread, reach+below[down-1].apart)
			} else {
				spread = math.Min(spread, reach)
			}
		}
	}
	return spread
}

// common reports whether two tickets have a region that is near enough for both.
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
