package function

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/pkg/matchfn/rules"
)

var function = matchfn.New(Match, Options()...)

func five(t testing.TB) string {
	text, err := os.ReadFile("../../../pkg/matchfn/rules/testdata/five.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// party is a ticket whose players take roles.
func party(skill float64, wait time.Duration, ping string, roles ...string) fake.Ticket {
	var of []string
	for _, role := range roles {
		of = append(of, fmt.Sprintf(`{"roles":["%s"],"latency":{%s}}`, role, ping))
	}
	return fake.Ticket{
		Wait: wait, Attributes: map[string]float64{"skill": skill},
		Properties: map[string][]byte{players: []byte("[" + strings.Join(of, ",") + "]")},
	}
}

// translated is our rule set of settings in the language of another matchmaker.
func translated(t testing.TB, settings string) string {
	t.Helper()
	r, err := dialects.Read([]byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return string(rules.Write(r))
}

const europe, both = `"eu":20`, `"eu":30,"us":50`

// Twenty lines of rules make teams of five with one tank and one healer each, keep parties together, and choose a
// region that all players reach.
func TestFiveAgainstFive(t *testing.T) {
	tickets := []fake.Ticket{
		party(1500, 9*time.Second, both, "tank", "damage"),
		party(1510, 8*time.Second, both, "healer"),
		party(1520, 7*time.Second, europe, "damage", "damage"),
		party(1490, 6*time.Second, europe, "damage", "damage", "damage"),
		party(1480, 5*time.Second, both, "healer", "tank"),
		party(5000, 90*time.Second, both, "tank"),       // too good for all others
		party(1500, 4*time.Second, `"us":20`, "damage"), // too far away
	}
	proposals, err := fake.Run(function, fake.Request{Settings: five(t), Tickets: tickets})
	if err != nil || len(proposals) != 1 {
		t.Fatal(proposals, err)
	}
	p := proposals[0]
	if p.Extras.Region != "eu" || len(p.Tickets()) != 5 {
		t.Errorf("the region is %q, the tickets are %v", p.Extras.Region, p.Teams)
	}
	for _, team := range p.Teams {
		n := 0
		for _, number := range team {
			n += strings.Count(string(tickets[number].Properties[players]), "roles")
			if number > 4 {
				t.Errorf("ticket %d has no place in a match", number)
			}
		}
		if n != 5 {
			t.Errorf("a team has %d players: %v", n, team)
		}
	}
}

// A party of the service needs no property players: its players have attributes and properties of their own.
func TestPlayersOfTheServiceAreEnough(t *testing.T) {
	rules := `{
		"numbers": ["skill"],
		"values": {
			"mode": "string", "maps": {"type": "set", "party": "intersection"}, "level": "number",
			"blocked": {"type": "set", "missing": "any"}, "id": {"type": "string", "missing": "any"}
		},
		"teams": [{"name": "team", "copies": 2, "size": 2, "roles": {"tank": 1, "healer": 1}}],
		"regions": {"max": 60},
		"rules": [{"spread": "skill", "max": 50}, {"same": "mode"}, {"share": "maps"}, {"spread": "level", "max": 5},
			{"avoid": "blocked", "id": "id"}]
	}`
	player := func(id string, skill float64, role string) fake.Player {
		return fake.Player{ID: id, Attributes: map[string]float64{"skill": skill}, Properties: map[string][]byte{
			"roles": []byte(`["` + role + `"]`), "latency": []byte(`{"eu": 20}`), "maps": []byte(`["arena", "` + id + `"]`),
			"level": []byte("7"),
		}}
	}
	mode := func(mode string) map[string][]byte { return map[string][]byte{"mode": []byte(mode)} }
	pool := func() []fake.Ticket {
		return []fake.Ticket{
			{Players: []fake.Player{player("a", 1500, "tank"), player("b", 1510, "healer")}, Properties: mode(`"ranked"`)},
			{Players: []fake.Player{player("c", 1520, "tank")}, Properties: mode(`"ranked"`)},
			{ // one of the property players, whom the ticket's attribute describes
				Attributes: map[string]float64{"skill": 1490},
				Properties: map[string][]byte{players: []byte(
					`[{"roles": ["healer"], "latency": {"eu": 40}, "maps": ["arena"], "mode": "ranked", "level": 9}]`)},
			},
		}
	}
	for name, c := range map[string]struct {
		change func([]fake.Ticket)
		match  bool
	}{
		"as they are":            {func([]fake.Ticket) {}, true},
		"a skill too far away":   {func(p []fake.Ticket) { p[1].Players[0].Attributes["skill"] = 1600 }, false},
		"another role":           {func(p []fake.Ticket) { p[0].Players[1].Properties["roles"] = []byte(`["tank"]`) }, false},
		"another mode":           {func(p []fake.Ticket) { p[1].Properties = mode(`"fun"`) }, false},
		"a mode that is no JSON": {func(p []fake.Ticket) { p[1].Properties = mode(`ranked`) }, false},
		"a player's own mode":    {func(p []fake.Ticket) { p[1].Players[0].Properties["mode"] = []byte(`"fun"`) }, false},
		"no map in common":       {func(p []fake.Ticket) { p[1].Players[0].Properties["maps"] = []byte(`["c"]`) }, false},
		"a level too far away":   {func(p []fake.Ticket) { p[0].Players[0].Properties["level"] = []byte(`1`) }, false},
		"too far away":           {func(p []fake.Ticket) { p[0].Players[0].Properties["latency"] = []byte(`{"eu": 90}`) }, false},
		"somebody to avoid":      {func(p []fake.Ticket) { p[1].Players[0].Properties["blocked"] = []byte(`["b"]`) }, false},
		"nobody to avoid":        {func(p []fake.Ticket) { p[1].Players[0].Properties["blocked"] = []byte(`["x"]`) }, true},
		"a list of another length": {func(p []fake.Ticket) {
			p[0].Properties[players] = []byte(`[{}]`)
		}, false},
		"a list of the same players": {func(p []fake.Ticket) {
			p[0].Properties[players] = []byte(`[{"skill": 5000, "mode": "ranked"}, {"roles": []}]`)
		}, true},
	} {
		tickets := pool()
		c.change(tickets)
		proposals, err := fake.Run(function, fake.Request{Settings: rules, Tickets: tickets})
		if err != nil || len(proposals) == 1 != c.match {
			t.Errorf("%s: %d proposals, %v", name, len(proposals), err)
		}
	}
}

func TestWrongRulesFailTheRun(t *testing.T) {
	_, err := fake.Run(function, fake.Request{Settings: "{\n\"teams\": [{\"name\": \"red\"}]}"})
	if err == nil || !strings.Contains(err.Error(), "settings: line 2, column 11: teams[0]: a team needs a size") {
		t.Error(err)
	}
}

// What players write in a property that is not what it should be makes their ticket wait, and harms no other.
func TestSenselessPlayersAreNotMatched(t *testing.T) {
	rules := `{"teams": [{"name": "a", "size": 1, "copies": 2}], "values": {"mode": {"type": "string", "missing": "any"}}}`
	for _, text := range []string{``, `[]`, `{}`, `[1]`, `[{"mode"}]`, `[{"mode":"x"`, `[{"mode":"x"}] `, `[{"mode":"\ud800"}]`,
		`null`, `[{}`, `[{"a":` + strings.Repeat("[", 1000)} {
		good := text == `[{"mode":"x"}] `
		tickets := []fake.Ticket{{Properties: map[string][]byte{players: []byte(text)}}, {}}
		proposals, err := fake.Run(function, fake.Request{Settings: rules, Tickets: tickets})
		if err != nil || len(proposals) == 1 != good {
			t.Errorf("%.30q: %d proposals, %v", text, len(proposals), err)
		}
	}
}

// crowd is tickets of a pool for five against five.
func crowd(n int) []fake.Ticket {
	random := rand.New(rand.NewPCG(1, 2))
	roles := []string{"tank", "healer", "damage", "damage", "damage"}
	tickets := make([]fake.Ticket, n)
	for i := range tickets {
		var of []string
		for range 1 + random.IntN(3)*random.IntN(2) {
			of = append(of, roles[random.IntN(5)])
		}
		near := random.IntN(3)
		ping := fmt.Sprintf(`"eu":%d,"us":%d,"as":%d`, 20+90*(near%3), 20+90*((near+1)%3), 20+90*((near+2)%3))
		tickets[i] = party(1500+300*random.NormFloat64(), time.Duration(random.IntN(30))*time.Second, ping, of...)
	}
	return tickets
}

// Whatever a pool is, the search ends and keeps to its work.
func TestHostilePools(t *testing.T) {
	equal, apart, huge := make([]fake.Ticket, 5000), make([]fake.Ticket, 5000), make([]fake.Ticket, 3000)
	for i := range equal {
		equal[i] = party(1500, 0, both, "tank")
		apart[i] = party(float64(i)*10000, 0, both, "damage")
	}
	many := make([]string, 900)
	for i := range many {
		many[i] = "damage"
	}
	for i := range huge {
		huge[i] = party(1500, 0, both, "damage")
	}
	huge[0] = party(1500, time.Hour, both, many...)
	for name, tickets := range map[string][]fake.Ticket{"equal": equal, "apart": apart, "huge": huge} {
		proposals, err := fake.Run(function, fake.Request{Settings: five(t), Tickets: tickets})
		if err != nil || len(proposals) != 0 {
			t.Errorf("%s: %d proposals, %v", name, len(proposals), err)
		}
	}
	never := `{"numbers": ["skill"], "teams": [{"name": "a", "size": 5, "copies": 2}],
		"rules": [{"compare": [{"avg": "skill"}, "<", {"plus": [{"min": "skill"}, 0]}]}]}`
	proposals, err := fake.Run(function, fake.Request{Settings: never, Tickets: equal})
	if err != nil || len(proposals) != 0 {
		t.Errorf("%d proposals, %v", len(proposals), err)
	}
}

func BenchmarkOneAgainstOne(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	tickets := make([]fake.Ticket, 100_000)
	for i := range tickets {
		tickets[i] = fake.Ticket{
			Wait:       time.Duration(random.IntN(30_000)) * time.Millisecond,
			Attributes: map[string]float64{"skill": 1500 + 300*random.NormFloat64()},
		}
	}
	rules := `{"numbers": ["skill"], "teams": [{"name": "player", "copies": 2, "size": 1}],
		"rules": [{"spread": "skill", "max": {"start": 50, "grow": 5, "until": 400}}]}`
	answers(b, fake.Request{Settings: rules, Tickets: tickets}, 40_000)
}

func BenchmarkFiveAgainstFive(b *testing.B) {
	answers(b, fake.Request{Settings: five(b), Tickets: crowd(100_000)}, 10_000)
}

// answers measures answers to a request, which have so many matches at least.
func answers(b *testing.B, r fake.Request, least int) {
	b.Helper()
	named, err := function.Columns([]byte(r.Settings))
	if err != nil {
		b.Fatal(err)
	}
	request, err := fake.Encode(r, function.Manifest().With(named))
	if err != nil {
		b.Fatal(err)
	}
	a, err := block.ParseAnswer(function.Answer(request), len(r.Tickets), len(r.Backfills))
	if err != nil || a.Len() < least {
		b.Fatalf("%d matches, want at least %d: %q, %v", a.Len(), least, a.Failure, err)
	}
	for b.Loop() {
		function.Answer(request)
	}
}
