package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// streaming is a service that answers each request for events with the next of some texts, and breaks the connection
// behind it. A text that begins with a digit is a status.
type streaming struct {
	texts []string
	last  []string // the Last-Event-ID of each request
	reads int      // requests for the ticket itself
	gone  bool     // there is no ticket
}

func (s *streaming) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/demo/matchmaking/api/v1/tickets/events") {
		if s.reads++; s.gone {
			refuse(w, http.StatusNotFound, "ticketNotFound")
			return
		}
		fmt.Fprint(w, `{"id":"t1","created":5,"assignment":{"connection":"waited:1"}}`)
		return
	}
	s.stream(w, r)
}

// stream answers a request for events.
func (s *streaming) stream(w http.ResponseWriter, r *http.Request) {
	s.last = append(s.last, r.Header.Get("Last-Event-ID"))
	text := s.texts[0]
	s.texts = s.texts[1:]
	var status int
	if n, _ := fmt.Sscanf(text, "%d", &status); n == 1 {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"detail":"refused"}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, text)
	w.(http.Flusher).Flush()
	if strings.HasSuffix(text, "!") {
		panic(http.ErrAbortHandler)
	}
}

// follow follows ticket t1 and returns what is told, and how long the client paused between connections.
func (s *streaming) follow(t *testing.T) (told []string, pauses []time.Duration, a *client.Assignment, err error) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, Project: "demo", Retry: client.Retry{
		Sleep: func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil },
		Rand:  func() float64 { return 0.5 },
	}})
	if err != nil {
		t.Fatal(err)
	}
	a, err = c.Follow(t.Context(), "t1", func(e client.TicketEvent) {
		told = append(told, strings.TrimSpace(e.Kind+" "+e.Reason+strings.Join(e.UnservedQueues, ",")))
	})
	return told, pauses, a, err
}

const (
	waits    = "id: waiting\nevent: waiting\ndata: {\"id\":\"t1\",\"created\":5,\"unservedQueues\":[\"a\"]}\n\n"
	resolves = "id: assigned\nevent: assigned\ndata: {\"id\":\"t1\",\ndata: \"assignment\":{\"connection\":\"h:1\"}}\n\n"
)

func TestFollowComesBackUntilTheEnd(t *testing.T) {
	s := &streaming{texts: []string{
		"retry: 7000\n\n: beat\n\n" + waits + "!", // breaks
		"event: later\ndata: {}\n\nid: m\nevent: matched\ndata: {\"id\":\"t1\"}\n\n",
		"retry: 5\n\nevent: reconnect\ndata: {\"reason\":\"shutdown\"}\n\n" + waits, // what follows is not read
		resolves,
	}}
	told, pauses, a, err := s.follow(t)
	if err != nil || a.Connection != "h:1" || !slices.Equal(told, []string{"waiting a", "matched", "assigned"}) {
		t.Errorf("told %q, %+v, %v", told, a, err)
	}
	if want := []string{"", "waiting", "m", "m"}; !slices.Equal(s.last, want) {
		t.Errorf("the last events are %q, want %q", s.last, want)
	}
	if want := []time.Duration{7 * time.Second, 3 * time.Second, 5 * time.Millisecond}; !slices.Equal(pauses, want) {
		t.Errorf("paused %v, want %v", pauses, want)
	}
}

func TestFollowOfATicketThatEnded(t *testing.T) {
	s := &streaming{texts: []string{waits + "event: ended\ndata: {\"id\":\"t1\",\"reason\":\"abandoned\"}\n\n"}}
	told, _, a, err := s.follow(t)
	ended, ok := errors.AsType[*client.EndedError](err)
	if !ok || ended.Reason != "abandoned" || client.Status(err) != 404 || a != nil ||
		!slices.Equal(told, []string{"waiting a", "ended abandoned"}) {
		t.Errorf("told %q, %+v, %v", told, a, err)
	}
}

// A ticket that was there is not "not found": it ended.
func TestFollowOfATicketThatIsGoneSaysThatItEnded(t *testing.T) {
	s := &streaming{texts: []string{waits + "!", "404"}, gone: true}
	_, _, _, err := s.follow(t)
	ended, ok := errors.AsType[*client.EndedError](err)
	if !ok || ended.Reason != client.EndGone || client.Status(err) != 404 {
		t.Error(err)
	}
	s.texts = []string{"404"}
	_, _, _, err = s.follow(t)
	if _, ok := errors.AsType[*client.EndedError](err); ok || client.Status(err) != 404 {
		t.Errorf("one that was never there: %v", err)
	}
}

func TestFollowWaitsWhereThereIsNoStream(t *testing.T) {
	for _, status := range []string{"404", "405", "406", "429", "503", "204"} {
		s := &streaming{texts: []string{status}}
		told, _, a, err := s.follow(t)
		if err != nil || a.Connection != "waited:1" || s.reads != 1 || !slices.Equal(told, []string{"assigned"}) {
			t.Errorf("%s: told %q, %+v, %v", status, told, a, err)
		}
	}
	for _, status := range []int{401, 403} {
		s := &streaming{texts: []string{fmt.Sprint(status)}}
		if _, _, _, err := s.follow(t); client.Status(err) != status || s.reads > 0 {
			t.Errorf("%d: %v", status, err)
		}
	}
	s := &streaming{texts: []string{"event: waiting\ndata: nonsense\n\n"}}
	if _, _, _, err := s.follow(t); err == nil || !strings.Contains(err.Error(), "not what the API says") {
		t.Errorf("nonsense: %v", err)
	}
}
