package contract

import (
	"net/http"
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
}

// places are where the second generation of backfill is.
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

// backfill makes a backfill ticket at a place and returns its path.
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
				t.refused(http.StatusNotFound, serverRequest(http.MethodPost, path+"/approvals", ""), "not found")
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
			t.do(http.StatusOK, serverRequest(http.MethodPut, path, `{"id":"`+got.ID+`","created":1,"recordVersion":1,"connection":null}`))
		}},
		{name: "backfill/the matchmaker keeps Id, Created and RecordVersion", check: func(t *trial) {
			path := t.backfill(t.places()[0], full)
			before := t.approve(path)
			t.do(http.StatusOK, serverRequest(http.MethodPut, path, `{"Id":"`+before.ID+`","Created":5,"RecordVersion":999,"attributes":{"seats":1}}`))
			after := t.approve(path)
			equal(t, "Id", after.ID, before.ID)
			equal(t, "Created", after.Created, before.Created)
			if after.RecordVersion == 999 || after.RecordVersion <= before.RecordVersion {
				t.Errorf("RecordVersion is %d, was %d", after.RecordVersion, before.RecordVersion)
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
			t.refused(http.StatusNotFound, serverRequest(http.MethodPost, path+"/approvals", ""), "not found")
			t.refused(http.StatusNotFound, serverRequest(http.MethodPut, path, full), "not found")
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
				t.refused(http.StatusBadRequest, serverRequest(http.MethodPost, t.places()[0], body), detail)
				t.refused(http.StatusBadRequest, serverRequest(http.MethodPut, path, body), detail)
			}
			t.refused(http.StatusBadRequest, serverRequest(http.MethodPost, t.places()[0], `{"Id":"x"}`), "Id")
			t.refused(http.StatusBadRequest, serverRequest(http.MethodPut, path, `{"Id":"another"}`), "Id")
		}},
		{name: "backfill v1/validated", check: func(t *trial) {
			for _, body := range []string{
				`{}`, `{"connection":"203.0.113.7:7777"}`, `{"function":{"name":"f","version":"1"}}`,
				`{"connection":7,"function":{"name":"f"}}`, `{"connection":"203.0.113.7:7777","function":{"name":"a b"}}`,
				`{"connection":"203.0.113.7:7777","function":{"name":"f"},"pools":{"a":[{"attribute":"x","min":2,"max":1}]}}`,
				`{"connection":"203.0.113.7:7777","function":{"name":"f"},"server":1}`, `{`,
			} {
				a := t.refused(http.StatusBadRequest, serverRequest(http.MethodPost, "backfill", body))
				t.contains("Deprecation", a.header.Get("Deprecation"), "@")
			}
		}},
		{name: "backfill v1/nobody found", notYet: "POST /backfill runs no function yet", check: func(t *trial) {
			lane := t.lanes.take()
			r := serverRequest(http.MethodPost, "backfill", marshal(t, object{
				"connection": "203.0.113.7:7777", "function": object{"name": t.puppet, "version": "1"},
				"pools": object{"lane": []object{inLane(lane)}}, "config": object{"lane": lane},
			}))
			a := t.do(http.StatusOK, r)
			var got struct {
				AssignedTickets []ticketResponse
				Error           string
			}
			a.decode(t, &got)
			equal(t, "tickets", len(got.AssignedTickets), 0)
			equal(t, "the error", got.Error, "No Match Found")
			if a.header.Get("Deprecation") == "" {
				t.Errorf("the answer does not say that the operation is deprecated")
			}
		}},
	}
}
