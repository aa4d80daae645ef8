package function

import (
	"fmt"
	"testing"

	"matchmaker.dev/pkg/matchfn/fake"
)

// A player has the id that the service knows, whatever the ticket says, so no player evades players that avoid them.
func TestIDOfTheServiceCounts(t *testing.T) {
	list := func(text string) map[string][]byte { return map[string][]byte{players: []byte(text)} }
	own := map[string][]byte{"id": []byte(`"innocent"`)}
	one := func(id string, properties map[string][]byte) fake.Ticket {
		return fake.Ticket{Properties: properties, Players: []fake.Player{{ID: id}}}
	}
	for name, c := range map[string]struct {
		size   int
		avoids string // what the other one avoids
		ticket fake.Ticket
		match  bool
	}{
		"no lie":               {1, "bad", one("bad", nil), false},
		"a list":               {1, "bad", one("bad", list(`[{"id": "innocent"}]`)), false},
		"a list that is right": {1, "x", one("bad", list(`[{"id": "bad"}]`)), true},
		"the ticket's value":   {1, "bad", one("bad", own), false},
		"the player's value":   {1, "bad", fake.Ticket{Players: []fake.Player{{ID: "bad", Properties: own}}}, false},
		"accused of a name":    {1, "innocent", one("bad", own), true},
		"a party with a list": {2, "bad", fake.Ticket{
			Players: []fake.Player{{ID: "good"}, {ID: "bad"}}, Properties: list(`[{"id": "a"}, {"id": "b"}]`)}, false},
		"one who says to be two":          {2, "bad", one("bad", list(`[{"id": "a"}, {"id": "b"}]`)), false},
		"one who says to be two, avoided": {2, "b", one("bad", list(`[{"id": "a"}, {"id": "b"}]`)), false},
		"one who says to be two, liked":   {2, "c", one("bad", list(`[{"id": "a"}, {"id": "b"}]`)), true},
		"a service that knows nobody":     {1, "bad", fake.Ticket{Properties: list(`[{"id": "bad"}]`)}, false},
	} {
		for _, values := range []string{`"id": {"type": "string", "missing": "any"}`,
			`"name": {"type": "string", "from": "id", "missing": "any"}`} {
			id := "id"
			if values[1] == 'n' {
				id = "name"
			}
			settings := fmt.Sprintf(`{
				"values": {%s, "blocked": {"type": "set", "missing": "any"}},
				"teams": [{"name": "a", "size": 1}, {"name": "b", "size": %d}],
				"rules": [{"avoid": "blocked", "id": "%s"}]
			}`, values, c.size, id)
			other := fake.Ticket{
				Players:    []fake.Player{{ID: "other"}},
				Properties: map[string][]byte{"blocked": fmt.Appendf(nil, `["%s"]`, c.avoids)},
			}
			if c.ticket.Players == nil {
				other.Players = nil
			}
			if got := run(t, settings, []fake.Ticket{other, c.ticket}); len(got) == 1 != c.match {
				t.Errorf("%s, value %s: %d matches", name, id, len(got))
			}
		}
	}
}
