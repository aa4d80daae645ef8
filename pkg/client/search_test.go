package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// searched is a service with one ticket, t1, that waits until it is assigned or deleted.
type searched struct {
	*httptest.Server
	late   bool   // DELETE comes too late
	tells  func() // called when an event was told
	leaves func() // called when a stream was left

	mu       sync.Mutex
	assigned chan struct{}
	heard    []string
	keys     map[string]bool
}

func newSearched(t *testing.T) *searched {
	t.Helper()
	s := &searched{assigned: make(chan struct{}), keys: map[string]bool{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *searched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	s.mu.Lock()
	s.heard = append(s.heard, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/demo/matchmaking/api/v1/"))
	s.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/acceptance"):
		w.WriteHeader(http.StatusConflict)
	case strings.HasSuffix(r.URL.Path, "/events"):
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, waits+waits)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-s.assigned:
			fmt.Fprint(w, resolves)
		case <-r.Context().Done():
			if s.leaves != nil {
				s.leaves()
			}
		}
	case r.Method == http.MethodPost:
		s.keys[strings.Trim(r.Header.Get("Idempotency-Key"), `"`)] = true
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":"t1","status":null}`)
	case r.Method == http.MethodDelete && s.late && query.Get("unlessAssigned") == "true":
		w.WriteHeader(http.StatusConflict)
	case r.Method == http.MethodDelete:
	case query.Has("key") && !s.keys[query.Get("key")]:
		fmt.Fprint(w, `{"tickets":[]}`)
	case query.Has("key"):
		fmt.Fprint(w, `{"tickets":[{"id":"t1","created":1,"assignment":null}]}`)
	default:
		fmt.Fprint(w, `{"id":"t1","created":1,"assignment":{"connection":"h:1","error":""}}`)
	}
}

// search searches, with what is saved and told meanwhile.
func (s *searched) search(t *testing.T, saved *client.SavedSearch, told *[]string) *client.Search {
	t.Helper()
	c, err := client.New(client.Options{URL: s.URL, Project: "demo", Retry: client.Retry{Scale: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Search(client.SearchOptions{
		Ticket: client.TicketRequest{Player: "ada", IdempotencyKey: "k"}, Saved: saved,
		Save: func(s *client.SavedSearch) {
			text, _ := json.Marshal(s)
			*told = append(*told, string(text))
		},
		Tell: func(e client.TicketEvent) {
			if *told = append(*told, e.Kind); s.tells != nil {
				s.tells()
			}
		},
	})
}

func TestSearchIsCancelled(t *testing.T) {
	for late, want := range map[bool]error{false: client.ErrCancelled, true: nil} {
		s := newSearched(t)
		s.late = late
		var told []string
		search := s.search(t, nil, &told)
		s.tells = search.Cancel
		ticket, err := search.Run(t.Context())
		if !errors.Is(err, want) || late && ticket.Assignment.Connection != "h:1" {
			t.Errorf("late %v: %+v, %v", late, ticket, err)
		}
		first := []string{`{"player":"ada","key":"k"}`, `{"player":"ada","key":"k","ticket":"t1"}`, "waiting"}
		if !late {
			first = append(first, "null")
		}
		if !slices.Equal(told, first) {
			t.Errorf("late %v: told %q", late, told)
		}
	}
}

func TestSearchSleepsWhileItIsSuspended(t *testing.T) {
	s := newSearched(t)
	var told []string
	search := s.search(t, nil, &told)
	s.tells = func() {
		s.tells = nil
		search.Suspend()
	}
	s.leaves = sync.OnceFunc(func() { // before that the stream might tell of the assignment
		close(s.assigned)
		search.Resume()
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if ticket, err := search.Run(ctx); err != nil || ticket.Assignment.Connection != "h:1" {
		t.Errorf("%+v, %v", ticket, err)
	}
	if streams := strings.Count(strings.Join(s.heard, "\n"), "events"); streams != 2 {
		t.Errorf("%d streams, want one before and one after", streams)
	}
}

func TestSearchGoesOnAfterACrash(t *testing.T) {
	for _, c := range []struct {
		saved client.SavedSearch
		known bool // the create was carried out
		want  error
	}{
		{client.SavedSearch{Player: "ada", Ticket: "t1"}, false, nil},
		{client.SavedSearch{Player: "ada", Key: "k"}, true, nil},
		{client.SavedSearch{Player: "ada", Key: "k"}, false, client.ErrNoTicket},
		{client.SavedSearch{Player: "ada"}, false, client.ErrNoTicket},
	} {
		s := newSearched(t)
		close(s.assigned)
		s.keys["k"] = c.known
		var told []string
		ticket, err := s.search(t, &c.saved, &told).Run(t.Context())
		if !errors.Is(err, c.want) || err == nil && ticket.Assignment.Connection != "h:1" {
			t.Errorf("%+v: %+v, %v", c, ticket, err)
		}
		if slices.ContainsFunc(s.heard, func(line string) bool { return line == "POST tickets" }) {
			t.Errorf("%+v: a ticket was created", c)
		}
	}
}

// A result that is an error is nothing to go on with.
func TestSearchForgetsAMatchThatFailed(t *testing.T) {
	api, _ := newClient(t, newService(t, reply{status: 201, body: `{"id":"t1"}`}, reply{status: 405},
		reply{status: 200, body: `{"id":"t1","assignment":{"connection":"","error":"PoolTimeout"}}`}))
	var saved *client.SavedSearch
	search := api.Search(client.SearchOptions{Save: func(s *client.SavedSearch) { saved = s }})
	ticket, err := search.Run(t.Context())
	if err != nil || ticket.Assignment.Error != "PoolTimeout" || saved != nil {
		t.Errorf("%+v, %v, with %+v saved", ticket, err, saved)
	}
}

// A ticket that may be there is not said to be cancelled, and not forgotten.
func TestSearchThatIsCancelledMayHaveATicket(t *testing.T) {
	var search *client.Search
	c, err := client.New(client.Options{URL: newService(t, reply{}).URL, Project: "demo", Retry: client.Retry{
		Sleep: func(ctx context.Context, _ time.Duration) error { search.Cancel(); return ctx.Err() }}})
	if err != nil {
		t.Fatal(err)
	}
	var saved *client.SavedSearch
	search = c.Search(client.SearchOptions{Save: func(s *client.SavedSearch) { saved = s }})
	_, err = search.Run(t.Context())
	if errors.Is(err, client.ErrCancelled) || client.GeneralCode(err) != client.CodeOffline || saved == nil {
		t.Errorf("%v, with %+v saved", err, saved)
	}
}

func TestAnswerOfASearch(t *testing.T) {
	s := newSearched(t)
	search := s.search(t, nil, new([]string))
	if err := search.Answer(t.Context(), true); err == nil {
		t.Error("there is no match to answer")
	}
}

func TestTokenCallback(t *testing.T) {
	s := newService(t, reply{status: 401}, fine, reply{status: 401}, reply{status: 401})
	var asked []client.TokenReason
	c, err := client.New(client.Options{URL: s.URL, Project: "demo",
		Token: client.TokenCallback(func(_ context.Context, why client.TokenReason) (string, error) {
			asked = append(asked, why)
			return fmt.Sprint("token", len(asked)), nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	if err := getOne(t.Context(), c); err != nil {
		t.Error(err)
	}
	if err := getOne(t.Context(), c); client.GeneralCode(err) != client.CodeUnauthenticated {
		t.Errorf("refused again and again: %v", err)
	}
	if want := []client.TokenReason{"first", "refused", "refused"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	var sent []string
	for _, r := range s.requests() {
		sent = append(sent, r.Header.Get("Authorization"))
	}
	if want := []string{"Bearer token1", "Bearer token2", "Bearer token2", "Bearer token3"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

func TestGeneralCodes(t *testing.T) {
	for code, errs := range map[client.Code][]error{
		client.CodeOffline:         {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF)},
		client.CodeLimited:         {&client.Error{Status: 429}},
		client.CodeUnavailable:     {&client.Error{Status: 502}, &client.Error{Status: 503}, &client.Error{Status: 504}},
		client.CodeUnauthenticated: {&client.Error{Status: 401}, fmt.Errorf("%w: dry", client.ErrNoToken)},
		client.CodeForbidden:       {&client.Error{Status: 403}},
		client.CodeNotFound:        {&client.Error{Status: 404, Code: client.CodePartyNotFound}},
		client.CodeConflict:        {&client.Error{Status: 409, Code: "later"}, &client.Error{Status: 412}},
		client.CodeInvalid:         {&client.Error{Status: 400}, &client.Error{Status: 418}},
		client.CodeTooLarge:        {&client.Error{Status: 413}},
		client.CodeInternal:        {&client.Error{Status: 500}},
		client.CodeUnexpected:      {&client.Error{Status: 302}, &client.Error{Status: 501}, errors.New("no JSON")},
	} {
		for _, err := range errs {
			if got := client.GeneralCode(fmt.Errorf("call: %w", err)); got != code || client.PlayerText(err) == "" {
				t.Errorf("%v is %q, want %q", err, got, code)
			}
		}
	}
}

// What keeps back the stream of a service does not keep back the ticket.
func TestFollowWaitsWhereTheStreamIsKeptBack(t *testing.T) {
	for name, first := range map[string]string{"the header": "", "the body": ": no line", "an event": waits} {
		synctest.Test(t, func(t *testing.T) {
			streams := 0
			c, err := client.New(client.Options{URL: "http://host", Project: "demo", HTTP: &http.Client{
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					if !strings.HasSuffix(r.URL.Path, "/events") || streams > 0 && name == "an event" {
						text := `{"id":"t1","created":5,"assignment":{"connection":"waited:1"}}`
						return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
					}
					streams++
					if first == "" {
						<-r.Context().Done()
						return nil, context.Cause(r.Context())
					}
					in, out := io.Pipe()
					go func() {
						_, _ = io.WriteString(out, first)
						<-r.Context().Done()
						out.CloseWithError(context.Cause(r.Context()))
					}()
					return &http.Response{StatusCode: http.StatusOK, Body: in,
						Header: http.Header{"Content-Type": {"text/event-stream"}}}, nil
				})}})
			if err != nil {
				t.Fatal(err)
			}
			a, err := c.Follow(t.Context(), "t1", nil)
			if err != nil || a.Connection != "waited:1" || streams != 1 {
				t.Errorf("%s: %+v, %v, after %d streams", name, a, err, streams)
			}
		})
	}
}

// A stream gives up sooner than a player may log in.
func TestFollowWaitsWhereATokenTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := client.New(client.Options{URL: "http://host", Project: "demo",
			Token: func(ctx context.Context) (string, error) {
				select {
				case <-time.After(20 * time.Second):
					return "token", nil
				case <-ctx.Done():
					return "", context.Cause(ctx)
				}
			},
			HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				text := `{"id":"t1","created":5,"assignment":{"connection":"waited:1"}}`
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
			})}})
		if err != nil {
			t.Fatal(err)
		}
		if a, err := c.Follow(t.Context(), "t1", nil); err != nil || a.Connection != "waited:1" {
			t.Errorf("%+v, %v", a, err)
		}
	})
}
