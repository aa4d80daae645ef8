package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/fake"
)

// sorted are proposals in a form that can be compared, in any order.
func sorted(proposals []fake.Proposal) []string {
	var all []string
	for _, p := range proposals {
		tickets := slices.Sorted(slices.Values(p.Tickets()))
		one := fmt.Sprintf("%v %.9f", tickets, p.Score)
		if p.Extras != nil {
			one += " " + p.Extras.Error
			if b := p.Extras.Backfill; b != nil {
				one += fmt.Sprint(" ", b.Create, b.Number, b.Attributes)
			}
		}
		all = append(all, one)
	}
	slices.Sort(all)
	return all
}

// A duel that keeps its tickets proposes, in every run, what one would propose that got all tickets at once: while
// tickets come and go, wait longer, are proposed and not matched, and running duels lose players.
func TestDuelOfChangesIsTheDuelOfAll(t *testing.T) {
	settings := []string{
		`{"window":5,"widen":1}`, `{"window":0,"widen":2,"maxWindow":40}`, `{"window":30,"widen":0}`,
		`{"window":1,"widen":0.1,"timeout":50}`, `{"window":2,"widen":0.5,"maxWindow":9,"refill":true}`,
		`{"window":0,"widen":0.003,"timeout":200}`, `{"players":2,"window":5,"widen":1,"timeout":90}`,
	}
	found, seeds := 0, 240
	if testing.Short() {
		seeds = 70
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 5))
		crowd := fake.NewCrowd(duel, settings[seed%uint64(len(settings))])
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		var waiting []int
		add := func(n int) {
			wait := 0.0
			for range n {
				// No two are of the same millisecond: of those the number decides, which is another one.
				wait += 0.001
				ticket := player(r.NormFloat64()*1000, wait+float64(r.IntN(2))*float64(r.IntN(30)))
				if r.IntN(30) == 0 {
					ticket.Attributes = nil
				}
				if seed%2 == 0 && r.IntN(3) > 0 {
					ticket.Players = make([]fake.Player, 1+r.IntN(3))
				}
				waiting = append(waiting, crowd.Add(now, ticket))
			}
		}
		add(r.IntN(300))
		for step := range 40 {
			now = now.Add(time.Duration(r.IntN(1+r.IntN(8)))*time.Second + 311*time.Millisecond)
			add(r.IntN(1 + r.IntN(12)))
			for range r.IntN(4) {
				if len(waiting) > 0 {
					at := r.IntN(len(waiting))
					crowd.Remove(waiting[at])
					waiting = slices.Delete(waiting, at, at+1)
				}
			}
			crowd.Backfills = nil
			for range r.IntN(3) * r.IntN(2) {
				game := fake.Backfill{Ticket: fake.Ticket{Attributes: map[string]float64{"open": float64(r.IntN(4))}}}
				if r.IntN(5) > 0 {
					game.Attributes["skill"] = r.NormFloat64() * 500
				}
				crowd.Backfills = append(crowd.Backfills, game)
			}
			want, err := crowd.Anew(now)
			if err != nil {
				t.Fatal(err)
			}
			got, err := crowd.Run(now)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(sorted(got), sorted(want)) {
				t.Fatalf("seed %d, step %d:\n%v, want\n%v", seed, step, sorted(got), sorted(want))
			}
			if over, err := crowd.Overlooked(now); err != nil || len(over) > 0 {
				t.Fatalf("seed %d, step %d: it overlooked %v, %v", seed, step, sorted(over), err)
			}
			for _, p := range got {
				if r.IntN(3) == 0 {
					continue // another config was faster
				}
				found++
				for _, id := range p.Tickets() {
					crowd.Remove(int(id))
					waiting = slices.DeleteFunc(waiting, func(other int) bool { return other == int(id) })
				}
			}
		}
	}
	if found < 4*seeds {
		t.Errorf("only %d proposals were tried", found)
	}
}

// Tickets of equal values and ages may be paired in another way, but none is overlooked.
func TestDuelOfChangesOverlooksNoTies(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 6))
		crowd := fake.NewCrowd(duel, []string{`{"window":0,"widen":1}`, `{"window":1,"widen":0}`,
			`{"window":0,"widen":1,"maxWindow":3}`}[seed%3])
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 60 {
			now = now.Add(time.Duration(r.IntN(3)) * time.Second)
			for range r.IntN(6) {
				crowd.Add(now, player(math.Round(r.NormFloat64()*60), float64(r.IntN(3))))
			}
			proposals, err := crowd.Run(now)
			if err != nil {
				t.Fatal(err)
			}
			if over, err := crowd.Overlooked(now); err != nil || len(over) > 0 {
				t.Fatalf("seed %d: it overlooked %v, %v", seed, sorted(over), err)
			}
			for _, p := range proposals {
				if r.IntN(4) > 0 {
					crowd.Remove(int(p.Tickets()[0]))
					crowd.Remove(int(p.Tickets()[1]))
				}
			}
		}
	}
}
