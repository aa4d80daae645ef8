package main

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

// In no run does an arena that keeps its tickets leave tickets over that could make a game: while tickets come and go,
// wait longer, are proposed and not matched, and games lose players. Its games keep the rules.
func TestArenaOfChangesOverlooksNobody(t *testing.T) {
	settings := []string{
		`{"players":2,"window":3,"widen":1}`, `{"players":4,"window":0,"widen":2,"maxWindow":60}`,
		`{"players":3,"window":60,"widen":0}`, `{"players":5,"least":2,"early":20,"window":5,"widen":0.5,"timeout":90}`,
		`{"players":3,"window":1,"widen":0.1,"timeout":50}`, `{"players":4,"least":3,"window":4,"widen":0.3}`,
	}
	games, kept := 0, 0
	for seed := range uint64(180) {
		r := rand.New(rand.NewPCG(seed, 5))
		text := settings[seed%uint64(len(settings))]
		rules, err := parseRules(matchfn.NewSettings([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		crowd := fake.NewCrowd(arena, text)
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		type ticket struct {
			skill   float64
			created time.Time
			players int
		}
		waiting := map[int]ticket{}
		add := func(n int) {
			for range n {
				wait := float64(r.IntN(2) * r.IntN(30))
				p := player(math.Round(r.NormFloat64()*300), wait)
				if r.IntN(30) == 0 {
					p.Attributes = map[string]float64{}
				}
				skill, ok := p.Attributes["skill"]
				if !ok {
					skill = math.NaN()
				}
				if seed%3 == 0 && r.IntN(4) == 0 {
					p.Players = make([]fake.Player, 1+r.IntN(4))
				}
				waiting[crowd.Add(now, p)] = ticket{skill, now.Add(-p.Wait), max(1, len(p.Players))}
			}
		}
		add(r.IntN(300))
		for step := range 40 {
			now = now.Add(time.Duration(r.IntN(1+r.IntN(8000))) * time.Millisecond)
			before := len(waiting)
			add(r.IntN(1 + r.IntN(12)))
			if step > 0 && (len(waiting)-before)*rules.players < before/2 {
				kept++
			}
			for _, id := range slices.Sorted(maps.Keys(waiting)) {
				if r.IntN(100) == 0 {
					crowd.Remove(id)
					delete(waiting, id)
				}
			}
			crowd.Backfills = nil
			for range r.IntN(3) * r.IntN(2) {
				at := r.NormFloat64() * 200
				if r.IntN(5) == 0 {
					at = math.NaN()
				}
				crowd.Backfills = append(crowd.Backfills, running(at, float64(r.IntN(4))))
			}
			proposals, err := crowd.Run(now)
			if err != nil {
				t.Fatal(err)
			}
			if over, err := crowd.Overlooked(now); err != nil || len(over) > 0 {
				t.Fatalf("seed %d, step %d: it overlooked %s, %v", seed, step, show(over), err)
			}
			var seen []uint32
			for _, p := range proposals {
				games++
				ids := p.Tickets()
				players := 0
				low, high, narrowest := math.Inf(1), math.Inf(-1), math.Inf(1)
				for _, id := range ids {
					one, ok := waiting[int(id)]
					if !ok || slices.Contains(seen, id) {
						t.Fatalf("seed %d, step %d: ticket %d waits not, or is proposed twice", seed, step, id)
					}
					seen = append(seen, id)
					players += one.players
					low, high = min(low, one.skill), max(high, one.skill)
					narrowest = min(narrowest, rules.Window.After(now.Sub(one.created).Seconds()))
				}
				if b := p.Extras.Backfill; b != nil && !b.Create &&
					b.Attributes[0].Value != crowd.Backfills[b.Number].Attributes["open"]-float64(players) {
					t.Fatalf("seed %d, step %d: game %d gets %d players, then open is %v", seed, step, b.Number, players, b.Attributes)
				}
				if b := p.Extras.Backfill; b != nil && b.Create &&
					(high-low > narrowest+1e-9 || players < rules.least || players > rules.players) {
					t.Fatalf("seed %d, step %d: %d players, %v apart, with windows of %v", seed, step, players, high-low, narrowest)
				}
				if r.IntN(3) == 0 {
					continue // another config was faster
				}
				for _, id := range ids {
					crowd.Remove(int(id))
					delete(waiting, int(id))
				}
			}
		}
	}
	if games < 1000 || kept < 1000 {
		t.Errorf("only %d games and %d runs of changes were tried", games, kept)
	}
}
