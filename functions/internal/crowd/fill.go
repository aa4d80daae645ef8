package crowd

import (
	"slices"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// mostJoining is how many players join a game at a time: no proposal has more tickets.
const mostJoining = 1000

// Fill proposes to each running game, the oldest first, the nearest tickets of the list. To a game without the
// attribute it proposes the tickets that have waited longest. The score of a proposal is the mean, for each player, of
// what the tickets' windows exceed their distance by. Games must be ascending.
//
// A running game is a backfill ticket. Its attribute "open" is the number of players that it still takes. Each proposal
// lowers the attribute by the players that it sends, so that the next run knows, until the game's server sets it. The
// game's place in the order of players is its attribute of the same name as theirs.
func (c *Crowd) Fill(r *matchfn.Run, games []uint32) {
	open := r.BackfillAttribute(waiting.Open)
	for _, game := range games {
		if !(open[game] >= 1) {
			continue
		}
		seats := c.rules.SeatsOf(r, game, int(min(open[game], mostJoining)))
		var chosen []uint32
		score := 0.0
		if at := r.BackfillAttribute(c.rules.Attribute)[game]; at != at { // NaN
			chosen = c.longest(seats)
		} else {
			chosen, score = c.nearest(at, seats)
		}
		if len(chosen) == 0 {
			continue
		}
		update := r.Propose(score, chosen...).UpdateBackfill(game)
		if seats.Inside != nil {
			waiting.Seat(update, seats.Inside, chosen, c.IDs)
		}
		players := uint32(0)
		for _, t := range chosen {
			players += c.Of(t).Size
			c.Forget(t)
		}
		if seats.ByRole() {
			continue // the next run sees the game when its server approved, with the new players
		}
		update.Attribute(waiting.Open, open[game]-float64(players))
	}
}

// Open reports whether a game takes players.
func Open(r *matchfn.Run, games []uint32) bool {
	open := r.BackfillAttribute(waiting.Open)
	return slices.ContainsFunc(games, func(game uint32) bool { return open[game] >= 1 })
}

// queue is tickets by a time, in Unix milliseconds.
type queue struct{ heap []event }

type event struct {
	at     float64
	number uint32
}

// push adds a ticket. It may be there several times.
func (q *queue) push(at float64, number uint32) {
	q.heap = append(q.heap, event{at, number})
	h := q.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].at <= h[i].at {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// pop returns a ticket whose time is not after now, the earliest first, and removes it.
func (q *queue) pop(now float64) (number uint32, ok bool) {
	h := q.heap
	if len(h) == 0 || h[0].at > now {
		return 0, false
	}
	number = h[0].number
	last := len(h) - 1
	h[0] = h[last]
	q.heap = h[:last]
	q.sink(0)
	return number, true
}

// sink moves an event down to its place.
func (q *queue) sink(i int) {
	h := q.heap
	for {
		least := i
		for down := 2*i + 1; down <= 2*i+2 && down < len(h); down++ {
			if h[down].at < h[least].at {
				least = down
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
