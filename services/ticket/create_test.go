package ticket_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

// creation is a create whose status and headers are here.
type creation struct {
	*http.Response
	id string
}

// hold creates a ticket at the first replica, and returns while its body waits.
func (r *replicas) hold(ctx context.Context, t *testing.T, prefer string) creation {
	t.Helper()
	res, err := r.begin(ctx, http.MethodPost, r.urls[0], usual, "Prefer", prefer)
	must(t, err)
	if res.StatusCode != http.StatusCreated || res.Header.Get("Preference-Applied") != prefer ||
		res.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("got %d %v, want 201 and the preference applied", res.StatusCode, res.Header)
	}
	location, err := res.Location()
	must(t, err)
	if want := r.urls[0] + "?id="; !strings.HasPrefix(location.String(), want) {
		t.Fatalf("the ticket is said to be at %s, want %s…", location, want)
	}
	return creation{res, location.Query().Get("id")}
}

// heldBody is what a create that waits answers with.
type heldBody struct {
	ID         string
	Status     *string
	Attributes map[string]float64
	Properties map[string][]byte
	Created    int64
	Assignment *struct{ Connection, Error string }
}

// body waits for the body.
func (c creation) body(t *testing.T) (b heldBody) {
	t.Helper()
	text, err := rest(c.Response)
	must(t, err)
	if !strings.Contains(text, `"status":null`) {
		t.Errorf("the body has no status: %s", text)
	}
	must(t, json.Unmarshal([]byte(text), &b))
	if b.ID != c.id {
		t.Errorf("the body is that of ticket %q, the headers name %q", b.ID, c.id)
	}
	return b
}

// get reads the ticket at the second replica.
func (r *replicas) get(t *testing.T, id string) (status int, b heldBody) {
	t.Helper()
	status, text, err := r.send(t.Context(), http.MethodGet, r.urls[1]+"?id="+id, "")
	must(t, err)
	if status == http.StatusOK {
		must(t, json.Unmarshal([]byte(text), &b))
	}
	return status, b
}

// assign gives a ticket a connection.
func (r *replicas) assign(ctx context.Context, t *testing.T, id string) {
	t.Helper()
	_, refused, _, err := r.store.AssignWaiting(ctx, "demo", nil, []string{id},
		[]*pb.Assignment{{Connection: "203.0.113.7:7777"}}, time.Hour)
	if err != nil || refused != "" {
		t.Errorf("ticket %s was not assigned: %q does not wait, %v", id, refused, err)
	}
	r.bus.NotifyAssigned(ctx, "demo", []string{id})
}

func TestCreateIsAnsweredWithTheResult(t *testing.T) {
	r := start(t)
	c := r.hold(t.Context(), t, "wait=20")
	if status, got := r.get(t, c.id); status != http.StatusOK || got.Assignment != nil {
		t.Fatalf("once the create is answered, a GET gets %d %+v", status, got)
	}
	r.assign(t.Context(), t, c.id)
	got := c.body(t)
	if got.Assignment == nil || got.Assignment.Connection != "203.0.113.7:7777" {
		t.Errorf("the body has the assignment %+v", got.Assignment)
	}
	if _, want := r.get(t, c.id); !cmp.Equal(got, want) {
		t.Errorf("the body differs from that of a GET: %s", cmp.Diff(want, got))
	}
	if got.Attributes["skill"] != 1500 || string(got.Properties["loadout"]) != "some loadout of a player" {
		t.Errorf("the body is %+v", got)
	}
}

// early is a bus on which a ticket gets its result before its create is answered.
type early struct {
	ticket.Bus
	assign func(ctx context.Context)
}

func (e early) PokeTickets(ctx context.Context, project string, position uint64, queues ...string) {
	e.assign(ctx)
	e.Bus.PokeTickets(ctx, project, position, queues...)
}

// newcomers hears of the tickets that begin to wait.
type newcomers chan string

func (newcomers) Reset() {}

func (n newcomers) Apply(changes []state.Change, _ uint64) {
	for _, c := range changes {
		if c.Body != "" {
			n <- c.Ticket
		}
	}
}

func TestCreateWhoseTicketHasItsResultAtOnce(t *testing.T) {
	var r *replicas
	created := make(newcomers, 1)
	r = startWith(t, state.Options{}, func(o *ticket.Options) {
		o.Bus = early{o.Bus, func(ctx context.Context) { r.assign(ctx, t, <-created) }}
	})
	ctx, stop := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() { r.store.Follow(ctx, "demo", created, nil) })
	defer following.Wait()
	defer stop()
	if got := r.hold(t.Context(), t, "wait=20").body(t); got.Assignment == nil {
		t.Errorf("the body has no assignment: %+v", got)
	}
}

func TestCreateWhoseWaitEndsWithoutAResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prefer string
		end    func(t *testing.T, r *replicas, id string)
		status int // of a GET afterwards
	}{
		"the time is over": {"wait=1", func(*testing.T, *replicas, string) {}, http.StatusOK},
		"the ticket is deleted": {"wait=3600", func(t *testing.T, r *replicas, id string) {
			status, _, err := r.send(t.Context(), http.MethodDelete, r.urls[1]+"?id="+id, "")
			if must(t, err); status != http.StatusOK {
				t.Errorf("DELETE: %d", status)
			}
		}, http.StatusNotFound},
		"the service stops": {"wait=3600", func(_ *testing.T, r *replicas, _ string) {
			r.parts[0].OnShutdown()
		}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Settings.Wait = time.Hour })
			held := r.hold(t.Context(), t, c.prefer)
			c.end(t, r, held.id)
			if got := held.body(t); got.Assignment != nil || got.Created == 0 || got.Attributes["skill"] != 1500 {
				t.Errorf("got %+v, want the ticket without an assignment", got)
			}
			if status, _ := r.get(t, held.id); status != c.status {
				t.Errorf("a GET afterwards: %d, want %d", status, c.status)
			}
		})
	}
}

// line is a way to Redis that can be cut.
type line struct {
	mu    sync.Mutex
	ended bool
	conns []net.Conn
}

var errCut = errors.New("the line is cut")

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, errCut
	}
	l.conns = append(l.conns, conn)
	return conn, err
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for _, conn := range l.conns {
		_ = conn.Close()
	}
}

func TestCreateWhoseTicketCannotBeReadAnyMore(t *testing.T) {
	var redis line
	r := startWith(t, state.Options{Dial: redis.dial}, func(*ticket.Options) {})
	held := r.hold(t.Context(), t, "wait=20")
	redis.cut()
	r.bus.NotifyAssigned(t.Context(), "demo", []string{held.id})
	if got := held.body(t); got.Assignment != nil || got.Attributes["skill"] != 1500 {
		t.Errorf("got %+v, want the ticket as it was created", got)
	}
	if text := r.lines.String(); !strings.Contains(text, "level=WARN msg=\"a create that waits was answered early\"") {
		t.Errorf("the log has no warning:\n%s", text)
	}
}

func TestResultOfAWakeUpIsNotReadAgain(t *testing.T) {
	var redis line
	r := startWith(t, state.Options{Dial: redis.dial}, func(*ticket.Options) {})
	held := r.hold(t.Context(), t, "wait=20")
	redis.cut()
	r.bus.NotifyResults(t.Context(), "demo", []string{held.id}, []*pb.Assignment{{Connection: "203.0.113.7:7777"}})
	if got := held.body(t); got.Assignment == nil || got.Assignment.Connection != "203.0.113.7:7777" {
		t.Errorf("got %+v, want the connection, though the state store is away", got)
	}
}

func TestCreateWhosePlayerLeaves(t *testing.T) {
	r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Settings.HeldPlayer = 1 })
	ctx, leave := context.WithCancel(t.Context())
	held := r.hold(ctx, t, "wait=20")
	_, text, err := r.send(t.Context(), http.MethodPost, r.urls[0], usual, "Prefer", "wait=20")
	if must(t, err); !strings.HasSuffix(text, `","status":null}`) {
		t.Fatalf("a second one of the player got %s, want the answer to a plain create", text)
	}
	leave()
	_ = held.Body.Close()
	const logged = "method=POST route=/:project/matchmaking/api/v1/tickets status=201"
	deadline, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for strings.Count(r.lines.String(), logged) < 2 {
		if err := wait.For(deadline, time.Millisecond); err != nil {
			t.Fatalf("the request does not end:\n%s", r.lines)
		}
	}
	if text := r.lines.String(); strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") {
		t.Errorf("that a player leaves is no failure:\n%s", text)
	}
	if status, got := r.get(t, held.id); status != http.StatusOK || got.Assignment != nil {
		t.Errorf("the ticket of the player who left: %d %+v, want that it waits", status, got)
	}
	next := r.hold(t.Context(), t, "wait=20") // there is a place again
	r.parts[0].OnShutdown()
	next.body(t)
}

func TestReadWhosePlayerLeaves(t *testing.T) {
	meter, measured := telemetrytest.New()
	r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Meter = meter })
	_, text, err := r.send(t.Context(), http.MethodPost, r.urls[0], usual)
	must(t, err)
	var created struct{ ID string }
	must(t, json.Unmarshal([]byte(text), &created))
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := r.send(ctx, http.MethodGet, r.urls[0]+"?id="+created.ID, "", "Prefer", "wait=20")
		ended <- err
	}()
	deadline, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	await := func(what string, is func() bool) {
		t.Helper()
		for !is() {
			if err := wait.For(deadline, time.Millisecond); err != nil {
				t.Fatalf("%s:\n%s", what, r.lines)
			}
		}
	}
	await("the request is not held", func() bool { return measured.Value(t, "matchmaker.requests.held") == 1 })
	leave()
	if err := <-ended; err == nil {
		t.Error("a request that was given up has an answer")
	}
	await("it is not logged as one whose client is gone", func() bool {
		return strings.Contains(r.lines.String(), "method=GET route=/:project/matchmaking/api/v1/tickets status=499")
	})
	if text := r.lines.String(); strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") {
		t.Errorf("that a player leaves is no failure:\n%s", text)
	}
}

func TestCreateThatDoesNotWait(t *testing.T) {
	none := startWith(t, state.Options{}, func(o *ticket.Options) { o.Settings.Held = 0 })
	r := start(t)
	for name, c := range map[string]struct {
		at      *replicas
		prefers []string
	}{
		"no preference":                    {r, nil},
		"wait=0":                           {r, []string{"wait=0"}},
		"a preference that cannot be read": {r, []string{"wait=x"}},
		"the first one counts":             {r, []string{"wait=-1", "wait=5"}},
		"another preference":               {r, []string{"respond-async"}},
		"too many are held":                {none, []string{"wait=5"}},
	} {
		var headers []string
		for _, prefer := range c.prefers {
			headers = append(headers, "Prefer", prefer)
		}
		res, err := c.at.begin(t.Context(), http.MethodPost, c.at.urls[0], usual, headers...)
		must(t, err)
		text, err := rest(res)
		must(t, err)
		var made struct{ ID string }
		must(t, json.Unmarshal([]byte(text), &made))
		if want := `{"id":"` + made.ID + `","status":null}`; res.StatusCode != http.StatusCreated || text != want {
			t.Errorf("%s: got %d %s, want 201 %s", name, res.StatusCode, text, want)
		}
		got := res.Header.Clone()
		for _, each := range []string{"Date", "X-Correlation-Id"} {
			got.Del(each)
		}
		want := http.Header{"Cache-Control": {"no-store"}, "Content-Type": {"application/json"}, "Content-Length": {"59"}}
		if !cmp.Equal(got, want) {
			t.Errorf("%s: headers differ: %s", name, cmp.Diff(want, got))
		}
	}
}

// A create that is refused says nothing about waiting.
func TestRefusedCreateDoesNotWait(t *testing.T) {
	r := start(t)
	res, err := r.begin(t.Context(), http.MethodPost, r.urls[0], `{"attributes":{"created":1}}`, "Prefer", "wait=20")
	must(t, err)
	text, err := rest(res)
	if must(t, err); res.StatusCode != http.StatusBadRequest || res.Header.Get("Preference-Applied") != "" ||
		res.Header.Get("Location") != "" {
		t.Errorf("got %d %v %s, want a plain 400", res.StatusCode, res.Header, text)
	}
}
