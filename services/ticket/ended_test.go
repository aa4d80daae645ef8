package ticket_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

// told is what an answer says of a ticket that was deleted by another of its players.
const told = `"assignment":{"connection":"","error":"deleted","properties":null,"matchproperties":null}`

// startTelling starts a service with a project that wants the ends of tickets told.
func startTelling(t *testing.T) *replicas {
	t.Helper()
	r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Readable = time.Minute })
	r.set(t, &pb.ProjectSettings{Tickets: &pb.TicketRules{EndsTold: true, Listed: true}})
	return r
}

// waits wants a GET with Prefer: wait, that begins now, to be answered with a status and a text.
func (r *replicas) waits(t *testing.T, replica int, name, id string, status int, text string) (answered func()) {
	t.Helper()
	done := make(chan string, 1)
	go func() {
		got, said := r.as(t, player(name), http.MethodGet, r.urls[replica]+"?id="+id, "", "Prefer", "wait=30")
		if got != status || !strings.Contains(said, text) {
			done <- said
		}
		close(done)
	}()
	return func() {
		t.Helper()
		if wrong := <-done; wrong != "" {
			t.Errorf("%s is answered %s, want %d with %s", name, wrong, status, text)
		}
	}
}

func TestOthersAreToldOfADeletion(t *testing.T) {
	r := startTelling(t)
	id := r.createFor(t, "zoe", ofThree)
	bob := r.waits(t, 1, "bob", id, http.StatusOK, told)
	follows := r.open(t, 0, id)
	follows.expect("waiting", id)
	created := r.createFor(t, "eve", `{}`) // her own
	if status, text := r.as(t, player("eve"), http.MethodDelete, r.urls[0]+"?id="+id, ""); status != http.StatusOK {
		t.Fatal(status, text)
	}
	bob()
	follows.expect("assigned", `"error":"deleted"`)
	follows.ends()
	for name, want := range map[string]int{"ada": 200, "bob": 200, "zoe": 200, "eve": 404, "mallory": 404} {
		status, text := r.as(t, player(name), http.MethodGet, r.urls[1]+"?id="+id, "")
		if status != want || strings.Contains(text, told) != (want == 200) {
			t.Errorf("%s reads %d %s, want %d", name, status, text, want)
		}
		status, text = r.as(t, player(name), http.MethodGet, r.urls[1]+"?player="+name, "")
		if status != 200 || strings.Contains(text, id) != (want == 200 && name != "zoe") {
			t.Errorf("%s lists %d %s", name, status, text)
		}
	}
	if status, text := r.as(t, lobby(auth.ScopeAct), http.MethodGet, r.urls[1]+"?id="+id, ""); status != 200 ||
		!strings.Contains(text, told) {
		t.Errorf("a game service reads %d %s", status, text)
	}
	// After reading it, she may delete it for herself.
	for _, want := range []int{200, 404} {
		if status, text := r.as(t, player("bob"), http.MethodDelete, r.urls[0]+"?id="+id, ""); status != want {
			t.Errorf("%d %s, want %d", status, text, want)
		}
	}
	if status, _ := r.as(t, player("ada"), http.MethodGet, r.urls[1]+"?id="+id, ""); status != 200 {
		t.Errorf("ada reads %d", status)
	}
	// No other player learns of the end of a ticket.
	if status, _ := r.as(t, player("eve"), http.MethodDelete, r.urls[0]+"?id="+created, ""); status != 200 {
		t.Fatal(status)
	}
	if status, text := r.as(t, lobby(auth.ScopeAct), http.MethodGet, r.urls[1]+"?id="+created, ""); status != 404 {
		t.Errorf("%d %s", status, text)
	}
}

// A game service that deleted a ticket finds it gone, and so does the player for whom it did.
func TestServicesThatDelete(t *testing.T) {
	r := startTelling(t)
	id := r.createFor(t, "zoe", ofThree)
	ada := r.waits(t, 1, "ada", id, http.StatusNotFound, "")
	bob := r.waits(t, 0, "bob", id, http.StatusOK, told)
	for _, want := range []int{200, 404} {
		status, text := r.as(t, lobby(auth.ScopeAct), http.MethodDelete, r.urls[0]+"?id="+id, "", auth.OnBehalfOf, "ada")
		if status != want {
			t.Fatalf("%d %s, want %d", status, text, want)
		}
	}
	ada()
	bob()
	if status, text := r.as(t, lobby(auth.ScopeAct), http.MethodGet, r.urls[1]+"?id="+id, ""); status != 404 {
		t.Errorf("a game service reads %d %s", status, text)
	}
}

// A repeated create says no more about the deletion than a read does.
func TestCreateIsRepeatedAfterADeletion(t *testing.T) {
	t.Parallel()
	r := startTelling(t)
	create := func() (status int, text string) {
		return r.as(t, lobby(auth.ScopeAct), http.MethodPost, r.urls[0], ofThree, auth.OnBehalfOf, "zoe",
			"Idempotency-Key", `"k"`, "Prefer", "wait=1")
	}
	status, text := create()
	if status != http.StatusCreated {
		t.Fatal(status, text)
	}
	var made struct{ ID string }
	must(t, json.Unmarshal([]byte(text), &made))
	status, _ = r.as(t, lobby(auth.ScopeAct), http.MethodDelete, r.urls[0]+"?id="+made.ID, "", auth.OnBehalfOf, "ada")
	if status != http.StatusOK {
		t.Fatal(status)
	}
	if status, text = create(); status != http.StatusCreated || !strings.Contains(text, made.ID) ||
		strings.Contains(text, "deleted") {
		t.Errorf("%d %s", status, text)
	}
}

// A create that waits is answered with the reason, and a stream has it, when the ticket waits for too long.
func TestAbandonedTicketIsTold(t *testing.T) {
	r := startTelling(t)
	c := r.hold(t.Context(), t, "wait=30")
	follows := r.open(t, 0, c.id)
	follows.expect("waiting", c.id)
	var e state.Expired
	for e.Abandoned == 0 { // until it has waited for a millisecond
		var err error
		e, err = r.store.Expire(t.Context(), "demo", 0, time.Minute, 10)
		must(t, err)
	}
	r.bus.NotifyResults(t.Context(), "demo", e.Told, nil)
	if b := c.body(t); b.Assignment == nil || b.Assignment.Error != "abandoned" {
		t.Errorf("the create is answered %+v", b)
	}
	follows.expect("assigned", `"error":"abandoned"`)
	follows.ends()
}
