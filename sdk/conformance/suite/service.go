package suite

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/services/beacon"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/sdk/conformance/fixtures"
)

const (
	project = "conform"
	player  = "ada"
	base    = "/" + project + "/matchmaking/api/"
)

// call is a request as the service had it.
type call struct {
	*http.Request
	// Kind is what it asks for: create, read, find, delete, events, answer, party-create, …
	Kind string
	// N counts the calls of its kind, from 1.
	N    int
	Body map[string]any
	// Began and Ended are when it came, and when its answer was written; Ended is zero before.
	Began, Ended time.Time
	// Sent is how many bytes of a body were taken by the network.
	Sent int64
}

// token is the bearer token of a call.
func (c *call) token() string { return strings.TrimPrefix(c.Header.Get("Authorization"), "Bearer ") }

// misstep is what a bad day does to a call, in place of the service. again: the service answers as usual behind it.
type misstep func(w http.ResponseWriter, c *call) (again bool)

// service plays the matchmaking service for one player or one game server. Its answers are the fixtures, and are
// checked against the OpenAPI document; a bad day's are not.
type service struct {
	*httptest.Server
	game    *game
	checker *openapitest.Checker
	key     ed25519.PrivateKey

	mu       sync.Mutex
	changed  chan struct{}
	calls    []*call
	missteps map[string][]misstep // by kind, for one call each; the last one stays if it is kept
	kept     map[string]misstep
	tickets  map[string]*ticket
	keys     map[string]string // Idempotency-Key → ticket
	refuse   map[string]bool   // tokens
	party    map[string]any
	left     string // why the player is in the party no more
	backfill
}

// ticket is a ticket as the service knows it.
type ticket struct {
	id    string
	state string // waiting, offered, assigned, failed, ended
	why   string // of its end
	// revision counts its changes.
	revision int
}

// newService starts a service.
func newService(g *game, checker *openapitest.Checker) *service {
	_, key, _ := ed25519.GenerateKey(nil)
	s := &service{game: g, checker: checker, key: key, changed: make(chan struct{}), missteps: map[string][]misstep{},
		kept: map[string]misstep{}, tickets: map[string]*ticket{}, keys: map[string]string{}, refuse: map[string]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// change changes what the service knows, and wakes what waits for it.
func (s *service) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// on plays missteps to the next calls of a kind.
func (s *service) on(kind string, f ...misstep) {
	s.change(func() { s.missteps[kind] = append(s.missteps[kind], f...) })
}

// always plays a misstep to all calls of a kind for which on has none; nil ends it.
func (s *service) always(kind string, f misstep) { s.change(func() { s.kept[kind] = f }) }

// of are the calls of some kinds so far; of all kinds if none is named.
func (s *service) of(kinds ...string) (calls []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if len(kinds) == 0 || strings.Contains(" "+strings.Join(kinds, " ")+" ", " "+c.Kind+" ") {
			copied := *c
			calls = append(calls, &copied)
		}
	}
	return calls
}

// ticket changes the only ticket.
func (s *service) set(state, why string) {
	s.change(func() {
		for _, t := range s.tickets {
			t.state, t.why, t.revision = state, why, t.revision+1
		}
	})
}

// routes are the kinds of calls by method and path.
var routes = []struct{ method, path, kind string }{
	{"POST", "v1/tickets", "create"}, {"GET", "v1/tickets", "read"}, {"DELETE", "v1/tickets", "delete"},
	{"GET", "v1/tickets/events", "events"}, {"POST", "v1/tickets/acceptance", "answer"},
	{"POST", "v1/parties", "party-create"}, {"GET", "v1/parties", "party-read"}, {"POST", "v1/parties/members", "join"},
	{"GET", "v1/parties/ID/events", "party-events"}, {"GET", "v1/parties/ID", "party-read"},
	{"PUT", "v1/parties/ID/members/ID", "member"}, {"DELETE", "v1/parties/ID/members/ID", "leave"},
	{"PUT", "v1/parties/ID/search", "party-search"}, {"POST", "v2/backfill", "fill"},
	{"POST", "v2/backfill/ID/approvals", "approve"}, {"PUT", "v2/backfill/ID", "fill-change"},
	{"DELETE", "v2/backfill/ID", "fill-end"}, {"GET", "v1/regions", "regions"},
}

func kindOf(r *http.Request) string {
	if r.URL.Path == "/.well-known/seat-keys.json" {
		return "keys"
	}
	if strings.HasSuffix(r.URL.Path, beacon.Path) {
		return "probe"
	}
	path := strings.Split(strings.TrimPrefix(r.URL.Path, base), "/")
	for _, route := range routes {
		pattern := strings.Split(route.path, "/")
		fits := route.method == r.Method && len(pattern) == len(path)
		for i := 0; fits && i < len(path); i++ {
			fits = pattern[i] == path[i] || pattern[i] == "ID"
		}
		if query := r.URL.Query(); fits && route.kind == "read" && !query.Has("id") {
			return "find"
		}
		if fits {
			return route.kind
		}
	}
	return "unknown"
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	c := &call{Request: r, Kind: kindOf(r), N: 1, Began: time.Now()}
	if s.game.mistake.request != nil {
		s.game.mistake.request(c)
	}
	if s.game.mistake.answer != nil {
		w = &mistaken{ResponseWriter: w, change: s.game.mistake.answer}
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the driver was killed
	}
	var bad error
	if len(text) > 0 {
		bad = json.Unmarshal(text, &c.Body)
	}
	var f misstep
	s.change(func() {
		for _, other := range s.calls {
			if other.Kind == c.Kind {
				c.N++
			}
		}
		s.calls = append(s.calls, c)
		if list := s.missteps[c.Kind]; len(list) > 0 {
			f, s.missteps[c.Kind] = list[0], list[1:]
		} else {
			f = s.kept[c.Kind]
		}
	})
	defer s.change(func() { c.Ended = time.Now() })
	switch {
	case bad != nil || c.Kind == "unknown":
		s.game.fail("%s %s is not in the API: %v", r.Method, r.URL.Path, bad)
	case f == nil || f(w, c):
		s.answer(w, c)
	}
}

// answer answers as the service does.
func (s *service) answer(w http.ResponseWriter, c *call) {
	s.mu.Lock()
	refused := s.refuse[c.token()]
	s.mu.Unlock()
	switch {
	case c.Kind == "keys":
		s.write(w, c, "seat-keys", s.publicKey)
	case c.Kind == "probe":
		s.game.probe(w, c)
	case refused || c.token() == "":
		s.write(w, c, "unauthenticated", nil)
	case strings.HasSuffix(c.Kind, "events"):
		s.stream(w, c)
	case strings.HasPrefix(c.URL.Path, base+"v1/parties"):
		s.answerParty(w, c)
	case strings.HasPrefix(c.URL.Path, base+"v2/"):
		s.answerFill(w, c)
	case c.Kind == "regions":
		s.write(w, c, "regions", s.game.list)
	default:
		s.answerTicket(w, c)
	}
}

// write sends a fixture, which set may change.
func (s *service) write(w http.ResponseWriter, c *call, name string, set func(body map[string]any)) {
	a, err := fixtures.Read(name)
	if err != nil {
		s.game.fail("%v", err)
		return
	}
	if set != nil {
		set(a.Body)
	}
	header := http.Header{"X-Correlation-Id": {"conform"}}
	for name, value := range a.Header {
		header.Set(name, value)
	}
	var text []byte
	if a.Body != nil {
		header.Set("Content-Type", a.ContentType())
		if text, err = json.Marshal(a.Body); err != nil {
			s.game.fail("fixture %s: %v", name, err)
		}
	}
	if revision, is := a.Body["revision"]; is {
		header.Set("ETag", fmt.Sprintf(`"%v"`, revision))
	}
	in := c.Clone(context.WithoutCancel(c.Context()))
	if err := s.checker.Check(in, openapitest.Answer{Status: a.Status, Header: header, Body: text}); err != nil {
		s.game.fail("the programme's own answer %s: %v", name, err)
	}
	maps.Copy(w.Header(), header)
	w.WriteHeader(a.Status)
	_, _ = io.Copy(w, bytes.NewReader(text))
}

func (s *service) answerTicket(w http.ResponseWriter, c *call) {
	switch c.Kind {
	case "create":
		key := c.Header.Get("Idempotency-Key")
		var id string
		s.change(func() {
			if id = s.keys[key]; id == "" || key == "" {
				id = fmt.Sprintf("0192f3c0-7d7a-7c53-a0f4-%012d", len(s.tickets)+1)
				s.tickets[id], s.keys[key] = &ticket{id: id, state: "waiting"}, id
			}
		})
		s.write(w, c, "ticket-created", func(body map[string]any) { body["id"] = id })
	case "find":
		s.find(w, c)
	case "read":
		s.read(w, c)
	case "delete":
		s.remove(w, c)
	case "answer":
		state := s.ticket(c.URL.Query().Get("id")).state
		if accept, _ := c.Body["accept"].(bool); state == "offered" && accept {
			s.set("assigned", "")
		} else if state == "offered" {
			s.set("ended", "declined")
		}
		s.write(w, c, "match-answered", nil)
	}
}

// ticket is a ticket as it is now; one that there is not has ended.
func (s *service) ticket(id string) ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tickets[id]; t != nil {
		return *t
	}
	return ticket{id: id, state: "ended", why: "gone"}
}

func (s *service) find(w http.ResponseWriter, c *call) {
	s.mu.Lock()
	var ids []string
	key := c.URL.Query().Get("key")
	for of, id := range s.keys {
		if s.tickets[id].state != "ended" && (key == "" || of == `"`+key+`"`) {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	s.write(w, c, "ticket-list", func(body map[string]any) {
		one, _ := body["tickets"].([]any)
		list := []any{}
		for _, id := range ids {
			ticket, _ := one[0].(map[string]any)
			ticket = maps.Clone(ticket)
			ticket["id"] = id
			list = append(list, ticket)
		}
		body["tickets"] = list
	})
}

// read answers at once, or when the ticket changes if the caller would rather wait.
func (s *service) read(w http.ResponseWriter, c *call) {
	changed := s.watch()
	t := s.ticket(c.URL.Query().Get("id"))
	if seconds, ok := strings.CutPrefix(c.Header.Get("Prefer"), "wait="); ok {
		n, _ := strconv.Atoi(seconds)
		w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(n))
		limit := time.NewTimer(s.game.real(time.Duration(n) * time.Second))
		defer limit.Stop()
		for before := t.revision; t.state == "waiting" && t.revision == before; t = s.ticket(t.id) {
			if !wait(c, changed, limit.C) {
				break
			}
			changed = s.watch()
		}
	}
	if t.state == "ended" {
		s.write(w, c, "ticket-gone", nil)
		return
	}
	s.write(w, c, "ticket-"+t.state, func(body map[string]any) { body["id"] = t.id })
}

// watch is closed at the next change. It is taken before what may change is read.
func (s *service) watch() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// wait waits for a change.
func wait(c *call, changed chan struct{}, limit <-chan time.Time) bool {
	select {
	case <-changed:
		return true
	case <-limit:
	case <-c.Context().Done():
	}
	return false
}

func (s *service) remove(w http.ResponseWriter, c *call) {
	t := s.ticket(c.URL.Query().Get("id"))
	switch {
	case t.state == "ended":
		s.write(w, c, "ticket-gone", nil)
	case t.state == "assigned" && c.URL.Query().Get("unlessAssigned") == "true":
		s.write(w, c, "ticket-late", nil)
	default:
		s.set("ended", "deleted")
		s.write(w, c, "ticket-deleted", nil)
	}
}

// publicKey puts the key that signs seat passes into the key set.
func (s *service) publicKey(body map[string]any) {
	keys, _ := body["keys"].([]any)
	key, _ := keys[0].(map[string]any)
	public, _ := s.key.Public().(ed25519.PublicKey)
	key["x"] = base64.RawURLEncoding.EncodeToString(public)
}

// pass is a seat pass of the player, with some other claims. Its key is other than the service's if that is asked for.
func (s *service) pass(key ed25519.PrivateKey, other map[string]any) string {
	now := s.game.now().Unix()
	claims := map[string]any{"iss": "matchmaker-seats", "aud": "seat", "sub": player, "iat": now, "exp": now + 300,
		"project": project, "ticket": "t1", "match": "m1", "connection": "203.0.113.7:7777"}
	maps.Copy(claims, other)
	return jwt(key, claims)
}

// jwt signs a token.
func jwt(key ed25519.PrivateKey, claims map[string]any) string {
	text, _ := json.Marshal(claims)
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"EdDSA","kid":"k1"}`)) + "." + encode(text)
	return signed + "." + encode(ed25519.Sign(key, []byte(signed)))
}

// otherKey is not the service's.
func otherKey() ed25519.PrivateKey {
	_, key, _ := ed25519.GenerateKey(nil)
	return key
}
