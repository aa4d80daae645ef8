// Package evaluator decides which of many proposals win. It knows nothing but the proposals, so
// that a tool which tries a function out decides as the director does.
package evaluator

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
	// First entries go before all others, whatever their scores are: those that fill running games, where the
	// installation wants that.
	First bool
	// Origin is what the caller wants to know of it later.
	Origin O
}

// Winners picks the proposals that win: those that go first, then the best score, then the one whose
// oldest ticket is older, then by tickets and config. A proposal with a ticket or a backfill ticket that is already
// taken loses: functions that saw the same backfill ticket would send players to the same places. The same entries in any order give the same winners, and none that lost could be added to them.
// It reorders the entries.
func Winners[O any](entries []*Entry[O]) []*Entry[O] {
	n := 0
	for _, e := range entries {
		n += len(e.Tickets)
	}
	slices.SortFunc(entries, func(a, b *Entry[O]) int {
		return cmp.Or(
			order(b.First, a.First),
			cmp.Compare(b.GetScore(), a.GetScore()),
			cmp.Compare(a.GetOldest(), b.GetOldest()),
			slices.Compare(a.Tickets, b.Tickets),
			cmp.Compare(a.Config, b.Config),
			cmp.Compare(a.GetFilling().GetBackfill(), b.GetFilling().GetBackfill()),
		)
	})
	taken := make(map[string]struct{}, n)
	filled := map[string]struct{}{}
	won := entries[:0:0]
	for _, e := range entries {
		game := e.GetFilling().GetBackfill()
		if _, is := filled[game]; is || len(e.Tickets) == 0 || anyIn(taken, e.Tickets) {
			continue
		}
		if game != "" {
			filled[game] = struct{}{}
		}
		for _, id := range e.Tickets {
			taken[id] = struct{}{}
		}
		won = append(won, e)
	}
	return won
}

// order is that of false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func anyIn(taken map[string]struct{}, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		_, is := taken[id]
		return is
	})
}
