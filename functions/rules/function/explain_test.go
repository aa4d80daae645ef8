package function

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/fake"
)

func TestSaysWhyTicketsAreInNoMatch(t *testing.T) {
	const rules = `{"numbers": ["skill"], "values": {"mode": "string"}, "teams": [{"name": "side", "copies": 2, "size": 1}],
		"rules": [{"name": "near", "spread": "skill", "max": 10}, {"same": "mode"}]}`
	ticket := func(skill float64, mode string, wait time.Duration) fake.Ticket {
		return fake.Ticket{
			Wait: wait, Attributes: map[string]float64{"skill": skill}, Properties: map[string][]byte{"mode": []byte(mode)},
		}
	}
	request := fake.Request{Settings: rules, Asked: []uint32{0, 1, 2, 4, 5, 6}, Tickets: []fake.Ticket{
		ticket(100, `"ranked"`, 9*time.Second), // with 1
		ticket(105, `"ranked"`, 8*time.Second),
		ticket(200, `"ranked"`, 7*time.Second), // only the skill of 3 is in the way
		ticket(300, `"ranked"`, 6*time.Second), // no request asks about it
		ticket(207, `"fun"`, 5*time.Second),    // only the mode of 2 is in the way
		ticket(900, `"quick"`, 4*time.Second),  // neither rule alone
		{Properties: map[string][]byte{players: []byte("no list")}},
	}}
	explanations, err := fake.Explain(function, request)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range explanations {
		got = append(got, fmt.Sprintf("%d %s (%d)", e.Ticket, e.Reason, e.Candidates))
	}
	want := []string{
		"6 what the ticket says of its players cannot be read (-1)",
		"2 near: without it there is a match (1)",
		"2 rules[1]: without it there is a match (1)",
		"4 rules[1]: without it there is a match (1)",
		"5 no rule alone keeps it from a match (0)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	// The matches are the same as without the question.
	for range 2 {
		proposals, err := fake.Run(function, request)
		if err != nil || len(proposals) != 1 || !slices.Equal(proposals[0].Tickets(), []uint32{0, 1}) {
			t.Errorf("asked about %v: %+v, %v", request.Asked, proposals, err)
		}
		request.Asked = nil
	}
	if got, err := fake.Explain(function, request); err != nil || len(got) > 0 {
		t.Errorf("nobody asks: %v, %v", got, err)
	}
}

// A ticket that no team ever takes is no candidate, and none of the players whom a match needs.
func TestTicketsThatAreTooLargeDoNotCount(t *testing.T) {
	for name, rules := range map[string]string{
		"a team takes four": `{"teams": [{"name": "t", "copies": 2, "size": 4}]}`,
		"one side has them": `{"teams": [{"name": "t", "size": 4}, {"name": "u", "size": {"min": 4, "max": 4}}]}`,
		"flexmatch": translated(t, `{"flexmatch": {"ruleLanguageVersion": "1.0",
			"teams": [{"name": "t", "minPlayers": 4, "maxPlayers": 4, "quantity": 2}]}}`),
	} {
		explanations, err := fake.Explain(function, fake.Request{Settings: rules, Asked: []uint32{0}, Tickets: []fake.Ticket{
			{Wait: 30 * time.Second}, {Wait: 50 * time.Second, Players: make([]fake.Player, 5)},
		}})
		if err != nil || len(explanations) != 1 || explanations[0].Reason != "7 more players are needed for a match" ||
			explanations[0].Candidates != 0 {
			t.Errorf("%s: %+v, %v", name, explanations, err)
		}
	}
}

// What a player lacks is called as clients send it, not as an import calls the value.
func TestSaysWhatPlayersLackAsClientsSendIt(t *testing.T) {
	const settings = `{"flexmatch": {"ruleLanguageVersion": "1.0",
		"playerAttributes": [{"name": "skill", "type": "number"}],
		"teams": [{"name": "t", "minPlayers": 2, "maxPlayers": 2}],
		"rules": [{"name": "near", "type": "distanceSort", "sortDirection": "ascending", "sortAttribute": "skill"}]}}`
	explanations, err := fake.Explain(function, fake.Request{
		Settings: translated(t, settings), Asked: []uint32{0}, Tickets: make([]fake.Ticket, 2),
	})
	if err != nil || len(explanations) == 0 || explanations[0].Reason != "a player has no skill" {
		t.Errorf("%+v, %v", explanations, err)
	}
}

// A ticket that does not join a running game is told what stops it.
func TestSaysWhyTicketsDoNotJoinGames(t *testing.T) {
	const settings = `{"values": {"skill": "number", "mode": "string"},
		"teams": [{"name": "team", "size": 3, "roles": {"tank": 1, "healer": 1, "damage": 1}}],
		"rules": [{"name": "near", "spread": "skill", "max": 100}, {"same": "mode"}],
		"backfill": {"open": 0, "active": {"start": true, "steps": [[60, false]]}}}`
	game := func(change func(*fake.Backfill)) fake.Backfill {
		g := fake.Backfill{
			Ticket: fake.Ticket{Properties: map[string][]byte{"mode": []byte(`"ranked"`)}},
			Roster: []fake.RosterPlayer{in("a", "", "tank", 1500), in("b", "", "damage", 1500)},
		}
		change(&g)
		return g
	}
	for want, c := range map[string]struct {
		change func(*fake.Backfill)
		ticket fake.Ticket
	}{
		"near: without it the ticket joins a running game": {
			func(*fake.Backfill) {}, comes("c", 0, 1900, `["healer"]`),
		},
		"roles: without it the ticket joins a running game": {
			func(*fake.Backfill) {}, comes("c", 0, 1500, `["tank"]`),
		},
		"rules[1]: without it the ticket joins a running game": {
			func(g *fake.Backfill) { g.Properties["mode"] = []byte(`"fun"`) }, comes("c", 0, 1500, `["healer"]`),
		},
		"backfill.open: without it the ticket joins a running game": {
			func(g *fake.Backfill) { g.Roster = g.Roster[:1] }, comes("c", 0, 1500, `["healer"]`),
		},
		"backfill.active: without it the ticket joins a running game": {
			func(g *fake.Backfill) { g.Wait = time.Hour }, comes("c", 0, 1500, `["healer"]`),
		},
		"no rule alone keeps it from a match": {
			func(g *fake.Backfill) { g.Wait = time.Hour }, comes("c", 0, 1900, `["healer"]`),
		},
	} {
		got, err := fake.Explain(function, fake.Request{
			Settings: settings, Tickets: []fake.Ticket{c.ticket}, Backfills: []fake.Backfill{game(c.change)},
			Asked: []uint32{0},
		})
		if err != nil || len(got) == 0 || got[0].Reason != want {
			t.Errorf("%+v, %v, want %q", got, err, want)
		}
	}
}

// What is said to one ticket of some, which are as old as each other.
func TestSaysWhatStopsATicket(t *testing.T) {
	const asSet = `"teams": [{"name": "side", "size": 2}], "values": {"maps": "set"}, "rules": [{"share": "maps", "min": 1}]`
	const asRoles = `"teams": [{"name": "side", "size": 2, "roles": {"tank": 1, "healer": 1}}]`
	const fiveRoles = `"teams": [{"name": "side", "copies": 2, "size": 5, "roles": {"tank": 1, "healer": 1, "damage": 3}}]`
	ping := func(region string) fake.Ticket { return list(`[{"latency": {"` + region + `": 20}}]`) }
	for name, c := range map[string]struct {
		rules   string
		tickets []fake.Ticket
		want    string
	}{
		"no region that both know": {`"teams": [{"name": "side", "copies": 2, "size": 1}], "regions": {"max": 100}`,
			[]fake.Ticket{ping("eu"), ping("us")}, "regions: without it there is a match (1)"},
		"no region that both know, and no limit": {`"teams": [{"name": "side", "copies": 2, "size": 1}], "regions": {}`,
			[]fake.Ticket{ping("eu"), ping("us")}, "regions: without it there is a match (1)"},
		"a limit of latencies": {`"teams": [{"name": "side", "copies": 2, "size": 1}], "regions": {"max": 10}`,
			[]fake.Ticket{ping("eu"), ping("eu")}, "regions: without it there is a match (1)"},
		"two rules of one name": {`"teams": [{"name": "side", "copies": 2, "size": 1}], "values": {"a": "string", "b": "string"},
  "rules": [{"name": "alike", "same": "a"}, {"name": "alike", "same": "b"}]`,
			[]fake.Ticket{list(`[{"a": "x", "b": "x"}]`), list(`[{"a": "x", "b": "y"}]`)},
			"alike (rules[1]): without it there is a match (1)"},
		"a text for a set": {asSet, []fake.Ticket{list(`[{"maps": "x"}]`)},
			"what a player has as maps is no list of texts (-1)"},
		"a set of numbers": {asSet, []fake.Ticket{list(`[{"maps": ["x"]}, {"maps": [1]}]`)},
			"what a player has as maps is no list of texts (-1)"},
		"null for a set":    {asSet, []fake.Ticket{list(`[{"maps": null}]`)}, "a player has no maps (-1)"},
		"no set beside one": {asSet, []fake.Ticket{list(`[{"maps": ["x"]}, {}]`)}, "a player has no maps (-1)"},
		"a text of a ticket": {asSet, []fake.Ticket{{Properties: map[string][]byte{"maps": []byte(`"x"`)}}},
			"what a player has as maps is no list of texts (-1)"},
		"a text of a player": {asRoles, []fake.Ticket{{Players: []fake.Player{
			{Properties: map[string][]byte{"roles": []byte(`"tank"`)}},
		}}}, "what a player has as roles is no list of texts (-1)"},
		"a list for latencies": {`"teams": [{"name": "side", "copies": 2, "size": 1}], "regions": {}`,
			[]fake.Ticket{list(`[{"latency": ["eu"]}]`)}, "what a player has as latency is no object of numbers (-1)"},
		"a large party": {`"teams": [{"name": "side", "copies": 2, "size": {"min": 1, "max": 2}}]`,
			[]fake.Ticket{list(`[{}, {}, {}]`)}, "no team takes 3 players of one ticket (-1)"},
		"a party as large as a match": {`"teams": [{"name": "side", "copies": {"min": 1, "max": 2},
  "size": {"min": 1, "max": 4}}], "players": {"max": 3}`,
			[]fake.Ticket{list(`[{}, {}, {}, {}]`)}, "no match takes 4 players of one ticket (-1)"},
		"nine of ten": {`"teams": [{"name": "side", "copies": 2, "size": 5}]`,
			slices.Repeat([]fake.Ticket{list(`[{}]`)}, 9), "1 more player is needed for a match (8)"},
		"one of ten": {`"teams": [{"name": "side", "copies": 2, "size": 5}]`,
			[]fake.Ticket{list(`[{}]`)}, "9 more players are needed for a match (0)"},
		"roles that nobody takes": {fiveRoles, slices.Repeat([]fake.Ticket{list(`[{"roles": ["damage"]}]`)}, 9),
			"4 more players are needed for a match: 2 of the role tank, 2 of the role healer (8)"},
		"roles beside a party": {fiveRoles, []fake.Ticket{list(`[{"roles": ["damage"]}, {"roles": ["tank", "healer"]}]`)},
			"8 more players are needed for a match: 1 of the role tank, 1 of the role healer, 5 of the role damage (0)"},
		"roles of others, whatever the rules": {fiveRoles + `, "values": {"mode": "string"},
			"rules": [{"any": [{"same": "mode"}, {"compare": [{"count": "players"}, ">", 1]}]}]`,
			[]fake.Ticket{list(`[{"roles": ["tank"], "mode": "a"}]`), list(`[{"roles": ["tank"], "mode": "b"}]`)},
			"8 more players are needed for a match: 2 of the role healer, 6 of the role damage (1)"},
		"a size that waits for its step": {`"teams": [{"name": "side", "copies": 2,
  "size": {"min": {"start": 2, "steps": [[30, 1]]}, "max": 2}}]`,
			slices.Repeat([]fake.Ticket{list(`[{}]`)}, 2),
			"size: once it is as wide as it gets with the time, there is a match (1)"},
		"players that wait for their step": {`"teams": [{"name": "side", "copies": 2, "size": {"min": 1, "max": 2}}],
  "players": {"min": {"start": 4, "steps": [[30, 2]]}}`, slices.Repeat([]fake.Ticket{list(`[{}]`)}, 2),
			"players: once it is as wide as it gets with the time, there is a match (1)"},
		"copies that wait for their step": {`"teams": [{"name": "side",
  "copies": {"min": {"start": 4, "steps": [[30, 2]]}, "max": 4}, "size": 1}]`,
			slices.Repeat([]fake.Ticket{list(`[{}]`)}, 2),
			"copies: once it is as wide as it gets with the time, there is a match (1)"},
	} {
		request := fake.Request{Settings: "{" + c.rules + "}", Tickets: c.tickets, Asked: []uint32{0}}
		got, err := fake.Explain(function, request)
		if err != nil || len(got) != 1 || fmt.Sprintf("%s (%d)", got[0].Reason, got[0].Candidates) != c.want {
			t.Errorf("%s: %+v, %v, want %q", name, got, err, c.want)
		}
	}
}

// Where a role is lacking, it says so, beside what there would be without roles.
func TestSaysWhichRolesLack(t *testing.T) {
	got, err := fake.Explain(function, fake.Request{
		Settings: `{"teams": [{"name": "side", "copies": 2, "size": 2, "roles": {"tank": 1, "healer": {"max": 1}}}]}`,
		Tickets:  slices.Repeat([]fake.Ticket{list(`[{"roles": ["healer"]}]`)}, 4), Asked: []uint32{0},
	})
	if err != nil || len(got) != 2 || got[0].Reason != "roles: without it there is a match" ||
		got[1].Reason != "too few take the role tank: a match needs 2, and there are 0" {
		t.Errorf("%+v, %v", got, err)
	}
}

// list is a ticket with a list of players.
func list(players string) fake.Ticket {
	return fake.Ticket{Properties: map[string][]byte{"players": []byte(players)}}
}
