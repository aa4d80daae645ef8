package contract

import (
	"net/http"
	"strings"
)

// results puts a config of the puppet, creates so many tickets, and waits for their results.
func (t *trial) results(tickets int, settings object, hosting bool) []assignment {
	lane := t.lanes.take()
	settings["size"] = tickets
	c := t.play(lane, settings, nil)
	if hosting {
		c["hosting"] = object{"Profile": "profile", "FleetId": "fleet"}
	}
	t.config(c)
	all := make([]ticket, tickets)
	for i := range all {
		all[i] = t.ticketWith(object{"attributes": object{"lane": lane},
			"properties": object{"echo": []byte(marshal(t, object{"you": i}))}})
	}
	results := make([]assignment, tickets)
	for i, k := range all {
		results[i] = k.result(t)
	}
	return results
}

func (a assignment) mustBe(t *trial, connection, failure, properties, matchProperties string) {
	equal(t, "the connection", a.Connection, connection)
	equal(t, "the error", a.Error, failure)
	sameJSON(t, "properties", a.Properties, []byte(properties))
	sameJSON(t, "matchproperties", a.MatchProperties, []byte(matchProperties))
}

func assignments() []requirement {
	const at = "203.0.113.7:7777"
	return []requirement{
		{name: "assignments/connection without hosting is the function's", check: func(t *trial) {
			for _, a := range t.results(2, object{"connection": at}, false) {
				a.mustBe(t, at, "", `null`, `null`)
			}
		}},
		{name: "assignments/neither hosting nor a connection", check: func(t *trial) {
			for _, a := range t.results(1, object{}, false) {
				a.mustBe(t, "", "", `null`, `null`)
			}
		}},
		{name: "assignments/ticket properties are private", check: func(t *trial) {
			all := t.results(2, object{"connection": at, "echo": true}, false)
			all[0].mustBe(t, at, "", `{"you":0}`, `null`)
			all[1].mustBe(t, at, "", `{"you":1}`, `null`)
		}},
		{name: "assignments/match properties are shared", check: func(t *trial) {
			for _, a := range t.results(2, object{"connection": at,
				"matchProperties": `{"map":"harbour","teams":[["a"],["b"]]}`}, false) {
				a.mustBe(t, at, "", `null`, `{"map":"harbour","teams":[["a"],["b"]]}`)
			}
		}},
		{name: "assignments/ticket and match properties", check: func(t *trial) {
			all := t.results(2, object{"connection": at, "echo": true, "matchProperties": `{"map":"harbour"}`}, false)
			all[0].mustBe(t, at, "", `{"you":0}`, `{"map":"harbour"}`)
			all[1].mustBe(t, at, "", `{"you":1}`, `{"map":"harbour"}`)
		}},
		{name: "assignments/older properties are shared by all tickets", check: func(t *trial) {
			for _, a := range t.results(2, object{"connection": at, "assignmentProperties": `{"map":"harbour"}`}, false) {
				a.mustBe(t, at, "", `{"map":"harbour"}`, `null`)
			}
		}},
		{name: "assignments/no conversion beside ticket properties", check: func(t *trial) {
			for _, a := range t.results(1, object{"connection": at, "assignmentProperties": `{"old":1}`,
				"ticketProperties": `{"new":1}`}, false) {
				a.mustBe(t, at, "", `{"new":1}`, `null`)
			}
		}},
		{name: "assignments/no conversion beside match properties", check: func(t *trial) {
			for _, a := range t.results(2, object{"connection": at, "assignmentProperties": `{"old":1}`,
				"matchProperties": `{"new":1}`}, false) {
				a.mustBe(t, at, "", `null`, `{"new":1}`)
			}
		}},
		{name: "assignments/PoolTimeout", check: func(t *trial) {
			for _, a := range t.results(1, object{"error": "PoolTimeout"}, false) {
				a.mustBe(t, "", "PoolTimeout", `null`, `null`)
			}
		}},
		{name: "assignments/an error alone, with hosting", check: func(t *trial) {
			for _, a := range t.results(2, object{"error": "NobodyLikesYou", "connection": at}, true) {
				equal(t, "the error", a.Error, "NobodyLikesYou")
			}
		}},
		{name: "assignments/error with properties", check: func(t *trial) {
			for _, a := range t.results(1, object{"error": "PoolTimeout", "matchProperties": `{"waited":9}`,
				"ticketProperties": `{"you":1}`}, false) {
				a.mustBe(t, "", "PoolTimeout", `{"you":1}`, `{"waited":9}`)
			}
		}},
		{name: "assignments/one game server for a match", check: func(t *trial) {
			if !t.Hosting {
				t.skip("there are no game servers")
			}
			all := t.results(2, object{"matchProperties": `{"map":"harbour"}`}, true)
			if all[0].Connection == "" || !strings.Contains(all[0].Connection, ":") {
				t.Errorf("the connection is %q, want ip:port", all[0].Connection)
			}
			for _, a := range all {
				a.mustBe(t, all[0].Connection, "", `null`, `{"map":"harbour"}`)
			}
		}},
		{name: "assignments/final", check: func(t *trial) {
			lane := t.lanes.take()
			t.config(t.play(lane, object{"connection": at}, nil))
			k := t.ticket(map[string]float64{"lane": lane})
			k.result(t)
			t.awaitCycles(map[string]float64{"lane": lane})
			var got ticketResponse
			t.do(http.StatusOK, k.get()).decode(t, &got)
			if got.Assignment == nil || got.Assignment.Connection != at {
				t.Errorf("the assignment became %+v", got.Assignment)
			}
		}},
	}
}
