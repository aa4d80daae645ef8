package function

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/pkg/matchfn/rules"
)

var recipe = regexp.MustCompile("(?s)\n### ([^\n]*)\n.*?\n```json\n(.*?)\n```\n")

// recipes are the rule sets of the section of docs/rules.md, by title, with what each of them leaves open.
func recipes(t *testing.T, open map[string]string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## More that rules can say\n")
	section, _, _ = strings.Cut(section, "\n## ")
	all := map[string]string{}
	for _, found := range recipe.FindAllStringSubmatch(section, -1) {
		rest, known := open[found[1]]
		if !known {
			t.Errorf("no test plays %q", found[1])
		}
		all[found[1]] = "{" + rest + "," + found[2] + "}"
		if _, err := rules.Parse([]byte(all[found[1]])); err != nil {
			t.Errorf("%s: %v", found[1], err)
		}
	}
	for title := range open {
		if all[title] == "" {
			t.Errorf("the document has no %q", title)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return all
}

// rated is a ticket of so many players.
func rated(players int, skill float64, wait time.Duration) fake.Ticket {
	return fake.Ticket{
		Wait: wait, Attributes: map[string]float64{"skill": skill}, Players: make([]fake.Player, players),
	}
}

// played are the players of each team of each match.
func played(t *testing.T, settings string, tickets []fake.Ticket) string {
	t.Helper()
	var matches []string
	for _, p := range run(t, settings, tickets) {
		var teams []string
		for _, team := range p.Teams {
			n := 0
			for _, number := range team {
				n += max(1, len(tickets[number].Players))
			}
			teams = append(teams, fmt.Sprint(n))
		}
		matches = append(matches, strings.Join(teams, ":"))
	}
	slices.Sort(matches)
	return strings.Join(matches, " ")
}

// Each recipe of the document does what it says.
func TestRecipesOfTheDocument(t *testing.T) {
	const five = `"numbers": ["skill"], "teams": [{"name": "team", "copies": 2, "size": 5}]`
	const one = `"numbers": ["skill"], "teams": [{"name": "side", "copies": 2, "size": 1}]`
	all := recipes(t, map[string]string{
		"Limits by the size of parties":     five,
		"Teams of several sizes":            `"name": "sizes"`,
		"Modes of several sizes":            `"values": {"modes": "set"}`,
		"Players who would rather not meet": one,
		"No wait without end":               one,

		"Last opponents, newcomers and trust": five,
	})
	t.Run("parties", func(t *testing.T) { playParties(t, all["Limits by the size of parties"]) })
	t.Run("sizes", func(t *testing.T) { playSizes(t, all["Teams of several sizes"]) })
	t.Run("modes", func(t *testing.T) { playModes(t, all["Modes of several sizes"]) })
	t.Run("avoid", func(t *testing.T) { playAvoid(t, all["Players who would rather not meet"]) })
	t.Run("standing", func(t *testing.T) { playStanding(t, all["Last opponents, newcomers and trust"]) })
	t.Run("waiting", func(t *testing.T) { playWaiting(t, all["No wait without end"]) })
}

func playParties(t *testing.T, settings string) {
	for _, c := range []struct {
		size  int // of parties
		away  float64
		match bool
	}{{5, 100, true}, {5, 300, false}, {4, 300, false}, {3, 300, true}, {1, 300, true}, {1, 500, false}} {
		var tickets []fake.Ticket
		for team := range 2 {
			for left := 5; left > 0; left -= min(left, c.size) {
				tickets = append(tickets, rated(min(left, c.size), 1500+float64(team)*c.away, 0))
			}
		}
		want := ""
		if c.match {
			want = "5:5"
		}
		if got := played(t, settings, tickets); got != want {
			t.Errorf("parties of %d, %v away: %q, want %q", c.size, c.away, got, want)
		}
	}
	// Solos fill up what large parties lack, near them, and the others play at last.
	var tickets []fake.Ticket
	for i := range 200 {
		tickets = append(tickets, rated(1+3*(i%4/3), 1000+5*float64(i), time.Duration(i%20)*time.Second))
	}
	matches := run(t, settings, tickets)
	if len(matches) < 33 { // of 350 players
		t.Errorf("%d matches", len(matches))
	}
	for _, m := range matches {
		least, greatest, largest := 1e9, 0.0, 0
		for _, number := range m.Tickets() {
			skill := tickets[number].Attributes["skill"]
			least, greatest = min(least, skill), max(greatest, skill)
			largest = max(largest, len(tickets[number].Players))
		}
		if largest >= 4 && greatest-least > 150 || greatest-least > 400 {
			t.Errorf("a party of %d is in a match of %v", largest, greatest-least)
		}
	}
}

func playSizes(t *testing.T, settings string) {
	for _, c := range []struct {
		players int
		wait    time.Duration
		want    string
	}{
		{9, 0, ""}, {10, 0, "5:5"}, {9, 25 * time.Second, "4:4"}, {5, 25 * time.Second, ""}, {5, 45 * time.Second, "2:2"},
		{2, 45 * time.Second, "1:1"}, {24, 45 * time.Second, "2:2 5:5 5:5"},
	} {
		tickets := make([]fake.Ticket, c.players)
		for i := range tickets {
			tickets[i].Wait = c.wait
		}
		if got := played(t, settings, tickets); got != c.want {
			t.Errorf("%d players after %v: %q, want %q", c.players, c.wait, got, c.want)
		}
	}
}

func playModes(t *testing.T, settings string) {
	for _, c := range []struct {
		duel, squad, both int
		want              string
	}{
		{2, 0, 0, "1:1"}, {1, 1, 0, ""}, {0, 8, 0, "4:4"}, {0, 7, 1, "4:4"}, {1, 6, 1, "1:1"}, {5, 9, 0, "1:1 1:1 4:4"},
		{200, 0, 0, strings.TrimSpace(strings.Repeat("1:1 ", 100))},
	} {
		var tickets []fake.Ticket
		for modes, n := range map[string]int{`["duel"]`: c.duel, `["squad"]`: c.squad, `["duel","squad"]`: c.both} {
			for range n {
				tickets = append(tickets, knows(`{"modes":`+modes+`}`))
			}
		}
		if got := played(t, settings, tickets); got != c.want {
			t.Errorf("%d for a duel, %d for squads, %d for both: %q, want %q", c.duel, c.squad, c.both, got, c.want)
		}
	}
	two := []fake.Ticket{knows(`{"modes":["duel"]}`), knows(`{"modes":["squad","duel"]}`)}
	if got := told(t, run(t, settings, two)); got != `{"shared":{"modes":["duel"]}}` {
		t.Errorf("the match says %s", got)
	}
}

func playAvoid(t *testing.T, settings string) {
	player := func(id string, skill float64, wait time.Duration, blocked string) fake.Ticket {
		ticket := fake.Ticket{Wait: wait, Players: []fake.Player{{ID: id, Attributes: map[string]float64{"skill": skill}}}}
		if blocked != "" {
			ticket.Players[0].Properties = map[string][]byte{"blocked": []byte(blocked)}
		}
		return ticket
	}
	const ada, bob, cyd = 0, 1, 2
	three := func(wait time.Duration) []fake.Ticket {
		return []fake.Ticket{
			ada: player("ada", 1500, wait, `["bob"]`), bob: player("bob", 1510, 0, ""), cyd: player("cyd", 1750, 0, ""),
		}
	}
	for wait, together := range map[time.Duration]bool{9 * time.Second: false, 40 * time.Second: true} {
		if got := run(t, settings, three(wait)[:cyd]); len(got) == 1 != together {
			t.Errorf("after %v the only two who play are in %d matches", wait, len(got))
		}
		got := run(t, settings, three(wait))
		if len(got) != 1 || !slices.Contains(got[0].Tickets(), ada) || !slices.Contains(got[0].Tickets(), cyd) {
			t.Errorf("after %v ada and cyd should play: %+v", wait, got)
		}
	}
	// Of many who play five against five, every fifth avoids one who is near. Nearly all play.
	var many []fake.Ticket
	for i := range 100 {
		blocked := ""
		if i%5 == 0 {
			blocked = fmt.Sprintf(`["p%d"]`, i+1+i%7)
		}
		many = append(many, player(fmt.Sprint("p", i), 1000+10*float64(i), time.Duration(i)*time.Millisecond, blocked))
	}
	matches := run(t, strings.Replace(settings, `"size": 1`, `"size": 5`, 1), many)
	for _, m := range matches {
		for _, number := range m.Tickets() {
			if number%5 == 0 && slices.Contains(m.Tickets(), number+1+number%7) {
				t.Errorf("p%d is in a match with whom he avoids", number)
			}
		}
	}
	if len(matches) < 8 {
		t.Errorf("there are %d matches", len(matches))
	}
}

func playWaiting(t *testing.T, settings string) {
	// far waits while two newcomers that suit each other come each second.
	waited := func(far float64) int {
		crowd := fake.NewCrowd(matchfn.NewMatcher(Begin, Options()...), settings)
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		id := crowd.Add(now, rated(1, far, 0))
		for second := range 120 {
			for i := range 2 {
				crowd.Add(now, rated(1, 1500+10*float64(i), 0))
			}
			matches, err := crowd.Run(now)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range matches {
				for _, ticket := range m.Tickets() {
					if int(ticket) == id {
						return second
					}
					crowd.Remove(int(ticket))
				}
			}
			now = now.Add(time.Second)
		}
		return -1
	}
	for far, most := range map[float64]int{1550: 60, 1750: 60, 9000: 90} {
		if got := waited(far); got < 0 || got > most {
			t.Errorf("a player of %v waits for %d s, not %d", far, got, most)
		}
	}
	if got := waited(9000); got != 90 {
		t.Errorf("without anybody near, a player is matched after %d s", got)
	}
}

// standing is a ticket of a player as the service makes it for a project with a standing.
func standing(id string, games, trust float64, wait time.Duration, recent ...string) fake.Ticket {
	own := map[string]float64{"games": games, "trust": trust, "skill": 1}
	ticket := fake.Ticket{Wait: wait, Players: []fake.Player{{ID: id, Attributes: own}}}
	if len(recent) > 0 {
		ticket.Properties = map[string][]byte{"recent": []byte(`["` + strings.Join(recent, `","`) + `"]`)}
	}
	return ticket
}

func playStanding(t *testing.T, settings string) {
	duel := strings.Replace(settings, `"size": 5`, `"size": 1`, 1)
	for name, c := range map[string]struct {
		a, b  fake.Ticket
		match bool
	}{
		"alike":               {standing("a", 50, 1, 0), standing("b", 70, 0.9, 0, "c"), true},
		"met":                 {standing("a", 50, 1, 0), standing("b", 70, 1, 0, "c", "a"), false},
		"met, waited":         {standing("a", 50, 1, 25*time.Second), standing("b", 70, 1, 0, "a"), true},
		"newcomers":           {standing("a", 0, 1, 0), standing("b", 9, 1, 0), true},
		"a newcomer":          {standing("a", 9, 1, 25*time.Second), standing("b", 10, 1, 0), false},
		"a newcomer, waited":  {standing("a", 9, 1, 35*time.Second), standing("b", 10, 1, 0), true},
		"suspicious":          {standing("a", 50, 0.3, 0), standing("b", 60, 0, 0), true},
		"a suspicious":        {standing("a", 50, 0.3, time.Hour), standing("b", 60, 0.5, time.Hour), false},
		"suspicious newcomer": {standing("a", 3, 0.3, time.Hour), standing("b", 4, 1, 0), false},
	} {
		if got := run(t, duel, []fake.Ticket{c.a, c.b}); len(got) == 1 != c.match {
			t.Errorf("%s: %d matches", name, len(got))
		}
	}
	// Nearly all of many players of five against five play, and none where they should not.
	var many []fake.Ticket
	for i := range 400 {
		games, trust := 50.0, 1.0
		if i%4 == 0 {
			games = float64(i % 10)
		}
		if i%3 == 0 {
			trust = 0.2
		}
		wait := time.Duration(i) * time.Millisecond
		many = append(many, standing(fmt.Sprint("p", i), games, trust, wait, fmt.Sprint("p", i+1)))
	}
	matches := run(t, settings, many)
	for _, m := range matches {
		for _, n := range m.Tickets() {
			of, first := many[n].Players[0].Attributes, many[m.Tickets()[0]].Players[0].Attributes
			if (of["games"] < 10) != (first["games"] < 10) || (of["trust"] < 0.5) != (first["trust"] < 0.5) ||
				slices.Contains(m.Tickets(), n+1) {
				t.Errorf("a match of %v", m.Tickets())
				break
			}
		}
	}
	if len(matches) < 36 {
		t.Errorf("%d matches", len(matches))
	}
}
