package search_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

var (
	cases = flag.Int("cases", 0, "how many random cases the search is compared with the reference in; "+
		"400 by default, or 200 with -short")
	seed    = flag.Uint64("seed", 1, "the seed of the first random case")
	least   = flag.Int("least", 1, "the fewest tickets of a random case")
	most    = flag.Int("tickets", 10, "the most tickets of a random case")
	parts   = flag.Int("parts", 300_000, "how many parts of matches the reference tries in a case, at most")
	failing = flag.String("failing", "", "the folder for a case that fails; a temporary one by default")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *cases == 0 {
		*cases = 400
		if testing.Short() {
			*cases = 200
		}
	}
	m.Run()
}

// tickets is a pool as a source of columns.
type tickets []judge.Ticket

func (t tickets) Ages() (ages []float64) {
	for _, one := range t {
		ages = append(ages, one.Age)
	}
	return ages
}

func (t tickets) Number(string) []float64 {
	numbers := make([]float64, len(t))
	for i := range numbers {
		numbers[i] = math.NaN()
	}
	return numbers
}

func (t tickets) Players(i int) ([]byte, bool) {
	text, err := json.Marshal(t[i].Players)
	return text, err == nil
}

// judged is a match as the judge takes it.
func judged(m search.Match) judge.Match {
	j := judge.Match{Region: m.Region}
	for _, team := range m.Teams {
		one := judge.Team{Shape: team.Shape, Roles: team.Roles}
		for _, t := range team.Tickets {
			one.Tickets = append(one.Tickets, int(t))
		}
		j.Teams = append(j.Teams, one)
	}
	return j
}

// ordinary is the work of a run whose budget is 5 s.
const ordinary = 4096 * 400

// plenty is what no such run has, for tests that are not about that.
const plenty = 50_000_000

// muchMore is the work of a search again if it ended before a match that there is.
const muchMore = 20 * plenty

// mostRepeated is in how many pools that may be so at most: in one of so many, and in one in any case.
const mostRepeated = 1000

// result is what was found in a pool.
type result struct {
	matches  int
	told     bool   // whether the reference could say what is left
	wrong    string // what is wrong with it, if anything is
	ended    bool   // whether the work ended before all that is left was tried
	repeated bool   // whether this was so while there was a match, and it was searched again with much more
}

// counts counts for which the work was too little.
func (r result) counts() map[string]int {
	n := map[string]int{}
	if r.ended {
		n["ended"]++
	}
	if r.repeated {
		n["repeated"]++
	}
	return n
}

// fewRepeated fails a test in which the work was too little for what there is in more than very few cases.
func fewRepeated(t *testing.T, counts map[string]int) {
	t.Helper()
	ended, repeated := counts["ended"], counts["repeated"]
	t.Logf("in %d the work ended before all was tried, in %d of them before a match", ended, repeated)
	if repeated > max(1, *cases/mostRepeated) {
		t.Errorf("in %d of %d cases the work was too little for what there is", repeated, *cases)
	}
}

// searched searches a pool, and looks at what is found. If the work ended before a match, it searches again with much
// more.
func searched(r *rules.Rules, pool []judge.Ticket) result {
	got := searchWith(r, pool, ordinary)
	if got.ended && got.wrong != "" {
		got = searchWith(r, pool, muchMore)
		got.ended, got.repeated = true, true
	}
	return got
}

func searchWith(r *rules.Rules, pool []judge.Ticket, work int) result {
	found, all := search.Tried(r, tickets(pool), &search.Games{}, work)
	left := map[int]bool{}
	for i := range pool {
		left[i] = true
	}
	for i, m := range found {
		if err := judge.Check(r, pool, judged(m)); err != nil {
			return result{wrong: fmt.Sprintf("match %d is %+v: %v", i, m, err)}
		}
		for _, team := range m.Teams {
			for _, t := range team.Tickets {
				if !left[int(t)] {
					return result{wrong: fmt.Sprintf("ticket %d is in two matches", t)}
				}
				delete(left, int(t))
			}
		}
	}
	var rest []judge.Ticket
	for i, t := range pool {
		if left[i] {
			rest = append(rest, t)
		}
	}
	m, ok, told := judge.Find(r, rest, *parts)
	got := result{matches: len(found), told: told, ended: !all}
	if ok {
		got.wrong = fmt.Sprintf(
			"%d matches were found, and of the %d tickets that are left %+v is one", len(found), len(rest), m)
	}
	return got
}

// The search finds a match if there is one, leaves over nothing that could be a match, and finds only what the rules
// allow.
func TestSearchFindsWhatTheReferenceFinds(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 0))
		text := ruleSet(random, *seed+uint64(i))
		r, err := rules.Parse(text)
		if err != nil {
			return o // a rule set that nothing can match
		}
		pool := world{random}.pool(*least + random.IntN(*most-*least+1))
		got := searched(r, pool)
		o.count = got.counts()
		switch o.unknown = !got.told; {
		case got.matches > 0:
			o.kind = "matches"
		case got.told:
			o.kind = "none"
		}
		if got.wrong == "" {
			return o
		}
		o.failed = func(t *testing.T) string {
			pool = shrink(pool, func(p []judge.Ticket) bool { return searched(r, p).wrong != "" })
			file := keep(t, text, pool)
			return fmt.Sprintf("seed %d: %s\n%s\nthe case is in %s", *seed+uint64(i), searched(r, pool).wrong, text, file)
		}
		return o
	})
	matches, none := counts["matches"], counts["none"]
	t.Logf("%d pools with a match, %d without; in %d the reference could not say whether there is another",
		matches, none, counts["unknown"])
	fewRepeated(t, counts)
	if *cases >= 200 && (matches < *cases/20 || none < *cases/50) {
		t.Errorf("the cases say little: %d pools with a match, %d without", matches, none)
	}
}

// shrink removes tickets as long as a case fails.
func shrink(pool []judge.Ticket, fails func([]judge.Ticket) bool) []judge.Ticket {
	for i := 0; i < len(pool); {
		less := append(append([]judge.Ticket{}, pool[:i]...), pool[i+1:]...)
		if fails(less) {
			pool = less
		} else {
			i++
		}
	}
	return pool
}

// keep writes a case to files that mm function test reads: --config config.json --tickets tickets.json, and with games
// --backfills games.json.
func keep(t *testing.T, text []byte, pool []judge.Ticket, games ...*judge.Running) string {
	dir := *failing
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "rules"); err != nil {
			t.Fatal(err)
		}
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	for i, one := range pool {
		players, _ := json.Marshal(one.Players)
		list = append(list, map[string]any{
			"id": fmt.Sprint(i), "wait": one.Age, "properties": map[string][]byte{"players": players},
		})
	}
	running := []any{}
	for i, g := range games {
		running = append(running, backfillOf(fmt.Sprint("game-", i), g))
	}
	for name, content := range map[string]any{
		"config.json": map[string]any{"matchmaking": map[string]any{
			"name": "case", "targetFunction": map[string]any{"name": "rules", "version": "1"}, "config": json.RawMessage(text),
		}},
		"tickets.json": list, "games.json": running,
	} {
		text, err := json.MarshalIndent(content, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// backfillOf is a running game as a backfill ticket. Its property lists the players.
func backfillOf(id string, g *judge.Running) map[string]any {
	var seats []search.Seat
	for _, m := range g.Members {
		values, _ := json.Marshal(m.Player)
		seats = append(seats, search.Seat{Team: m.Team, Role: m.Role, Version: 1, Values: values})
	}
	attributes, properties := map[string]float64{}, map[string][]byte{"players": search.AppendSeats(nil, seats)}
	if g.Region != "" {
		properties["region"] = document.Quote(nil, g.Region)
	}
	if g.Room >= 0 {
		attributes["open"] = float64(g.Room)
	}
	return map[string]any{
		"id": id, "wait": g.Age, "attributes": attributes, "properties": properties, "connection": "203.0.113.7:7777",
	}
}

// The reference finds with its shortcuts what it finds without.
func TestShortcutsOfTheReferenceLoseNothing(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 1))
		text := ruleSet(random, *seed+uint64(i))
		r, err := rules.Parse(text)
		if err != nil {
			return o
		}
		pool := world{random}.pool(1 + random.IntN(min(*most, 6)))
		m, found := judge.Any(r, pool)
		o.kind = fmt.Sprint(found)
		if _, plain := judge.Plain(r, pool); found != plain {
			o.failed = func(*testing.T) string {
				return fmt.Sprintf("seed %d: a match is found: %v, without shortcuts: %v\n%s", *seed+uint64(i), found, plain, text)
			}
		}
		if err := judge.Check(r, pool, m); found && err != nil {
			o.failed = func(*testing.T) string {
				return fmt.Sprintf("seed %d: the reference finds %+v: %v\n%s", *seed+uint64(i), m, err, text)
			}
		}
		return o
	})
	t.Logf("%d pools with a match, %d without", counts["true"], counts["false"])
}
