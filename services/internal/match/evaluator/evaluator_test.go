package evaluator_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/evaluator"
)

type candidate = evaluator.Candidate[string]

func of(config string, score float64, oldest int64, tickets ...string) *candidate {
	return &candidate{
		Proposal: &pb.Proposal{Score: score, Oldest: oldest, Teams: []*pb.Team{{Tickets: tickets}}},
		Tickets:  tickets, Config: config,
	}
}

// filling makes a candidate one that gives its tickets to a backfill ticket; "" creates one.
func filling(c *candidate, game string) *candidate {
	c.Filling = &pb.Filling{Backfill: game}
	return c
}

func first(c *candidate) *candidate {
	c.First = true
	return c
}

// candidates draws proposals over a few tickets, so that many of them collide.
func candidates(t *rapid.T) []*candidate {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) *candidate {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-h]`), 0, 3, rapid.ID).Draw(t, "tickets")
		c := of(
			rapid.SampledFrom([]string{"a", "b"}).Draw(t, "config"),
			float64(rapid.IntRange(0, 3).Draw(t, "score")), rapid.Int64Range(0, 2).Draw(t, "oldest"), ids...,
		)
		if game := rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(t, "backfill ticket"); game != "" {
			filling(c, game)
			c.First = rapid.Bool().Draw(t, "first")
		}
		return c
	})).Draw(t, "proposals")
}

// outcome lists the selected candidates by value.
func outcome(selected []*candidate) [][]string {
	var all [][]string
	for _, c := range selected {
		all = append(all, append([]string{c.Config, c.GetFilling().GetBackfill()}, c.Tickets...))
	}
	return all
}

// Promise 2.
func TestSelectIsCompleteAndWithoutConflicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := candidates(t)
		selected := evaluator.Select(slices.Clone(drawn))

		tickets, filled := map[string]bool{}, map[string]bool{}
		for _, c := range selected {
			if game := c.GetFilling().GetBackfill(); game != "" {
				if filled[game] {
					t.Fatalf("backfill ticket %s is in two matches", game)
				}
				filled[game] = true
			}
			for _, id := range c.Tickets {
				if tickets[id] {
					t.Fatalf("ticket %s is in two matches", id)
				}
				tickets[id] = true
			}
		}
		for _, c := range drawn {
			possible := len(c.Tickets) > 0 && !filled[c.GetFilling().GetBackfill()] &&
				!slices.ContainsFunc(c.Tickets, func(id string) bool { return tickets[id] })
			if possible && !slices.Contains(selected, c) {
				t.Fatalf("%v was left out, and could still be added", c.Tickets)
			}
		}
		shuffled := slices.Clone(drawn)
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		if a, b := outcome(selected), outcome(evaluator.Select(shuffled)); !slices.EqualFunc(a, b, slices.Equal) {
			t.Fatalf("another order gave another outcome: %v, %v", a, b)
		}
	})
}

func TestSelectPrefers(t *testing.T) {
	for name, test := range map[string]struct{ loser, winner *candidate }{
		"a running game where those go first": {of("c", 9, 0, "a", "b"), first(filling(of("c", 1, 5, "b"), "x"))},
		"the higher score where they do not":  {filling(of("c", 1, 0, "b"), "x"), of("c", 9, 5, "a", "b")},
		"the better of two for one game": {
			first(filling(of("c", 1, 0, "a"), "x")), first(filling(of("c", 2, 5, "b"), "x")),
		},
		"the lower game of equal proposals":   {filling(of("c", 1, 5, "a"), "y"), filling(of("c", 1, 5, "a"), "x")},
		"the higher score":                    {of("c", 1, 0, "a", "b"), of("c", 2, 9, "b", "c")},
		"the older ticket of equal scores":    {of("c", 1, 5, "a", "b"), of("c", 1, 4, "b", "c")},
		"the lower ticket id of equal ages":   {of("c", 1, 5, "b", "c"), of("c", 1, 5, "a", "c")},
		"the lower config of equal proposals": {of("d", 1, 5, "a", "c"), of("c", 1, 5, "a", "c")},
		"no proposal without a ticket at all": {of("c", 9, 0), of("c", 1, 5, "a", "c")},
	} {
		selected := evaluator.Select([]*candidate{test.loser, test.winner})
		if len(selected) != 1 || selected[0] != test.winner {
			t.Errorf("%s: selected %v", name, outcome(selected))
		}
	}
}

// Each match makes a backfill ticket of its own.
func TestTwoNewBackfillTicketsDoNotConflict(t *testing.T) {
	a, b := filling(of("c", 1, 5, "a"), ""), filling(of("c", 1, 5, "b"), "")
	if selected := evaluator.Select([]*candidate{a, b}); len(selected) != 2 {
		t.Errorf("selected %v", outcome(selected))
	}
}
