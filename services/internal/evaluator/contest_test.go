package evaluator_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/evaluator"
)

type entry = evaluator.Entry[string]

func made(config string, score float64, oldest int64, tickets ...string) *entry {
	return &entry{
		Proposal: &pb.Proposal{Score: score, Oldest: oldest, Teams: []*pb.Team{{Tickets: tickets}}},
		Tickets:  tickets, Config: config,
	}
}

// filling makes an entry one that gives its tickets to a backfill ticket; "" creates one.
func filling(e *entry, game string) *entry {
	e.Filling = &pb.Filling{Backfill: game}
	return e
}

func first(e *entry) *entry {
	e.First = true
	return e
}

// entries draws proposals over a few tickets, so that many of them collide.
func entries(t *rapid.T) []*entry {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) *entry {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-h]`), 0, 3, rapid.ID).Draw(t, "tickets")
		e := made(
			rapid.SampledFrom([]string{"a", "b"}).Draw(t, "config"),
			float64(rapid.IntRange(0, 3).Draw(t, "score")), rapid.Int64Range(0, 2).Draw(t, "oldest"), ids...,
		)
		if game := rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(t, "backfill ticket"); game != "" {
			filling(e, game)
			e.First = rapid.Bool().Draw(t, "first")
		}
		return e
	})).Draw(t, "proposals")
}

// outcome is what was decided, without the identity of the entries.
func outcome(won []*entry) [][]string {
	var all [][]string
	for _, e := range won {
		all = append(all, append([]string{e.Config, e.GetFilling().GetBackfill()}, e.Tickets...))
	}
	return all
}

func TestWinners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := entries(t)
		won := evaluator.Winners(slices.Clone(given))

		taken, filled := map[string]bool{}, map[string]bool{}
		for _, e := range won {
			if game := e.GetFilling().GetBackfill(); game != "" {
				if filled[game] {
					t.Fatalf("backfill ticket %s is in two winners", game)
				}
				filled[game] = true
			}
			for _, id := range e.Tickets {
				if taken[id] {
					t.Fatalf("ticket %s is in two winners", id)
				}
				taken[id] = true
			}
		}
		for _, e := range given {
			if len(e.Tickets) > 0 && !slices.Contains(won, e) && !filled[e.GetFilling().GetBackfill()] && !slices.ContainsFunc(e.Tickets, func(id string) bool { return taken[id] }) {
				t.Fatalf("%v lost, and could still be added", e.Tickets)
			}
		}
		shuffled := slices.Clone(given)
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if a, b := outcome(won), outcome(evaluator.Winners(shuffled)); !slices.EqualFunc(a, b, slices.Equal) {
			t.Fatalf("another order gave other winners: %v, %v", a, b)
		}
	})
}

func TestWinnersPrefer(t *testing.T) {
	for name, test := range map[string]struct{ loser, winner *entry }{
		"a running game where those go first": {made("c", 9, 0, "a", "b"), first(filling(made("c", 1, 5, "b"), "x"))},
		"the higher score where they do not":  {filling(made("c", 1, 0, "b"), "x"), made("c", 9, 5, "a", "b")},
		"the better of two for one game":      {first(filling(made("c", 1, 0, "a"), "x")), first(filling(made("c", 2, 5, "b"), "x"))},
		"the lower game of equal proposals":   {filling(made("c", 1, 5, "a"), "y"), filling(made("c", 1, 5, "a"), "x")},
		"the higher score":                    {made("c", 1, 0, "a", "b"), made("c", 2, 9, "b", "c")},
		"the older ticket of equal scores":    {made("c", 1, 5, "a", "b"), made("c", 1, 4, "b", "c")},
		"the lower ticket id of equal ages":   {made("c", 1, 5, "b", "c"), made("c", 1, 5, "a", "c")},
		"the lower config of equal proposals": {made("d", 1, 5, "a", "c"), made("c", 1, 5, "a", "c")},
		"no proposal without a ticket at all": {made("c", 9, 0), made("c", 1, 5, "a", "c")},
	} {
		won := evaluator.Winners([]*entry{test.loser, test.winner})
		if len(won) != 1 || won[0] != test.winner {
			t.Errorf("%s: won %v", name, outcome(won))
		}
	}
}

// Two matches that each make a backfill ticket do not make the same one.
func TestTwoNewBackfillTicketsAreNotOne(t *testing.T) {
	if won := evaluator.Winners([]*entry{filling(made("c", 1, 5, "a"), ""), filling(made("c", 1, 5, "b"), "")}); len(won) != 2 {
		t.Errorf("won %v", outcome(won))
	}
}
