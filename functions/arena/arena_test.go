package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/functions/internal/waiting/waitingtest"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

var arena = matchfn.NewMatcher(begin, waiting.Declare(matchfn.PlayerIDs())...)

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

// playersOf counts the players of tickets.
func playersOf(tickets []fake.Ticket, numbers []uint32) (n int) {
	for _, i := range numbers {
		n += max(1, len(tickets[i].Players))
	}
	return n
}

// running returns a game with a number of open places.
func running(skill, open float64) fake.Backfill {
	b := fake.Backfill{Connection: "10.0.0.1:7777", Version: 1}
	b.Attributes = map[string]float64{"open": open, "skill": skill}
	if math.IsNaN(skill) {
		delete(b.Attributes, "skill")
	}
	return b
}

// show formats proposals to compare them.
func show(proposals []fake.Proposal) string {
	got := ""
	for _, p := range proposals {
		got += fmt.Sprint(p.Tickets(), " ", p.Score)
		if e := p.Extras; e != nil {
			if e.Error != "" {
				got += " " + e.Error
			}
			if e.MatchProperties != nil {
				got += " " + string(e.MatchProperties)
			}
			if b := e.Backfill; b != nil {
				if b.Create {
					got += " new"
				} else {
					got += fmt.Sprint(" in ", b.Number)
				}
				for _, a := range b.Attributes {
					got += fmt.Sprint(" ", a.Name, "=", a.Value)
				}
			}
		}
		got += "; "
	}
	return got
}

func TestArenaFillsAndOpensGames(t *testing.T) {
	nan := math.NaN()
	many := make([]fake.Ticket, 9)
	for i := range many {
		many[i] = player(float64(10*i), 0)
	}
	type (
		tickets = []fake.Ticket
		games   = []fake.Backfill
	)
	for name, c := range map[string]struct {
		settings string
		tickets  tickets
		games    games
		want     string
	}{
		"no tickets": {"", nil, games{running(1, 1)}, ""},
		"too few":    {"", many[:3], nil, ""},
		"one game":   {"", many[:4], nil, `[0 1 2 3] 70 {"places":4} new open=0 skill=15; `},
		"two games": {"", many, nil,
			`[0 1 2 3] 70 {"places":4} new open=0 skill=15; [4 5 6 7] 70 {"places":4} new open=0 skill=55; `},
		"too far apart": {`{"players":2,"window":9,"widen":0}`, many[:4], nil, ""},
		"the narrowest window counts": {`{"players":2,"window":5,"widen":5}`,
			tickets{player(0, 10), player(10, 1), player(20, 0)}, nil,
			`[0 1] 22.5 {"places":2} new open=0 skill=5; `},
		"too far for one of two": {`{"players":2,"window":5,"widen":5}`, tickets{player(0, 10), player(10, 0.9)}, nil, ""},
		"early": {`{"least":2,"early":5}`, tickets{player(0, 5), player(10, 0)}, nil,
			`[0 1] 115 {"places":4} new open=2 skill=5; `},
		"too early":           {`{"least":2,"early":5}`, tickets{player(0, 4.9), player(10, 0)}, nil, ""},
		"running games first": {"", many[:4], games{running(30, 1)}, `[3] 100 in 0 open=0; `},
		"and new ones for the rest": {`{"players":3}`, many[:4], games{running(30, 1)},
			`[3] 100 in 0 open=0; [0 1 2] 80 {"places":3} new open=0 skill=10; `},
		"the nearest within reach": {`{"widen":0,"window":15}`, many[:4], games{running(12, 3)},
			`[1 2 0] 7.666666666666667 in 0 open=0; `},
		"more places than players": {`{"widen":0,"window":15}`, many[:2], games{running(0, 7)}, `[0 1] 10 in 0 open=5; `},
		"two running games": {`{"widen":0}`, many[:3], games{running(0, 1), running(0, 1)},
			`[0] 100 in 0 open=0; [1] 90 in 1 open=0; `},
		"full games": {"", many[:1], games{running(0, 0), running(0, 0.5), {}, running(0, -1)}, ""},
		"games without the attribute": {"", tickets{player(0, 1), {Wait: time.Minute}, player(9, 2)}, games{running(nan, 2)},
			`[1 2] 0 in 0 open=0; `},
		"out of reach": {`{"widen":0}`, many[:1], games{running(101, 1)}, ""},
		"parties stay together": {"", tickets{party(0, 0, 3), party(10, 0, 3), player(20, 0), player(30, 0)}, nil,
			`[0 2] 80 {"places":4} new open=0 skill=10; [1 3] 80 {"places":4} new open=0 skill=20; `},
		"a party that is a game": {"", tickets{player(0, 0), party(10, 0, 4)}, nil,
			`[1] 100 {"places":4} new open=0 skill=10; `},
		"a party beyond the game": {`{"timeout":30}`, tickets{party(0, 30, 5), party(9, 0, 2), party(9, 0, 2)},
			games{running(0, 5)}, `[1 2] 91 in 0 open=1; [0] -1 PoolTimeout; `},
		"early by players": {`{"least":2,"early":5}`, tickets{party(0, 5, 2)}, nil,
			`[0] 150 {"places":4} new open=2 skill=0; `},
		"the score is that of the players": {`{"players":3}`, tickets{party(0, 5, 2), player(0, 0)}, nil,
			`[0 1] 133.33333333333334 {"places":3} new open=0 skill=0; `},
		"too many for the places of a game": {"", tickets{party(0, 0, 3), player(10, 0), party(20, 0, 2), party(30, 0, 1)},
			games{running(0, 2)}, `[1 3] 80 in 0 open=0; `},
		"too many for a game without the attribute": {"", tickets{party(0, 3, 3), party(0, 2, 2), player(0, 1)},
			games{running(nan, 2), running(nan, 3)}, `[1] 0 in 0 open=0; [0] 0 in 1 open=0; `},
		"by the time of creation": {`{"players":2,"attribute":"created"}`, tickets{player(0, 1), player(9, 1)}, nil,
			`[0 1] 110 {"places":2} new open=0; `},
		"very large numbers": {`{"players":2}`, tickets{player(1.7e308, 0), player(1.7e308, 0)}, nil,
			`[0 1] 100 {"places":2} new open=0 skill=1.7e+308; `},
		"very large windows": {`{"players":2,"window":1e308}`, many[:2], nil,
			`[0 1] 1e+300 {"places":2} new open=0 skill=5; `},
		"a game within very large windows": {`{"window":1e308}`, many[:2], games{running(0, 2)}, `[0 1] 1e+300 in 0 open=0; `},
		"timeout": {`{"timeout":30}`, tickets{player(0, 30), player(9999, 29)}, nil,
			"[0] -1 PoolTimeout; "},
		"matched in time": {`{"timeout":30}`, tickets{player(0, 30)}, games{running(0, 1)},
			"[0] 400 in 0 open=0; "},
	} {
		t.Run(name, func(t *testing.T) {
			games := map[string][]uint32{}
			for i := range c.games {
				games["all"] = append(games["all"], uint32(i))
			}
			proposals, err := fake.Run(arena, fake.Request{
				Settings: c.settings, Tickets: c.tickets, Backfills: c.games, BackfillPools: games,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := show(proposals); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A place is refilled by the role of the player that left, and no player joins a game twice.
func TestArenaFillsPlacesByRole(t *testing.T) {
	const settings = `{"players":5,"roles":{"tank":{"value":1},"healer":{"value":2},"damage":{"value":3,"places":3}}}`
	as := func(id string, role float64) fake.Player {
		return fake.Player{ID: id, Attributes: map[string]float64{"role": role}}
	}
	waits := func(skill float64, players ...fake.Player) fake.Ticket {
		one := player(skill, 0)
		one.Players = players
		return one
	}
	in := func(open float64, roster ...fake.RosterPlayer) fake.Backfill {
		b := running(0, open)
		b.Roster = roster
		return b
	}
	tank, healer, damage := fake.RosterPlayer{ID: "t", Role: "tank"}, fake.RosterPlayer{ID: "h", Role: "healer"},
		fake.RosterPlayer{ID: "d", Role: "damage"}
	joined := fake.RosterPlayer{ID: "j", Attributes: map[string]float64{"role": 2}} // its server has named no role yet
	one, two := waits(0, as("a", 1)), waits(1, as("b", 2))
	three := waits(2, as("c", 3))
	for name, c := range map[string]struct {
		tickets []fake.Ticket
		game    fake.Backfill
		want    string
	}{
		"the healer left":          {[]fake.Ticket{one, two, three}, in(1, tank, damage, damage, damage), `[1] 99 in 0; `},
		"tank and damage left":     {[]fake.Ticket{two, three, one}, in(2, healer, damage, damage), `[2 1] 99 in 0; `},
		"nobody of the role waits": {[]fake.Ticket{two}, in(1, healer, damage, damage, damage), ``},
		"the healer joined":        {[]fake.Ticket{two, one}, in(1, joined, damage, damage, damage), `[1] 100 in 0; `},
		"a party of two roles": {[]fake.Ticket{waits(0, as("x", 1), as("y", 2)), one, waits(5, as("z", 1), as("w", 3))},
			in(2, healer, damage, damage), `[1] 100 in 0; `},
		"a party takes both places": {[]fake.Ticket{waits(5, as("z", 1), as("w", 3))}, in(2, healer, damage, damage),
			`[0] 95 in 0; `},
		"a player without a role": {[]fake.Ticket{waits(0, as("q", 7)), player(0, 0)}, in(1, healer), ``},
		"who is there already":    {[]fake.Ticket{waits(0, as("h", 1)), waits(1, as("n", 1))}, in(1, healer), `[1] 99 in 0; `},
		"fewer places than open":  {[]fake.Ticket{one, two}, in(3, tank, damage, damage, damage), `[1] 99 in 0; `},
		"without a roster":        {[]fake.Ticket{two, waits(0, as("b2", 2))}, in(2), `[1 0] 99.5 in 0 open=0; `},
	} {
		t.Run(name, func(t *testing.T) {
			for _, keeps := range []bool{false, true} {
				var proposals []fake.Proposal
				var err error
				if keeps {
					crowd := fake.NewCrowd(arena, settings)
					now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
					for _, one := range c.tickets {
						crowd.Add(now, one)
					}
					crowd.Backfills = []fake.Backfill{c.game}
					proposals, err = crowd.Run(now)
				} else {
					proposals, err = fake.Run(arena, fake.Request{Settings: settings, Tickets: c.tickets,
						Backfills: []fake.Backfill{c.game}})
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := show(proposals); got != c.want {
					t.Errorf("keeps %v: %q, want %q", keeps, got, c.want)
				}
			}
		})
	}
}

func TestArenaUsesOnlyItsPool(t *testing.T) {
	proposals, err := fake.Run(arena, fake.Request{
		Settings:      `{"pool":"ranked","players":1}`,
		Tickets:       []fake.Ticket{player(0, 0), player(0, 0), player(0, 0)},
		Pools:         map[string][]uint32{"ranked": {1, 2}, "casual": {0}},
		Backfills:     []fake.Backfill{running(0, 1), running(0, 1)},
		BackfillPools: map[string][]uint32{"ranked": {1}, "casual": {0}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := show(proposals); got != `[1] 100 in 1 open=0; [2] 100 {"places":1} new open=0 skill=0; ` {
		t.Error(got)
	}
}

func TestBadSettingsFailTheRun(t *testing.T) {
	for settings, want := range map[string]string{
		`{"players":0}`:                               `settings: "players" must be 1 to 1000`,
		`{"players":1001}`:                            `settings: "players" must be 1 to 1000`,
		`{"least":5}`:                                 `settings: "least" must be 1 to players`,
		`{"least":0}`:                                 `settings: "least" must be 1 to players`,
		`{"early":-1}`:                                `settings: "early" must not be negative`,
		`{"window":-1}`:                               `settings: "window" must not be negative`,
		`{"widen":-1}`:                                `settings: "widen" must not be negative`,
		`{"timeout":-1}`:                              `settings: "timeout" must not be negative`,
		`{"window":50,"maxWindow":49}`:                `settings: "maxWindow" must not be less than window`,
		`{"attribute":""}`:                            `settings: "attribute" must not be empty`,
		`{"attribute":"open"}`:                        `settings: "attribute" must not be open, which is how many players a game takes`,
		`{"roles":{"tank":{}},"players":1}`:           `settings: "roles.tank.value" must be the value of the players' attribute`,
		`{"roles":{"tank":{"value":1,"places":0}}}`:   `settings: "roles.tank.places" must be 1 or more`,
		`{"roles":{"tank":{"value":1,"places":3}}}`:   `settings: "roles" must have as many places as a game has players`,
		`{"roles":{"a":{"value":1},"b":{"value":1}}}`: `settings: "roles.b.value" must not be the value of a`,
		`{"size":4}`: `settings: "size" is not a setting of this function, ` +
			`which has attribute, pool, players, least, early, window, widen, maxWindow, timeout, role, roles, measure`,
		`{"pool":"casual"}`: `the config has no pool "casual", only ranked`,
	} {
		_, err := fake.Run(arena, fake.Request{Settings: settings, Pools: map[string][]uint32{"ranked": {}}})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
}

// With many random tickets: no ticket is in two proposals, no game gets more than it takes, all tickets are within
// reach, and no ticket waits that could be in a running game.
func TestRandomGamesKeepAllPromises(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		settings := []string{
			`{"widen":1,"window":20}`, `{"players":3,"least":2,"window":10}`, `{"players":2,"window":0}`,
		}[seed%3]
		rules, err := parseRules(matchfn.NewSettings([]byte(settings)))
		if err != nil {
			t.Fatal(err)
		}
		tickets := make([]fake.Ticket, r.IntN(100))
		for i := range tickets {
			tickets[i] = player(math.Round(r.NormFloat64()*300), float64(r.IntN(60)))
			if r.IntN(20) == 0 {
				tickets[i].Attributes = nil
			}
			if seed%2 == 0 && r.IntN(3) == 0 {
				tickets[i].Players = make([]fake.Player, 1+r.IntN(4))
			}
		}
		games := make([]fake.Backfill, r.IntN(10))
		for i := range games {
			games[i] = running(math.Round(r.NormFloat64()*300), float64(r.IntN(4)))
		}
		proposals, err := fake.Run(arena, fake.Request{Settings: settings, Tickets: tickets, Backfills: games})
		if err != nil {
			t.Fatal(err)
		}
		skill := func(a map[string]float64) float64 {
			if v, ok := a["skill"]; ok {
				return v
			}
			return math.NaN()
		}
		reach := func(i uint32, from float64) bool {
			return math.Abs(skill(tickets[i].Attributes)-from) <= rules.Window.After(tickets[i].Wait.Seconds())
		}
		matched := make([]bool, len(tickets))
		left := make([]float64, len(games))
		for i, g := range games {
			left[i] = g.Attributes["open"]
		}
		for _, p := range proposals {
			for _, i := range p.Tickets() {
				if matched[i] {
					t.Fatalf("seed %d: ticket %d twice", seed, i)
				}
				matched[i] = true
			}
			if b := p.Extras.Backfill; !b.Create {
				left[b.Number] -= float64(playersOf(tickets, p.Tickets()))
				if left[b.Number] < 0 || b.Attributes[0].Value != left[b.Number] {
					t.Fatalf("seed %d: game %d of %v gets %v, and its attributes become %v",
						seed, b.Number, games[b.Number].Attributes, p.Tickets(), b.Attributes)
				}
				for _, i := range p.Tickets() {
					if !reach(i, games[b.Number].Attributes["skill"]) {
						t.Fatalf("seed %d: ticket %d is out of reach of game %d", seed, i, b.Number)
					}
				}
				continue
			}
			if n := playersOf(tickets, p.Tickets()); n > rules.players || n < rules.least {
				t.Fatalf("seed %d: a game with %d players", seed, n)
			}
			for _, i := range p.Tickets() {
				for _, k := range p.Tickets() {
					if !reach(i, skill(tickets[k].Attributes)) {
						t.Fatalf("seed %d: %d and %d in one game", seed, i, k)
					}
				}
			}
		}
		for i := range tickets {
			for k := range games {
				size := max(1, len(tickets[i].Players))
				fits := left[k] >= float64(size) && size <= rules.players
				if !matched[i] && fits && reach(uint32(i), games[k].Attributes["skill"]) {
					t.Fatalf("seed %d: ticket %d could be in game %d", seed, i, k)
				}
			}
		}
	}
}

func TestArenaMeasuresTheGapIfItIsAsked(t *testing.T) {
	tickets := []fake.Ticket{player(1000, 0), player(1070, 0), player(1020, 0)}
	for settings, want := range map[string]string{`{"players":3}`: "[]", `{"players":3,"measure":true}`: "[{gap 70}]"} {
		proposals, err := fake.Run(arena, fake.Request{Settings: settings, Tickets: tickets})
		if err != nil || len(proposals) != 1 {
			t.Fatal(proposals, err)
		}
		if got := fmt.Sprint(proposals[0].Extras.Measures); got != want {
			t.Errorf("with %s it measures %s, want %s", settings, got, want)
		}
	}
}

func TestDecimalsAtTheLimitAreWithinIt(t *testing.T) {
	waitingtest.DecimalsAtTheLimit(t, arena, `{"players":2,`)
}

// A player does not join a game again that it was sent to, though the game's server does not name its players: neither
// alone nor with a party. The function's own list ends when the server names a player.
func TestNobodyJoinsHisGameAgain(t *testing.T) {
	who := func(skill float64, ids ...string) fake.Ticket {
		t := player(skill, 0)
		for _, id := range ids {
			t.Players = append(t.Players, fake.Player{ID: id})
		}
		return t
	}
	inside := func(p fake.Proposal) string {
		for _, of := range p.Extras.Backfill.Properties {
			if of.Name == waiting.Inside {
				return string(of.Value)
			}
		}
		return ""
	}
	opened, err := fake.Run(arena, fake.Request{
		Settings: `{"players":4,"least":2}`, Tickets: []fake.Ticket{who(1, "zoe"), who(2, "amy", "eve")},
	})
	if err != nil || len(opened) != 1 || inside(opened[0]) != "zoe\namy\neve" {
		t.Fatalf("%+v, %v", opened, err)
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []float64{1, math.NaN()} {
		game := running(at, 9)
		game.Properties = map[string][]byte{waiting.Inside: []byte(inside(opened[0]))}
		tickets := []fake.Ticket{who(1, "zoe"), who(1, "bob", "eve"), who(1, "zo"), who(2, "ann", "pat")}
		crowd := fake.NewCrowd(arena, `{"players":9}`)
		crowd.Backfills = []fake.Backfill{game}
		for _, t := range tickets {
			crowd.Add(now, t)
		}
		kept, err := crowd.Run(now)
		if err != nil {
			t.Fatal(err)
		}
		request := fake.Request{Settings: `{"players":9}`, Tickets: tickets, Backfills: []fake.Backfill{game}}
		once, err := fake.Run(arena, request)
		if err != nil {
			t.Fatal(err)
		}
		for _, proposals := range [][]fake.Proposal{kept, once} {
			if len(proposals) != 1 || !slices.Equal(proposals[0].Tickets(), []uint32{2, 3}) ||
				inside(proposals[0]) != "zoe\namy\neve\nzo\nann\npat" {
				t.Errorf("at %v: %+v", at, show(proposals))
			}
		}
		request.Backfills[0].Roster = []fake.RosterPlayer{{ID: "amy"}, {ID: "eve"}}
		named, err := fake.Run(arena, request)
		if err != nil || len(named) != 1 || !slices.Equal(named[0].Tickets(), []uint32{0, 2, 3}) || inside(named[0]) != "" {
			t.Errorf("named: %+v, %v", named, err)
		}
	}
}

// The property is bounded: of very many players, it drops the earliest.
func TestThoseInsideAreNotTooMany(t *testing.T) {
	game := running(1, 2)
	before := strings.Repeat("x", 200) + "\n" + strings.Repeat("y", 16200)
	game.Properties = map[string][]byte{waiting.Inside: []byte(before)}
	one := player(1, 0)
	one.Players = []fake.Player{{ID: strings.Repeat("z", 100)}}
	proposals, err := fake.Run(arena, fake.Request{Tickets: []fake.Ticket{one}, Backfills: []fake.Backfill{game}})
	if err != nil || len(proposals) != 1 {
		t.Fatal(proposals, err)
	}
	got := proposals[0].Extras.Backfill.Properties
	if len(got) != 1 || len(got[0].Value) != 16200+1+100 || got[0].Value[0] != 'y' {
		t.Errorf("%d properties", len(got))
	}
}
