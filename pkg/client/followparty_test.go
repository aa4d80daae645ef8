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

// lobby is a service that answers each request for events of party p/1 with the next of some texts, as streaming does,
// and each other request with the next of some parties: 0 is a 404.
type lobby struct {
	streaming
	revisions []int
	known     []string // the If-None-Match of each read
	players   []string // for whom each request is
}

func (l *lobby) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.players = append(l.players, r.Header.Get("X-On-Behalf-Of"))
	const path = "/demo/matchmaking/api/v1/parties/p%2F1"
	switch r.URL.EscapedPath() {
	case path + "/events":
		if accept := r.Header.Get("Accept"); !strings.Contains(accept, "text/event-stream") {
			panic(accept)
		}
		l.stream(w, r)
	case path:
		l.known = append(l.known, r.Header.Get("If-None-Match"))
		revision := l.revisions[0]
		l.revisions = l.revisions[1:]
		if revision == 0 {
			refuse(w, http.StatusNotFound, "partyNotFound")
			return
		}
		fmt.Fprintf(w, `{"id":"p/1","revision":%d}`, revision)
	default:
		panic(r.URL.EscapedPath())
	}
}

// follow follows party p/1 and returns the revisions that are told, and how long the client paused.
func (l *lobby) follow(t *testing.T) (told []int64, pauses []time.Duration, reason string, err error) {
	t.Helper()
	server := httptest.NewServer(l)
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, Project: "demo", Retry: client.Retry{
		Sleep: func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil },
		Rand:  func() float64 { return 0.5 },
	}})
	if err != nil {
		t.Fatal(err)
	}
	reason, err = c.FollowParty(t.Context(), "p/1", "ada", func(p *client.Party) { told = append(told, p.Revision) })
	if slices.ContainsFunc(l.players, func(player string) bool { return player != "ada" }) {
		t.Errorf("the requests are for %q", l.players)
	}
	return told, pauses, reason, err
}

// revised is the event of a revision.
func revised(n int) string {
	return fmt.Sprintf("id: %d\nevent: party\ndata: {\"id\":\"p/1\",\"revision\":%d}\n\n", n, n)
}

func TestFollowPartyComesBackUntilTheEnd(t *testing.T) {
	l := &lobby{streaming: streaming{texts: []string{
		"retry: 7000\n\n: beat\n\n" + revised(3) + "!", // breaks
		"event: later\ndata: {}\n\n" + revised(4),
		"retry: 5\n\nevent: reconnect\ndata: {\"reason\":\"token\"}\n\n" + revised(5), // what follows is not read
		revised(6) + "event: ended\ndata: {\"id\":\"p/1\",\"reason\":\"kicked\"}\n\n",
	}}}
	told, pauses, reason, err := l.follow(t)
	if err != nil || reason != "kicked" || !slices.Equal(told, []int64{3, 4, 6}) {
		t.Errorf("told %v, %q, %v", told, reason, err)
	}
	if want := []string{"", "3", "4", "4"}; !slices.Equal(l.last, want) {
		t.Errorf("the last events are %q, want %q", l.last, want)
	}
	if want := []time.Duration{7 * time.Second, 3 * time.Second, 5 * time.Millisecond}; !slices.Equal(pauses, want) {
		t.Errorf("paused %v, want %v", pauses, want)
	}
}

func TestFollowPartyWaitsWhereThereIsNoStream(t *testing.T) {
	for _, status := range []string{"404", "405", "406", "429", "503"} {
		l := &lobby{streaming: streaming{texts: []string{status}}, revisions: []int{2, 3, 0}}
		told, _, reason, err := l.follow(t)
		if err != nil || reason != client.PartyGone || !slices.Equal(told, []int64{2, 3}) {
			t.Errorf("%s: told %v, %q, %v", status, told, reason, err)
		}
		if want := []string{"", `"2"`, `"3"`}; !slices.Equal(l.known, want) {
			t.Errorf("%s: the reads know %q, want %q", status, l.known, want)
		}
	}
	// It goes on from what the stream told.
	l := &lobby{streaming: streaming{texts: []string{revised(7), "429"}}, revisions: []int{8, 0}}
	told, _, reason, err := l.follow(t)
	if err != nil || reason != client.PartyGone || !slices.Equal(told, []int64{7, 8}) || l.known[0] != `"7"` {
		t.Errorf("told %v, %q, %v, the reads know %q", told, reason, err, l.known)
	}
	// A player who is no member at first learns it.
	l = &lobby{streaming: streaming{texts: []string{"404"}}, revisions: []int{0}}
	if _, _, _, err := l.follow(t); client.Status(err) != http.StatusNotFound {
		t.Errorf("no member gets %v", err)
	}
	for _, status := range []int{401, 403} {
		l := &lobby{streaming: streaming{texts: []string{fmt.Sprint(status)}}}
		if _, _, _, err := l.follow(t); client.Status(err) != status || len(l.known) > 0 {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, text := range []string{"event: party\ndata: nonsense\n\n", "event: ended\ndata: nonsense\n\n"} {
		l := &lobby{streaming: streaming{texts: []string{text}}}
		if _, _, _, err := l.follow(t); err == nil || !strings.Contains(err.Error(), "not what the API says") {
			t.Errorf("nonsense: %v", err)
		}
	}
}

func TestFollowPartyEndsWithItsContext(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, revised(1))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err = c.FollowParty(ctx, "p", "ada", func(*client.Party) { stop() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
