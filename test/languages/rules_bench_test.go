package languages

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/services/internal/sandbox"
)

// waits is a ticket of the benchmark of rules.
type waits struct {
	skill, age float64 // age in milliseconds
	players    string
}

// worlds are crowds that the function rules is measured with.
var worlds = []struct {
	name, settings string
	tickets        func(r *rand.Rand, n int) []waits
	matches        bool // whether there are some
}{
	// All values are read, and no player takes a role that there is: this is what reading costs, once for each ticket.
	{"reading", unread, func(r *rand.Rand, n int) []waits {
		return crowdOf(r, n, func(int) waits { return five(r, []string{"tank", "healer", "damage", "damage", "damage"}) })
	}, false},
	{"pairs", pairRules, func(r *rand.Rand, n int) []waits {
		return crowdOf(r, n, func(int) waits { return waits{skill: 1500 + 300*r.NormFloat64()} })
	}, true},
	{"apart", pairRules, func(r *rand.Rand, n int) []waits {
		if n < 1000 { // between the others
			return crowdOf(r, n, func(int) waits { return waits{skill: float64(r.IntN(100_000))*1000 + 500} })
		}
		return crowdOf(r, n, func(i int) waits { return waits{skill: float64(i) * 1000} })
	}, false},
	{"five", "", func(r *rand.Rand, n int) []waits {
		return crowdOf(r, n, func(int) waits { return five(r, []string{"tank", "healer", "damage", "damage", "damage"}) })
	}, true},
	{"lacking", "", func(r *rand.Rand, n int) []waits { // healers are in no region where the others are
		return crowdOf(r, n, func(i int) waits {
			if i%100 == 0 {
				return waits{skill: 1500 + 300*r.NormFloat64(), players: `[{"roles":["healer"],"latency":{"us":20}}]`}
			}
			one := five(r, []string{"tank", "damage"})
			one.players = strings.ReplaceAll(one.players, `"us"`, `"as"`)
			return one
		})
	}, false},
}

// slow is for machines on which other things run.
var slow = sandbox.Limits{Run: time.Minute, Compile: time.Minute}

const pairRules = `{"numbers": ["skill"], "teams": [{"name": "player", "copies": 2, "size": 1}],
	"rules": [{"spread": "skill", "max": {"start": 50, "grow": 5, "until": 400}}]}`

// unread is five against five with roles that no player takes.
const unread = `{"numbers": ["skill"],
	"teams": [{"name": "team", "copies": 2, "size": 5, "roles": {"pilot": 5}}],
	"regions": {"max": {"start": 60, "steps": [[15, 90], [30, 150]]}},
	"rules": [{"spread": "skill", "max": {"start": 200, "grow": 10, "until": 800}}]}`

func crowdOf(r *rand.Rand, n int, one func(i int) waits) (all []waits) {
	for i := range n {
		t := one(i)
		t.age = float64(r.IntN(30_000))
		all = append(all, t)
	}
	return all
}

func five(r *rand.Rand, roles []string) waits {
	near := r.IntN(3)
	ping := fmt.Sprintf(`"eu":%d,"us":%d,"as":%d`, 20+90*(near%3), 20+90*((near+1)%3), 20+90*((near+2)%3))
	var of []string
	for range 1 + r.IntN(3)*r.IntN(2) {
		of = append(of, fmt.Sprintf(`{"roles":["%s"],"latency":{%s}}`, roles[r.IntN(len(roles))], ping))
	}
	return waits{skill: 1500 + 300*r.NormFloat64(), players: "[" + strings.Join(of, ",") + "]"}
}

// asked is the request for tickets, as a runner sends it.
func asked(tb testing.TB, settings string, now int64, tickets []waits, base *block.Base) []byte {
	var b block.RequestBuilder
	b.Start(block.Meta{Now: now, Budget: 5000, Tickets: len(tickets)})
	b.Config([]byte(settings))
	if base != nil {
		b.Base(*base, nil)
	}
	for i, created := 0, b.Created(); i < len(tickets); i++ {
		created[i] = float64(now) - tickets[i].age
	}
	for i, skill := 0, b.Numbers(block.KindAttribute, "skill"); i < len(tickets); i++ {
		skill[i] = tickets[i].skill
	}
	b.Values(block.KindProperty, "players", func(i int) ([]byte, bool) {
		return []byte(tickets[i].players), tickets[i].players != ""
	})
	request, err := b.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	return request
}

// BenchmarkRules measures the function rules with 100,000 tickets: runs of all, and runs after the first in which some
// are new.
func BenchmarkRules(b *testing.B) {
	text, err := os.ReadFile("../../pkg/matchfn/rules/testdata/five.json")
	if err != nil {
		b.Fatal(err)
	}
	wasm := rules(b)
	all(b, string(text), func(b *testing.B) run {
		i := startWithin(b, wasm, slow)
		return func(request []byte) ([]byte, sandbox.Stats, error) { return i.Run(b.Context(), request, 0) }
	})
}

// run is a run of a function.
type run func(request []byte) ([]byte, sandbox.Stats, error)

// all measures a function in all worlds.
func all(b *testing.B, fiveRules string, start func(b *testing.B) run) {
	const now, n = 1_900_000_000_000, 100_000
	for _, w := range worlds {
		settings := w.settings
		if settings == "" {
			settings = fiveRules
		}
		tickets := w.tickets(rand.New(rand.NewPCG(1, 2)), n)
		b.Run(w.name+"/all", func(b *testing.B) {
			request := asked(b, settings, now, tickets, nil)
			measure(b, start(b), func() []byte { return request }, n, w.matches)
		})
		for _, fresh := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/%d more", w.name, fresh), func(b *testing.B) {
				run, number := start(b), n
				next := func(tickets []waits, at int64, base block.Base) []byte { return asked(b, settings, at, tickets, &base) }
				if _, _, err := run(next(tickets, now, block.Base{Number: 1})); err != nil {
					b.Fatal(err)
				}
				r, at := rand.New(rand.NewPCG(3, 4)), int64(now)
				measure(b, run, func() []byte {
					at += 20
					some := w.tickets(r, fresh)
					for i := range some {
						some[i].age = 0
					}
					number += fresh
					return next(some, at, block.Base{Number: 1, Continues: true, First: number - fresh})
				}, n+1<<20, false)
			})
		}
	}
}

// measure measures runs, and says how many matches there are in the last one.
func measure(b *testing.B, run run, next func() []byte, tickets int, matches bool) {
	memory, found, processor := 0, 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		request := next()
		b.StartTimer()
		answer, stats, err := run(request)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		a, err := block.ParseAnswer(answer, tickets, 0)
		if err != nil || a.Failure != "" {
			b.Fatal(err, a.Failure)
		}
		memory, found, processor = stats.Memory, a.Len(), processor+stats.Processor
		b.StartTimer()
	}
	if matches && found == 0 {
		b.Error("no match")
	}
	b.ReportMetric(float64(memory)/1e6, "MB-linear")
	b.ReportMetric(float64(found), "matches")
	b.ReportMetric(processor.Seconds()*1000/float64(b.N), "processor-ms/op")
}
