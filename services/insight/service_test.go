package insight_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/insight"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	text, err := proto.Marshal(m)
	must(t, err)
	return text
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// world is the service with a store and a bus.
type world struct {
	store  *state.Store
	bus    *bus.Bus
	tokens *issuer.Issuer
	studio *insight.Service
	part   app.Part
	url    string // of the project demo
	token  string
	tails  map[string]bus.EventTail
	made   int64 // tickets
}

func start(t *testing.T, change func(*insight.Options)) *world {
	t.Helper()
	w := &world{store: embeddedtest.Store(t, state.Options{}), bus: embeddedtest.Bus(t, bus.Options{}),
		tails: map[string]bus.EventTail{}}
	embeddedtest.Prepare(t, w.bus)
	log := slog.New(slog.DiscardHandler)
	var err error
	w.tokens, err = issuer.Open(t.TempDir(), time.Now)
	must(t, err)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{w.tokens.Trust()}, Log: log})
	must(t, err)
	w.token = w.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "demo", Role: "Support"})
	o := insight.Options{Store: w.store, Bus: w.bus, Verifier: verifier, Log: log, Now: time.Now,
		Settings: settings.Default[insight.Settings](), Streams: settings.Default[stream.Settings]()}
	o.Within = time.Minute // the machine may stand still
	if change != nil {
		change(&o)
	}
	e := web.New(log, web.Options{})
	w.studio = insight.New(o)
	w.part = w.studio.Part()
	w.part.Routes(e)
	server := httptest.NewServer(openapitest.Handler(t, e))
	t.Cleanup(server.Close)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.part.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
	w.url = server.URL + "/demo/matchmaking/api/v1"
	return w
}

func (w *world) mint(t *testing.T, c issuer.Claims) string {
	t.Helper()
	token, err := w.tokens.Mint(c)
	must(t, err)
	return token
}

// publish publishes events of a project, as one message.
func (w *world) publish(t *testing.T, project string, all ...*pb.Event) {
	t.Helper()
	tail, _, err := w.bus.PublishEvents(t.Context(), &pb.Events{Project: project, Events: all}, w.tails[project])
	must(t, err)
	w.tails[project] = tail
}

// get sends a request to a path below the project.
func (w *world) get(t *testing.T, path string, headers ...string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, http.NoBody)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+w.token)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// read is a request that is answered with a status, and its JSON.
func (w *world) read(t *testing.T, path string, status int, into any) {
	t.Helper()
	res := w.get(t, path)
	text, err := io.ReadAll(res.Body)
	must(t, err)
	if res.StatusCode != status {
		t.Fatalf("%s: %d, want %d: %s", path, res.StatusCode, status, text)
	}
	must(t, json.Unmarshal(text, into))
}

// text is the body of an answer.
func (w *world) text(t *testing.T, path string) string {
	t.Helper()
	text, err := io.ReadAll(w.get(t, path).Body)
	must(t, err)
	return string(text)
}

// page is an answer with events.
type page struct {
	Events []struct {
		ID, Kind, Reason, Match, By string
		Score                       *float64
		Tickets                     []string
	}
	Next string
	More bool
}

// events are the kinds and tickets of a page, each as one word.
func (w *world) events(t *testing.T, query string) (words []string, p page) {
	t.Helper()
	w.read(t, "/events?"+query, http.StatusOK, &p)
	for _, e := range p.Events {
		words = append(words, strings.TrimSuffix(e.Kind+" "+strings.Join(e.Tickets, ","), " "))
	}
	return words, p
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// of is an event.
func of(kind pb.Event_Kind, match, config string, tickets ...string) *pb.Event {
	return &pb.Event{Kind: kind, Time: time.Now().UnixMilli(), Match: match, Config: config, Tickets: tickets}
}

const (
	created  = pb.Event_KIND_CREATED
	claimed  = pb.Event_KIND_CLAIMED
	assigned = pb.Event_KIND_ASSIGNED
)

func TestPagesHaveTheEventsThatAreAskedFor(t *testing.T) {
	w := start(t, nil)
	if words, p := w.events(t, ""); len(words) != 0 || p.Next != "0" || p.More {
		t.Errorf("before the first event: %q %+v", words, p)
	}
	w.publish(t, "demo", of(created, "", "", "a"), of(created, "", "", "b"))
	w.publish(t, "other", of(created, "", "", "x"))
	joins := of(claimed, "n", "two", "c")
	begins := of(claimed, "m", "one", "a", "b")
	joins.Backfill, begins.Backfill = "g", "g"
	w.publish(t, "demo", begins, of(assigned, "m", "one", "a"), joins)
	all := []string{"created a", "created b", "claimed a,b", "assigned a", "claimed c"}
	words, p := w.events(t, "")
	expect(t, "all", words, all...)
	if p.More || p.Next != "3" {
		t.Errorf("the place behind all is %q, %v", p.Next, p.More)
	}
	for query, want := range map[string][]string{
		"ticket=a": {"created a", "claimed a,b", "assigned a"}, "match=m": {"claimed a,b", "assigned a"},
		"config=two": {"claimed c"}, "backfill=g": {"claimed a,b", "claimed c"}, "backfill=x": nil,
		"kind=created,assigned": {"created a", "created b", "assigned a"},
		"ticket=b&kind=claimed": {"claimed a,b"}, "ticket=x": nil,
		"since=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339): nil,
		// NATS knows none of these times.
		"since=0000-01-01T00:00:00Z": all, "since=1000-01-01T00:00:00Z": all, "since=9999-12-31T23:59:59Z": nil,
	} {
		words, _ := w.events(t, query)
		expect(t, query, words, want...)
	}
	// Page after page, each event comes once, whatever their size.
	for _, limit := range []int{1, 2, 3, 4} {
		var got []string
		for after, more := "", true; more; {
			words, p := w.events(t, fmt.Sprintf("limit=%d&after=%s", limit, after))
			if len(words) > limit {
				t.Fatalf("%d events, want %d at most", len(words), limit)
			}
			got, after, more = append(got, words...), p.Next, p.More
		}
		expect(t, fmt.Sprintf("in pages of %d", limit), got, all...)
	}
	// Behind all of them are those to come.
	w.publish(t, "demo", of(created, "", "", "d"))
	words, p = w.events(t, "after="+p.Next)
	expect(t, "later", words, "created d")
	// A change names its author.
	changed := of(pb.Event_KIND_FUNCTION, "", "")
	changed.Function, changed.Upload, changed.By = "duel", 2, "olga"
	w.publish(t, "demo", changed)
	if _, p = w.events(t, "after="+p.Next); len(p.Events) != 1 || p.Events[0].By != "olga" || p.Events[0].Score != nil {
		t.Errorf("a change: %+v", p.Events)
	}
}

func TestWhoMayReadEvents(t *testing.T) {
	w := start(t, nil)
	for _, path := range []string{"/events", "/tickets/waiting", "/queues", "/matches/" + state.NewID(time.Now())} {
		for name, test := range map[string]struct {
			claims issuer.Claims
			status int
		}{
			"support":            {issuer.Claims{Kind: auth.Developer, Role: "Support", Project: "demo"}, 200},
			"a manager":          {issuer.Claims{Kind: auth.Developer, Role: "Manager", Project: "demo"}, 200},
			"a guest":            {issuer.Claims{Kind: auth.Developer, Role: "Guest", Project: "demo"}, 403},
			"support elsewhere":  {issuer.Claims{Kind: auth.Developer, Role: "Support", Project: "other"}, 403},
			"a player":           {issuer.Claims{Kind: auth.Player, Project: "demo"}, 403},
			"a game service":     {issuer.Claims{Kind: auth.Service, Scope: auth.ScopeAct, Project: "demo"}, 403},
			"somebody's servers": {issuer.Claims{Kind: auth.Server, Project: "demo"}, 403},
		} {
			test.claims.Subject = "s"
			w.token = w.mint(t, test.claims)
			switch {
			case test.status != 200 || path == "/events":
			case path == "/tickets/waiting", path == "/queues":
				// there is no ticket
			default:
				test.status = 404 // there is no such match
			}
			if res := w.get(t, path); res.StatusCode != test.status {
				t.Errorf("%s, %s: %d, want %d", path, name, res.StatusCode, test.status)
			}
		}
	}
}

func TestQueriesThatAreRefused(t *testing.T) {
	w := start(t, nil)
	for query, says := range map[string]string{
		"limit=0": "query parameter limit: a whole number from 1 to 1000", "limit=1001": "from 1 to 1000",
		"limit=x": "from 1 to 1000", "after=x": "query parameter after: the id of an event", "after=1.": "after",
		"after=-1": "after", "since=yesterday": "query parameter since: a time is expected",
		"kind=made": "query parameter kind: accepted, allocating,", "kind=": "kind", "kind=CREATED": "kind",
		"ticket=": "query parameter ticket: an identifier", "match=" + strings.Repeat("m", 65): "match",
		"backfill=":                          "backfill",
		"config=" + strings.Repeat("m", 256): "config", "player=": "query parameter player: up to 256 bytes",
		"kind=created&kind=claimed": "given more than once",
	} {
		var problem struct{ Detail string }
		w.read(t, "/events?"+query, http.StatusBadRequest, &problem)
		if !strings.Contains(problem.Detail, says) {
			t.Errorf("%s: %q, want %q", query, problem.Detail, says)
		}
	}
	var problem struct{ Detail string }
	w.read(t, "/events?player=ada", http.StatusConflict, &problem)
	if !strings.Contains(problem.Detail, "tickets.listed") {
		t.Errorf("a project that lists no tickets: %q", problem.Detail)
	}
	res := w.get(t, "/events", "Accept", "text/event-stream", "Last-Event-ID", "x")
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("a place that is none: %d", res.StatusCode)
	}
	if res := w.get(t, "/events", "Accept", "image/png"); res.StatusCode != http.StatusNotAcceptable {
		t.Errorf("neither JSON nor a stream: %d", res.StatusCode)
	}
}

// followed is an open stream.
type followed struct {
	*http.Response
	lines *bufio.Scanner
	t     *testing.T
	last  string
}

func (w *world) follow(t *testing.T, query, last string) *followed {
	t.Helper()
	res := w.get(t, "/events?"+query, "Accept", "text/event-stream", "Last-Event-ID", last)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(res.Body)
		t.Fatalf("a stream of %s: %d %s", query, res.StatusCode, text)
	}
	return &followed{res, bufio.NewScanner(res.Body), t, last}
}

// next is the next event: its kind and its tickets. It is "" at the end.
func (f *followed) next() string {
	f.t.Helper()
	var e struct {
		ID, Kind, Reason string
		Tickets          []string
	}
	for f.lines.Scan() {
		name, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch name {
		case "id":
			f.last = value
		case "data":
			must(f.t, json.Unmarshal([]byte(value), &e))
		case "":
			if e.Kind != "" {
				return strings.TrimSuffix(e.Kind+" "+strings.Join(e.Tickets, ","), " ")
			}
			if e.Reason != "" {
				return "reconnect " + e.Reason
			}
		}
	}
	return ""
}

// cursor waits for the first place of a stream.
func (f *followed) cursor() {
	f.t.Helper()
	for before := f.last; f.last == before && f.lines.Scan(); {
		if id, is := strings.CutPrefix(f.lines.Text(), "id: "); is {
			f.last = id
		}
	}
}

func TestStreamGoesOnWhereTheClientWas(t *testing.T) {
	w := start(t, nil)
	w.publish(t, "demo", of(created, "", "", "a"))
	f := w.follow(t, "", "") // what is to come
	f.cursor()
	w.publish(t, "demo", of(created, "", "", "b"), of(claimed, "m", "one", "a", "b"), of(assigned, "m", "one", "a"))
	if got := f.next(); got != "created b" {
		t.Fatalf("got %q", got)
	}
	// The connection breaks in the middle of a message.
	_ = f.Body.Close()
	f = w.follow(t, "", f.last)
	for _, want := range []string{"claimed a,b", "assigned a"} {
		if got := f.next(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if strings.Contains(f.last, ".") { // or it would have to be kept
		t.Errorf("behind all of a message: %q", f.last)
	}
	w.publish(t, "demo", of(created, "", "", "c"))
	if got := f.next(); got != "created c" {
		t.Errorf("got %q", got)
	}
	// From the beginning, and only one ticket.
	f = w.follow(t, "ticket=a&since=2020-01-01T00:00:00Z", "")
	for _, want := range []string{"created a", "claimed a,b", "assigned a"} {
		if got := f.next(); got != want {
			t.Errorf("of one ticket: got %q, want %q", got, want)
		}
	}
}

func TestStreamOfAPlayerLearnsOfNewTickets(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{Tickets: &pb.TicketRules{Listed: true}},
		state.AnyRevision))
	put := func(owner string) string {
		settings, err := w.store.Settings(t.Context(), "demo")
		must(t, err)
		id := state.NewID(w.store.Now())
		_, err = w.store.Creator(nil).CreateAs(t.Context(), "demo", state.Creation{
			Ticket:   &pb.Ticket{Id: id, Owner: owner, Created: w.store.Now().UnixMilli()},
			Settings: settings})
		must(t, err)
		e := of(created, "", "", id)
		e.Time = w.store.Now().UnixMilli()
		w.publish(t, "demo", e)
		return id
	}
	first := put("ada")
	put("bob")
	words, _ := w.events(t, "player=ada")
	expect(t, "of ada", words, "created "+first)
	f := w.follow(t, "player=ada", "")
	f.cursor()
	put("bob")
	second := put("ada")
	if got := f.next(); got != "created "+second {
		t.Errorf("got %q, want the ticket that was made meanwhile, %s", got, second)
	}
}

func TestRemovedEventsAreAGap(t *testing.T) {
	w := start(t, nil)
	w.publish(t, "demo", of(created, "", "", "a"))
	w.publish(t, "demo", of(created, "", "", "b"))
	_, p := w.events(t, "limit=1")
	must(t, w.bus.PurgeProject(t.Context(), "demo"))
	w.tails["demo"] = bus.EventTail{}
	w.publish(t, "demo", of(created, "", "", "c"))
	words, _ := w.events(t, "after="+p.Next+"&ticket=nobody")
	expect(t, "behind an event that is not kept any more", words, "gap")
	if got := w.follow(t, "", p.Next).next(); got != "gap" {
		t.Errorf("a stream begins with %q", got)
	}
	// A place that the stream has not reached is one of a stream that is gone.
	words, _ = w.events(t, "after=1000")
	expect(t, "behind a place of another stream", words, "gap", "created c")
	// The stream comes to the message of that number.
	f := w.follow(t, "", "4.1")
	for _, want := range []string{"gap", "created c", "created d"} {
		if want == "created d" {
			w.publish(t, "demo", of(created, "", "", "d"))
		}
		if got := f.next(); got != want {
			t.Errorf("behind a place within a message of another stream: %q, want %q", got, want)
		}
	}
}

func TestStreamsAreBoundedAndEndWithTheProcess(t *testing.T) {
	w := start(t, func(o *insight.Options) { o.Settings.Streams = 2 })
	f := w.follow(t, "", "")
	f.cursor()
	if res := w.get(t, "/events", "Accept", "text/event-stream"); res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a project with half of all streams gets %d for another", res.StatusCode)
	}
	w.part.OnShutdown()
	if got := f.next(); got != "reconnect shutdown" {
		t.Errorf("got %q", got)
	}
	if got := f.next(); got != "" {
		t.Errorf("after the end: %q", got)
	}
}

func TestStreamThatFindsNothingSaysHowFarItIs(t *testing.T) {
	w := start(t, func(o *insight.Options) { o.Streams.Heartbeat = time.Second })
	w.publish(t, "demo", of(created, "", "", "a"))
	w.publish(t, "demo", of(created, "", "", "b"))
	f := w.follow(t, "ticket=nobody&since=2020-01-01T00:00:00Z", "")
	f.cursor()
	if _, err := fmt.Sscan(f.last, new(int)); err != nil {
		t.Errorf("the place is %q", f.last)
	}
}
