// Package guides judges matches by what other matchmakers' own documents say, as read in November 2026. The judges
// share no code and no reading with our imports, our search and our reference. A fuzz compares them.
package guides

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
	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/pkg/matchfn/rules"
)

type object = map[string]any

// player has attributes: json.Number, string or []string. All numbers are exact.
type player struct {
	id         string
	attributes map[string]any
	latency    map[string]json.Number
}

type ticket struct {
	age     int
	players []player
}

// guide is what a matchmaker's documents say of a rule set.
type guide interface {
	// allowed reports whether it allows a match of the tickets in each team. Where the documents leave two readings, sure
	// asks for both, and otherwise one is enough.
	allowed(pool []ticket, sides [][]int, sure bool) bool
	teams() int // at most
}

// request is a run of our function with our rules, with what players have as properties.
func request(settings []byte, pool []ticket) fake.Request {
	r := fake.Request{Settings: string(settings), Budget: 5 * time.Second}
	for _, t := range pool {
		one := fake.Ticket{Wait: time.Duration(t.age) * time.Second}
		for _, p := range t.players {
			properties := map[string][]byte{}
			for name, value := range p.attributes {
				properties[name], _ = json.Marshal(value)
			}
			if p.latency != nil {
				properties["latency"], _ = json.Marshal(p.latency)
			}
			one.Players = append(one.Players, fake.Player{ID: p.id, Properties: properties})
		}
		r.Tickets = append(r.Tickets, one)
	}
	return r
}

// disagreement returns where our function makes a match that is not allowed, or leaves over one that surely is. matches
// is how many it makes.
func disagreement(g guide, settings []byte, pool []ticket) (matches int, wrong string) {
	proposals, err := fake.Run(matchfn.New(function.Match, function.Options()...), request(settings, pool))
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
		if !g.allowed(pool, sides, false) {
			return len(proposals), fmt.Sprintf("%v is made, and not allowed", sides)
		}
	}
	if sides := find(g, pool, left, make([][]int, g.teams()), 0); sides != nil {
		return len(proposals), fmt.Sprintf("%v is allowed, and not made", sides)
	}
	return len(proposals), ""
}

// find tries to put the tickets that are left from one on into teams, or to leave them out.
func find(g guide, pool []ticket, left map[int]bool, sides [][]int, next int) [][]int {
	if next == len(pool) {
		if slices.ContainsFunc(sides, func(of []int) bool { return len(of) > 0 }) && g.allowed(pool, sides, true) {
			return sides
		}
		return nil
	}
	if left[next] {
		for i := range sides {
			with := slices.Clone(sides)
			with[i] = append(slices.Clone(sides[i]), next)
			if found := find(g, pool, left, with, next+1); found != nil {
				return found
			}
		}
	}
	return find(g, pool, left, sides, next+1)
}

// languages are the languages that have a guide.
var languages = map[string]struct {
	world func(w world, parties bool) object
	pool  func(w world, n int, parties bool) []ticket
	guide func(text []byte) guide
	// known is what verdicts may say that are not exact: both readings are looked at.
	known []string
}{
	dialects.FlexMatch: {world.flexmatch, world.flexmatchPool, newFlexmatch, []string{"the match has one location"}},
	dialects.PlayFab:   {world.playfab, world.playfabPool, newPlayfab, []string{"PlayFab says that it must be less"}},
	dialects.Unity:     {world.unity, world.unityPool, newUnity, []string{"strings"}},
	dialects.AccelByte: {world.accelByte, world.accelBytePool, newAccelByte, []string{
		"name those as match options", "clients must send", "a ticket without one is in no match", "limits no latency",
		"block each other",
	}},
}

// compare compares a case with the guide, and says what is wrong. Only if the verdicts are that all is so, it counts.
func compare(language string, seed uint64) (matches int, counts bool, wrong string) {
	w, of := world{rand.New(rand.NewPCG(seed, 37))}, languages[language]
	parties := w.chance(2)
	text, err := json.Marshal(of.world(w, parties))
	if err != nil {
		return 0, false, err.Error()
	}
	imported, err := dialects.Import(language, text, "")
	switch {
	case err != nil && strings.Contains(err.Error(), "nothing can match"):
		return 0, false, ""
	case err != nil:
		return 0, false, fmt.Sprintf("%v\n%s", err, text)
	case !exact(imported.Lines, of.known):
		return 0, false, ""
	}
	pool := of.pool(w, 2+w.IntN(4), parties)
	g, settings := of.guide(text), rules.Write(imported.Rules)
	matches, wrong = disagreement(g, settings, pool)
	for n := 0; wrong != "" && n < len(pool); {
		less := slices.Delete(slices.Clone(pool), n, n+1)
		if _, still := disagreement(g, settings, less); len(less) > 0 && still != "" {
			pool, wrong = less, still
		} else {
			n++
		}
	}
	if wrong != "" {
		wrong += fmt.Sprintf("\n%s\n%+v", text, pool)
	}
	return matches, true, wrong
}

// Our imports and our search allow and find what the guides say, where the verdicts are that this is so.
func TestMatchesAreThoseOfTheGuides(t *testing.T) {
	cases := uint64(3000)
	if testing.Short() {
		cases = 400
	}
	for language := range languages {
		t.Run(language, func(t *testing.T) {
			made, none := uint64(0), uint64(0)
			for seed := range cases {
				matches, counts, wrong := compare(language, seed)
				switch {
				case wrong != "":
					t.Fatalf("case %d: %s", seed, wrong)
				case matches > 0:
					made++
				case counts:
					none++
				}
			}
			t.Logf("in %d of %d cases there is a match, in %d there is none", made, cases, none)
			if made < cases/10 || none < cases/20 {
				t.Error("the cases say little")
			}
		})
	}
}

// As TestMatchesAreThoseOfTheGuides, for as long as it may take.
func FuzzMatchesAreThoseOfTheGuides(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for language := range languages {
			if _, _, wrong := compare(language, seed); wrong != "" {
				t.Errorf("%s, case %d: %s", language, seed, wrong)
			}
		}
	})
}

// exact reports whether verdicts say nothing else than that rules are exact, or what is known.
func exact(lines []translation.Line, known []string) bool {
	return !slices.ContainsFunc(lines, func(l translation.Line) bool {
		return l.Verdict != translation.Exact && l.Verdict != translation.Note &&
			!slices.ContainsFunc(known, func(one string) bool { return strings.Contains(l.Why, one) })
	})
}
