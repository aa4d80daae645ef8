package client_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/pkg/client"
)

// matchmaker keeps one backfill ticket, as the service does, without a network.
type matchmaker struct {
	mu       sync.Mutex
	id       string // "" while there is none
	made     int
	ticket   client.BackfillTicket
	proposed []client.Ticket // what the next approval assigns
	after    map[string]float64
	assigned []client.Ticket // what approvals tell
	said     []string        // methods and times of requests
	broken   int             // status of every answer, 0: fine
	start    time.Time
}

func (m *matchmaker) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := httptest.NewRecorder()
	m.said = append(m.said, fmt.Sprint(r.Method, " ", time.Since(m.start)))
	id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/p/matchmaking/api/v2/backfill"), "/approvals")
	switch {
	case m.broken != 0:
		w.WriteHeader(m.broken)
	case r.Method == http.MethodPost && id == "":
		m.made++
		m.id, m.ticket = fmt.Sprint("b", m.made), client.BackfillTicket{}
		m.read(r, w)
		m.ticket.RecordVersion = 1
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]string{"Id": m.id})
	case id != "/"+m.id || m.id == "":
		refuse(w, http.StatusNotFound, "backfillNotFound")
	case r.Method == http.MethodPost:
		m.assigned = append(m.assigned, m.proposed...)
		for name, value := range m.after {
			m.ticket.Attributes[name] = value
		}
		m.proposed, m.after = nil, nil
		answer := m.ticket
		answer.ID, answer.AssignedTickets = m.id, m.assigned
		_ = json.NewEncoder(w).Encode(answer)
	case r.Method == http.MethodPut:
		m.read(r, w)
		m.ticket.RecordVersion++
		m.proposed, m.after = nil, nil
	case r.Method == http.MethodDelete:
		m.id = ""
		w.WriteHeader(http.StatusNoContent)
	}
	return w.Result(), nil
}

func (m *matchmaker) read(r *http.Request, w http.ResponseWriter) {
	version := m.ticket.RecordVersion
	m.ticket = client.BackfillTicket{}
	if err := json.NewDecoder(r.Body).Decode(&m.ticket); err != nil || len(m.ticket.AssignedTickets) > 0 {
		w.WriteHeader(http.StatusBadRequest)
	}
	m.ticket.RecordVersion = version
}

// propose proposes tickets, for each of which a function lowered "open" by one.
func (m *matchmaker) propose(ids ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		m.proposed = append(m.proposed, client.Ticket{ID: id, Assignment: &client.Assignment{Connection: "here:1"}})
	}
	m.after = map[string]float64{"open": m.ticket.Attributes["open"] - float64(len(ids))}
}

func (m *matchmaker) now() client.BackfillTicket {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ticket
}

// requests are those since the last call.
func (m *matchmaker) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	said := m.said
	m.said = nil
	return said
}

func (m *matchmaker) breakDown(status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = status
}

// game has places for four.
type game struct {
	mu      sync.Mutex
	players []string
	errs    []error
}

func (g *game) join(tickets []client.Ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range tickets {
		g.players = append(g.players, t.ID)
	}
}

func (g *game) leave(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.players = slices.DeleteFunc(g.players, func(p string) bool { return p == id })
}

func (g *game) state() client.BackfillRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	return client.BackfillRequest{Connection: "here:1",
		Attributes: map[string]float64{"open": float64(4 - len(g.players))}}
}

func (g *game) has(t *testing.T, want ...string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Equal(g.players, want) {
		t.Errorf("the game has %v, want %v", g.players, want)
	}
}

// filling runs a test of a filler, in a time of its own.
func filling(t *testing.T, backfill string, test func(m *matchmaker, g *game, f *client.Filler, stop func() error)) {
	synctest.Test(t, func(t *testing.T) {
		m, g := &matchmaker{start: time.Now()}, &game{}
		if backfill != "" {
			m.id = backfill
			m.ticket = client.BackfillTicket{RecordVersion: 1, Connection: "",
				Attributes: map[string]float64{"open": 2, "skill": 1200}}
		}
		c, err := client.New(client.Options{URL: "http://memory", Project: "p", HTTP: &http.Client{Transport: m},
			Retry: client.Retry{Attempts: -1, Reconnects: -1}})
		if err != nil {
			t.Fatal(err)
		}
		f := c.Fill(client.FillOptions{
			Backfill: backfill, Join: g.join, State: g.state,
			Failed: func(err error) { g.mu.Lock(); defer g.mu.Unlock(); g.errs = append(g.errs, err) },
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- f.Run(ctx) }()
		synctest.Wait()
		stopped := false
		test(m, g, f, func() error { cancel(); stopped = true; return <-done })
		if !stopped {
			cancel()
			<-done
		}
	})
}

// sleep lets time pass in a bubble.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestFillerKeepsAGameFilled(t *testing.T) {
	filling(t, "", func(m *matchmaker, g *game, f *client.Filler, stop func() error) {
		if got := m.now(); got.Connection != "here:1" || got.Attributes["open"] != 4 {
			t.Fatalf("created %+v", got)
		}
		m.propose("ada", "bob")
		sleep(time.Second)
		g.has(t, "ada", "bob")
		sleep(3 * time.Second) // which tell of them again
		g.has(t, "ada", "bob")
		if got := m.requests(); !slices.Equal(got, []string{"POST 0s", "POST 1s", "POST 2s", "POST 3s", "POST 4s"}) {
			t.Errorf("requests %v", got)
		}
		if got := m.now(); got.RecordVersion != 1 || got.Attributes["open"] != 2 {
			t.Errorf("what functions say already was said again: %+v", got)
		}

		// A player that leaves is told at once, and one on the way is let in before.
		sleep(300 * time.Millisecond)
		m.propose("cat")
		g.leave("ada")
		f.Changed()
		synctest.Wait()
		g.has(t, "bob", "cat")
		if got := m.requests(); !slices.Equal(got, []string{"POST 4.3s", "PUT 4.3s"}) {
			t.Errorf("requests %v", got)
		}
		if got := m.now(); got.RecordVersion != 2 || got.Attributes["open"] != 2 || got.Connection != "here:1" {
			t.Errorf("after one has left: %+v", got)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := m.requests(); !slices.Equal(got, []string{"DELETE 4.3s"}) {
			t.Errorf("requests %v", got)
		}
	})
}

// The ticket that was made with the match is taken over, and what functions keep in it stays.
func TestFillerTakesATicketOver(t *testing.T) {
	filling(t, "given", func(m *matchmaker, _ *game, _ *client.Filler, stop func() error) {
		if got := m.now(); got.RecordVersion != 2 || got.Connection != "here:1" || got.Attributes["open"] != 4 ||
			got.Attributes["skill"] != 1200 || m.made != 0 {
			t.Errorf("%+v, %d were made", got, m.made)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if m.id != "" {
			t.Error("it was not deleted")
		}
	})
}

// A service that is away costs time, and a backfill ticket that it forgot meanwhile is made anew.
func TestFillerGoesOnAfterFailures(t *testing.T) {
	filling(t, "", func(m *matchmaker, g *game, _ *client.Filler, _ func() error) {
		m.propose("ada")
		sleep(time.Second)
		m.breakDown(500)
		m.requests()
		sleep(time.Minute)
		if got := m.requests(); len(got) > 10 || len(got) < 5 {
			t.Errorf("a service that is away is asked %d times a minute: %v", len(got), got)
		}
		if len(g.errs) == 0 || client.Status(g.errs[0]) != 500 {
			t.Errorf("failures told: %v", g.errs)
		}
		m.mu.Lock()
		m.broken, m.id, m.assigned = 0, "", nil
		m.mu.Unlock()
		sleep(11 * time.Second)
		if got := m.now(); m.made != 2 || got.Attributes["open"] != 3 {
			t.Errorf("%d were made; now %+v", m.made, got)
		}
		m.requests()
		sleep(2 * time.Second)
		if got := m.requests(); len(got) != 2 {
			t.Errorf("requests %v", got)
		}
	})
}

// jwt is an unsigned token.
func jwt(issued, expires time.Time) string {
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return encode(`{"alg":"none"}`) + "." + encode(fmt.Sprintf(`{"iat":%d,"exp":%d}`, issued.Unix(), expires.Unix())) +
		".x"
}

func TestTokenIsRenewedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		first, second := jwt(start, start.Add(30*time.Minute)), jwt(start.Add(23*time.Minute), start.Add(53*time.Minute))
		asked := 0
		fails := errors.New("not now")
		source := client.RenewedToken(first, func(_ context.Context, token string) (string, error) {
			if asked++; token != first {
				t.Errorf("the token %q is to be renewed", token)
			}
			if time.Since(start) < 22*time.Minute {
				return "", fails
			}
			return second, nil
		})
		for _, step := range []struct {
			after time.Duration
			want  string
			asked int
		}{{0, first, 0}, {19 * time.Minute, first, 0}, {20 * time.Minute, first, 1}, {21 * time.Minute, first, 1},
			{24 * time.Minute, second, 2}, {42 * time.Minute, second, 2}} {
			sleep(step.after - time.Since(start))
			if got, err := source(t.Context()); got != step.want || err != nil || asked != step.asked {
				t.Errorf("after %v: %q, %v, asked %d times, want %q, %d", step.after, got, err, asked, step.want, step.asked)
			}
		}
		late := client.RenewedToken(jwt(start, start.Add(time.Second)),
			func(context.Context, string) (string, error) { return "", fails })
		if _, err := late(t.Context()); !errors.Is(err, fails) {
			t.Errorf("a token that is over: %v", err)
		}
		for _, token := range []string{"opaque", "a.b.c",
			"a." + base64.RawURLEncoding.EncodeToString([]byte(`{"exp":1e300}`)) + ".c"} {
			source := client.RenewedToken(token, func(context.Context, string) (string,
				error) {
				t.Errorf("%q is renewed", token)
				return "", nil
			})
			if got, err := source(t.Context()); got != token || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		}
	})
}
