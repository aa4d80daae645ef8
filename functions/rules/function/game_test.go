package function

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/fake"
)

const refilled = `{
	"values": {
		"skill": "number", "mode": "string", "id": {"type": "string", "missing": "any"},
		"blocked": {"type": "set", "missing": "any"}
	},
	"teams": [{"name": "team", "copies": 2, "size": 3, "roles": {"tank": 1, "healer": 1, "damage": 1}}],
	"regions": {"max": 60},
	"rules": [{"spread": "skill", "max": 200}, {"same": "mode"}, {"avoid": "blocked"}],
	"backfill": {%s}
}`

// in is a player in a game.
func in(id, team, role string, skill float64) fake.RosterPlayer {
	return fake.RosterPlayer{ID: id, Team: team, Role: role, Attributes: map[string]float64{"skill": skill}}
}

// left is a game that a healer has left.
func left() fake.Backfill {
	return fake.Backfill{
		Ticket: fake.Ticket{Properties: map[string][]byte{"region": []byte(`"eu"`), "mode": []byte(`"ranked"`)}},
		Roster: []fake.RosterPlayer{
			in("a", "team_1", "tank", 1500), in("b", "team_1", "damage", 1500), in("c", "team_1", "healer", 1500),
			in("d", "team_2", "tank", 1500), in("e", "team_2", "damage", 1510),
		},
	}
}

func comes(id string, wait time.Duration, skill float64, roles string) fake.Ticket {
	return fake.Ticket{Wait: wait, Players: []fake.Player{{
		ID: id, Attributes: map[string]float64{"skill": skill}, Properties: map[string][]byte{
			"roles": []byte(roles), "latency": []byte(`{"eu": 20}`), "mode": []byte(`"ranked"`),
		},
	}}}
}

const nobody = -1

type (
	running = fake.Backfill
	pool    = []fake.Ticket
)

// A game that a healer has left gets a healer, for the right team, and its server learns which one.
func TestGameGetsThePlayerWhoIsMissing(t *testing.T) {
	tickets := []fake.Ticket{
		comes("f", 9*time.Second, 1500, `["tank", "damage"]`),
		comes("g", 5*time.Second, 1590, `["healer", "damage"]`),
		comes("h", 4*time.Second, 1500, `["damage"]`),
	}
	for name, c := range map[string]struct {
		settings string
		change   func(*running, pool)
		who      int
	}{
		"as it is":                  {``, func(*running, pool) {}, 1},
		"all places must be filled": {`"open": 0`, func(*running, pool) {}, 1},
		"two healers are missing":   {``, func(g *running, _ pool) { g.Roster = slices.Delete(g.Roster, 2, 3) }, 1},
		"two, and all must be filled": {`"open": 0`, func(g *running, _ pool) {
			g.Roster = slices.Delete(g.Roster, 2, 3)
		}, nobody},
		"one place may stay open": {`"open": 1`, func(g *running, _ pool) { g.Roster = slices.Delete(g.Roster, 2, 3) }, 1},
		"old games are not filled": {`"active": {"start": true, "steps": [[60, false]]}`, func(g *running, _ pool) {
			g.Wait = time.Hour
		}, nobody},
		"it is young enough": {`"active": {"start": true, "steps": [[60, false]]}`, func(g *running, _ pool) {
			g.Wait = 9 * time.Second
		}, 1},
		"teams are not known":           {``, func(g *running, _ pool) { g.Roster[3].Team, g.Roster[4].Team = "", "" }, 1},
		"roles are not known":           {``, func(g *running, _ pool) { g.Roster[3].Role, g.Roster[4].Role = "", "" }, 0},
		"a team that there is not":      {``, func(g *running, _ pool) { g.Roster[3].Team = "team_3" }, nobody},
		"a role that there is not":      {``, func(g *running, _ pool) { g.Roster[3].Role = "medic" }, nobody},
		"it is not said who is there":   {``, func(g *running, _ pool) { g.Roster = nil }, nobody},
		"somebody's skill is too far":   {``, func(g *running, _ pool) { g.Roster[0].Attributes["skill"] = 1380 }, nobody},
		"somebody's skill is not known": {``, func(g *running, _ pool) { delete(g.Roster[0].Attributes, "skill") }, nobody},
		"the region is another":         {``, func(g *running, _ pool) { g.Properties["region"] = []byte(`"us"`) }, nobody},
		"the region is not known":       {``, func(g *running, _ pool) { delete(g.Properties, "region") }, nobody},
		"the region is no JSON":         {``, func(g *running, _ pool) { g.Properties["region"] = []byte(`eu`) }, nobody},
		"the mode is another":           {``, func(g *running, _ pool) { g.Properties["mode"] = []byte(`"fun"`) }, nobody},
		"the mode is not known":         {``, func(g *running, _ pool) { delete(g.Properties, "mode") }, nobody},
		"there is no room":              {``, func(g *running, _ pool) { g.Attributes = map[string]float64{"open": 0} }, nobody},
		"there is room":                 {``, func(g *running, _ pool) { g.Attributes = map[string]float64{"open": 1} }, 1},
		"the healer is in the game":     {``, func(g *running, _ pool) { g.Roster[0].ID = "g" }, nobody},
		"the healer avoids one": {``, func(_ *running, all pool) {
			all[1].Players[0].Properties["blocked"] = []byte(`["e"]`)
		}, nobody},
		"the healer avoids another": {``, func(_ *running, all pool) {
			all[1].Players[0].Properties["blocked"] = []byte(`["x"]`)
		}, 1},
		"the healer comes with a friend": {``, func(_ *running, all pool) {
			all[1].Players = append(all[1].Players, all[2].Players...)
		}, nobody},
	} {
		game := left()
		all := slices.Clone(tickets)
		for i, of := range []string{`["tank", "damage"]`, `["healer", "damage"]`, `["damage"]`} {
			all[i] = comes(tickets[i].Players[0].ID, tickets[i].Wait, tickets[i].Players[0].Attributes["skill"], of)
		}
		c.change(&game, all)
		proposals, err := fake.Run(function, fake.Request{
			Settings: fmt.Sprintf(refilled, c.settings), Tickets: all, Backfills: []fake.Backfill{game},
		})
		if err != nil || len(proposals) == 1 != (c.who != nobody) {
			t.Errorf("%s: %d proposals, %v", name, len(proposals), err)
		}
		if err != nil || len(proposals) != 1 {
			continue
		}
		p := proposals[0]
		if !slices.Equal(p.Tickets(), []uint32{uint32(c.who)}) || p.Extras == nil || p.Extras.Region != "" {
			t.Errorf("%s: %+v, %+v", name, p, p.Extras)
		}
	}
	game := left()
	game.Attributes = map[string]float64{"open": 3}
	proposals, err := fake.Run(function, fake.Request{
		Settings: fmt.Sprintf(refilled, ""), Tickets: tickets, Backfills: []fake.Backfill{game},
	})
	if err != nil || len(proposals) != 1 || len(proposals[0].Tickets()) != 1 {
		t.Fatal(proposals, err)
	}
	extras := proposals[0].Extras
	if len(extras.Backfill.Attributes)+len(extras.Backfill.Properties) > 0 {
		t.Errorf("the backfill ticket is changed, so that others see it before its server approves: %+v", extras.Backfill)
	}
	const want = `{"shared":{"mode":["ranked"]},"joining":[{"team":"team_2","role":"healer","id":"g"}]}`
	if string(extras.MatchProperties) != want {
		t.Errorf("the server is told %s", extras.MatchProperties)
	}
}

// No player joins a game twice, whatever says that the player is there: its server, what the function wrote at the
// join, or that beside a server that has not heard of the player yet. So it is with each of a party, and with a ticket
// of several. Where a PUT took the property away and no player is named, no ticket joins.
func TestNobodyJoinsHisGameAgain(t *testing.T) {
	const settings = `{"teams": [{"name": "Red", "size": {"min": 1, "max": 30}}], "regions": {"max": 50},
		"backfill": {"first": "games"}}`
	seats := []search.Seat{{ID: "zoe", Team: "Red", Version: 1}, {ID: "amy", Team: "Red", Version: 1}}
	who := func(ids ...string) fake.Ticket {
		t := fake.Ticket{Wait: 9 * time.Second, Properties: map[string][]byte{"latency": []byte(`{"eu": 20}`)}}
		for _, id := range ids {
			t.Players = append(t.Players, fake.Player{ID: id})
		}
		return t
	}
	several := who("zoe")
	several.Properties[players] = []byte(`[{"id": "a"}, {"id": "b"}]`)
	for name, roster := range map[string][]fake.RosterPlayer{
		"the property says it": nil, "the server says it": {in("zoe", "Red", "", 0), in("amy", "Red", "", 0)},
		"he came after the server said who is there": {in("amy", "Red", "", 0)},
		"the property is gone":                       nil,
	} {
		gone := name == "the property is gone"
		properties := map[string][]byte{"region": []byte(`"eu"`), players: search.AppendSeats(nil, seats)}
		if gone {
			delete(properties, players)
		}
		proposals, err := fake.Run(function, fake.Request{
			Settings: settings, Tickets: []fake.Ticket{who("zoe"), who("bob", "zoe"), several, who("nan")},
			Backfills: []fake.Backfill{{Version: 1, Roster: roster, Connection: "10.0.0.1:7777",
				Ticket: fake.Ticket{Properties: properties}}},
		})
		if err != nil || len(proposals) == 0 {
			t.Fatal(name, proposals, err)
		}
		for _, p := range proposals {
			if p.Extras != nil && p.Extras.Backfill != nil && !p.Extras.Backfill.Create &&
				(gone || !slices.Equal(p.Tickets(), []uint32{3})) {
				t.Errorf("%s: %v join", name, p.Tickets())
			}
		}
	}
}

// Full matches are first, then games, then matches that are not full, unless the rules say otherwise.
func TestWhatIsFirst(t *testing.T) {
	settings := `{"numbers": ["skill"], "teams": [{"name": "a", "size": {"min": 2, "max": 4}}],
		"rules": [{"spread": "skill", "max": 100}], "backfill": {"first": %q}}`
	game := fake.Backfill{Roster: []fake.RosterPlayer{in("x", "a", "", 10), in("y", "a", "", 10), in("z", "a", "", 10)}}
	for _, c := range []struct {
		first   string
		tickets int
		want    string // the sizes of matches, j for players that join
	}{
		{"full", 4, "4"}, {"full", 5, "4 j1"}, {"full", 3, "j1 2"},
		{"games", 4, "j1 3"}, {"games", 5, "j1 4"},
		{"matches", 3, "3"}, {"matches", 5, "4 j1"},
	} {
		tickets := make([]fake.Ticket, c.tickets)
		for i := range tickets {
			tickets[i] = fake.Ticket{Attributes: map[string]float64{"skill": 10}}
		}
		proposals, err := fake.Run(function, fake.Request{
			Settings: fmt.Sprintf(settings, c.first), Tickets: tickets, Backfills: []fake.Backfill{game},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, p := range proposals {
			if i > 0 {
				got += " "
			}
			if p.Extras != nil && p.Extras.MatchProperties != nil {
				got += "j"
			}
			got += fmt.Sprint(len(p.Tickets()))
		}
		if got != c.want {
			t.Errorf("%s first, %d tickets: %s, want %s", c.first, c.tickets, got, c.want)
		}
	}
}

// Very many games, and games that no ticket can fill, keep to the work, and the other tickets still get matches.
func TestHostileGames(t *testing.T) {
	var games []fake.Backfill
	for i := range 1500 {
		one := left()
		one.Roster = []fake.RosterPlayer{in(fmt.Sprint("p", i), "", "", 1500), in(fmt.Sprint("q", i), "", "", 1500)}
		games = append(games, one)
	}
	crowded := left()
	for i := range 900 {
		crowded.Roster = append(crowded.Roster, in(fmt.Sprint("r", i), "", "", 1500))
	}
	games = append(games, crowded)
	var tickets []fake.Ticket
	for i := range 1500 {
		tickets = append(tickets, comes(fmt.Sprint("t", i), time.Duration(i)*time.Second, 1500, `["damage"]`))
	}
	for _, role := range []string{`["tank"]`, `["healer"]`} {
		for i := range 2 {
			tickets = append(tickets, comes(fmt.Sprint(role, i), time.Second, 1500, role))
		}
	}
	for _, first := range []string{"full", "games", "matches"} {
		proposals, err := fake.Run(function, fake.Request{
			Settings: fmt.Sprintf(refilled, `"open": 0, "first": "`+first+`"`), Tickets: tickets, Backfills: games,
			Budget: time.Second,
		})
		if err != nil || len(proposals) == 0 {
			t.Errorf("%s first: %d proposals, %v", first, len(proposals), err)
		}
	}
}

func BenchmarkManyGames(b *testing.B) {
	var games []fake.Backfill
	for i := range 2000 {
		one := left()
		one.Roster[4].Attributes["skill"] = 1500
		for j := range one.Roster {
			one.Roster[j].ID = fmt.Sprint(i, one.Roster[j].ID)
		}
		games = append(games, one)
	}
	var tickets []fake.Ticket
	for i := range 20_000 {
		tickets = append(tickets, comes(fmt.Sprint("t", i), 0, float64(1400+i%200), []string{
			`["tank"]`, `["healer"]`, `["damage"]`, `["damage"]`}[i%4]))
	}
	answers(b, fake.Request{
		Settings: fmt.Sprintf(refilled, `"first": "games"`), Tickets: tickets, Backfills: games,
	}, 2000)
}
