package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// parse parses rules.
func parse(t *testing.T, text string) *rules.Rules {
	t.Helper()
	r, err := rules.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// singles are tickets of a player each, whose skill is their number.
func singles(n int) (pool []judge.Ticket) {
	for i := range n {
		pool = append(pool, judge.Ticket{Age: float64(n - i), Players: []judge.Player{{"skill": float64(i)}}})
	}
	return pool
}

// A match may have very many numbers of teams. The search tries those that the waiting tickets can fill.
func TestManyNumbersOfTeams(t *testing.T) {
	const squads = `"teams": [{"name": "squad", "copies": {"min": 2, "max": 100}, "size": {"min": 1, "max": 4}}],
  "players": {"min": 10, "max": 100}`
	for name, c := range map[string]struct {
		rules   string
		tickets int
	}{
		"one shape":           {squads, 30},
		"just enough players": {squads, 10},
		"three shapes": {`"teams": [{"name": "a", "copies": {"min": 1, "max": 5}, "size": 1},
  {"name": "b", "copies": {"min": 1, "max": 5}, "size": 1}, {"name": "c", "copies": {"min": 1, "max": 5}, "size": 1}]`, 4},
		"a total that few teams have": {`"numbers": ["skill"], "teams": [{"name": "a", "copies": {"min": 2, "max": 9},
    "size": 1}, {"name": "b", "copies": {"min": 1, "max": 9}, "size": 1}],
  "rules": [{"total": "skill", "sum": {"min": 3, "max": 3}}]`, 20},
		"few of many fit together": {`"numbers": ["skill"], "rules": [{"spread": "skill", "max": 20}], ` + squads, 400},
		"no more than forty of many": {`"numbers": ["skill"], "rules": [{"spread": "skill", "max": 40}],
  "teams": [{"name": "a", "copies": {"min": 2, "max": 40}, "size": 1}, {"name": "b", "copies": {"min": 2, "max": 40},
    "size": 1}]`, 500},
		"teams that may be empty": {`"numbers": ["skill"], "teams": [
  {"name": "a", "copies": {"min": 2, "max": 90}, "size": {"min": 0, "max": 1}}], "players": {"min": 3}`, 3},
	} {
		r, pool := parse(t, "{"+c.rules+"}"), singles(c.tickets)
		found := search.Search(r, tickets(pool), nil, 1_000_000)
		if len(found) == 0 {
			t.Errorf("%s: no match", name)
		}
		for _, m := range found {
			if err := judge.Check(r, pool, judged(m)); err != nil {
				t.Errorf("%s: %+v: %v", name, m, err)
			}
		}
	}
}

// Parties that only few teams take are found among many other tickets, of which only two may be in a match.
func TestPartiesBesideFewOfMany(t *testing.T) {
	r := parse(t, `{"values": {"kind": "string"}, "players": {"min": 11}, "teams": [
  {"name": "a", "copies": {"min": 0, "max": 100}, "size": 1}, {"name": "b", "copies": {"min": 0, "max": 5}, "size": 5}],
  "rules": [{"holders": "kind", "of": "x", "count": {"max": 2}}]}`)
	var pool []judge.Ticket
	for i := range 42 {
		one := judge.Ticket{Age: float64(100 - i), Players: []judge.Player{{"kind": "x"}}}
		if i < 2 {
			one.Players = slices.Repeat([]judge.Player{{"kind": "y"}}, 5)
		}
		pool = append(pool, one)
	}
	found := search.Search(r, tickets(pool), nil, 1_000_000)
	if len(found) != 1 || judge.Check(r, pool, judged(found[0])) != nil {
		t.Errorf("%+v", found)
	}
}

// Tickets join a game of which only few teams are known, although it may have very many.
func TestGamesOfManyTeams(t *testing.T) {
	for _, backfill := range []string{`{}`, `{"open": 0}`} {
		r := parse(t, `{"teams": [{"name": "a", "copies": {"min": 2, "max": 9}, "size": {"min": 1, "max": 2}},
  {"name": "b", "copies": {"min": 1, "max": 90}, "size": {"min": 1, "max": 2}}], "backfill": `+backfill+`}`)
		games := []*judge.Running{{Room: -1, Members: []judge.Member{
			{Player: judge.Player{}, Team: "a_1"}, {Player: judge.Player{}, Team: "a_2"}, {Player: judge.Player{}, Team: "b_1"},
		}}}
		if got := filled(r, singles(1), games); got.matches != 1 || got.wrong != "" {
			t.Errorf("backfill %s: %d join: %s", backfill, got.matches, got.wrong)
		}
	}
}

// squads are rules of a world whose matches have very many numbers of teams.
func (w world) squads() []byte {
	rules := ""
	for range w.IntN(3) {
		rules += `,` + w.one(`{"spread": "skill", "max": `+fmt.Sprint(w.IntN(9))+`}`, `{"same": "mode"}`,
			`{"total": "skill", "sum": {"max": `+fmt.Sprint(w.IntN(20))+`}}`, `{"gap": "count", "max": 0}`,
			`{"gap": "skill", "max": `+fmt.Sprint(w.IntN(6))+`}`).(string)
	}
	teams := ""
	names := []string{"a", "b", "c"}[:1+w.IntN(3)]
	most := []int{70, 9, 5}[len(names)-1] // more would be too many for the reference
	for _, name := range names {
		low := w.IntN(3)
		teams += fmt.Sprintf(`,{"name": %q, "copies": {"min": %d, "max": %d}, "size": {"min": %d, "max": %d}}`, name,
			w.IntN(2), most+w.IntN(3), low, max(1, low)+w.IntN(3))
	}
	players := ""
	if w.chance(2) {
		players = fmt.Sprintf(`, "players": {"min": %d}`, 1+w.IntN(7))
	}
	return []byte(fmt.Sprintf(`{"values": {"skill": {"type": "number", "default": 2},
  "mode": {"type": "string", "missing": "any"}}, "teams": [%s], "rules": [%s]%s}`, teams[1:], rules[min(1, len(rules)):],
		players))
}

// With very many numbers of teams, too, the search finds a match if there is one.
func TestManyNumbersOfTeamsLoseNoMatch(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 6))
		text := world{random}.squads()
		r, err := rules.Parse(text)
		if err != nil {
			return o
		}
		pool := world{random}.pool(*least + random.IntN(min(*most, 5)))
		got := searched(r, pool)
		switch o.unknown = !got.told; {
		case got.matches > 0:
			o.kind = "matches"
		case got.told:
			o.kind = "none"
		}
		if got.wrong != "" {
			o.failed = func(*testing.T) string {
				pool = shrink(pool, func(p []judge.Ticket) bool { return searched(r, p).wrong != "" })
				return fmt.Sprintf("seed %d: %s\n%s\n%+v", *seed+uint64(i), searched(r, pool).wrong, text, pool)
			}
		}
		return o
	})
	t.Logf("%v", counts)
	if *cases >= 200 && (counts["matches"] < *cases/20 || counts["none"] < *cases/50) {
		t.Errorf("the cases say little: %v", counts)
	}
}
