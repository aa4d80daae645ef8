package crowd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/functions/internal/crowd"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/fake"
)

var window = waiting.Window{Start: 5, Widen: 2, Most: 60}

// filler is a function that only fills.
func filler() *matchfn.Function {
	return matchfn.New(func(r *matchfn.Run) error {
		c := crowd.New(&waiting.Rules{Attribute: "skill", Window: window, Least: 1, Most: 9})
		fresh, games := c.Take(r)
		c.Join(fresh)
		c.Fill(r, games)
		return nil
	}, waiting.Declare(matchfn.PlayerIDs())...)
}

func sizeOf(t fake.Ticket) int { return max(1, len(t.Players)) }

// simpleFill does what Fill promises. It looks at every ticket for every place.
func simpleFill(r fake.Request) (games []string) {
	matched := make([]bool, len(r.Tickets))
	for number, game := range r.Backfills {
		at, placed := game.Attributes["skill"]
		var chosen []uint32
		excess := 0.0
		left, players := int(game.Attributes["open"]), 0
		for left > 0 {
			best, least := -1, math.Inf(1)
			for i, t := range r.Tickets {
				skill, has := t.Attributes["skill"]
				gap := -t.Wait.Seconds()
				if placed {
					gap = math.Abs(skill - at)
				}
				if !matched[i] && gap < least && sizeOf(t) <= left && (!placed || has && gap <= window.After(t.Wait.Seconds())) {
					best, least = i, gap
				}
			}
			if best < 0 {
				break
			}
			matched[best] = true
			chosen = append(chosen, uint32(best))
			size := sizeOf(r.Tickets[best])
			left, players = left-size, players+size
			if placed {
				excess += (window.After(r.Tickets[best].Wait.Seconds()) - least) * float64(size)
			}
		}
		if len(chosen) > 0 {
			slices.Sort(chosen)
			games = append(games, fmt.Sprintf("%d %v %.6f", number, chosen, excess/float64(players)))
		}
	}
	return games
}

func TestFillProposesTheNearestTickets(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var request fake.Request
		for range r.IntN(60) {
			ticket := fake.Ticket{
				Wait:       time.Duration(r.IntN(40_000)) * time.Millisecond,
				Attributes: map[string]float64{"skill": 100 * r.NormFloat64()},
			}
			if r.IntN(10) == 0 {
				ticket.Attributes = nil
			}
			if seed%2 == 0 && r.IntN(3) == 0 {
				ticket.Players = make([]fake.Player, 1+r.IntN(4))
			}
			request.Tickets = append(request.Tickets, ticket)
		}
		// In a runner, tickets are numbered by creation.
		slices.SortFunc(request.Tickets, func(a, b fake.Ticket) int { return int(b.Wait - a.Wait) })
		for range r.IntN(30) {
			var game fake.Backfill
			game.Attributes = map[string]float64{"open": float64(r.IntN(4)), "skill": 20 * float64(r.IntN(7)-3)}
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
			left := request.Backfills[b.Number].Attributes["open"]
			for _, i := range p.Tickets() {
				left -= float64(sizeOf(request.Tickets[i]))
			}
			if b.Attributes[0] != (block.BackfillAttribute{Name: waiting.Open, Value: left}) {
				t.Errorf("seed %d: the attributes of game %d become %v, want open %v", seed, b.Number, b.Attributes, left)
			}
			tickets := slices.Sorted(slices.Values(p.Tickets()))
			got = append(got, fmt.Sprintf("%d %v %.6f", b.Number, tickets, p.Score))
		}
		if want := simpleFill(request); !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n%q, want\n%q", seed, got, want)
		}
	}
}

// A game that takes very many players gets as many at a time as a proposal may have tickets, invocation.MaxTickets: the
// service refuses all proposals of a run that has a larger one.
func TestGameGetsNoMoreThanAProposalHas(t *testing.T) {
	skill := map[string]float64{"skill": 0}
	for _, game := range []map[string]float64{{"open": 5000, "skill": 0}, {"open": 5000}} {
		proposals, err := fake.Run(filler(), fake.Request{
			Tickets:   slices.Repeat([]fake.Ticket{{Attributes: skill}}, 1500),
			Backfills: []fake.Backfill{{Ticket: fake.Ticket{Attributes: game}}},
		})
		if err != nil || len(proposals) != 1 {
			t.Fatal(len(proposals), err)
		}
		left := proposals[0].Extras.Backfill.Attributes[0]
		if n := len(proposals[0].Tickets()); n != 1000 || left.Value != 4000 {
			t.Errorf("a game with %v gets %d tickets, and %v of its places are left", game, n, left.Value)
		}
	}
}
