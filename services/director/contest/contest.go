// Package contest decides which of many proposals win. It knows nothing but the proposals, so
// that a tool which tries a function out decides as the director does.
package contest

import (
	"cmp"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Entry is a proposal that takes part.
type Entry[O any] struct {
	*pb.Proposal
	// Tickets of all teams, team by team.
	Tickets []string
	// Config is the id of the config that it was made for.
	Config string
	// Origin is what the caller wants to know of it later.
	Origin O
}

// Winners picks the proposals that win: the best score first, then the one whose
// oldest ticket is older, then by tickets and config. A proposal with a ticket that is already
// taken loses. The same entries in any order give the same winners, and none that lost could be added to them.
// It reorders the entries.
func Winners[O any](entries []*Entry[O]) []*Entry[O] {
	n := 0
	for _, e := range entries {
		n += len(e.Tickets)
	}
	slices.SortStableFunc(entries, func(a, b *Entry[O]) int {
		return cmp.Or(
			cmp.Compare(b.GetScore(), a.GetScore()),
			cmp.Compare(a.GetOldest(), b.GetOldest()),
			slices.Compare(a.Tickets, b.Tickets),
			cmp.Compare(a.Config, b.Config),
		)
	})
	taken := make(map[string]struct{}, n)
	won := entries[:0:0]
	for _, e := range entries {
		if len(e.Tickets) == 0 || anyIn(taken, e.Tickets) {
			continue
		}
		for _, id := range e.Tickets {
			taken[id] = struct{}{}
		}
		won = append(won, e)
	}
	return won
}

func anyIn(taken map[string]struct{}, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		_, is := taken[id]
		return is
	})
}
