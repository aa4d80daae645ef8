package block_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// suggestion is a proposal for the builder.
type suggestion struct {
	score float64
	teams [][]uint32
	part  bool
}

// The builder stores pairs separately. All proposals must come out in their order and form.
func TestProposalsOfAllFormsReadBackAsWritten(t *testing.T) {
	const tickets = 1000
	var b block.AnswerBuilder // used for all answers
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		next := uint32(0)
		some := func(n int) (team []uint32) {
			for range n {
				team = append(team, next)
				next++
			}
			return team
		}
		b.Reset()
		want := make([]suggestion, r.IntN(40))
		pairs := r.IntN(4) > 0 // otherwise of any form
		for i := range want {
			w := &want[i]
			w.score = float64(r.IntN(5)) - 2
			size := r.IntN(4)
			if pairs || r.IntN(2) == 0 {
				size = 2
			}
			if team := some(size); size > 0 {
				w.teams = append(w.teams, team)
			}
			if n := b.Propose(w.score, first(w.teams)...); n != i || b.Len() != i+1 {
				t.Fatalf("seed %d: proposal %d is number %d of %d", seed, i, n, b.Len())
			}
			for size == 0 && len(w.teams) == 0 || !pairs && r.IntN(4) == 0 {
				team := some(1 + r.IntN(3))
				w.teams = append(w.teams, team)
				if n := b.Team(team...); n != len(w.teams)-1 && len(w.teams) > 1 {
					t.Fatalf("seed %d: team %d of proposal %d is number %d", seed, len(w.teams)-1, i, n)
				}
			}
			if w.part = r.IntN(8) == 0; w.part {
				b.Set(i, block.FieldRegion, 0, "", []byte("eu"))
			}
		}
		a, err := block.ParseAnswer(b.Finish(), tickets, 0)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if a.Len() != len(want) {
			t.Fatalf("seed %d: %d proposals, want %d", seed, a.Len(), len(want))
		}
		for i, w := range want {
			got := suggestion{score: a.Score(i), part: a.Extras(i) != nil}
			for team := range a.Teams(i) {
				got.teams = append(got.teams, a.Team(i, team))
			}
			if !reflect.DeepEqual(got, w) {
				t.Fatalf("seed %d: proposal %d is %+v, want %+v", seed, i, got, w)
			}
		}
	}
}

// A proposal without tickets must not get the next one's tickets.
func TestProposalWithoutTicketsBeforeAPairIsRefused(t *testing.T) {
	var b block.AnswerBuilder
	b.Propose(0, 0, 1)
	b.Propose(0)
	b.Propose(0, 2, 3)
	if _, err := block.ParseAnswer(b.Finish(), 4, 0); err == nil || err.Error() != "answer: proposal 1 has no tickets" {
		t.Error(err)
	}
}

func first(teams [][]uint32) []uint32 {
	if len(teams) == 0 {
		return nil
	}
	return teams[0]
}
