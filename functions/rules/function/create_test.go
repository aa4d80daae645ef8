package function

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/fake"
)

// early are rules of matches that may start before they are full.
const early = `{
	"values": {"skill": "number", "mode": "string", "maps": "set"},
	"teams": [{"name": "team", "copies": 2, "size": {"min": {"start": 3, "steps": [[10, 1]]}, "max": 3},
		"roles": {"tank": {"max": 1}, "healer": {"max": 1}, "damage": {"max": 1}}}],
	"regions": {"max": 60},
	"rules": [{"spread": "skill", "max": 200}, {"same": "mode"}, {"share": "maps"}],
	"backfill": {"create": %q}
}`

// with is a player that knows maps.
func with(t fake.Ticket, maps string) fake.Ticket {
	t.Players[0].Properties["maps"] = []byte(maps)
	return t
}

// without is the players of a full match without one of its healers.
func without(healer string) (pool []fake.Ticket) {
	for i, role := range []string{"tank", "tank", "healer", "damage", "damage", "healer"} {
		id := fmt.Sprint(role, i)
		if id != healer {
			pool = append(pool, with(comes(id, 20*time.Second, 1500+float64(i), `["`+role+`"]`), `["arena", "canyon"]`))
		}
	}
	return pool
}

func run(t *testing.T, settings string, tickets []fake.Ticket, games ...fake.Backfill) []fake.Proposal {
	t.Helper()
	proposals, err := fake.Run(function, fake.Request{Settings: settings, Tickets: tickets, Backfills: games})
	if err != nil {
		t.Fatal(err)
	}
	return proposals
}

// made is the backfill ticket that a proposal creates, or makes of another, with its server's version.
func made(p fake.Proposal, of fake.Backfill) fake.Backfill {
	game := fake.Backfill{Version: max(1, of.Version), Roster: of.Roster, Ticket: fake.Ticket{
		Attributes: map[string]float64{}, Properties: map[string][]byte{},
	}}
	for name, value := range of.Attributes {
		game.Attributes[name] = value
	}
	for name, value := range of.Properties {
		game.Properties[name] = value
	}
	for _, a := range p.Extras.Backfill.Attributes {
		game.Attributes[a.Name] = a.Value
	}
	for _, property := range p.Extras.Backfill.Properties {
		game.Properties[property.Name] = slices.Clone(property.Value)
	}
	return game
}

// A match that starts without a healer asks for one, who joins the game in the team that lacks one; then it is full.
func TestShortMatchIsFilledLater(t *testing.T) {
	settings := fmt.Sprintf(early, "short")
	first := run(t, settings, without("healer5"))
	if len(first) != 1 || len(first[0].Tickets()) != 5 || first[0].Extras.Backfill == nil ||
		!first[0].Extras.Backfill.Create {
		t.Fatalf("got %+v", first)
	}
	var says struct {
		Places int
		Open   []struct {
			Team, Role string
			Places     int
		}
	}
	if err := json.Unmarshal(first[0].Extras.MatchProperties, &says); err != nil || says.Places != 6 ||
		len(says.Open) != 1 || says.Open[0].Role != "healer" || says.Open[0].Places != 1 {
		t.Fatalf("the match says %s, %v", first[0].Extras.MatchProperties, err)
	}
	game := made(first[0], fake.Backfill{})
	if string(game.Properties[region]) != `"eu"` || game.Attributes["skill"] != 1502 || len(game.Attributes) != 1 {
		t.Errorf("the backfill ticket has the attributes %v and the region %s", game.Attributes, game.Properties[region])
	}

	late := []fake.Ticket{
		with(comes("tank9", 0, 1500, `["tank"]`), `["arena"]`),
		with(comes("far", 0, 1800, `["healer"]`), `["arena"]`),
		with(comes("elsewhere", 0, 1500, `["healer"]`), `["harbour"]`),
		with(comes("healer2", 0, 1500, `["healer"]`), `["arena"]`), // is in the game
		with(comes("healer9", 0, 1500, `["healer"]`), `["arena"]`),
	}
	second := run(t, settings, late, game)
	if len(second) != 1 || !slices.Equal(second[0].Tickets(), []uint32{4}) {
		t.Fatalf("got %+v", second)
	}
	want := fmt.Sprintf(`{"shared":{"mode":["ranked"],"maps":["arena"]},`+
		`"joining":[{"team":%q,"role":"healer","id":"healer9"}]}`, says.Open[0].Team)
	if got := string(second[0].Extras.MatchProperties); got != want {
		t.Errorf("the server is told %s, want %s", got, want)
	}

	// The next run knows that the place is taken, also before the server approves.
	game = made(second[0], game)
	again := []fake.Ticket{with(comes("healer8", 0, 1500, `["healer"]`), `["arena"]`)}
	if got := run(t, settings, again, game); len(got) > 0 {
		t.Errorf("a full game gets %+v", got)
	}
	seats, ok := search.ReadSeats(game.Properties[players])
	if !ok || len(seats) != 6 || seats[5].ID != "healer9" || seats[5].Team != says.Open[0].Team {
		t.Errorf("in the game are %+v", seats)
	}
}

// Servers may name the players in such a game. What the property says of those players is not forgotten.
func TestServerNamesWhoIsInTheGame(t *testing.T) {
	settings := fmt.Sprintf(early, "short")
	first := run(t, settings, without("healer5"))
	created := made(first[0], fake.Backfill{})
	seats, ok := search.ReadSeats(created.Properties[players])
	if !ok || len(seats) != 5 {
		t.Fatalf("in the game are %+v", seats)
	}
	healer := []fake.Ticket{with(comes("healer9", 0, 1500, `["healer"]`), `["canyon", "harbour"]`)}
	created.Version = 2
	joined := run(t, settings, healer, created)
	if len(joined) != 1 {
		t.Fatalf("got %+v", joined)
	}
	other := []fake.Ticket{with(comes("healer8", 0, 1500, `["healer"]`), `["canyon", "harbour"]`)}
	for name, c := range map[string]struct {
		change func(*fake.Backfill)
		joins  bool
	}{
		"all of them": {func(*fake.Backfill) {}, true},
		"only their ids, teams and roles are known": {func(g *fake.Backfill) {
			for i := range g.Roster {
				g.Roster[i].Attributes = nil
			}
		}, true},
		"only their ids are known": {func(g *fake.Backfill) {
			for i := range g.Roster {
				g.Roster[i].Team, g.Roster[i].Role, g.Roster[i].Attributes = "", "", nil
			}
		}, true},
		"the property is gone": {func(g *fake.Backfill) { delete(g.Properties, players) }, false},
		"another healer has come": {func(g *fake.Backfill) {
			g.Roster = append(g.Roster, in("new", "", "healer", 1500))
			g.Properties["mode"], g.Properties["maps"] = []byte(`"ranked"`), []byte(`["canyon"]`)
		}, false},
		"a healer was sent": {func(g *fake.Backfill) { g.Properties = made(joined[0], created).Properties }, false},
		"a healer was sent before": {func(g *fake.Backfill) {
			g.Properties, g.Version = made(joined[0], created).Properties, 3
		}, true},
		"the others left": {func(g *fake.Backfill) { g.Roster = g.Roster[:1] }, true},
		"he is there":     {func(g *fake.Backfill) { g.Roster = append(g.Roster, in("healer8", "", "", 1500)) }, false},
	} {
		game := made(first[0], fake.Backfill{})
		game.Version = 2 // the server has spoken
		for _, s := range seats {
			game.Roster = append(game.Roster, in(s.ID, s.Team, s.Role, 1500))
		}
		c.change(&game)
		got := run(t, settings, other, game)
		if len(got) == 1 != c.joins {
			t.Errorf("%s: %d proposals", name, len(got))
		}
		if len(got) == 0 {
			continue
		}
		after, ok := search.ReadSeats(made(got[0], game).Properties[players])
		if !ok || len(after) != len(game.Roster)+1 || after[len(after)-1].ID != "healer8" ||
			after[len(after)-1].Version != game.Version {
			t.Errorf("%s: in the game are %+v", name, after)
		}
	}
}

// The attribute open is how many may join, and goes down with each.
func TestOpenGoesDown(t *testing.T) {
	settings := fmt.Sprintf(early, "short")
	game := made(run(t, settings, without("healer5")[1:])[0], fake.Backfill{})
	game.Attributes["open"] = 1
	late := []fake.Ticket{
		with(comes("healer9", time.Second, 1500, `["healer", "tank"]`), `["arena"]`),
		with(comes("tank9", 0, 1500, `["tank", "healer"]`), `["arena"]`),
	}
	got := run(t, settings, late, game)
	if len(got) != 1 || len(got[0].Tickets()) != 1 {
		t.Fatalf("got %+v", got)
	}
	if open := made(got[0], game).Attributes["open"]; open != 0 {
		t.Errorf("open is %v", open)
	}
}

// The rules say which matches get a backfill ticket.
func TestWhichMatchesGetABackfillTicket(t *testing.T) {
	for _, c := range []struct {
		create  string
		pool    []fake.Ticket
		created bool
	}{
		{"none", without("healer5"), false}, {"none", without(""), false},
		{"short", without("healer5"), true}, {"short", without(""), false},
		{"all", without("healer5"), true}, {"all", without(""), true},
	} {
		got := run(t, fmt.Sprintf(early, c.create), c.pool)
		if len(got) != 1 || len(got[0].Tickets()) != len(c.pool) {
			t.Fatalf("%s: %+v", c.create, got)
		}
		extras := got[0].Extras
		says := string(extras.MatchProperties)
		if created := extras.Backfill != nil; created != c.created || created != strings.Contains(says, `"places"`) {
			t.Errorf("%s, %d players: %+v", c.create, len(c.pool), extras)
		}
		if c.create == "all" && len(c.pool) == 6 && !strings.HasSuffix(says, `,"places":6}`) {
			t.Errorf("a full match says %s", says)
		}
	}
}

// A backfill ticket that would say too much is not created, and the match is made.
func TestTooManyPlayersForABackfillTicket(t *testing.T) {
	settings := `{"values": {"name": "string"}, "teams": [{"name": "a", "size": {"min": 300, "max": 400}}],
		"backfill": {"create": "short"}}`
	for length, created := range map[int]bool{10: true, 200: false} {
		tickets := make([]fake.Ticket, 300)
		for i := range tickets {
			name, _ := json.Marshal(strings.Repeat("x", length))
			tickets[i] = fake.Ticket{Properties: map[string][]byte{"name": name}}
		}
		got := run(t, settings, tickets)
		if len(got) != 1 || len(got[0].Tickets()) != 300 {
			t.Fatalf("names of %d bytes: %d proposals", length, len(got))
		}
		if extras := got[0].Extras; (extras != nil && extras.Backfill != nil) != created {
			t.Errorf("names of %d bytes: %+v", length, extras)
		}
	}
}

// What a server writes into the property does no harm.
func TestSenselessSeats(t *testing.T) {
	settings := fmt.Sprintf(early, "short")
	healer := []fake.Ticket{with(comes("healer9", 0, 1500, `["healer"]`), `["arena"]`)}
	for _, text := range []string{``, `[]`, `{}`, `[1]`, `[{}]`, `[{"team":"team_1"}]`, `[{"team":"team_9","values":{}}]`,
		`[{"values":{"skill":1500,"mode":"ranked","maps":"arena"}}]`,
		`[{"values":{"skill":1500,"mode":"ranked","maps":["x"]}}]`} {
		game := fake.Backfill{Version: 1, Ticket: fake.Ticket{Properties: map[string][]byte{
			players: []byte(text), region: []byte(`"eu"`),
		}}}
		if got := run(t, settings, healer, game); len(got) > 0 {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// Pools that select players by a number select their backfill ticket by the mean, also where the sum is infinite.
func TestMeansOfVeryLargeNumbers(t *testing.T) {
	const settings = `{"numbers": ["skill"], "teams": [{"name": "team", "size": 2}], "backfill": {"create": "all"}}`
	one := fake.Ticket{Attributes: map[string]float64{"skill": 1.2e308}}
	got := run(t, settings, []fake.Ticket{one, one})
	if len(got) != 1 || made(got[0], fake.Backfill{}).Attributes["skill"] != 1.2e308 {
		t.Errorf("got %+v", got)
	}
}
