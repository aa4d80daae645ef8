// Package clienttest is the service in memory, for a game's own tests. Its clients are the real ones; their requests
// stay in the process. It makes no matches by itself: the test says what happens.
//
// In a bubble of testing/synctest time is virtual: an hour of searching takes no time.
package clienttest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
)

// Service is the service in memory. It is safe for use by many goroutines.
type Service struct {
	mux *http.ServeMux

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, at each change
	slow    time.Duration
	full    time.Duration
	gone    bool
	cuts    int // of streams
	count   int // of what has an id
	tickets []*ticket
	parties []*party
	games   []*game
	regions []client.Region
	results map[string]*client.MatchResult
}

// NewService returns a service without tickets.
func NewService() *Service {
	s := &Service{mux: http.NewServeMux(), changed: make(chan struct{}), results: map[string]*client.MatchResult{}}
	for pattern, answer := range map[string]func(*call) (status int, body any){
		"POST v1/tickets":                            s.create,
		"GET v1/tickets":                             s.read,
		"DELETE v1/tickets":                          s.ofTicket(s.cancel),
		"GET v1/tickets/events":                      s.ofTicket(s.followTicket),
		"POST v1/tickets/acceptance":                 s.ofTicket(s.accept),
		"POST v1/parties":                            s.createParty,
		"POST v1/parties/members":                    s.join,
		"GET v1/parties":                             s.ofParty(false, s.readParty),
		"GET v1/parties/{party}":                     s.ofParty(false, s.readParty),
		"GET v1/parties/{party}/events":              s.ofParty(false, s.followParty),
		"PUT v1/parties/{party}/members/{member}":    s.ofParty(false, s.updateMember),
		"DELETE v1/parties/{party}/members/{member}": s.ofParty(false, s.removeMember),
		"DELETE v1/parties/{party}":                  s.ofParty(true, s.disband),
		"PUT v1/parties/{party}/leader":              s.ofParty(true, s.setLeader),
		"POST v1/parties/{party}/code":               s.ofParty(true, s.renewCode),
		"PUT v1/parties/{party}/search":              s.ofParty(true, s.startSearch),
		"DELETE v1/parties/{party}/search":           s.ofParty(true, s.stopSearch),
		"POST v2/backfill":                           s.createGame,
		"PUT v2/backfill/{game}":                     s.ofGame(s.updateGame),
		"DELETE v2/backfill/{game}":                  s.ofGame(s.deleteGame),
		"POST v2/backfill/{game}/approvals":          s.ofGame(s.approve),
		"GET v1/regions":                             s.listRegions,
		"POST v1/matches/{match}/result":             s.report,
		"/":                                          unknown,
	} {
		pattern = strings.Replace(pattern, " ", " /fake/matchmaking/api/", 1)
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			c := &call{Request: r, player: r.Header.Get("X-On-Behalf-Of"), header: w.Header()}
			status, body := answer(c)
			if r.Method != http.MethodGet {
				s.notify()
			}
			if stream, is := body.(news); is {
				c.header.Set("Content-Type", "text/event-stream")
				w.(*answers).news = stream
				return
			}
			c.header.Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if body != nil {
				_ = json.NewEncoder(w).Encode(body)
			}
		})
	}
	return s
}

// Client returns a client of a player, or of a game service or a game server if player is empty.
func (s *Service) Client(player string) *client.Client {
	c, _ := client.New(s.Options(player)) // they are good
	return c
}

// Options are the options of a Client, to be changed before client.New.
func (s *Service) Options(player string) client.Options {
	return client.Options{URL: "http://fake.invalid", Project: "fake", HTTP: &http.Client{Transport: transport{s, player}}}
}

// SetSlow says how long each answer takes.
func (s *Service) SetSlow(d time.Duration) { s.change(func() { s.slow = d }) }

// SetFull says that creates of tickets are refused, and when they may be repeated. 0 ends it.
func (s *Service) SetFull(retryAfter time.Duration) { s.change(func() { s.full = retryAfter }) }

// SetGone says whether nothing is answered. What is open breaks.
func (s *Service) SetGone(gone bool) { s.change(func() { s.gone = gone }) }

// SetRegions says which regions can be measured.
func (s *Service) SetRegions(regions ...client.Region) { s.change(func() { s.regions = regions }) }

// Cut breaks all streams. Clients come back.
func (s *Service) Cut() { s.change(func() { s.cuts++ }) }

// change changes something, and tells those that wait.
func (s *Service) change(set func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set()
	s.notify()
}

func (s *Service) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Service) id(of string) string {
	s.count++
	return of + "-" + strconv.Itoa(s.count)
}

// call is a request.
type call struct {
	*http.Request
	player string
	header http.Header // of the answer
}

// decode reads the body, which a client wrote.
func (c *call) decode(into any) { _ = json.NewDecoder(c.Body).Decode(into) }

// may reports whether a ticket is the caller's, or the caller is no player.
func (c *call) may(t *ticket) bool { return c.player == "" || t.isOf(c.player) }

func refuse(status int, code client.Code) (int, any) {
	return status, map[string]any{"status": status, "title": http.StatusText(status), "code": code,
		"detail": "the service in memory says " + string(code)}
}

func unknown(*call) (int, any) { return refuse(http.StatusNotFound, client.CodeNotFound) }

// news returns the state of what is streamed; a change has another version.
type news func() (version int64, event string, body any)

// answers collects an answer, or what is streamed.
type answers struct {
	*httptest.ResponseRecorder
	news
}

// transport carries the requests of a player.
type transport struct {
	*Service
	player string
}

// RoundTrip answers a request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := t.pass(r.Context()); err != nil {
		return nil, err
	}
	own := r.Clone(r.Context())
	if own.Header.Get("X-On-Behalf-Of") == "" {
		own.Header.Set("X-On-Behalf-Of", t.player)
	}
	a := &answers{ResponseRecorder: httptest.NewRecorder()}
	t.mux.ServeHTTP(a, own)
	answer := a.Result()
	if a.news != nil {
		from, to := io.Pipe()
		answer.Body = from
		go func() { _ = to.CloseWithError(t.stream(r.Context(), to, a.news)) }()
	}
	return answer, nil
}

// pass is what comes between a client and the service.
func (s *Service) pass(ctx context.Context) error {
	s.mu.Lock()
	slow := s.slow
	s.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return fmt.Errorf("clienttest: the service is gone: %w", io.ErrUnexpectedEOF)
	}
	return nil
}

// stream tells the news until there are no more.
func (s *Service) stream(ctx context.Context, to io.Writer, news news) error {
	s.mu.Lock()
	told, cuts := int64(-1), s.cuts
	s.mu.Unlock()
	for {
		s.mu.Lock()
		version, event, body := news()
		text, err := json.Marshal(body)
		changed, broken := s.changed, s.gone || s.cuts != cuts
		s.mu.Unlock()
		switch {
		case err != nil:
			return err
		case broken:
			return io.ErrUnexpectedEOF
		case version != told:
			if _, err := fmt.Fprintf(to, "event: %s\ndata: %s\n\n", event, text); err != nil {
				return err
			}
			if told = version; event == client.EventAssigned || event == client.EventEnded {
				return nil
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
