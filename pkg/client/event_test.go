package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// happenings is a service that answers requests for events with the next of some texts, as streaming does, and for
// pages of events with the next of some pages.
type happenings struct {
	streaming
	pages   []string
	queries []url.Values // of pages
}

func (h *happenings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/demo/matchmaking/api/v1/events") {
		panic(r.URL.Path)
	}
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		h.stream(w, r)
		return
	}
	h.queries = append(h.queries, r.URL.Query())
	fmt.Fprint(w, h.pages[0])
	h.pages = h.pages[1:]
}

func (h *happenings) client(t *testing.T, sleep func()) *client.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{URL: server.URL, Project: "demo", Retry: client.Retry{
		Sleep: func(context.Context, time.Duration) error { sleep(); return nil },
		Now:   func() time.Time { return time.Unix(1_893_456_000, 0) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// happened is an event of a stream.
func happened(id, kind string) string {
	return fmt.Sprintf("id: %s\nevent: %s\ndata: {\"id\":%q,\"kind\":%q}\n\n", id, kind, id, kind)
}

var errEnough = errors.New("enough")

func TestGetEventsAsksForWhatIsSelected(t *testing.T) {
	h := &happenings{pages: []string{
		`{"events":[{"id":"7.1","time":"2030-01-01T00:00:00.123Z","kind":"claimed","tickets":["a"],"score":0.5,
			"teams":[{"name":"red","tickets":1}]}],"next":"7.1","more":true}`,
	}}
	page, err := h.client(t, func() {}).GetEvents(t.Context(), client.EventQuery{Ticket: "a", Player: "p", Match: "m",
		Config: "c", Kinds: []string{"claimed", "failed"}, Since: time.UnixMilli(1_893_456_000_123), After: "6", Limit: 5})
	if err != nil || !page.More || page.Next != "7.1" || len(page.Events) != 1 {
		t.Fatal(page, err)
	}
	e := page.Events[0]
	if e.Kind != "claimed" || e.Time.UnixMilli() != 1_893_456_000_123 || *e.Score != 0.5 || e.Teams[0].Name != "red" {
		t.Errorf("%+v", e)
	}
	want := "after=6&config=c&kind=claimed%2Cfailed&limit=5&match=m&player=p&since=2030-01-01T00%3A00%3A00.123Z&ticket=a"
	if got := h.queries[0].Encode(); got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

func TestFollowEventsTellsEachOnce(t *testing.T) {
	h := &happenings{streaming: streaming{texts: []string{
		"id: 4\n\n" + happened("5.1", "created") + "!", // breaks
		"id: 9\n\n!", // nothing that was asked for, until then
		"event: reconnect\ndata: {\"reason\":\"source\"}\n\n",
		happened("9.2", "claimed") + happened("9.3", "assigned"),
	}}}
	var told []string
	err := h.client(t, func() {}).FollowEvents(t.Context(), client.EventQuery{}, func(e client.Event) error {
		if told = append(told, e.Kind); e.Kind == "assigned" {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || !slices.Equal(told, []string{"created", "claimed", "assigned"}) {
		t.Errorf("told %q, %v", told, err)
	}
	if want := []string{"", "5.1", "9", "9"}; !slices.Equal(h.last, want) {
		t.Errorf("the last events are %q, want %q", h.last, want)
	}
}

func TestFollowEventsReadsPagesWhereThereIsNoStream(t *testing.T) {
	h := &happenings{streaming: streaming{texts: []string{happened("5.1", "created") + "!", "429"}}, pages: []string{
		`{"events":[],"next":"6","more":true}`, `{"events":[{"kind":"claimed"}],"next":"7","more":false}`,
		`{"events":[{"kind":"assigned"}],"next":"8","more":false}`,
	}}
	var told []string
	slept := 0
	err := h.client(t, func() { slept++ }).FollowEvents(t.Context(), client.EventQuery{}, func(e client.Event) error {
		if told = append(told, e.Kind); e.Kind == "assigned" {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || !slices.Equal(told, []string{"created", "claimed", "assigned"}) || slept != 2 {
		t.Errorf("told %q, %v, slept %d times", told, err, slept)
	}
	var after []string
	for _, q := range h.queries {
		after = append(after, q.Get("after"))
	}
	if want := []string{"5.1", "6", "7"}; !slices.Equal(after, want) {
		t.Errorf("asked for those after %q, want %q", after, want)
	}
	// One that never had a stream begins with now.
	h = &happenings{streaming: streaming{texts: []string{"404"}}, pages: []string{`{"events":[{"kind":"assigned"}]}`}}
	err = h.client(t, func() {}).FollowEvents(t.Context(), client.EventQuery{},
		func(client.Event) error { return errEnough })
	if since := h.queries[0].Get("since"); !errors.Is(err, errEnough) || since != "2030-01-01T00:00:00Z" {
		t.Errorf("since %q, %v", since, err)
	}
}

func TestGetMatch(t *testing.T) {
	s := newService(t, reply{status: 200, body: `{"id":"m","state":"assigned","revision":7,"upload":2,"score":1.5,
		"created":"2030-01-01T00:00:00.123Z","players":2,"teams":[{"tickets":[{"id":"a","waited":2.5,"players":["ada"]}]}],
		"server":{"connection":"h:1"}}`}, reply{status: 404, body: `{"detail":"gone"}`})
	c, err := client.New(client.Options{URL: s.URL, Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.GetMatch(t.Context(), "m/1")
	if err != nil || m.Upload != 2 || *m.Teams[0].Tickets[0].Waited != 2.5 || m.Server.Connection != "h:1" ||
		!m.Ended.IsZero() {
		t.Errorf("%+v, %v", m, err)
	}
	if got := s.requests()[0].Line; got != "GET /demo/matchmaking/api/v1/matches/m%2F1" {
		t.Error(got)
	}
	if _, err := c.GetMatch(t.Context(), "m"); client.Status(err) != http.StatusNotFound {
		t.Error(err)
	}
}
