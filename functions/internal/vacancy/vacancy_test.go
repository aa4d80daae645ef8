package vacancy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/functions/internal/vacancy"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

var window = waiting.Window{Start: 5, Widen: 2, Most: 60}

// filler is a function that does nothing but fill.
func filler() *matchfn.Function {
	return matchfn.New(func(r *matchfn.Run) error {
		tickets, games := waiting.In(r, "")
		vacancy.Fill(r, vacancy.Search{Games: games, Tickets: tickets, Attribute: "skill", Window: window}, make([]bool, r.Tickets()))
		return nil
	})
}

// plainly does what Fill promises by looking at every ticket for every place.
func plainly(r fake.Request) (games []string) {
	taken := make([]bool, len(r.Tickets))
	for number, game := range r.Backfills {
		at, placed := game.Attributes["skill"]
		var chosen []uint32
		room := 0.0
		for range int(game.Attributes["open"]) {
			best, least := -1, math.Inf(1)
			for i, t := range r.Tickets {
				skill, has := t.Attributes["skill"]
				gap := -t.Wait.Seconds()
				if placed {
					gap = math.Abs(skill - at)
				}
				if !taken[i] && gap < least && (!placed || has && gap <= window.After(t.Wait.Seconds())) {
					best, least = i, gap
				}
			}
			if best < 0 {
				break
			}
			taken[best] = true
			chosen = append(chosen, uint32(best))
			if placed {
				room += window.After(r.Tickets[best].Wait.Seconds()) - least
			}
		}
		if len(chosen) > 0 {
			slices.Sort(chosen)
			games = append(games, fmt.Sprintf("%d %v %.6f", number, chosen, room/float64(len(chosen))))
		}
	}
	return games
}

func TestFill(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var request fake.Request
		for range r.IntN(60) {
			ticket := fake.Ticket{Wait: time.Duration(r.IntN(40_000)) * time.Millisecond, Attributes: map[string]float64{"skill": 100 * r.NormFloat64()}}
			if r.IntN(10) == 0 {
				ticket.Attributes = nil
			}
			request.Tickets = append(request.Tickets, ticket)
		}
		// Numbers ascend by creation, in a runner.
		slices.SortFunc(request.Tickets, func(a, b fake.Ticket) int { return int(b.Wait - a.Wait) })
		for range r.IntN(30) {
			game := fake.Backfill{Ticket: fake.Ticket{Attributes: map[string]float64{"open": float64(r.IntN(4)), "skill": 20 * float64(r.IntN(7)-3)}}}
			if r.IntN(10) == 0 {
				delete(game.Attributes, "skill")
			}
			request.Backfills = append(request.Backfills, game)
		}
		proposals, err := fake.Run(filler(), request)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range proposals {
			b := p.Extras.Backfill
			if left := request.Backfills[b.Number].Attributes["open"] - float64(len(p.Tickets())); b.Attributes[0].Name != vacancy.Open || b.Attributes[0].Value != left {
				t.Errorf("seed %d: game %d is left %v, want open %v", seed, b.Number, b.Attributes, left)
			}
			tickets := slices.Sorted(slices.Values(p.Tickets()))
			got = append(got, fmt.Sprintf("%d %v %.6f", b.Number, tickets, p.Score))
		}
		if want := plainly(request); !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n%q, want\n%q", seed, got, want)
		}
	}
}
