// Package evaluator decides which proposals become matches. It depends on the proposals alone, so that a tool that
// tries a function out decides as the director does.
package evaluator

import (
	"cmp"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Candidate is a proposal that takes part in an evaluation.
type Candidate[O any] struct {
	*pb.Proposal
	// Tickets of all teams, team by team.
	Tickets []string
	// Config is the id of the config that the proposal was made for.
	Config string
	// First candidates go before all others, whatever their scores are: the proposals that fill running games, if the
	// installation is set up so.
	First bool
	// Origin is the caller's own: where the proposal came from.
	Origin O
}

// Select picks the candidates that become matches. No ticket and no backfill ticket is in two of them: two functions
// that saw the same backfill ticket would send players to the same places. The order of preference is: First, the
// better score, the older oldest ticket, the tickets' ids, the config, the backfill ticket.
//
// The order of the candidates does not change the outcome, and no candidate that was left out could be added.
// Select sorts the candidates in place.
func Select[O any](candidates []*Candidate[O]) []*Candidate[O] {
	n := 0
	for _, c := range candidates {
		n += len(c.Tickets)
	}
	Sort(candidates)
	tickets, backfills := make(map[string]bool, n), map[string]bool{}
	taken := func(ticket string) bool { return tickets[ticket] }
	selected := candidates[:0:0]
	for _, c := range candidates {
		backfill := c.GetFilling().GetBackfill()
		if backfills[backfill] || len(c.Tickets) == 0 || slices.ContainsFunc(c.Tickets, taken) {
			continue
		}
		if backfill != "" {
			backfills[backfill] = true
		}
		for _, id := range c.Tickets {
			tickets[id] = true
		}
		selected = append(selected, c)
	}
	return selected
}

// Sort sorts candidates by preference, the preferred one first.
func Sort[O any](candidates []*Candidate[O]) { slices.SortFunc(candidates, Compare[O]) }

// Compare is negative when a is preferred to b.
func Compare[O any](a, b *Candidate[O]) int {
	// One comparison after the other: almost always the first few decide, and the ids of tickets are long.
	if a.First != b.First {
		if a.First {
			return -1
		}
		return 1
	}
	if c := cmp.Compare(b.GetScore(), a.GetScore()); c != 0 {
		return c
	}
	if c := cmp.Compare(a.GetOldest(), b.GetOldest()); c != 0 {
		return c
	}
	return cmp.Or(
		slices.Compare(a.Tickets, b.Tickets),
		cmp.Compare(a.Config, b.Config),
		cmp.Compare(a.GetFilling().GetBackfill(), b.GetFilling().GetBackfill()),
	)
}
