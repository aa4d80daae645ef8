package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"

	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

// object is a JSON object.
type object = map[string]any

func marshal(t *trial, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(text)
}

// lanes hands out numbers that no other trial uses.
type lanes struct{ next atomic.Int64 }

func (l *lanes) take() float64 { return float64(l.next.Add(1)) }

// name makes a unique name.
func (t *trial) name(of string) string {
	return fmt.Sprintf("%s-%s-%d", of, t.salt, int64(t.lanes.take())%1e6)
}

// uploadPuppet builds the match function of the trials, uploads it and waits until it runs.
func (s *suite) uploadPuppet(t *testing.T) {
	t.Helper()
	module, err := sandboxtest.Module(t.TempDir(), ".", "matchmaker.dev/services/test/contract/testdata/puppet")
	if err != nil {
		t.Fatal(err)
	}
	s.puppet = "puppet-" + s.salt
	got := s.trial(t, func(t *trial) {
		t.do(http.StatusOK, request{as: Developer, method: http.MethodPut, path: "functions/" + s.puppet,
			kind: "application/wasm", body: string(module)})
		t.awaitRunning(s.puppet)
	})
	if len(got.failures) > 0 {
		t.Fatal(got.failures)
	}
	t.Cleanup(func() {
		s.trial(t, func(t *trial) {
			t.send(request{as: Developer, method: http.MethodDelete, path: "functions/" + s.puppet})
		})
	})
}

// awaitRunning waits until a function runs.
func (t *trial) awaitRunning(name string) function {
	var f function
	t.eventually(name+" runs", func() bool {
		f = t.function(name)
		return f.Status.State == "Running"
	})
	return f
}

// config creates a config. It is deleted after the trial.
func (t *trial) config(c object) (id string) {
	var made struct{ ID string }
	t.do(http.StatusOK, request{as: Developer, method: http.MethodPost, path: "configs", body: marshal(t, c)}).decode(t,
		&made)
	t.Cleanup(func() { t.deleteConfig(made.ID) })
	return made.ID
}

func (t *trial) putConfig(id string, c object) answer {
	a := t.do(http.StatusOK, request{as: Developer, method: http.MethodPut, path: "configs/" + url.PathEscape(id),
		body: marshal(t, c)})
	t.Cleanup(func() { t.deleteConfig(id) })
	return a
}

func (t *trial) deleteConfig(id string) {
	t.do(http.StatusNoContent, request{as: Developer, method: http.MethodDelete, path: "configs/" + url.PathEscape(id)})
}

// play is a config of the puppet with settings. When pools is nil it has one pool, the lane's.
func (t *trial) play(lane float64, settings object, pools object) object {
	if pools == nil {
		pools = object{"lane": []object{inLane(lane)}}
	}
	settings = maps.Clone(settings)
	if settings == nil {
		settings = object{}
	}
	settings["lane"] = lane
	return object{
		"matchmaking": object{"targetFunction": object{"name": t.puppet, "version": "1"}, "config": settings},
		"pools":       pools,
	}
}

// inLane is the filter of a lane.
func inLane(lane float64) object { return object{"attribute": "lane", "min": lane, "max": lane} }

// ticket is a ticket of a player with no other ticket.
type ticket struct{ id, player string }

// assignment is the result of a ticket.
type assignment struct {
	Connection, Error string
	Properties        json.RawMessage `json:"properties"`
	MatchProperties   json.RawMessage `json:"matchproperties"`
}

type ticketResponse struct {
	ID         string
	Attributes map[string]float64
	Properties map[string][]byte
	Created    int64
	Assignment *assignment
}

// ticket creates a ticket. It is deleted after the trial.
func (t *trial) ticket(attributes map[string]float64) ticket {
	return t.ticketWith(object{"attributes": attributes})
}

func (t *trial) ticketWith(body object) ticket {
	k := ticket{player: t.name("player")}
	var made struct{ ID string }
	t.do(http.StatusCreated, request{as: Service, behalf: k.player, method: http.MethodPost, path: "tickets",
		body: marshal(t, body)}).decode(t, &made)
	k.id = made.ID
	t.Cleanup(func() { t.send(k.delete()) })
	return k
}

func (k ticket) get() request {
	return request{as: Service, method: http.MethodGet, path: "tickets?id=" + url.QueryEscape(k.id)}
}

func (k ticket) delete() request {
	return request{as: Service, behalf: k.player, method: http.MethodDelete, path: "tickets?id=" + url.QueryEscape(k.id)}
}

// result waits for the result of the ticket.
func (k ticket) result(t *trial) assignment {
	var got ticketResponse
	t.eventually("the ticket of "+k.player+" has a result", func() bool {
		r := k.get()
		r.header = header("Prefer", "wait=5")
		got = ticketResponse{}
		t.do(http.StatusOK, r).decode(t, &got)
		return got.Assignment != nil
	})
	return *got.Assignment
}

// read reads the ticket.
func (k ticket) read(t *trial) (got ticketResponse) {
	t.do(http.StatusOK, k.get()).decode(t, &got)
	return got
}

// mustWait notes a failure when the ticket has a result.
func (k ticket) mustWait(t *trial) {
	if got := k.read(t); got.Assignment != nil {
		t.Errorf("the ticket %v has the result %s, want it to wait", got.Attributes, marshal(t, got.Assignment))
	}
}

// awaitCycles returns when a config's cycles that began after the call are over: two tickets were matched one after the
// other.
func (t *trial) awaitCycles(passerBy map[string]float64) {
	for range 2 {
		t.ticket(passerBy).result(t)
	}
}

// sameJSON notes a failure unless two texts are equal as JSON.
func sameJSON(t *trial, what string, got, want []byte) {
	if len(got) == 0 {
		got = []byte("null")
	}
	var a, b bytes.Buffer
	if json.Compact(&a, canonical(got)) != nil || json.Compact(&b, canonical(want)) != nil || a.String() != b.String() {
		t.Errorf("%s: got %s, want %s", what, got, want)
	}
}

// canonical sorts the members of objects.
func canonical(text []byte) []byte {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return text
	}
	sorted, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return sorted
}
