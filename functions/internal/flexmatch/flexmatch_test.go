package flexmatch

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/functions/rules/function"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/pkg/matchfn/rules/origin"
	"matchmaker.dev/pkg/matchfn/rules/translation"
)

// request is a run of our function with a rule set of FlexMatch, with what players have as properties.
func request(text []byte, pool []ticket) fake.Request {
	r := fake.Request{Settings: `{"flexmatch": ` + string(text) + `}`, Budget: 5 * time.Second}
	for _, t := range pool {
		one := fake.Ticket{Wait: time.Duration(t.age) * time.Second}
		for i, p := range t.players {
			properties := map[string][]byte{}
			for name, value := range p.attributes {
				properties[name], _ = json.Marshal(value)
			}
			if p.latency != nil {
				properties["latency"], _ = json.Marshal(p.latency)
			}
			one.Players = append(one.Players, fake.Player{ID: fmt.Sprint("p", len(r.Tickets), i), Properties: properties})
		}
		r.Tickets = append(r.Tickets, one)
	}
	return r
}

// disagreement returns where our function makes a match that the judge does not allow, or leaves over one that is
// surely allowed. matches is how many it makes.
func disagreement(text []byte, pool []ticket) (matches int, wrong string) {
	j := newJudge(text)
	proposals, err := fake.Run(matchfn.New(function.Match, function.Options()...), request(text, pool))
	if err != nil {
		return 0, err.Error()
	}
	left := map[int]bool{}
	for i := range pool {
		left[i] = true
	}
	for _, p := range proposals {
		sides := make([][]int, len(p.Teams))
		for i, team := range p.Teams {
			for _, t := range team {
				sides[i] = append(sides[i], int(t))
				delete(left, int(t))
			}
		}
		if len(sides) != len(j.sides) || !j.allowed(pool, sides, false) {
			return len(proposals), fmt.Sprintf("%v is made, and not allowed", sides)
		}
	}
	if sides := j.find(pool, left, make([][]int, len(j.sides)), 0); sides != nil {
		return len(proposals), fmt.Sprintf("%v is allowed, and not made", sides)
	}
	return len(proposals), ""
}

// find tries to put the tickets that are left from one on into teams, or to leave them out.
func (j *judge) find(pool []ticket, left map[int]bool, sides [][]int, next int) [][]int {
	if next == len(pool) {
		if slices.ContainsFunc(sides, func(of []int) bool { return len(of) > 0 }) && j.allowed(pool, sides, true) {
			return sides
		}
		return nil
	}
	if left[next] {
		for i := range sides {
			with := slices.Clone(sides)
			with[i] = append(slices.Clone(sides[i]), next)
			if found := j.find(pool, left, with, next+1); found != nil {
				return found
			}
		}
	}
	return j.find(pool, left, sides, next+1)
}

// Our import and search allow and find what the guide says, where the verdict on each rule is that it is exact, or
// stricter since players need a common region.
func TestMatchesAreThoseOfTheGuide(t *testing.T) {
	cases := 3000
	if testing.Short() {
		cases = 400
	}
	made, none := 0, 0
	for i := range cases {
		w := world{rand.New(rand.NewPCG(uint64(i), 37))}
		parties := w.chance(2)
		set := w.ruleSet(parties)
		text, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		imported, err := origin.Import(origin.FlexMatch, text, "")
		if err != nil {
			if strings.Contains(err.Error(), "nothing can match") {
				continue
			}
			t.Fatalf("case %d: %v\n%s", i, err, text)
		}
		if !exact(imported.Lines) {
			continue
		}
		pool := w.pool(2+w.IntN(4), parties)
		matches, wrong := disagreement(text, pool)
		if wrong != "" {
			for n := 0; n < len(pool); {
				if less := slices.Delete(slices.Clone(pool), n, n+1); len(less) > 0 {
					if _, still := disagreement(text, less); still != "" {
						pool, wrong = less, still
						continue
					}
				}
				n++
			}
			t.Fatalf("case %d: %s\n%s\n%+v", i, wrong, text, pool)
		}
		if matches > 0 {
			made++
		} else {
			none++
		}
	}
	t.Logf("in %d of %d cases there is a match, in %d there is none", made, cases, none)
	if made < cases/10 || none < cases/20 {
		t.Error("the cases say little")
	}
}

// exact returns whether nothing is said but that rules are exact, and that players need a common region.
func exact(lines []translation.Line) bool {
	for _, l := range lines {
		switch l.Verdict {
		case translation.Exact, translation.Note:
		case translation.Stricter:
			if !strings.Contains(l.Why, "location") {
				return false
			}
		default:
			return false
		}
	}
	return true
}
