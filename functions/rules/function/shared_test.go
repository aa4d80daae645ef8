package function

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

// sharing are rules of matches of three, which have what must hold and values.
const sharing = `{
	"values": {
		"mode": {"type": "string", "missing": "any"}, "maps": {"type": "set", "missing": "any"}, "clan": {"type": "string",
		"missing": "any"}, "langs": {"type": "set", "missing": "any"}, "level": {"type": "number", "missing": "any"}
	},
	"teams": [{"name": "all", "size": 3}],
	"rules": [%s]
}`

// knows is a ticket of a player with the values of an object.
func knows(values string) fake.Ticket {
	return fake.Ticket{Properties: map[string][]byte{players: []byte("[" + values + "]")}}
}

// told are the match properties of the only proposal.
func told(t *testing.T, proposals []fake.Proposal) string {
	t.Helper()
	if len(proposals) != 1 {
		t.Fatalf("%d proposals", len(proposals))
	}
	if proposals[0].Extras == nil {
		return ""
	}
	return string(proposals[0].Extras.MatchProperties)
}

// A match says what its players have in common, whatever their order.
func TestMatchSaysWhatPlayersShare(t *testing.T) {
	const maps, mode = `{"share":"maps"}`, `{"same":"mode"}`
	const three = `{"maps":["dust","arena","cave"]} {"maps":["arena","bay","dust"]} {"maps":["x","dust","arena"]}`
	for name, c := range map[string]struct{ rules, players, want string }{
		"maps": {maps, three, `{"shared":{"maps":["arena","dust"]}}`},
		"several values, in the order of the rules": {mode + "," + maps + "," + maps + `,{"share":"langs","min":0}`,
			`{"mode":"b","maps":["z","a"],"langs":["en"]} {"mode":"b","maps":["a"],"langs":["en"]} ` +
				`{"mode":"b","maps":["a"],"langs":["en","de"]}`,
			`{"shared":{"mode":["b"],"maps":["a"],"langs":["en"]}}`},
		"one does not say": {maps + "," + mode, `{"maps":["b","a"]} {"mode":"m"} {"maps":["a","c"]}`,
			`{"shared":{"maps":["a"],"mode":["m"]}}`},
		"nobody says": {maps, `{} {} {}`, ``},
		"none in common": {`{"share":"maps","min":0},` + mode, `{"maps":["a"],"mode":"m"} {"maps":["b"],"mode":"m"} {}`,
			`{"shared":{"mode":["m"]}}`},
		"an empty set": {`{"share":"maps","min":0}`, `{"maps":[]} {"maps":["b"]} {}`, ``},
		"beside the anchor": {`{"share":"maps","in":"anchor"}`, `{"maps":["a","b"]} {"maps":["a"]} {"maps":["a","b"]}`,
			`{"shared":{"maps":["a"]}}`},
		"only with the anchor": {`{"share":"maps","in":"anchor"}`, `{"maps":["a","b"]} {"maps":["a"]} {"maps":["b"]}`, ``},
		"in any, one, all and not": {`{"any":[{"all":[` + mode + `]},{"share":"maps","min":9}]},` +
			`{"one":[{"share":"langs"},{"same":"level"}]},{"not":{"same":"clan"}}`,
			`{"mode":"m","maps":["a"],"langs":["en"],"level":1,"clan":"x"} ` +
				`{"mode":"m","maps":["a"],"langs":["en"],"level":2,"clan":"y"} {"mode":"m"}`,
			`{"shared":{"mode":["m"],"maps":["a"],"langs":["en"]}}`},
		"a rule that is not active": {`{"share":"maps","active":{"start":false,"steps":[[60,true]]}}`, three,
			`{"shared":{"maps":["arena","dust"]}}`},
		"a string as a set":       {`{"share":"mode"}`, `{"mode":"m"} {"mode":"m"} {}`, `{"shared":{"mode":["m"]}}`},
		"numbers and differences": {`{"same":"level"},{"different":"clan"}`, `{"level":1} {"level":1} {"clan":"x"}`, ``},
		"a preference":            {``, three, ``},
		"quotes": {maps, strings.Repeat(`{"maps":["a\"b\\c","\u0007","é"]} `, 3),
			`{"shared":{"maps":["\u0007","a\"b\\c","é"]}}`},
		"too long a text": {maps + "," + mode, strings.Repeat(fmt.Sprintf(`{"maps":["b",%q],"mode":%[1]q} `,
			strings.Repeat("a", 257)), 3), `{"shared":{"maps":["b"]}}`},
	} {
		settings := fmt.Sprintf(sharing, c.rules)
		if name == "a preference" {
			settings = strings.Replace(settings, `"rules": []`, `"prefer": [{"need": `+maps+`}]`, 1)
		}
		var tickets []fake.Ticket
		for _, one := range strings.Fields(c.players) {
			tickets = append(tickets, knows(one))
		}
		for turn := range 6 {
			if turn == 3 && !strings.Contains(name, "anchor") {
				slices.Reverse(tickets)
			}
			got := told(t, run(t, settings, tickets))
			if got != c.want {
				t.Errorf("%s: the match says %s, want %s", name, got, c.want)
			}
			if got != "" && !json.Valid([]byte(got)) {
				t.Errorf("%s: %s is no JSON", name, got)
			}
			if !strings.Contains(name, "anchor") {
				tickets = append(tickets[1:], tickets[0])
			}
		}
	}
}

// Of more than 16 elements the first ones are said, whatever their order is. A match says no more than it may.
func TestMatchSaysSomeOfVeryMany(t *testing.T) {
	settings := fmt.Sprintf(sharing, `{"share":"maps"},{"share":"langs"}`)
	list := func(n int, of func(i int) string) string {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = of(i)
		}
		rand.Shuffle(n, func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		text, _ := json.Marshal(texts)
		return string(text)
	}
	three := func(n int, of func(i int) string) (tickets []fake.Ticket) {
		for range 3 {
			one := list(n, of)
			tickets = append(tickets, knows(`{"maps":`+one+`,"langs":`+one+`}`))
		}
		return tickets
	}
	var says struct{ Shared map[string][]string }
	short := func(i int) string { return fmt.Sprintf("map-%02d", i) }
	got := told(t, run(t, settings, three(40, short)))
	if err := json.Unmarshal([]byte(got), &says); err != nil || len(says.Shared) != 2 {
		t.Fatal(got, err)
	}
	for name, all := range says.Shared {
		if len(all) != 16 || !slices.IsSorted(all) || all[0] != "map-00" || all[15] != "map-15" {
			t.Errorf("%s: the match says %q", name, all)
		}
	}

	// Each of these takes six bytes where it is said.
	long := func(i int) string { return strings.Repeat("\x01", 200) + short(i) }
	got = told(t, run(t, settings, three(16, long)))
	says.Shared = nil
	if err := json.Unmarshal([]byte(got), &says); err != nil || len(says.Shared["maps"]) != 6 || len(got) > maxShared {
		t.Errorf("the match says %d bytes, of %d maps, %v", len(got), len(says.Shared["maps"]), err)
	}
}

// Matches of two that are found the short way say it, too.
func TestMatchOfTwoSaysWhatPlayersShare(t *testing.T) {
	settings := `{"numbers": ["skill"], "values": {"mode": "string"}, "teams": [{"name": "side", "copies": 2, "size": 1}],
		"rules": [{"spread": "skill", "max": 100}, {"same": "mode"}]}`
	var tickets []fake.Ticket
	for _, mode := range []string{`"duel"`, `"arena"`, `"arena"`, `"duel"`} {
		tickets = append(tickets, fake.Ticket{
			Attributes: map[string]float64{"skill": 1500}, Properties: map[string][]byte{"mode": []byte(mode)},
		})
	}
	proposals := run(t, settings, tickets)
	if len(proposals) != 2 {
		t.Fatalf("%d proposals", len(proposals))
	}
	for _, p := range proposals {
		want := `{"shared":{"mode":` + "[" + string(tickets[p.Tickets()[0]].Properties["mode"]) + `]}}`
		if got := told(t, []fake.Proposal{p}); got != want {
			t.Errorf("a match says %s, want %s", got, want)
		}
	}
}

// A match that gets a backfill ticket says it beside its places. A ticket that joins is told what all have in common
// then. The players in the game count.
func TestGameSaysWhatPlayersShare(t *testing.T) {
	first := run(t, fmt.Sprintf(early, "short"), without("healer5"))
	want := `{"shared":{"mode":["ranked"],"maps":["arena","canyon"]},"places":6,"open":[`
	if got := told(t, first); !strings.HasPrefix(got, want) {
		t.Errorf("the match says %s, want %s", got, want)
	}
	healer := with(comes("healer9", 0, 1500, `["healer"]`), `["bay", "canyon"]`)
	joined := run(t, fmt.Sprintf(early, "short"), []fake.Ticket{healer}, made(first[0], fake.Backfill{}))
	want = `{"shared":{"mode":["ranked"],"maps":["canyon"]},"joining":[`
	if got := told(t, joined); !strings.HasPrefix(got, want) {
		t.Errorf("the game is told %s, want %s", got, want)
	}

	// A server says what it took as a property of the backfill ticket, also of one that a match got.
	for maps, joins := range map[string]bool{`["arena"]`: false, `["arena", "canyon"]`: true} {
		game := made(first[0], fake.Backfill{Version: 2})
		game.Properties["maps"] = []byte(`["canyon"]`)
		healer := with(comes("healer9", 0, 1500, `["healer"]`), maps)
		got := run(t, fmt.Sprintf(early, "short"), []fake.Ticket{healer}, game)
		if len(got) == 1 != joins || joins && !strings.HasPrefix(told(t, got), want) {
			t.Errorf("who plays %s: %d proposals", maps, len(got))
		}
	}
	settings := `{"values": {"maps": "set"}, "teams": [{"name": "all", "size": {"min": 2, "max": 3}}],
		"rules": [{"share": "maps"}]}`
	for maps, joins := range map[string]bool{`{"maps":["arena"]}`: false, `{"maps":["arena","dust"]}`: true} {
		game := fake.Backfill{
			Ticket: fake.Ticket{Properties: map[string][]byte{"maps": []byte(`["dust"]`)}},
			Roster: []fake.RosterPlayer{in("a", "", "", 0), in("b", "", "", 0)},
		}
		got := run(t, settings, []fake.Ticket{knows(maps)}, game)
		if len(got) == 1 != joins {
			t.Fatalf("%s: %d proposals", maps, len(got))
		}
		if joins && told(t, got) != `{"shared":{"maps":["dust"]},"joining":[{"team":"all"}]}` {
			t.Errorf("the game is told %s", told(t, got))
		}
	}
}

// A function that keeps its tickets says the same as one that gets all, also after names were forgotten.
func TestKeptTicketsSayTheSame(t *testing.T) {
	settings := `{"values": {"maps": "set"}, "teams": [{"name": "all", "size": 2}], "rules": [{"share": "maps", "min": 2}]}`
	crowd := fake.NewCrowd(matchfn.NewMatcher(Begin, Options()...), settings)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	// add adds a ticket, whose maps are numbered downwards: the names that come later are before the others.
	add := func(maps ...string) int {
		text, _ := json.Marshal(maps)
		return crowd.Add(now, knows(`{"maps":`+string(text)+`}`))
	}
	waits := add("zoo", "bay", "cave")
	var gone []int
	for i := range 5000 {
		gone = append(gone, add(fmt.Sprint("map", i), fmt.Sprint("more", i)))
	}
	runs := func() string {
		t.Helper()
		want, err := crowd.Anew(now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := crowd.Run(now)
		if err != nil || len(got) != len(want) {
			t.Fatal(got, err)
		}
		if len(got) == 0 {
			return ""
		}
		if told(t, got) != told(t, want) {
			t.Errorf("it says %s, and %s of all tickets", told(t, got), told(t, want))
		}
		return told(t, got)
	}
	if got := runs(); got != "" {
		t.Fatalf("got %s", got)
	}
	for _, id := range gone {
		crowd.Remove(id)
	}
	now = now.Add(time.Second)
	runs() // it learns that they are gone
	add("cave", "aqua", "zoo", "bay")
	now = now.Add(time.Second)
	if got, want := runs(), `{"shared":{"maps":["bay","cave","zoo"]}}`; got != want {
		t.Errorf("ticket %d and another say %s, want %s", waits, got, want)
	}
}

// What a run says of this is bounded: the last matches wait for the next run.
func TestRunSaysSoMuchOfWhatPlayersShare(t *testing.T) {
	settings := `{"values": {"maps": "set"}, "teams": [{"name": "all", "size": 2}], "rules": [{"share": "maps"}]}`
	tickets := make([]fake.Ticket, 1000)
	for i := range tickets {
		maps := make([]string, 16)
		for j := range maps {
			maps[j] = fmt.Sprintf("%d %d %s", i/2, j, strings.Repeat("x", 200))
		}
		text, _ := json.Marshal(maps)
		tickets[i] = knows(`{"maps":` + string(text) + `}`)
	}
	proposals := run(t, settings, tickets)
	bytes := 0
	for _, p := range proposals {
		bytes += len(p.Extras.MatchProperties) - len("}")
	}
	if most := leastShared + 1000*sharedOfTicket; len(proposals) == 500 || bytes > most || bytes < most-maxShared {
		t.Errorf("%d matches say %d bytes", len(proposals), bytes)
	}
}
