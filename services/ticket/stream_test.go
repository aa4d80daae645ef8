package ticket_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

// followed is a stream as a client sees it.
type followed struct {
	*http.Response
	lines *bufio.Scanner
	t     *testing.T
}

// open opens a stream at a replica.
func (r *replicas) open(t *testing.T, replica int, id string, headers ...string) *followed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	res, err := r.begin(ctx, http.MethodGet, r.urls[replica]+"/events?id="+id, "",
		append([]string{"Accept", "text/event-stream"}, headers...)...)
	must(t, err)
	t.Cleanup(func() { res.Body.Close() })
	return &followed{res, bufio.NewScanner(res.Body), t}
}

// sent is an event.
type sent struct{ id, event, data, retry string }

// next is the next event, without heartbeats; a zero one at the end.
func (f *followed) next() (e sent) {
	f.t.Helper()
	for f.lines.Scan() {
		name, value, _ := strings.Cut(f.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.event = value
		case "data":
			e.data = value
		case "retry":
			e.retry = value
		case "":
			if e != (sent{}) {
				return e
			}
		}
	}
	if err := f.lines.Err(); err != nil {
		f.t.Fatal(err)
	}
	return e
}

// expect wants the next event but retries, with some text in its data.
func (f *followed) expect(event, data string) sent {
	f.t.Helper()
	e := f.next()
	for e.event == "" && e.retry != "" {
		e = f.next()
	}
	if e.event != event || !strings.Contains(e.data, data) {
		f.t.Fatalf("got %+v, want the event %s with %s", e, event, data)
	}
	return e
}

// ends wants no further event.
func (f *followed) ends() {
	f.t.Helper()
	if e := f.next(); e != (sent{}) {
		f.t.Fatalf("got %+v, want the end", e)
	}
}

// happens publishes an event of a ticket as a director does.
func (r *replicas) happens(t *testing.T, e *pb.Event) {
	t.Helper()
	_, tail, err := r.bus.LastEvents(t.Context(), "demo")
	must(t, err)
	_, _, err = r.bus.PublishEvents(t.Context(), &pb.Events{Project: "demo", Events: []*pb.Event{e}}, tail)
	must(t, err)
}

// propose lets a match of a ticket go to a new backfill ticket.
func (r *replicas) propose(t *testing.T, backfill, id string) {
	t.Helper()
	game := &pb.Backfill{Id: backfill, Connection: "203.0.113.8:1"}
	_, err := r.store.CreateBackfill(t.Context(), "demo", game)
	must(t, err)
	c, err := r.store.Config(t.Context(), "demo", "one")
	must(t, err)
	epoch, err := r.store.AcquireLease(t.Context(), "demo", "director", time.Minute)
	must(t, err)
	claim := &state.Claim{
		Match: &pb.Match{Id: "joins", Config: "one", Revision: c.GetRevision(), Place: state.PlaceGame + backfill,
			Proposal: &pb.Proposal{Teams: []*pb.Team{{Tickets: []string{id}}}, Filling: &pb.Filling{
				Backfill: backfill, Generation: game.GetGeneration(), Contents: &pb.Backfill{},
			}}},
		Tickets: []string{id},
	}
	_, err = r.store.Claim(t.Context(), "demo", state.ClaimOptions{Epoch: epoch, Approval: time.Minute},
		[]*state.Claim{claim})
	must(t, err)
	if claim.Refusal != "" {
		t.Fatalf("the proposal was refused: %s", claim.Refusal)
	}
}

func TestStreamTellsTheLifeOfATicket(t *testing.T) {
	r := start(t)
	embeddedtest.Prepare(t, r.bus)
	id := r.createIn(t, `["ranked"]`)
	f := r.open(t, 1, id)
	if f.StatusCode != http.StatusOK || f.Header.Get("Content-Type") != "text/event-stream" ||
		f.Header.Get("Cache-Control") != "no-store" || f.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("got %d %v", f.StatusCode, f.Header)
	}
	if e := f.next(); e.retry == "" {
		t.Errorf("a stream begins with %+v, want a retry", e)
	}
	f.expect("waiting", `"queues":["ranked"],"unservedQueues":["ranked"]`)
	r.serve(t, "one", "ranked")
	r.happens(t, &pb.Event{Kind: pb.Event_KIND_UNSERVED, Queue: "another"}) // all look again
	if e := f.expect("waiting", `"queues":["ranked"]`); strings.Contains(e.data, "unserved") {
		t.Errorf("got %+v, want a queue that is served", e)
	}
	r.propose(t, "game", id)
	r.happens(t, &pb.Event{Kind: pb.Event_KIND_CLAIMED, Tickets: []string{"other", id}})
	f.expect("matched", `"id":"`+id+`"`)
	_, _, err := r.store.DeleteBackfill(t.Context(), "demo", "game", "")
	must(t, err)
	r.happens(t, &pb.Event{Kind: pb.Event_KIND_RELEASED, Tickets: []string{id}})
	f.expect("waiting", id)
	r.assign(t.Context(), t, id)
	if e := f.expect("assigned", `"assignment":{"connection":"203.0.113.7:7777"`); e.id != "assigned" {
		t.Errorf("got %+v", e)
	}
	f.ends()
	// A client that reconnects gets the result; one that knows it already gets a 204.
	r.open(t, 0, id).expect("assigned", "203.0.113.7:7777")
	if again := r.open(t, 0, id, "Last-Event-ID", "assigned"); again.StatusCode != http.StatusNoContent {
		t.Errorf("got %d, want 204", again.StatusCode)
	}
}

func TestStreamGoesOnFromTheLastEvent(t *testing.T) {
	r := start(t)
	id := r.create(t)
	e := r.open(t, 0, id).expect("waiting", id)
	f := r.open(t, 1, id, "Last-Event-ID", e.id)
	r.assign(t.Context(), t, id)
	f.expect("assigned", id) // and nothing before it
}

func TestStreamSaysWhyATicketEnded(t *testing.T) {
	r := start(t)
	embeddedtest.Prepare(t, r.bus)
	deleted := r.create(t)
	f := r.open(t, 1, deleted)
	f.expect("waiting", deleted)
	status, _, err := r.send(t.Context(), http.MethodDelete, r.urls[0]+"?id="+deleted, "")
	if status != http.StatusOK || err != nil {
		t.Fatal(status, err)
	}
	f.expect("ended", `{"id":"`+deleted+`","reason":"deleted"}`)
	f.ends()
	// The wake-up says why a ticket ended that was asked. Without a reason, an event comes later.
	for said, reason := range map[string]string{"silent": "silent", "declined": "declined", "deleted": "deleted",
		"replaced": "replaced", "": "silent"} {
		id := r.create(t)
		f := r.open(t, 1, id)
		f.expect("waiting", id)
		r.offer(t, "m-"+said, id)
		f.expect("acceptance", id)
		_, err := r.store.DeleteTicket(t.Context(), "demo", id, "")
		must(t, err)
		r.bus.NotifyEnded(t.Context(), "demo", []string{id}, said)
		if said == "" {
			r.happens(t, &pb.Event{Kind: pb.Event_KIND_EXPIRED, Reason: reason, Tickets: []string{id}})
		}
		f.expect("ended", `"reason":"`+reason+`"`)
		f.ends()
	}
	expired, cancelled := pb.Event_KIND_EXPIRED, pb.Event_KIND_CANCELLED
	for _, c := range []struct {
		kind         pb.Event_Kind
		reason, want string
	}{
		{expired, "abandoned", "abandoned"}, {expired, "read", "expired"},
		{cancelled, "replaced", "replaced"}, {cancelled, "", "deleted"},
	} {
		id := r.create(t)
		f := r.open(t, 1, id)
		f.expect("waiting", id)
		_, err := r.store.DeleteTicket(t.Context(), "demo", id, "")
		must(t, err)
		r.happens(t, &pb.Event{Kind: c.kind, Reason: c.reason, Tickets: []string{id}})
		f.expect("ended", `"reason":"`+c.want+`"`)
		f.ends()
	}
}

func TestStreamsThatAreRefused(t *testing.T) {
	meter, measured := telemetrytest.New()
	r := startWith(t, state.Options{}, func(o *ticket.Options) {
		o.Settings.Streams.PerPlayer, o.Meter = 2, meter
	})
	id := r.create(t)
	for accept, want := range map[string]int{
		"application/json": 406, "text/event-stream;q=0": 406, "text/event-stream": 200, "*/*": 200, "": 200,
		"text/*, application/json": 200,
	} {
		res, err := r.begin(t.Context(), http.MethodHead, r.urls[0]+"/events?id="+id, "", "Accept", accept)
		must(t, err)
		if res.StatusCode != want {
			t.Errorf("Accept %q: got %d, want %d", accept, res.StatusCode, want)
		}
	}
	for path, want := range map[string]int{"?id=nobody": 404, "": 400, "?id=a&id=b": 400} {
		status, text, err := r.send(t.Context(), http.MethodGet, r.urls[0]+"/events"+path, "", "Accept", "text/event-stream")
		must(t, err)
		if status != want || !strings.Contains(text, `"status":`) {
			t.Errorf("%s: got %d %s, want %d and a problem", path, status, text, want)
		}
	}
	r.open(t, 0, id).expect("waiting", id)
	r.open(t, 0, id).expect("waiting", id)
	res := r.open(t, 0, id)
	text, err := io.ReadAll(res.Body)
	must(t, err)
	if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" ||
		!strings.Contains(string(text), "too many streams") {
		t.Errorf("got %d %s, want 429", res.StatusCode, text)
	}
	if got := measured.Value(t, "matchmaker.streams"); got != 2 {
		t.Errorf("%v streams are counted, want 2", got)
	}
	other := *r
	other.token = r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "mallory"})
	if res := other.open(t, 0, id); res.StatusCode != http.StatusNotFound {
		t.Errorf("a stranger gets %d, want 404", res.StatusCode)
	}
}

// A stream ends with the token, and the client comes back with another one.
func TestStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	r := start(t)
	id := r.create(t)
	short, life := *r, 8*time.Second
	if testing.Short() {
		life = 4 * time.Second
	}
	short.token = r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada", TTL: life})
	f := short.open(t, 0, id)
	f.expect("waiting", id)
	f.expect("reconnect", `{"reason":"token"}`)
	f.ends()
}

func TestStreamSendsHeartbeats(t *testing.T) {
	t.Parallel()
	r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Settings.Streams.Heartbeat = time.Second })
	f := r.open(t, 0, r.create(t))
	f.expect("waiting", "")
	for beats := 0; beats < 2 && f.lines.Scan(); {
		if f.lines.Text() == ":" {
			beats++
		}
	}
	if err := f.lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// A process that stops ends its streams at once, and their clients come back at different times.
func TestStreamsOfAProcessThatStops(t *testing.T) {
	r := start(t)
	id := r.create(t)
	var open []*followed
	for range 4 {
		f := r.open(t, 0, id)
		f.expect("waiting", id)
		open = append(open, f)
	}
	r.parts[0].OnShutdown()
	retries := map[string]bool{}
	for _, f := range open {
		e := f.next()
		retries[e.retry] = true
		f.expect("reconnect", `{"reason":"shutdown"}`)
		f.ends()
	}
	if len(retries) < 2 || retries[""] {
		t.Errorf("the clients are to come back after %v ms", retries)
	}
}

// The stream of a replica that hears nothing, as where events are switched off, still learns of a match by reading.
func TestStreamOutlivesItsBus(t *testing.T) {
	r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Bus = deaf{o.Bus} })
	id := r.create(t)
	f := r.open(t, 0, id)
	f.expect("waiting", id)
	r.assign(t.Context(), t, id)
	f.expect("assigned", id)
	// A deletion wakes it. What ended a ticket that was asked is not known.
	for reason, asked := range map[string]bool{"deleted": false, "gone": true} {
		id := r.create(t)
		f := r.open(t, 0, id)
		f.expect("waiting", id)
		if asked {
			r.offer(t, "m", id)
			f.expect("acceptance", id)
		}
		_, err := r.store.DeleteTicket(t.Context(), "demo", id, "")
		must(t, err)
		r.bus.NotifyAssigned(t.Context(), "demo", []string{id})
		f.expect("ended", `"reason":"`+reason+`"`)
	}
}

// deaf is a bus without events.
type deaf struct{ ticket.Bus }

func (deaf) OnEvents(string, func(*pb.Events)) (bus.Subscription, error) {
	return nil, io.ErrClosedPipe
}

func TestBrowsersOfAllowedOrigins(t *testing.T) {
	const game = "https://game.example"
	for setting, want := range map[string]map[string]string{
		"":                               {game: "", "": ""},
		game + ", http://localhost:8080": {game: game, "http://localhost:8080": "http://localhost:8080", "https://evil.example": ""},
		"*":                              {game: game, "null": "null"},
	} {
		r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Settings.Origins = setting })
		id := r.create(t)
		for origin, allowed := range want {
			for _, path := range []string{"?id=" + id, "/events?id=" + id, "?id=unknown", "/events"} {
				res, err := r.begin(t.Context(), http.MethodHead, r.urls[0]+path, "", "Origin", origin)
				must(t, err)
				if got := res.Header.Get("Access-Control-Allow-Origin"); got != allowed {
					t.Errorf("origins %q: %s from %q is for %q, want %q", setting, path, origin, got, allowed)
				}
				exposed := res.Header.Get("Access-Control-Expose-Headers")
				if strings.Contains(exposed, "RateLimit, RateLimit-Policy, Retry-After") != (allowed != "") {
					t.Errorf("origins %q: %s from %q exposes %q", setting, path, origin, exposed)
				}
			}
			for _, path := range []string{"", "/events"} {
				res, err := r.begin(t.Context(), http.MethodOptions, r.urls[0]+path, "", "Origin", origin,
					"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization")
				must(t, err)
				headers := res.Header.Get("Access-Control-Allow-Headers")
				if res.StatusCode != http.StatusNoContent ||
					strings.Contains(headers, "Authorization, Baggage, Cache-Control,") != (allowed != "") {
					t.Errorf("origins %q: a preflight from %q gets %d %v", setting, origin, res.StatusCode, res.Header)
				}
			}
		}
	}
	for _, bad := range []string{"game.example", "https://game.example/", "https://Game.example", "https://a b", ",", "https://u@a"} {
		s := ticket.Settings{Origins: bad, Streams: stream.Settings{Heartbeat: time.Minute, Spread: time.Minute}}
		if s.Validate() == nil {
			t.Errorf("the origin %q is taken", bad)
		}
	}
}
