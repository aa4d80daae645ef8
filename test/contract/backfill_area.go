package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

type backfillTicket struct {
	ID            string `json:"Id"`
	Created       int64
	RecordVersion int64
	Connection    *string
	Attributes    map[string]float64
	Properties    map[string][]byte
	// Assigned are the tickets that joined, in the answer to an approval.
	Assigned []ticketResponse `json:"assignedTickets"`
}

// places lists the paths of the second generation of backfill.
func (t *trial) places() []string {
	return []string{
		"/" + t.Project + "/matchmaking/api/v2/backfill",
		"/" + t.Project + "/matchmaking/api/v1/api/v2/backfill",
		"/api/v2/backfill",
	}
}

func serverRequest(method, path, body string) request {
	return request{as: Server, method: method, path: path, body: body}
}

// backfill creates a backfill ticket at a place and returns its path.
func (t *trial) backfill(place, body string) (path string) {
	var made struct {
		ID string `json:"Id"`
	}
	t.do(http.StatusCreated, serverRequest(http.MethodPost, place, body)).decode(t, &made)
	path = place + "/" + made.ID
	t.Cleanup(func() { t.do(http.StatusNoContent, serverRequest(http.MethodDelete, path, "")) })
	return path
}

func (t *trial) approve(path string) (b backfillTicket) {
	t.do(http.StatusOK, serverRequest(http.MethodPost, path+"/approvals", "")).decode(t, &b)
	return b
}

// game creates a backfill ticket with seats in a new lane, and a config that gives it tickets. It returns the backfill
// ticket's path and the lane.
func (t *trial) game(seats float64) (path string, lane float64) {
	lane = t.lanes.take()
	t.config(t.play(lane, object{"fill": true, "matchProperties": `{"map":"harbour"}`}, nil))
	return t.backfill(t.places()[0], marshal(t, gameRequest(lane, seats))), lane
}

// gameRequest is the body of a backfill ticket with seats.
func gameRequest(lane, seats float64) object {
	return object{"Connection": gameAt, "attributes": object{"lane": lane, "seats": seats}}
}

// awaitProposal waits until tickets were proposed to the game of a lane.
func (t *trial) awaitProposal(lane float64) {
	t.eventually("tickets are proposed", func() bool {
		var log struct{ Logs map[string]string }
		t.do(http.StatusOK, request{as: Developer, method: http.MethodGet, path: "functions/" + t.puppet + "/log"}).decode(t,
			&log)
		for _, text := range log.Logs {
			if strings.Contains(text+"\n", fmt.Sprintf("the puppet fills a game of lane %d\n", int64(lane))) {
				return true
			}
		}
		return false
	})
}

// awaitJoin approves until a ticket joins the game, and returns the last answer.
func (t *trial) awaitJoin(path string, k ticket) (b backfillTicket) {
	t.eventually(k.player+" joins", func() bool {
		b = t.approve(path)
		return slices.ContainsFunc(b.Assigned, func(one ticketResponse) bool { return one.ID == k.id })
	})
	return b
}

// gameAt is the connection of the games.
const gameAt = "203.0.113.7:7777"

// filling lists the requirements about servers, players and match functions.
func filling() []requirement {
	return []requirement{
		{name: "backfill/approval assigns the proposed tickets", check: func(t *trial) {
			path, lane := t.game(2)
			k := t.ticket(map[string]float64{"lane": lane})
			t.awaitProposal(lane)
			k.mustWait(t)
			before := t.approve(path) // it may assign the ticket
			b := t.awaitJoin(path, k)
			k.result(t).mustBe(t, gameAt, "", `null`, `{"map":"harbour"}`)
			equal(t, "tickets", len(b.Assigned), 1)
			joined := b.Assigned[0]
			equal(t, "the ticket's lane", joined.Attributes["lane"], lane)
			if joined.Assignment == nil {
				t.Fatalf("the ticket that joined has no assignment")
			}
			joined.Assignment.mustBe(t, gameAt, "", `null`, `{"map":"harbour"}`)
			// The function's changes of the backfill ticket hold. They do not count as a version.
			equal(t, "seats", b.Attributes["seats"], 1)
			equal(t, "note", string(b.Properties["note"]), "1")
			equal(t, "RecordVersion", b.RecordVersion, before.RecordVersion)
			equal(t, "RecordVersion of a new one", b.RecordVersion, 1)
		}},
		{name: "backfill/an approval can be put back, and hides what is private", check: func(t *trial) {
			lane := t.lanes.take()
			t.config(t.play(lane, object{"fill": true, "echo": true}, nil))
			path := t.backfill(t.places()[0], marshal(t, gameRequest(lane, 2)))
			k := t.ticketWith(object{"attributes": object{"lane": lane}, "properties": object{"echo": []byte(`{"secret":1}`)}})
			var last answer
			t.eventually(k.player+" joins", func() bool {
				last = t.do(http.StatusOK, serverRequest(http.MethodPost, path+"/approvals", ""))
				return strings.Contains(string(last.body), k.id)
			})
			if strings.Contains(string(last.body), "secret\"") {
				t.Errorf("the server is told the player's own properties: %s", last.body)
			}
			t.contains("the player's own properties", string(k.result(t).Properties), "secret")
			t.do(http.StatusOK, serverRequest(http.MethodPut, path, string(last.body)))
		}},
		{name: "backfill/a place is given once", check: func(t *trial) {
			path, lane := t.game(2)
			all := make([]ticket, 3)
			for i := range all {
				all[i] = t.ticket(map[string]float64{"lane": lane})
			}
			assigned := map[string]bool{}
			t.eventually("two have joined", func() bool {
				for _, one := range t.approve(path).Assigned {
					assigned[one.ID] = true
				}
				return len(assigned) >= 2
			})
			equal(t, "seats", t.approve(path).Attributes["seats"], 0)
			waiting := 0
			for _, k := range all {
				if !assigned[k.id] {
					k.mustWait(t)
					waiting++
				}
			}
			equal(t, "tickets that wait", waiting, 1)
		}},
		{name: "backfill/pools choose backfill tickets", check: func(t *trial) {
			path, lane := t.game(1)
			elsewhere := t.backfill(t.places()[0], marshal(t, gameRequest(t.lanes.take(), 1)))
			k := t.ticket(map[string]float64{"lane": lane})
			t.awaitJoin(path, k)
			equal(t, "seats of another game", t.approve(elsewhere).Attributes["seats"], 1)
		}},
		{name: "backfill/PUT rejects the proposed tickets", check: func(t *trial) {
			path, lane := t.game(1)
			k := t.ticket(map[string]float64{"lane": lane})
			t.awaitProposal(lane)
			t.do(http.StatusOK, serverRequest(http.MethodPut, path, marshal(t, gameRequest(lane, 0))))
			b := t.approve(path)
			equal(t, "tickets", len(b.Assigned), 0)
			equal(t, "seats", b.Attributes["seats"], 0)
			equal(t, "RecordVersion", b.RecordVersion, 2)
			k.mustWait(t)
			// The ticket is in the pool again, and joins at once when there is a seat.
			t.do(http.StatusOK, serverRequest(http.MethodPut, path, marshal(t, gameRequest(lane, 1))))
			t.awaitJoin(path, k)
			k.result(t).mustBe(t, gameAt, "", `null`, `{"map":"harbour"}`)
		}},
		{name: "backfill/DELETE rejects the proposed tickets", check: func(t *trial) {
			path, lane := t.game(1)
			k := t.ticket(map[string]float64{"lane": lane})
			t.awaitProposal(lane)
			t.do(http.StatusNoContent, serverRequest(http.MethodDelete, path, ""))
			k.mustWait(t)
			t.awaitJoin(t.backfill(t.places()[0], marshal(t, gameRequest(lane, 1))), k)
		}},
		{name: "backfill/cancelled tickets are not assigned", check: func(t *trial) {
			path, lane := t.game(2)
			gone, k := t.ticket(map[string]float64{"lane": lane}), t.ticket(map[string]float64{"lane": lane})
			t.awaitProposal(lane)
			t.do(http.StatusOK, gone.delete())
			for _, one := range t.awaitJoin(path, k).Assigned {
				equal(t, "who joined", one.ID, k.id)
			}
		}},
		{name: "backfill/tickets that are not approved in time are in the pool again", check: func(t *trial) {
			path, lane := t.game(1)
			k := t.ticket(map[string]float64{"lane": lane})
			t.awaitProposal(lane)
			// A second server has a seat, while the first does not approve. The ticket joins it only after it waits again.
			second := t.backfill(t.places()[0], marshal(t, gameRequest(lane, 1)))
			t.awaitJoin(second, k)
			b := t.approve(path)
			equal(t, "tickets", len(b.Assigned), 0)
			equal(t, "seats", b.Attributes["seats"], 1)
		}},
		{name: "backfill v1/found", check: func(t *trial) {
			lane := t.lanes.take()
			k := t.ticketWith(object{"attributes": object{"lane": lane}, "properties": object{"echo": []byte(`{"you":1}`)}})
			var got struct {
				AssignedTickets      []ticketResponse
				AssignmentProperties json.RawMessage
				Error                string
			}
			t.eventually("the ticket is found", func() bool {
				t.do(http.StatusOK, t.first(lane, object{"echo": true, "matchProperties": `{"map":"harbour"}`})).decode(t, &got)
				return got.Error == ""
			})
			sameJSON(t, "assignmentProperties", got.AssignmentProperties, []byte(`{"map":"harbour"}`))
			if len(got.AssignedTickets) != 1 || got.AssignedTickets[0].Assignment == nil {
				t.Fatalf("the tickets are %s", marshal(t, got.AssignedTickets))
			}
			equal(t, "the ticket", got.AssignedTickets[0].ID, k.id)
			got.AssignedTickets[0].Assignment.mustBe(t, gameAt, "", `{"you":1}`, `{"map":"harbour"}`)
			k.result(t).mustBe(t, gameAt, "", `{"you":1}`, `{"map":"harbour"}`)
		}},
		{name: "backfill v1/nobody found", check: func(t *trial) {
			a := t.do(http.StatusOK, t.first(t.lanes.take(), nil))
			sameJSON(t, "the answer", a.body,
				[]byte(`{"assignedTickets":[],"assignmentProperties":null,"error":"No Match Found"}`))
			t.contains("Deprecation", a.header.Get("Deprecation"), "@")
		}},
		{name: "backfill v1/unknown function", check: func(t *trial) {
			t.mustRefuse(http.StatusBadRequest, serverRequest(http.MethodPost, "backfill",
				`{"connection":"203.0.113.7:7777","function":{"name":"no-such-function"}}`), "no-such-function")
		}},
	}
}

// first is a request of the first generation of backfill for a lane.
func (t *trial) first(lane float64, settings object) request {
	settings = maps.Clone(settings)
	if settings == nil {
		settings = object{}
	}
	settings["lane"] = lane
	return serverRequest(http.MethodPost, "backfill", marshal(t, object{
		"connection": gameAt, "function": object{"name": t.puppet, "version": "1"},
		"pools": object{"lane": []object{inLane(lane)}}, "config": settings,
	}))
}

func backfill() []requirement {
	const full = `{"Connection":"203.0.113.7:7777","attributes":{"seats":3},"properties":{"map":"aGFyYm91cg=="}}`
	return []requirement{
		{name: "backfill/created, approved, replaced and deleted at three paths", check: func(t *trial) {
			for _, place := range t.places() {
				before := time.Now()
				path := t.backfill(place, full)
				first := t.approve(path)
				equal(t, "Id", place+"/"+first.ID, path)
				equal(t, "seats", first.Attributes["seats"], 3)
				equal(t, "map", string(first.Properties["map"]), "harbour")
				if first.Connection == nil || *first.Connection != "203.0.113.7:7777" {
					t.Errorf("Connection is %v", first.Connection)
				}
				if off := time.UnixMilli(first.Created).Sub(before).Abs(); off > patience {
					t.Errorf("Created is %d, which is %v off", first.Created, off)
				}
				t.do(http.StatusOK, serverRequest(http.MethodPut, path, `{"attributes":{"seats":2}}`))
				second := t.approve(path)
				equal(t, "seats after PUT", second.Attributes["seats"], 2)
				equal(t, "properties after PUT", len(second.Properties), 0)
				equal(t, "Connection after PUT", second.Connection, nil)
				equal(t, "Created after PUT", second.Created, first.Created)
				if second.RecordVersion <= first.RecordVersion {
					t.Errorf("RecordVersion is %d after PUT, was %d", second.RecordVersion, first.RecordVersion)
				}
				t.do(http.StatusNoContent, serverRequest(http.MethodDelete, path, ""))
				t.mustRefuse(http.StatusNotFound, serverRequest(http.MethodPost, path+"/approvals", ""), "not found")
			}
		}},
		{name: "backfill/one ticket at all three paths", check: func(t *trial) {
			places := t.places()
			path := t.backfill(places[0], full)
			for _, place := range places[1:] {
				t.approve(strings.Replace(path, places[0], place, 1))
			}
		}},
		{name: "backfill/all fields are optional", check: func(t *trial) {
			for _, body := range []string{`{}`, `{"Connection":null}`, `{"attributes":null,"properties":null}`} {
				got := t.approve(t.backfill(t.places()[0], body))
				if got.Connection != nil {
					t.Errorf("Connection is %v of %s", got.Connection, body)
				}
			}
		}},
		{name: "backfill/member names in any letter case", check: func(t *trial) {
			path := t.backfill(t.places()[0], `{"connection":"203.0.113.7:7777","Attributes":{"Seats":1},"PROPERTIES":{}}`)
			got := t.approve(path)
			equal(t, "Seats", got.Attributes["Seats"], 1)
			if got.Connection == nil {
				t.Errorf("connection was not read")
			}
			t.do(http.StatusOK, serverRequest(http.MethodPut, path,
				`{"id":"`+got.ID+`","created":1,"recordVersion":1,"connection":null}`))
		}},
		{name: "backfill/the matchmaker keeps Id, Created and RecordVersion", check: func(t *trial) {
			path := t.backfill(t.places()[0], full)
			before := t.approve(path)
			t.do(http.StatusOK, serverRequest(http.MethodPut, path,
				`{"Id":"`+before.ID+`","Created":5,"RecordVersion":999,"attributes":{"seats":1}}`))
			after := t.approve(path)
			equal(t, "Id", after.ID, before.ID)
			equal(t, "Created", after.Created, before.Created)
			if after.RecordVersion == 999 || after.RecordVersion <= before.RecordVersion {
				t.Errorf("RecordVersion is %d, was %d", after.RecordVersion, before.RecordVersion)
			}
		}},
		{name: "backfill/integers in any notation", check: func(t *trial) {
			path := t.backfill(t.places()[0], full)
			for _, n := range []string{"1.0", "1e0", "10e-1", "1730800000123.0", "1.730800000123e12", "0e99999999999"} {
				t.do(http.StatusOK, serverRequest(http.MethodPut, path, `{"Created":`+n+`,"RecordVersion":`+n+`}`))
			}
			for n, reason := range map[string]string{"1.5": "fraction", "1e-9999999999": "fraction", "1e99999999999": "range",
				"9223372036854775808": "range", "true": "integer", `"1"`: "integer"} {
				t.mustRefuse(http.StatusBadRequest, serverRequest(http.MethodPut, path, `{"RecordVersion":`+n+`}`),
					"RecordVersion", reason)
			}
		}},
		{name: "backfill/approval does not count as a change", check: func(t *trial) {
			path := t.backfill(t.places()[0], full)
			equal(t, "RecordVersion", t.approve(path).RecordVersion, t.approve(path).RecordVersion)
		}},
		{name: "backfill/DELETE is 204, twice", check: func(t *trial) {
			path := t.backfill(t.places()[0], full)
			t.do(http.StatusNoContent, serverRequest(http.MethodDelete, path, ""))
			t.do(http.StatusNoContent, serverRequest(http.MethodDelete, path, ""))
		}},
		{name: "backfill/missing backfill ticket is 404", check: func(t *trial) {
			path := t.places()[0] + "/nobody"
			t.mustRefuse(http.StatusNotFound, serverRequest(http.MethodPost, path+"/approvals", ""), "not found")
			t.mustRefuse(http.StatusNotFound, serverRequest(http.MethodPut, path, full), "not found")
		}},
		{name: "backfill/refused bodies", check: func(t *trial) {
			path := t.backfill(t.places()[0], full)
			for body, detail := range map[string]string{
				`{"attributes":{"created":1}}`:                      "created",
				`{"attributes":{"a":"b"}}`:                          "attributes.a",
				`{"properties":{"a":"*"}}`:                          "properties.a",
				`{"Connection":7}`:                                  "Connection",
				`{"Connection":"` + strings.Repeat("x", 257) + `"}`: "Connection",
				`{"Server":"x"}`:                                    "Server",
				`{"Connection":"a","connection":"b"}`:               "connection",
				`[]`:                                                "body",
				`{"attributes":{"a":NaN}}`:                          "not JSON",
				`{"attributes":{"` + strings.Repeat("n", 129) + `":1}}`: "attributes",
			} {
				t.mustRefuse(http.StatusBadRequest, serverRequest(http.MethodPost, t.places()[0], body), detail)
				t.mustRefuse(http.StatusBadRequest, serverRequest(http.MethodPut, path, body), detail)
			}
			t.mustRefuse(http.StatusBadRequest, serverRequest(http.MethodPost, t.places()[0], `{"Id":"x"}`), "Id")
			t.mustRefuse(http.StatusBadRequest, serverRequest(http.MethodPut, path, `{"Id":"another"}`), "Id")
		}},
		{name: "backfill v1/validated", check: func(t *trial) {
			for _, body := range []string{
				`{}`, `{"connection":"203.0.113.7:7777"}`, `{"function":{"name":"f","version":"1"}}`,
				`{"connection":7,"function":{"name":"f"}}`, `{"connection":"203.0.113.7:7777","function":{"name":"a b"}}`,
				`{"connection":"203.0.113.7:7777","function":{"name":"f"},"pools":{"a":[{"attribute":"x","min":2,"max":1}]}}`,
				`{"connection":"203.0.113.7:7777","function":{"name":"f"},"server":1}`, `{`,
			} {
				a := t.mustRefuse(http.StatusBadRequest, serverRequest(http.MethodPost, "backfill", body))
				t.contains("Deprecation", a.header.Get("Deprecation"), "@")
			}
		}},
	}
}
