package webhook

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9" //nolint:depguard // it corrupts what the service stored

	pb "matchmaker.dev/proto/matchmaker/v1"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/director/event"
	"matchmaker.dev/services/insight"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/state"
)

const (
	project  = "demo"
	patience = time.Minute
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a project whose events are published, on real servers.
type world struct {
	*testing.T
	store *state.Store
	url   string // of Redis
	bus   *bus.Bus
	ring  *keyring.Ring
	n     int
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, url: embeddedtest.Redis(t), bus: embeddedtest.Bus(t, bus.Options{})}
	w.store = w.open()
	embeddedtest.Prepare(t, w.bus)
	keys := filepath.Join(t.TempDir(), "keys")
	_, err := keyring.Add(keys, time.Now())
	must(t, err)
	w.ring, err = keyring.Open(keys, time.Now)
	must(t, err)
	w.goes(func(ctx context.Context) {
		(&event.Publisher{Store: w.store, Bus: w.bus, Log: slog.New(slog.DiscardHandler), Project: project}).Run(ctx)
	})
	return w
}

func (w *world) open() *state.Store {
	store, err := state.Open(state.Options{Server: state.Server{URL: w.url}, Log: slog.New(slog.DiscardHandler),
		History: 100_000})
	must(w.T, err)
	w.Cleanup(func() { _ = store.Close() })
	return store
}

// goes runs something until stop.
func (w *world) goes(run func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	stop = func() { cancel(); running.Wait() }
	w.Cleanup(stop)
	return stop
}

// serve runs a replica on a store.
func (w *world) serve(name string, store *state.Store, change ...func(*Options)) (s *Service, stop func()) {
	w.Helper()
	o := Options{Store: store, Bus: w.bus, Log: slog.New(slog.DiscardHandler), Name: name, Keys: w.ring,
		Settings: Settings{Networks: []string{"127.0.0.0/8"}, Time: patience, Tries: 3, Age: time.Hour},
		Encode:   insight.EncodeEvent,
		Timing: Timing{10 * time.Millisecond, 20 * time.Millisecond, time.Millisecond, 4 * time.Millisecond,
			time.Millisecond}}
	for _, with := range change {
		with(&o)
	}
	s, err := New(o)
	must(w.T, err)
	return s, w.goes(func(ctx context.Context) { must(w.T, s.run(ctx)) })
}

// key is a secret, and secret what receivers have.
func key(letter string) []byte    { return []byte(strings.Repeat(letter, 32)) }
func secret(letter string) string { return "whsec_" + base64.StdEncoding.EncodeToString(key(letter)) }

// hook is a webhook whose secret is a.
func (w *world) hook(name, url string, kinds ...string) *pb.Webhook {
	return w.sealed(&pb.Webhook{Name: name, Url: url, Events: kinds}, &pb.WebhookSecrets{Current: key("a")})
}

func (w *world) sealed(h *pb.Webhook, s *pb.WebhookSecrets) *pb.Webhook {
	var err error
	h.Secrets, err = w.ring.SealWebhook(project, h.GetName(), s)
	must(w.T, err)
	return h
}

func (w *world) put(hooks ...*pb.Webhook) {
	w.Helper()
	must(w.T, w.store.PutSettings(w.Context(), project, &pb.ProjectSettings{Webhooks: hooks}, state.AnyRevision))
}

// happens appends an event of a match.
func (w *world) happens(kind pb.Event_Kind, match string) {
	w.Helper()
	w.n++
	e := &pb.Event{Kind: kind, Match: match, Tickets: []string{fmt.Sprintf("%s-%03d", match, w.n)}}
	must(w.T, w.store.AppendEvent(w.Context(), project, e))
}

// endpoint is a receiver.
type endpoint struct {
	*httptest.Server
	mu  sync.Mutex
	got []*client.WebhookEvent // what it took
}

// receive starts a receiver. answer returns the status for an event.
func receive(t *testing.T, answer func(e *client.WebhookEvent) int, secrets ...string) *endpoint {
	r := new(endpoint)
	r.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		e, err := client.VerifyWebhook(in, secrets...)
		if err != nil {
			t.Error(err)
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		if id := in.Header.Get("Webhook-Id"); id != e.ID || e.Source != "/demo/matchmaking" ||
			e.Type != "dev.matchmaker."+e.Data.Kind || e.Data.Match != "" && e.Subject != e.Data.Match {
			t.Errorf("%s: %+v", id, e)
		}
		status := answer(e)
		if status/100 == 2 {
			r.mu.Lock()
			r.got = append(r.got, e)
			r.mu.Unlock()
		}
		out.WriteHeader(status)
		_, _ = out.Write([]byte("what it says is nobody's business"))
	}))
	t.Cleanup(r.Close)
	return r
}

func takeAll(*client.WebhookEvent) int { return http.StatusNoContent }

// tickets are the tickets of events that were taken, each once, by match and in the order in which they came first.
func (r *endpoint) tickets() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, all := map[string]bool{}, map[string][]string{}
	for _, e := range r.got {
		if !seen[e.ID] {
			all[e.Data.Match] = append(all[e.Data.Match], e.Data.Tickets...)
		}
		seen[e.ID] = true
	}
	return all
}

// eventually waits for a condition.
func (w *world) eventually(what string, is func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.Fatal("it never happened:", what)
		}
	}
}

// wantInOrder waits until events that were numbered from a to b, of these matches in turn, were taken in order.
func (w *world) wantInOrder(r *endpoint, matches ...string) {
	w.Helper()
	w.eventually("all events are taken", func() bool {
		n := 0
		for _, tickets := range r.tickets() {
			n += len(tickets)
		}
		return n >= w.n
	})
	for match, tickets := range r.tickets() {
		if !slices.IsSorted(tickets) || !slices.Contains(matches, match) {
			w.Errorf("match %q: %v", match, tickets)
		}
	}
}

// The endpoint refuses every third request, and half of the events are not wanted. One replica dies between a delivery
// and its note, and another one goes on.
func TestEveryEventIsDeliveredInOrderOfItsMatch(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	requests, down := 0, false
	r := receive(t, func(*client.WebhookEvent) int {
		mu.Lock()
		defer mu.Unlock()
		if requests++; requests%3 == 0 || down {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}, secret("a"))
	dying := w.open()
	patient := func(o *Options) { o.Settings.Tries = 1000 }
	_, stop := w.serve("first", dying, patient)
	w.put(w.hook("backend", r.URL, "assigned"))
	matches := []string{"m1", "m2", "m3"}
	happen := func(times int) {
		for i := range times {
			w.happens(pb.Event_KIND_ASSIGNED, matches[i%3])
			must(t, w.store.AppendEvent(t.Context(), project, &pb.Event{Kind: pb.Event_KIND_CLAIMED, Match: "m1"}))
		}
	}
	happen(60)
	w.eventually("some are taken", func() bool { return len(r.tickets()) == 3 })
	mu.Lock()
	down = true
	mu.Unlock()
	happen(60)
	w.eventually("it is noted that the endpoint is down", func() bool {
		kept, err := w.store.Webhooks(t.Context(), project)
		must(t, err)
		return strings.Contains(kept["backend"].Status, failing)
	})
	must(t, dying.Close()) // it goes on, and can note nothing
	stop()
	mu.Lock()
	down = false
	mu.Unlock()
	lasting := func(o *Options) { o.Timing.Note = 10 * time.Second } // its lease does not end
	_, stop = w.serve("second", w.store, patient, lasting)
	w.wantInOrder(r, matches...)
	stop()
	kept, err := w.store.Webhooks(t.Context(), project)
	must(t, err)
	if len(kept["backend"].Letters) > 0 {
		t.Error("there are dead letters:", kept)
	}
	// A replica that stops notes all that was delivered.
	r.mu.Lock()
	r.got = nil
	r.mu.Unlock()
	w.n = 0
	happen(3)
	w.serve("third", w.store, patient, lasting)
	w.wantInOrder(r, matches...)
	if r.mu.Lock(); len(r.got) != 3 {
		t.Errorf("after the note, %d events were sent again", len(r.got)-3)
	}
	r.mu.Unlock()
}

func second[A, B any](_ A, b B) B { return b }

// Events were removed before they were read. That is told once, also when the endpoint is down until the next replica
// delivers.
func TestAGapIsDelivered(t *testing.T) {
	w := newWorld(t)
	var down atomic.Bool
	var refused atomic.Int32
	r := receive(t, func(*client.WebhookEvent) int {
		if down.Load() {
			refused.Add(1)
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}, secret("a"))
	taken := func() (ids map[string]string, requests int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		ids = map[string]string{}
		for _, e := range r.got {
			ids[cmp.Or(strings.Join(e.Data.Tickets, " "), e.Data.Kind)] = e.Data.ID
		}
		return ids, len(r.got)
	}
	_, stop := w.serve("first", w.store)
	w.put(w.hook("backend", r.URL, "assigned"))
	w.happens(pb.Event_KIND_ASSIGNED, "m")
	w.eventually("the first event is taken", func() bool { return second(taken()) == 1 })
	stop()
	w.happens(pb.Event_KIND_ASSIGNED, "m")
	w.eventually("the second event is published", func() bool {
		mark, err := w.store.Bookmark(t.Context(), project)
		must(t, err)
		left, err := w.store.History(t.Context(), project, mark, 1)
		must(t, err)
		return len(left) == 0
	})
	must(t, w.bus.PurgeProject(t.Context(), project))
	down.Store(true)
	w.happens(pb.Event_KIND_ASSIGNED, "m")
	_, stop = w.serve("second", w.store)
	w.eventually("the endpoint has refused", func() bool { return refused.Load() > 0 })
	stop()
	down.Store(false)
	w.serve("third", w.store)
	w.eventually("the third event is taken", func() bool { return second(taken()) >= 3 })
	got, requests := taken()
	if gap, next := got["gap"], got["m-003"]; len(got) != 3 || requests != 3 ||
		strings.TrimSuffix(gap, ".0") != strings.TrimSuffix(next, ".1") {
		t.Errorf("the endpoint took %v in %d requests", got, requests)
	}
}

// The last event of a quiet project goes by its age, while others publish. None is missing before the next one.
func TestNoGapIsDeliveredAfterASilence(t *testing.T) {
	w := newWorld(t)
	r := receive(t, takeAll, secret("a"))
	_, stop := w.serve("first", w.store)
	w.put(w.hook("backend", r.URL, "assigned"))
	taken := func() int { return len(r.tickets()["m"]) }
	w.happens(pb.Event_KIND_ASSIGNED, "m")
	w.eventually("the first event is taken", func() bool { return taken() == 1 })
	stop()
	_, _, err := w.bus.PublishEvents(t.Context(), &pb.Events{Project: "other"}, bus.EventTail{})
	must(t, err)
	must(t, w.bus.PurgeProject(t.Context(), project))
	w.serve("second", w.store)
	w.happens(pb.Event_KIND_ASSIGNED, "m")
	w.eventually("the second event is taken", func() bool { return taken() == 2 })
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) != 2 {
		t.Errorf("%d events were taken, the first one %v", len(r.got), r.got[0].Data)
	}
}

// A process that cannot do its work tries again for half the time of a lease, and then leaves it to others. In one
// case it can renew the lease meanwhile.
func TestAProcessThatFailsLeavesItsLease(t *testing.T) {
	for key, corrupt := range map[string]func(ctx context.Context, c *redis.Client, key string) error{
		"settings": func(ctx context.Context, c *redis.Client, key string) error {
			return c.HSet(ctx, key, "b", "x").Err()
		},
		"webhooks": func(ctx context.Context, c *redis.Client, key string) error {
			return c.Set(ctx, key, "x", 0).Err()
		},
	} {
		t.Run(key, func(t *testing.T) {
			w := newWorld(t)
			w.put(w.hook("backend", "https://example.com", "*"))
			options, err := redis.ParseURL(w.url)
			must(t, err)
			c := redis.NewClient(options)
			defer c.Close()
			must(t, corrupt(t.Context(), c, "mm:{demo}:"+key))
			s, err := New(Options{Store: w.store, Bus: w.bus, Log: slog.New(slog.DiscardHandler), Name: "one", Keys: w.ring,
				Timing: Timing{Note: 10 * time.Millisecond}})
			must(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			s.lead(ctx, project)
			if took := time.Since(began); took < 50*time.Millisecond || ctx.Err() != nil {
				t.Errorf("it gave up after %v", took)
			}
		})
	}
}

// One endpoint never answers, with more events than a window has. The other one gets all.
func TestASlowEndpointHoldsUpNobody(t *testing.T) {
	w := newWorld(t)
	end := make(chan struct{})
	slow := receive(t, func(*client.WebhookEvent) int { <-end; return http.StatusOK }, secret("a"))
	quick := receive(t, takeAll, secret("a"))
	w.put(w.hook("slow", slow.URL, "*"), w.hook("quick", quick.URL, "*"))
	for i := range 2 * windowEvents {
		w.happens(pb.Event_KIND_ASSIGNED, fmt.Sprint("m", i%100))
	}
	s, stop := w.serve("one", w.store)
	w.eventually("the quick one has all", func() bool {
		quick.mu.Lock()
		defer quick.mu.Unlock()
		return len(quick.got) >= 2*windowEvents
	})
	if used := s.memory.Of(project + "/slow"); used > windowEvents*(eventBytes+100) {
		t.Errorf("the slow one holds %d bytes", used)
	}
	close(end)
	stop()
	if used, _ := s.memory.Used(); used != 0 {
		t.Errorf("after the end %d bytes are held", used)
	}
}

// api calls the API as a developer.
func (w *world) api(s *Service) func(method, path string, want int, into any) {
	w.Helper()
	tokens, err := issuer.Open(w.TempDir(), time.Now)
	must(w.T, err)
	s.Verifier, err = auth.New(auth.Options{Issuers: []auth.Issuer{tokens.Trust()}, Log: s.Log})
	must(w.T, err)
	token, err := tokens.Mint(issuer.Claims{Kind: auth.Developer, Subject: "studio", Project: project, Role: "Manager"})
	must(w.T, err)
	e := web.New(s.Log, web.Options{})
	s.routes(e)
	server := httptest.NewServer(openapitest.Handler(w.T, e))
	w.Cleanup(server.Close)
	return func(method, path string, want int, into any) {
		w.Helper()
		r, err := http.NewRequestWithContext(w.Context(), method, server.URL+"/demo/matchmaking/api/v1/webhooks"+path, nil)
		must(w.T, err)
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		must(w.T, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		must(w.T, err)
		if answer.StatusCode != want || strings.Contains(string(text), "nobody's business") {
			w.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, text)
		}
		if into != nil {
			must(w.T, json.Unmarshal(text, into))
		}
	}
}

// The endpoint refuses a match that the next events do not wait for. Then it takes it.
func TestDeadLetters(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	refuses := true
	r := receive(t, func(e *client.WebhookEvent) int {
		mu.Lock()
		defer mu.Unlock()
		if refuses && e.Data.Match == "odd" {
			return http.StatusUnprocessableEntity
		}
		return http.StatusOK
	}, secret("a"))
	w.put(w.hook("backend", r.URL, "assigned", "webhook"))
	s, _ := w.serve("one", w.store)
	call := w.api(s)
	w.happens(pb.Event_KIND_ASSIGNED, "odd")
	w.happens(pb.Event_KIND_ASSIGNED, "odd")
	var found struct{ DeadLetters []client.DeadLetter }
	w.eventually("both are dead letters", func() bool {
		w.happens(pb.Event_KIND_ASSIGNED, "even") // the endpoint works
		call("GET", "/backend/deadletters", 200, &found)
		return len(found.DeadLetters) == 2
	})
	if w.happens(pb.Event_KIND_CLAIMED, "x"); len(r.tickets()["odd"]) > 0 {
		t.Error("it took the odd match")
	}
	first := found.DeadLetters[0]
	var event client.WebhookEvent
	must(t, json.Unmarshal(first.Event, &event))
	if first.Status != 422 || first.Reason != "it answered 422" || first.Tries < 3 || event.Data.Tickets[0] != "odd-001" {
		t.Errorf("the first letter is %+v", first)
	}
	w.eventually("an event tells of it", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.ContainsFunc(r.got, func(e *client.WebhookEvent) bool {
			return e.Data.Kind == "webhook" && e.Data.Reason == "dead" && strings.HasPrefix(e.Data.Detail, "backend: ")
		})
	})
	var list struct{ Webhooks []client.WebhookStatus }
	call("GET", "", 200, &list)
	if one := list.Webhooks[0]; one.Name != "backend" || one.DeadLetters != 2 || one.URL != r.URL {
		t.Errorf("listed is %+v", one)
	}
	var sent client.SentLetter
	send := "/backend/deadletters/" + first.ID + "/actions/send"
	if call("POST", send, 200, &sent); sent.Delivered || sent.Status != 422 {
		t.Errorf("sent too early: %+v", sent)
	}
	mu.Lock()
	refuses = false
	mu.Unlock()
	if call("POST", send, 200, &sent); !sent.Delivered || !slices.Equal(r.tickets()["odd"], []string{"odd-001"}) {
		t.Errorf("sent: %+v, %v", sent, r.tickets())
	}
	call("POST", send, 404, nil)
	call("DELETE", "/backend/deadletters/"+found.DeadLetters[1].ID, 204, nil)
	call("DELETE", "/backend/deadletters/"+found.DeadLetters[1].ID, 404, nil)
	call("GET", "/other/deadletters", 404, nil)
	if call("GET", "/backend/deadletters", 200, &found); len(found.DeadLetters) > 0 {
		t.Errorf("left are %+v", found)
	}
}

// The event cannot be stored at first. The next one would come after a minute, but the delivery ends.
func TestNewsOfAWebhookIsNotLost(t *testing.T) {
	w := &world{T: t, url: embeddedtest.Redis(t)}
	w.store = w.open()
	w.put(&pb.Webhook{Name: "backend", Url: "https://example.com", Events: []string{"*"}})
	options, err := redis.ParseURL(w.url)
	must(t, err)
	c := redis.NewClient(options)
	defer c.Close()
	s, err := New(Options{Store: w.store, Log: slog.New(slog.DiscardHandler), Name: "one"})
	must(t, err)
	d := &deliverer{Service: s, project: project, hook: &pb.Webhook{Name: "backend"}, told: delivering,
		status: response.WebhookStatus{State: failing}}
	of := map[string]*deliverer{"backend": d}
	must(t, c.Del(t.Context(), "mm:{demo}:history").Err())
	must(t, c.Set(t.Context(), "mm:{demo}:history", "x", 0).Err())
	if err := s.note(t.Context(), project, time.Minute, of); err == nil {
		t.Fatal("the event is stored in a text")
	}
	must(t, c.Del(t.Context(), "mm:{demo}:history").Err())
	must(t, s.note(t.Context(), project, time.Minute, of))
	d.status.State = delivering
	must(t, s.note(t.Context(), project, time.Minute, of))
	d.ended = true
	must(t, s.note(t.Context(), project, 0, of))
	must(t, s.note(t.Context(), project, 0, of))
	entries, err := w.store.History(t.Context(), project, &pb.Bookmark{}, 10)
	must(t, err)
	var reasons []string
	for _, entry := range entries {
		for _, e := range entry.Events {
			if e.GetKind() == pb.Event_KIND_WEBHOOK {
				reasons = append(reasons, e.GetReason())
			}
		}
	}
	if want := []string{failing, "recovered"}; !slices.Equal(reasons, want) {
		t.Errorf("told is %v, want %v", reasons, want)
	}
}

func TestBoundsOfDeadLetters(t *testing.T) {
	letters := func(n, size int) (all []state.DeadLetter) {
		for i := range n {
			all = append(all, state.DeadLetter{ID: fmt.Sprintf("%03d", i), Text: strings.Repeat("x", size)})
		}
		return all
	}
	for _, c := range []struct{ kept, size, more, go_ int }{
		{10, 10, 1, 0}, {256, 10, 2, 2}, {8, 64 << 10, 1, 1}, {3, 10, 300, 3}, {0, letterBytes + 1, 1, 0},
	} {
		gone := tooMany(letters(c.kept, c.size), letters(c.more, c.size))
		if len(gone) != c.go_ {
			t.Errorf("%+v: %d go", c, len(gone))
		}
		for _, l := range gone {
			if l.Text != "" || l.ID >= fmt.Sprintf("%03d", c.go_) {
				t.Errorf("%+v: %v goes", c, l)
			}
		}
	}
}

// A secret that was replaced signs, too, for a while.
func TestRotation(t *testing.T) {
	w := newWorld(t)
	w.serve("one", w.store)
	for _, c := range []struct {
		until   time.Duration
		secrets []string
	}{{time.Hour, []string{secret("b")}}, {time.Hour, []string{secret("a")}}, {-time.Hour, []string{secret("b")}}} {
		r := receive(t, takeAll, c.secrets...)
		w.put(w.sealed(&pb.Webhook{Name: "backend", Url: r.URL, Events: []string{"assigned"}},
			&pb.WebhookSecrets{Current: key("b"), Previous: key("a"), Until: w.store.Now().Add(c.until).UnixMilli()}))
		w.eventually("it is delivered", func() bool {
			w.happens(pb.Event_KIND_ASSIGNED, "m")
			return len(r.tickets()) > 0
		})
	}
	old := signed(&pb.WebhookSecrets{Current: key("b"), Previous: key("a"), Until: 1}, "id", nil, time.Now())
	if got := old.Get("Webhook-Signature"); strings.Contains(got, " ") {
		t.Errorf("after its time the old secret signs: %s", got)
	}
}
