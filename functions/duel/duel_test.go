package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/functions/internal/waiting/waitingtest"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/fake"
)

var duel = matchfn.NewMatcher(begin, waiting.Declare(matchfn.PlayerIDsWith("refill"))...)

// player returns a ticket with a skill and a wait in seconds.
func player(skill, wait float64) fake.Ticket {
	return fake.Ticket{Wait: time.Duration(wait * float64(time.Second)), Attributes: map[string]float64{"skill": skill}}
}

// party returns a ticket of several players.
func party(skill, wait float64, players int) fake.Ticket {
	t := player(skill, wait)
	t.Players = make([]fake.Player, players)
	return t
}

func TestDuelPairsTicketsWithinBothWindows(t *testing.T) {
	type tickets = []fake.Ticket
	for name, c := range map[string]struct {
		settings string
		tickets  tickets
		pools    map[string][]uint32
		want     string
	}{
		"no tickets":    {"", nil, nil, ""},
		"alone":         {"", tickets{player(1, 0)}, nil, ""},
		"two":           {"", tickets{player(1000, 0), player(1040, 0)}, nil, "[0 1] 60 "},
		"at the limit":  {"", tickets{player(1000, 0), player(1100, 0)}, nil, "[0 1] 0 "},
		"too far":       {"", tickets{player(1000, 0), player(1101, 0)}, nil, ""},
		"both wait":     {"", tickets{player(1000, 1), player(1101, 2)}, nil, "[0 1] 14 "},
		"one waits":     {"", tickets{player(1000, 9), player(1101, 0)}, nil, ""},
		"max":           {`{"maxWindow":100}`, tickets{player(1000, 9), player(1101, 9)}, nil, ""},
		"other setting": {`{"window":5,"widen":0.5}`, tickets{player(0, 10), player(10, 10)}, nil, "[0 1] 0 "},
		"nearest":       {"", tickets{player(1000, 0), player(1010, 0), player(1011, 0)}, nil, "[1 2] 99 "},
		"the better neighbour": {`{"widen":0}`, tickets{player(1000, 0), player(1010, 9), player(1011, 0)}, nil,
			"[1 2] 99 "},
		"narrow first": {"", tickets{player(1000, 60), player(1090, 0), player(1200, 60)}, nil, "[0 1] 310 "},
		"longest wait first if windows are equal": {`{"widen":0}`,
			tickets{player(0, 1), player(60, 2), player(120, 1), player(180, 9)}, nil,
			"[2 3] 40 [0 1] 40 "},
		"other attribute": {`{"attribute":"level"}`, tickets{
			{Attributes: map[string]float64{"level": 1}}, player(1, 0), {Attributes: map[string]float64{"level": 2}},
		}, nil, "[0 2] 99 "},
		"without the attribute": {"", tickets{{}, player(1, 0), {}, player(2, 0)}, nil, "[1 3] 99 "},
		"a pool": {`{"pool":"ranked"}`, tickets{player(1, 0), player(1, 0), player(3, 0)},
			map[string][]uint32{"ranked": {0, 2}},
			"[0 2] 98 "},
		"parties are for others":   {`{"players":1}`, tickets{party(0, 0, 2), player(9, 0), party(0, 0, 2), player(0, 0)}, nil, "[3 1] 91 "},
		"a party against a player": {"", tickets{party(0, 0, 2), player(9, 0)}, nil, "[0 1] 91 "},
		"party against party": {`{"players":2}`, tickets{party(0, 0, 2), player(9, 0), party(0, 0, 3), party(1, 0, 2)}, nil,
			"[0 3] 99 "},
		"nobody is of two": {`{"players":2}`, tickets{player(0, 0), player(9, 0)}, nil, ""},
		"timeout of a party": {`{"players":1,"timeout":30}`, tickets{party(0, 30, 2), party(0, 30, 2)}, nil,
			"[0] -1 PoolTimeout [1] -1 PoolTimeout "},
		"timeout": {`{"timeout":30}`, tickets{player(0, 30), player(9999, 29.9), {Wait: time.Minute}}, nil,
			"[2] -1 PoolTimeout [0] -1 PoolTimeout "},
		"matched in time": {`{"timeout":30}`, tickets{player(0, 30), player(0, 30)}, nil, "[0 1] 400 "},
		"by the time of creation": {`{"refill":true,"attribute":"created"}`, tickets{player(0, 1), player(9, 1)}, nil,
			"[0 1] 110  "},
		"very large numbers": {`{"refill":true}`, tickets{player(1.7e308, 0), player(1.7e308, 0)}, nil,
			"[0 1] 100  "},
	} {
		t.Run(name, func(t *testing.T) {
			proposals, err := fake.Run(duel, fake.Request{Settings: c.settings, Tickets: c.tickets, Pools: c.pools})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, p := range proposals {
				got += fmt.Sprint(p.Tickets(), " ", p.Score, " ")
				if p.Extras != nil {
					got += p.Extras.Error + " "
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// The duel lost a player.
func TestRunningDuelsAreFilledFirst(t *testing.T) {
	proposals, err := fake.Run(duel, fake.Request{
		Settings: `{"refill":true,"widen":0}`,
		Tickets:  []fake.Ticket{player(1000, 0), player(1010, 0), player(1020, 0)},
		Backfills: []fake.Backfill{
			{Ticket: fake.Ticket{Attributes: map[string]float64{"open": 0, "skill": 1000}}},
			{Ticket: fake.Ticket{Attributes: map[string]float64{"open": 1, "skill": 1013}}},
		},
	})
	if err != nil || len(proposals) != 2 {
		t.Fatal(proposals, err)
	}
	filled, opened := proposals[0], proposals[1]
	if b := filled.Extras.Backfill; !slices.Equal(filled.Tickets(), []uint32{1}) || b.Create || b.Number != 1 ||
		filled.Score != 97 ||
		!slices.Equal(b.Attributes, []block.BackfillAttribute{{Name: "open", Value: 0}}) {
		t.Errorf("filled: %+v, %+v", filled, b)
	}
	if b := opened.Extras.Backfill; !slices.Equal(opened.Tickets(), []uint32{0, 2}) || !b.Create ||
		string(opened.Extras.MatchProperties) != `{"places":2}` ||
		!slices.Equal(b.Attributes, []block.BackfillAttribute{{Name: "open", Value: 0}, {Name: "skill", Value: 1010}}) {
		t.Errorf("opened: %+v, %+v", opened, b)
	}
}

// The places of a duel, and those that are open, are players.
func TestDuelOfPartiesCountsPlayers(t *testing.T) {
	proposals, err := fake.Run(duel, fake.Request{
		Settings: `{"refill":true,"widen":0}`,
		Tickets:  []fake.Ticket{party(1000, 0, 2), party(1010, 0, 3), party(1012, 0, 2)},
		Backfills: []fake.Backfill{
			{Ticket: fake.Ticket{Attributes: map[string]float64{"open": 2, "skill": 1011}}},
		},
	})
	if err != nil || len(proposals) != 2 {
		t.Fatal(proposals, err)
	}
	filled, opened := proposals[0], proposals[1]
	if !slices.Equal(filled.Tickets(), []uint32{2}) || filled.Extras.Backfill.Attributes[0].Value != 0 {
		t.Errorf("filled: %+v, %+v", filled, filled.Extras.Backfill)
	}
	if !slices.Equal(opened.Tickets(), []uint32{0, 1}) || string(opened.Extras.MatchProperties) != `{"places":5}` {
		t.Errorf("opened: %+v", opened)
	}
}

func TestBadSettingsFailTheRun(t *testing.T) {
	for settings, want := range map[string]string{
		`{"players":0}`:                `settings: "players" must be 1 to 500`,
		`{"players":501}`:              `settings: "players" must be 1 to 500`,
		`{"window":-1}`:                `settings: "window" must not be negative`,
		`{"widen":-0.1}`:               `settings: "widen" must not be negative`,
		`{"window":50,"maxWindow":49}`: `settings: "maxWindow" must not be less than window`,
		`{"timeout":-1}`:               `settings: "timeout" must not be negative`,
		`{"timeout":"30s"}`:            `settings: "timeout" must be a number, not a string`,
		`{"attribute":""}`:             `settings: "attribute" must not be empty`,
		`{"attribute":["a","b"]}`:      `settings: "attribute" must be a string, not a list`,
		`{"windw":50}`: `settings: "windw" is not a setting of this function, ` +
			`which has attribute, pool, players, window, widen, maxWindow, timeout, refill, measure`,
		`{"attribute":"open"}`: `settings: "attribute" must not be open, which is how many players a game takes`,
		`{"pool":"casual"}`:    `the config has no pool "casual", only ranked`,
	} {
		_, err := fake.Run(duel, fake.Request{Settings: settings, Pools: map[string][]uint32{"ranked": {}}})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
}

// randomTickets has ties, tickets far from all others, and some tickets without the attribute.
func randomTickets(r *rand.Rand, n int) []fake.Ticket {
	tickets := make([]fake.Ticket, n)
	for i := range tickets {
		tickets[i] = player(math.Round(r.NormFloat64()*300), float64(r.IntN(60)))
		if r.IntN(20) == 0 {
			tickets[i].Attributes = nil
		}
	}
	return tickets
}

func TestRandomDuelsKeepAllPromises(t *testing.T) {
	all := []string{
		`{"window":5,"widen":1}`, `{"window":0,"widen":2,"maxWindow":40}`, `{"window":30,"widen":0}`,
		`{"window":1,"widen":0.1,"timeout":50}`,
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		settings := all[seed%uint64(len(all))]
		tickets := randomTickets(r, r.IntN(200))
		rules, err := parseRules(matchfn.NewSettings([]byte(settings)))
		if err != nil {
			t.Fatal(err)
		}
		proposals, err := fake.Run(duel, fake.Request{Settings: settings, Tickets: tickets})
		if err != nil {
			t.Fatal(err)
		}
		gap := func(a, b uint32) float64 {
			x, ok := tickets[a].Attributes["skill"]
			y, also := tickets[b].Attributes["skill"]
			if !ok || !also {
				return math.Inf(1)
			}
			return math.Abs(x - y)
		}
		window := func(i uint32) float64 { return rules.Window.After(tickets[i].Wait.Seconds()) }

		paired := make([]bool, len(tickets))
		proposed := make([]bool, len(tickets)) // paired, or timed out
		for _, p := range proposals {
			for _, i := range p.Tickets() {
				if proposed[i] {
					t.Fatalf("seed %d: ticket %d twice", seed, i)
				}
				proposed[i] = true
			}
			if len(p.Tickets()) == 1 {
				if p.Extras == nil || p.Extras.Error != "PoolTimeout" {
					t.Fatalf("seed %d: %+v", seed, p)
				}
				continue
			}
			a, b := p.Tickets()[0], p.Tickets()[1]
			paired[a], paired[b] = true, true
			if gap(a, b) > window(a) || gap(a, b) > window(b) {
				t.Fatalf("seed %d: %d and %d are %v apart, their windows %v and %v",
					seed, a, b, gap(a, b), window(a), window(b))
			}
			if want := (window(a)+window(b))/2 - gap(a, b); math.Abs(p.Score-want) > 1e-9 {
				t.Fatalf("seed %d: score %v, want %v", seed, p.Score, want)
			}
		}
		for a := range uint32(len(tickets)) {
			late := rules.Timeout > 0 && tickets[a].Wait.Seconds() >= rules.Timeout
			if !paired[a] && proposed[a] != late {
				t.Fatalf("seed %d: ticket %d waited %v and timed out: %v", seed, a, tickets[a].Wait, proposed[a])
			}
			for b := range a {
				if !paired[a] && !paired[b] && gap(a, b) <= min(window(a), window(b)) {
					t.Fatalf("seed %d: %d and %d are left over, %v apart, their windows %v and %v",
						seed, a, b, gap(a, b), window(a), window(b))
				}
			}
		}
	}
}

func TestDuelIsDeterministic(t *testing.T) {
	tickets := randomTickets(rand.New(rand.NewPCG(1, 1)), 500)
	request, err := fake.Encode(fake.Request{Tickets: tickets}, duel.Manifest())
	if err != nil {
		t.Fatal(err)
	}
	first := slices.Clone(duel.Answer(request))
	if !slices.Equal(first, duel.Answer(request)) {
		t.Error("the same request has two answers")
	}
}

func BenchmarkDuel(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			request := requestOf(b, n)
			var reader block.AnswerReader
			for b.Loop() {
				a, err := reader.Read(duel.Answer(request), n, 0)
				if err != nil || a.Len() < n/3 {
					b.Fatalf("%d duels, %v", a.Len(), err)
				}
			}
		})
	}
}

// requestOf returns a request as a runner sends it, by creation, with 4 attributes and one pool.
func requestOf(tb testing.TB, n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var request block.RequestBuilder
	const now = 1_900_000_000_000
	request.Start(block.Meta{Now: now, Tickets: n})
	created := request.Created()
	for i := range created {
		created[i] = now - float64(r.IntN(30_000))
	}
	slices.Sort(created)
	for _, name := range []string{"level", "ping", "region", "skill"} {
		values := request.Numbers(block.KindAttribute, name)
		for i := range values {
			values[i] = 1500 + 300*r.NormFloat64()
		}
	}
	pool := request.Members(block.KindPool, "all", n)
	for i := range pool {
		pool[i] = uint32(i)
	}
	encoded, err := request.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Clone(encoded)
}

func TestDuelMeasuresTheGapIfItIsAsked(t *testing.T) {
	tickets := []fake.Ticket{player(1040, 0), player(1000, 0)}
	for settings, want := range map[string]string{"": "[]", `{"measure":true}`: "[{gap 40}]",
		`{"measure":true,"refill":true}`: "[{gap 40}]"} {
		proposals, err := fake.Run(duel, fake.Request{Settings: settings, Tickets: tickets})
		if err != nil || len(proposals) != 1 {
			t.Fatal(proposals, err)
		}
		var measures []block.Measure
		if e := proposals[0].Extras; e != nil {
			measures = e.Measures
		}
		if got := fmt.Sprint(measures); got != want {
			t.Errorf("with %s it measures %s, want %s", settings, got, want)
		}
	}
}

func TestDecimalsAtTheLimitAreWithinIt(t *testing.T) { waitingtest.DecimalsAtTheLimit(t, duel, `{`) }

// A duel that is refilled lists its players, and none of them joins it again.
func TestNobodyJoinsHisDuelAgain(t *testing.T) {
	who := func(id string) fake.Ticket {
		t := player(1, 0)
		t.Players = []fake.Player{{ID: id}}
		return t
	}
	request := fake.Request{Settings: `{"refill":true}`, Tickets: []fake.Ticket{who("zoe"), who("amy")}}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	crowd := fake.NewCrowd(duel, request.Settings)
	crowd.Add(now, request.Tickets[0])
	crowd.Add(now, request.Tickets[1])
	once, err := fake.Run(duel, request)
	kept, failed := crowd.Run(now)
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	for _, proposals := range [][]fake.Proposal{once, kept} {
		if len(proposals) != 1 {
			t.Fatalf("%+v", proposals)
		}
		properties := map[string][]byte{}
		for _, p := range proposals[0].Extras.Backfill.Properties {
			properties[p.Name] = p.Value
		}
		if text := string(properties[waiting.Inside]); text != "zoe\namy" && text != "amy\nzoe" {
			t.Errorf("inside are %q", text)
		}
		again := fake.Request{Settings: request.Settings, Tickets: []fake.Ticket{who("amy"), who("bob")},
			Backfills: []fake.Backfill{{Ticket: fake.Ticket{
				Attributes: map[string]float64{"open": 2, "skill": 1}, Properties: properties,
			}}}}
		joined, err := fake.Run(duel, again)
		if err != nil || len(joined) != 1 || !slices.Equal(joined[0].Tickets(), []uint32{1}) {
			t.Errorf("%+v, %v", joined, err)
		}
	}
}
