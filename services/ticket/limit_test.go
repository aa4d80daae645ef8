package ticket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

// answer is what came back: an id, a detail, or a list.
type answer struct {
	status     int
	ID, Detail string
	Tickets    []struct{ ID string }
}

func (r *replicas) ask(t *testing.T, method, url, body string, headers ...string) answer {
	t.Helper()
	status, text, err := r.send(t.Context(), method, url, body, headers...)
	must(t, err)
	a := answer{status: status}
	if text != "" {
		must(t, json.Unmarshal([]byte(text), &a))
	}
	return a
}

func limited(limit int64, reached string) *pb.ProjectSettings {
	return &pb.ProjectSettings{Tickets: &pb.TicketRules{PlayerLimit: limit, WhenReached: reached}}
}

func TestLimitOfAPlayersTickets(t *testing.T) {
	r := start(t)
	list := func() (ids []string) {
		t.Helper()
		a := r.ask(t, http.MethodGet, r.urls[1]+"?player=ada", "")
		if a.status != http.StatusOK {
			t.Fatalf("%+v", a)
		}
		for _, one := range a.Tickets {
			ids = append(ids, one.ID)
		}
		return ids
	}
	if a := r.ask(t, http.MethodGet, r.urls[0]+"?player=ada", ""); a.status != http.StatusConflict {
		t.Errorf("a project that lists no tickets: %+v", a)
	}
	r.set(t, limited(1, ""))
	first := r.ask(t, http.MethodPost, r.urls[0], "{}")
	second := r.ask(t, http.MethodPost, r.urls[1], "{}")
	if first.status != 201 || second.status != http.StatusConflict || !strings.Contains(second.Detail, first.ID) {
		t.Fatalf("%+v, then %+v", first, second)
	}
	if got := list(); !slices.Equal(got, []string{first.ID}) {
		t.Errorf("listed are %v", got)
	}
	r.set(t, limited(1, "replace"))
	held := make(chan int, 1)
	go func() {
		status, _, err := r.send(t.Context(), http.MethodGet, r.urls[0]+"?id="+first.ID, "", "Prefer", "wait=25")
		if err != nil {
			status = -1
		}
		held <- status
	}()
	f := r.open(t, 0, first.ID)
	f.expect("waiting", first.ID)
	third := r.ask(t, http.MethodPost, r.urls[1], "{}")
	if third.status != 201 {
		t.Fatalf("%+v", third)
	}
	f.expect("ended", `{"id":"`+first.ID+`","reason":"replaced"}`)
	if got := <-held; got != http.StatusNotFound {
		t.Errorf("a GET of the replaced ticket: %d", got)
	}
	if got := list(); !slices.Equal(got, []string{third.ID}) {
		t.Errorf("listed are %v, want %v", got, third.ID)
	}
	// Tickets that waited before do not count.
	r.set(t, &pb.ProjectSettings{})
	r.ask(t, http.MethodPost, r.urls[0], "{}")
	r.set(t, limited(2, "refuse"))
	if a := r.ask(t, http.MethodPost, r.urls[0], "{}"); a.status != 201 {
		t.Errorf("%+v", a)
	}

	as := *r
	as.token = r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "bob"})
	for query, want := range map[string]int{"?player=ada": 403, "?player=bob": 200, "?player=": 400,
		"?player=bob&id=x": 400, "?player=bob&player=bob": 400} {
		if a := as.ask(t, http.MethodGet, r.urls[0]+query, ""); a.status != want {
			t.Errorf("%s: %+v", query, a)
		}
	}
	as.token = r.mint(t, issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeRead})
	if a := as.ask(t, http.MethodGet, r.urls[0]+"?player=ada", ""); a.status != 200 || len(a.Tickets) != 2 {
		t.Errorf("%+v", a)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	r := start(t)
	send := func(replica int, body, key string, headers ...string) answer {
		t.Helper()
		return r.ask(t, http.MethodPost, r.urls[replica], body, append(headers, "Idempotency-Key", key)...)
	}
	const body = `{"attributes":{"a":1,"b":2},"properties":{"x":"YQ=="}}`
	first := send(0, body, `"k 1"`)
	if first.status != 201 {
		t.Fatalf("%+v", first)
	}
	for _, same := range []string{body, `{"properties":{"x":"YQ=="}, "attributes":{"b":2.0,"a":1}}`} {
		if again := send(1, same, `"k 1"`); again.status != 201 || again.ID != first.ID {
			t.Errorf("again: %+v, first %+v", again, first)
		}
	}
	if other := send(1, `{}`, `"k 1"`); other.status != http.StatusUnprocessableEntity {
		t.Errorf("another request: %+v", other)
	}
	if other := send(1, body, `"k\\1"`); other.status != 201 || other.ID == first.ID {
		t.Errorf("another key: %+v", other)
	}
	// One that waits gets the result of the first one's ticket, or its end.
	if again := send(1, body, `"k 1"`, "Prefer", "wait=1"); again.status != 201 || again.ID != first.ID {
		t.Errorf("again, waiting: %+v", again)
	}
	r.ask(t, http.MethodDelete, r.urls[0]+"?id="+first.ID, "")
	if again := send(1, body, `"k 1"`, "Prefer", "wait=1"); again.status != 201 || again.ID != first.ID {
		t.Errorf("after its end: %+v", again)
	}
	for _, key := range []string{``, `k`, `""`, `"a`, `a"`, `"a"b"`, `"a\b"`, `"\"`, `"ä"`, `"a"; x=1`, `"a", "b"`,
		fmt.Sprintf("%q", strings.Repeat("k", 129))} {
		if a := send(0, `{}`, key); a.status != http.StatusBadRequest || !strings.Contains(a.Detail, "Idempotency-Key") {
			t.Errorf("%s: %+v", key, a)
		}
	}
	if a := send(0, `{}`, `"x"`, "Idempotency-Key", `"y"`); a.status != http.StatusBadRequest {
		t.Errorf("two keys: %+v", a)
	}
}

func TestBodiesOfAProjectAreLimited(t *testing.T) {
	r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Bodies = state.Rate{PerSecond: 1, Burst: 1 << 16} })
	properties := `{"properties":{"note":"` + strings.Repeat("eHh4", 10_000) + `"}}`
	if a := r.ask(t, http.MethodPost, r.urls[0], properties); a.status != http.StatusCreated {
		t.Fatalf("%+v", a)
	}
	if a := r.ask(t, http.MethodPost, r.urls[0], properties); a.status != http.StatusTooManyRequests ||
		!strings.Contains(a.Detail, "bodies") {
		t.Errorf("%+v", a)
	}
	if a := r.ask(t, http.MethodPost, r.urls[0], "{}"); a.status != http.StatusCreated {
		t.Errorf("a small one: %+v", a)
	}
}

// A create that is repeated after the settings changed is answered with its ticket, though it would be refused now.
func TestRepeatedCreateIsAnsweredAfterOtherSettings(t *testing.T) {
	t.Parallel()
	r := start(t)
	send := func(body, key string) answer {
		t.Helper()
		return r.ask(t, http.MethodPost, r.urls[0], body, "Idempotency-Key", key)
	}
	const body = `{"attributes":{"skill":1}}`
	first := send(body, `"k"`)
	must(t, r.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{
		Attributes: []*pb.SetterRule{{Name: "skill", SetBy: definition.ByService}},
	}, state.AnyRevision))
	if again := send(body, `"k"`); again.status != 201 || again.ID != first.ID {
		t.Errorf("again: %+v, first %+v", again, first)
	}
	for _, other := range [][2]string{{body, `"other"`}, {`{"attributes":{"skill":2}}`, `"k"`}} {
		if a := send(other[0], other[1]); a.status != http.StatusForbidden {
			t.Errorf("%s with the key %s: %+v", other[0], other[1], a)
		}
	}
}
