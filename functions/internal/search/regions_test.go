package search_test

import (
	"fmt"
	"slices"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// reaching is a ticket of players with latencies.
func reaching(age float64, pings ...map[string]float64) judge.Ticket {
	t := judge.Ticket{Age: age}
	for _, ping := range pings {
		t.Players = append(t.Players, judge.Player{"ping": ping})
	}
	return t
}

// fakes are latencies to regions of one player alone.
func fakes(n int, ping float64) map[string]float64 {
	all := map[string]float64{}
	for i := range n {
		all[fmt.Sprintf("f%d", i)] = ping
	}
	return all
}

// Ten players have one region, and others name very many that do not exist: the ten are matched all the same.
func TestRegionsThatDoNotExistPushNoneOut(t *testing.T) {
	alone := make([]map[string]float64, 70) // each in a region of its own
	for i := range alone {
		alone[i] = map[string]float64{fmt.Sprintf("f%d", i): 1}
	}
	all := slices.Repeat([]map[string]float64{fakes(70, 1)}, 70)
	ascending := fakes(70, 1)
	for name := range ascending {
		var n float64
		_, _ = fmt.Sscanf(name, "f%f", &n)
		ascending[name] = n
	}
	for name, c := range map[string]struct {
		names string
		pool  []judge.Ticket
	}{
		"one ticket of many":   {"", []judge.Ticket{reaching(99, alone...)}},
		"one ticket of equals": {"", []judge.Ticket{reaching(99, all...)}},
		"a team of many":       {"", slices.Repeat([]judge.Ticket{reaching(99, fakes(70, 1), fakes(70, 2))}, 9)},
		"many tickets":         {"", slices.Repeat([]judge.Ticket{reaching(99, fakes(70, 1))}, 100)},
		"many with favourites": {"", slices.Repeat([]judge.Ticket{reaching(99, ascending)}, 100)},
		"named regions":        {`"names": ["us", "eu"],`, slices.Repeat([]judge.Ticket{reaching(99, fakes(70, 1))}, 5000)},
	} {
		r, err := rules.Parse([]byte(`{
			"values": {"ping": "map"}, "regions": {"from": "ping", ` + c.names + ` "max": 100},
			"teams": [{"name": "team", "copies": 2, "size": {"min": 1, "max": 2}}]
		}`))
		if err != nil {
			t.Fatal(err)
		}
		pool := slices.Clone(c.pool)
		for range 10 {
			pool = append(pool, reaching(5, map[string]float64{"eu": 20}))
		}
		matched := 0
		for _, m := range search.Search(r, tickets(pool), nil, 1_000_000) {
			if m.Region == "eu" {
				for _, team := range m.Teams {
					matched += len(team.Tickets)
				}
			}
		}
		if matched != 10 {
			t.Errorf("%s: %d of 10 are matched", name, matched)
		}
	}
}

// With names, latencies to other regions are as if players had none, also for how far above the best one is.
func TestOnlyNamedRegionsCount(t *testing.T) {
	parse := func(regions string) *rules.Rules {
		r, err := rules.Parse([]byte(`{"values": {"ping": "map"}, "regions": {"from": "ping", "over": 10` + regions +
			`}, "teams": [{"name": "team", "copies": 2, "size": 1}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	pool := []judge.Ticket{
		reaching(9, map[string]float64{"eu": 50, "asia": 5}), reaching(8, map[string]float64{"eu": 60, "africa": 5}),
	}
	for regions, want := range map[string]string{
		``: "", `, "names": ["eu"]`: "eu", `, "names": ["us", "eu"]`: "eu", `, "names": ["us"]`: "",
	} {
		r, got := parse(regions), ""
		found := search.Search(r, tickets(pool), nil, 100_000)
		if len(found) == 1 {
			got = found[0].Region
		}
		if _, any := judge.Any(r, pool); got != want || any != (want != "") {
			t.Errorf("names %s: the region is %q, want %q; the reference finds one: %t", regions, got, want, any)
		}
	}
}

// Tickets that are kept from run to run vote as if all came at once, whatever came and went meanwhile.
func TestKeptTicketsVoteTheSame(t *testing.T) {
	r, err := rules.Parse([]byte(`{"values": {"ping": "map"}, "regions": {"from": "ping"},
		"teams": [{"name": "team", "copies": 2, "size": 1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	eu := map[string]float64{"eu": 1}
	two := []judge.Ticket{reaching(9, eu), reaching(9, eu)}
	noise := slices.Repeat([]judge.Ticket{reaching(9, fakes(70, 1))}, 300)
	k := search.NewSession(r)
	next := uint32(0)
	step := func(pool []judge.Ticket, gone ...uint32) (in int) {
		k.Take(tickets(pool), make([]float64, len(pool)), next, gone, 9000, true)
		next += uint32(len(pool))
		for _, m := range k.Search(&search.Games{}, 100_000) {
			if m.Region == "eu" {
				in++
			}
		}
		return in
	}
	if got := step(noise); got != 0 {
		t.Errorf("%d matches in a region that nobody has", got)
	}
	if got := step(two); got != 0 {
		t.Errorf("300 tickets for 70 other regions do not push one of two out: %d matches", got)
	}
	var gone []uint32
	for number := range uint32(len(noise)) {
		gone = append(gone, number)
	}
	if got := step(noise[:3], gone...); got != 1 {
		t.Errorf("when they are gone there are %d matches", got)
	}
}
