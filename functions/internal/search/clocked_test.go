package search_test

import (
	"encoding/json"
	"math/rand/v2"
)

// ruleSet is the random rule set of a seed. For one seed of three, the sizes and the numbers of teams and the players
// of a match change with the time. They come from a stream of their own, so that the other seeds mean what they meant
// before there were such.
func ruleSet(random *rand.Rand, seed uint64) []byte {
	text := world{random}.rules()
	if seed%3 != 0 {
		return text
	}
	w := world{rand.New(rand.NewPCG(seed, 7))}
	var all object
	if err := json.Unmarshal(text, &all); err != nil {
		return nil
	}
	teams, _ := all["teams"].([]any)
	for _, of := range teams {
		if team, _ := of.(object); team != nil {
			w.clocked(team, "size", "copies")
		}
	}
	w.clocked(all, "players")
	text, _ = json.MarshalIndent(all, "", "  ")
	return text
}

// clocked lets some of the ends of ranges change with the time.
func (w world) clocked(of object, names ...string) {
	for _, name := range names {
		r, is := of[name].(object)
		if n, fixed := of[name].(float64); fixed {
			r, is = object{"min": n, "max": n}, true
		}
		if !is {
			continue
		}
		for _, end := range []string{"min", "max"} {
			if n, some := r[end].(float64); some && !w.chance(3) {
				r[end] = w.schedule(int(n), end == "max")
			}
		}
		of[name] = r
	}
}

// schedule is a number that gets greater or less with the time, by one at most.
func (w world) schedule(n int, positive bool) any {
	least := 0
	if positive {
		least = 1
	}
	next := func() any { return max(least, n+w.IntN(3)-1) }
	clock := w.one("oldest", "newest", "mean", "anchor")
	first := 1 + w.IntN(20)
	steps := []any{[]any{first, next()}}
	if w.chance(2) {
		steps = append(steps, []any{first + 1 + w.IntN(20), next()})
	}
	if w.chance(3) {
		return object{"start": n, "grow": 1, "every": 1 + w.IntN(20), "until": n + 1, "clock": clock}
	}
	return object{"start": next(), "steps": steps, "clock": clock}
}
