package ticket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// queued is what a GET says of a ticket's queues.
type queued struct {
	Queues, UnservedQueues []string
	Assignment             any
}

func (r *replicas) createIn(t *testing.T, queues string) (id string) {
	t.Helper()
	status, text, err := r.send(t.Context(), http.MethodPost, r.urls[0], `{"queues":`+queues+`}`)
	must(t, err)
	var made struct {
		ID             string
		UnservedQueues []string
	}
	if status != http.StatusCreated || json.Unmarshal([]byte(text), &made) != nil {
		t.Fatalf("queues %s: got %d %s, want 201", queues, status, text)
	}
	if unserved := r.queues(t, made.ID).UnservedQueues; !slices.Equal(unserved, made.UnservedQueues) {
		t.Errorf("the create says %q, and a GET %q", made.UnservedQueues, unserved)
	}
	return made.ID
}

func (r *replicas) queues(t *testing.T, id string) (q queued) {
	t.Helper()
	status, text, err := r.send(t.Context(), http.MethodGet, r.urls[1]+"?id="+id, "")
	must(t, err)
	if status != http.StatusOK {
		t.Fatalf("got %d %s, want 200", status, text)
	}
	if len(q.Queues) == 0 && strings.Contains(text, `ueues":[]`) {
		t.Errorf("an empty list is not left out: %s", text)
	}
	must(t, json.Unmarshal([]byte(text), &q))
	return q
}

func (r *replicas) serve(t *testing.T, config, queue string) {
	t.Helper()
	_, _, err := r.store.PutConfig(t.Context(), "demo", &pb.Config{Id: config, Function: "duel", Queue: queue},
		state.AnyRevision)
	must(t, err)
}

func TestTicketSaysWhichOfItsQueuesNobodyServes(t *testing.T) {
	r := start(t)
	plain, both := r.create(t), r.createIn(t, `["ranked","casual"]`)
	expect := func(id string, queues, unserved []string) {
		t.Helper()
		if got := r.queues(t, id); !slices.Equal(got.Queues, queues) || !slices.Equal(got.UnservedQueues, unserved) {
			t.Fatalf("got %+v, want the queues %q, of which %q are unserved", got, queues, unserved)
		}
	}
	sorted := []string{"casual", "ranked"}
	expect(plain, nil, nil)
	expect(both, sorted, sorted)
	r.serve(t, "one", "ranked")
	expect(both, sorted, []string{"casual"})
	r.serve(t, "two", "casual")
	expect(both, sorted, nil)
	r.serve(t, "one", "casual") // it changes its queue
	expect(both, sorted, []string{"ranked"})
	_, err := r.store.DeleteConfig(t.Context(), "demo", "one", state.AnyRevision, "")
	must(t, err)
	expect(both, sorted, []string{"ranked"})
	r.assign(t.Context(), t, both)
	expect(both, sorted, nil) // it does not wait any more
	for _, none := range []string{`[]`, `null`} {
		expect(r.createIn(t, none), nil, nil)
	}
}

func TestCreateThatWaitsSaysWhichQueuesNobodyServes(t *testing.T) {
	t.Parallel()
	r := start(t)
	status, text, err := r.send(t.Context(), http.MethodPost, r.urls[0], `{"queues":["ranked"]}`, "Prefer", "wait=1")
	must(t, err)
	if status != http.StatusCreated || !strings.Contains(text, `"unservedQueues":["ranked"]`) {
		t.Errorf("got %d %s", status, text)
	}
}

func TestQueuesThatAreRefused(t *testing.T) {
	r := start(t)
	names := make([]string, 17)
	for i := range names {
		names[i] = `"` + strings.Repeat("q", i+1) + `"`
	}
	for queues, want := range map[string]string{
		`"ranked"`:                            "queues",
		`[1]`:                                 "queues.0",
		`[null]`:                              "queues.0",
		`["ranked",""]`:                       "queues.1: the name of a queue is empty",
		`["a","b","a"]`:                       `queues.2: \"a\" is given twice`,
		`["two words"]`:                       "queues.0: spaces and control characters",
		`["line\n"]`:                          "queues.0: spaces and control characters",
		`["\u0000"]`:                          "queues.0: spaces and control characters",
		`["\u00a0"]`:                          "queues.0: spaces and control characters",
		`["` + strings.Repeat("q", 65) + `"]`: "queues.0: the name of a queue has 65 bytes, at most 64",
		`["` + strings.Repeat("ü", 33) + `"]`: "queues.0: the name of a queue has 66 bytes, at most 64",
		`[` + strings.Join(names, ",") + `]`:  "queues: 17 of them, at most 16 are allowed",
	} {
		status, text, err := r.send(t.Context(), http.MethodPost, r.urls[0], `{"queues":`+queues+`}`)
		must(t, err)
		if status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("queues %s: got %d %s, want 400 and %s", queues, status, text, want)
		}
	}
	r.createIn(t, `[`+strings.Join(names[:16], ",")+`]`)
	r.createIn(t, `["`+strings.Repeat("ü", 32)+`"]`)
}

// Where the project wants it, a queue that no config serves is refused with those that there are, from the moment that
// the setting is written.
func TestQueueThatNobodyServesIsRefused(t *testing.T) {
	r := start(t)
	r.serve(t, "ranked", "ranked")
	waiting := r.createIn(t, `["nobody"]`)
	r.set(t, &pb.ProjectSettings{Tickets: &pb.TicketRules{RefuseUnserved: true}})
	for _, url := range r.urls {
		status, text, err := r.send(t.Context(), http.MethodPost, url, `{"queues":["ranked","nobody"]}`)
		must(t, err)
		want := `queues: no config of this project serves \"nobody\"; the queues that there are: \"ranked\"`
		if status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("got %d %s, want 400 with %s", status, text, want)
		}
	}
	r.createIn(t, `["ranked"]`)
	r.create(t)
	if got := r.queues(t, waiting); !slices.Equal(got.UnservedQueues, []string{"nobody"}) {
		t.Errorf("a ticket that waited before is %+v", got)
	}
}

// A list looks up the queues of all of its tickets at once, and says of each which of its own are not served.
func TestListSaysWhichQueuesNobodyServes(t *testing.T) {
	r := start(t)
	r.set(t, &pb.ProjectSettings{Tickets: &pb.TicketRules{Listed: true}})
	r.serve(t, "c", "ranked")
	want := map[string]string{
		r.create(t): "[]", r.createIn(t, `["ranked"]`): "[]", r.createIn(t, `["ranked","casual"]`): "[casual]",
		r.createIn(t, `["duel","casual"]`): "[casual duel]",
	}
	status, text, err := r.send(t.Context(), http.MethodGet, r.urls[1]+"?player=ada", "")
	must(t, err)
	var listed struct {
		Tickets []struct {
			queued
			ID string
		}
	}
	if status != http.StatusOK || json.Unmarshal([]byte(text), &listed) != nil || len(listed.Tickets) != len(want) {
		t.Fatalf("got %d %s", status, text)
	}
	for _, one := range listed.Tickets {
		if got := fmt.Sprint(one.UnservedQueues); got != want[one.ID] {
			t.Errorf("of %q, %s are not served, want %s", one.Queues, got, want[one.ID])
		}
	}
}
