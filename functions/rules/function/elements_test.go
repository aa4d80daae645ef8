package function

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/fake"
)

// many is the JSON of a set or a map with so many elements.
func many(n int, value string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"p%d"%s`, i, value))
	}
	if value != "" {
		return "{" + strings.Join(all, ",") + "}"
	}
	return "[" + strings.Join(all, ",") + "]"
}

// A set or a map of a player has so many elements. A ticket with more is in no match, whatever the rules say of those
// who lack the value, and so no player meets one whom a long list names. Others are matched.
func TestLargeValuesAreInNoMatch(t *testing.T) {
	const most = search.MaxElements
	blocked := func(of string) string { return `[{"blocked": ` + of + `}]` }
	for name, c := range map[string]struct {
		kind, list string
		match      bool
	}{
		"as many as there may be":    {`"missing": "any"`, blocked(many(most, "")), true},
		"too many":                   {`"missing": "any"`, blocked(many(most+1, "")), false},
		"too many, with a default":   {`"default": ["x"]`, blocked(many(most+1, "")), false},
		"the same too often":         {`"missing": "any"`, blocked("[" + strings.Repeat(`"x",`, most) + `"x"]`), false},
		"a large map":                {`"missing": "any"`, `[{"ping": ` + many(most, ":1") + `}]`, true},
		"a map that is too large":    {`"missing": "any"`, `[{"ping": ` + many(most+1, ":1") + `}]`, false},
		"what the rules do not name": {`"missing": "any"`, `[{"other": ` + many(most+1, "") + `}]`, true},
	} {
		settings := `{
			"values": {"id": {"type": "string", "missing": "any"}, "ping": {"type": "map", "missing": "any"},
				"blocked": {"type": "set", ` + c.kind + `}},
			"teams": [{"name": "team", "copies": 2, "size": 1}], "rules": [{"avoid": "blocked"}, {"spread": "skill", "max": 1}],
			"numbers": ["skill"]
		}`
		of := func(list string, skill float64, properties map[string][]byte, known ...fake.Player) fake.Ticket {
			return fake.Ticket{Attributes: map[string]float64{"skill": skill}, Properties: properties, Players: known}
		}
		property := map[string][]byte{players: []byte(c.list)}
		if got := run(t, settings, []fake.Ticket{
			of(c.list, 1, property), of("", 1, nil), of("", 100, nil), of("", 100, nil),
		}); len(got) != 1 && !c.match || len(got) != 2 && c.match {
			t.Errorf("%s, in the list: %d matches", name, len(got))
		}
		own := map[string][]byte{}
		if at := strings.Index(c.list, ": "); at > 0 {
			own[c.list[3:at-1]] = []byte(c.list[at+2 : len(c.list)-2])
		}
		if got := run(t, settings, []fake.Ticket{
			of("", 1, nil, fake.Player{ID: "a", Properties: own}), of("", 1, nil, fake.Player{ID: "b"}),
			of("", 100, nil, fake.Player{ID: "c"}), of("", 100, nil, fake.Player{ID: "d"}),
		}); len(got) != 1 && !c.match || len(got) != 2 && c.match {
			t.Errorf("%s, of the player: %d matches", name, len(got))
		}
	}
}

// Each player of a party has what the party has. That is bounded, too.
func TestPartiesHaveSoMuchInAll(t *testing.T) {
	const settings = `{
		"values": {"maps": {"type": "set", "party": "union", "missing": "any"}},
		"teams": [{"name": "team", "size": {"min": 1, "max": 300}}], "rules": [{"holders": "maps", "of": "none", "count": 0}]
	}`
	for players, want := range map[int]int{200: 1, 256: 1, 257: 0, 300: 0} {
		var list []string
		for i := range players {
			list = append(list, fmt.Sprintf(`{"maps": ["m%d"]}`, i))
		}
		got := run(t, settings, []fake.Ticket{{
			Properties: map[string][]byte{"players": []byte("[" + strings.Join(list, ",") + "]")},
		}})
		if len(got) != want {
			t.Errorf("%d players: %d matches, want %d", players, len(got), want)
		}
	}
}

// The log says how many tickets are in no match for that, and an explanation says it of each.
func TestLargeValuesAreTold(t *testing.T) {
	large := fake.Ticket{Properties: map[string][]byte{players: []byte(`[{"blocked": ` + many(257, "") + `}]`)}}
	request := fake.Request{
		Settings: `{"values": {"blocked": {"type": "set", "missing": "any"}}, "teams": [{"name": "team", "copies": 2, "size": 1}]}`,
		Tickets:  []fake.Ticket{large, {}, large}, Asked: []uint32{0},
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stdout
	os.Stdout = in
	reasons, err := fake.Explain(function, request)
	os.Stdout = was
	_ = in.Close()
	log, _ := io.ReadAll(out)
	const line = "2 tickets are in no match: a set or a map of a player has more than 256 elements"
	if !strings.Contains(string(log), line) {
		t.Errorf("the log is %q", log)
	}
	if len(reasons) != 1 || reasons[0].Reason != "a set or a map of a player has more than 256 elements" {
		t.Errorf("the reasons are %v, %v", reasons, err)
	}
}
