package event_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/event"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/bustest"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
)

const (
	project  = "my.game"
	patience = 2 * time.Minute
)

var discard = slog.New(slog.DiscardHandler)

// world is a project on a real Redis and a real NATS.
type world struct {
	*testing.T
	nats  *embedded.NATS
	dir   string
	store *state.Store
	bus   *bus.Bus
	n     int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	redis, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{Dir: t.TempDir(), AOF: true, Log: discard})
	if err != nil || !redis.Persistent() {
		t.Fatalf("a redis-server or valkey-server is needed: install one (%v)", err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	w := &world{T: t, dir: t.TempDir()}
	w.serve(0)
	t.Cleanup(func() { _ = w.nats.Close() })
	w.store, err = state.Open(state.Options{Server: state.Server{URL: embeddedtest.Patient(redis.URL())}, Log: discard,
		History: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	w.bus, err = bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: w.nats.URL()}, Log: discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.bus.Close(context.Background()) })
	embeddedtest.Prepare(t, w.bus)
	return w
}

func (w *world) serve(port int) {
	w.Helper()
	var err error
	w.nats, err = embedded.StartNATS(w.Context(), embedded.NATSOptions{Dir: w.dir, Port: port, Log: discard})
	if err != nil {
		w.Fatal(err)
	}
}

// port is where the NATS server listens.
func (w *world) port() int {
	w.Helper()
	_, text, _ := strings.Cut(strings.TrimPrefix(w.nats.URL(), "nats://"), ":")
	port, err := strconv.Atoi(text)
	if err != nil {
		w.Fatal(err)
	}
	return port
}

// publish publishes until stop.
func (w *world) publish() (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	p := event.Publisher{Store: w.store, Bus: w.bus, Log: discard, Project: project}
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	w.Cleanup(stop)
	return stop
}

// create creates tickets and returns their ids.
func (w *world) create(n int) []string {
	w.Helper()
	var ids []string
	c := w.store.Creator(nil)
	for range n {
		w.n++
		ids = append(ids, fmt.Sprintf("ticket-%04d", w.n))
		err := c.Create(w.Context(), project, &pb.Ticket{
			Id: ids[len(ids)-1], Owner: "somebody", Properties: map[string][]byte{"name": []byte("secret")},
		})
		if err != nil {
			w.Fatal(err)
		}
	}
	return ids
}

// follow collects the ids of created tickets, and "gap" for gaps, until there are n.
func (w *world) follow(n int) []string {
	w.Helper()
	ctx, stop := context.WithTimeout(w.Context(), patience)
	defer stop()
	var got []string
	err := bustest.FollowEvents(ctx, w.bus, project, func(e *pb.Events) error {
		if strings.Contains(e.String(), "secret") || strings.Contains(e.String(), "somebody") {
			w.Errorf("an event has private data: %v", e)
		}
		for _, one := range e.GetEvents() {
			if one.GetKind() == pb.Event_KIND_GAP {
				got = append(got, "gap")
			}
			got = append(got, one.GetTickets()...)
		}
		if len(got) >= n {
			stop()
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return got
}

func (w *world) want(want ...string) {
	w.Helper()
	if got := w.follow(len(want)); !slices.Equal(got, want) {
		w.Fatalf("published were %v, want %v", got, want)
	}
}

func TestNextPublisherGoesOnWhereTheLastOneStopped(t *testing.T) {
	w := newWorld(t)
	stop := w.publish()
	all := w.create(5)
	w.want(all...)
	stop()
	all = append(all, w.create(5)...) // no director publishes
	w.publish()
	w.want(all...)
}

func TestManyPublishersPublishEachEventOnce(t *testing.T) {
	w := newWorld(t)
	for range 4 {
		w.publish()
	}
	all := w.create(400)
	w.want(all...)
}

func TestEventsWaitForTheBus(t *testing.T) {
	w := newWorld(t)
	w.publish()
	all := w.create(5)
	w.want(all...)
	port := w.port()
	if err := w.nats.Close(); err != nil {
		t.Fatal(err)
	}
	all = append(all, w.create(5)...)
	w.serve(port)
	w.want(all...)
}

func TestManyEventsAreSplitIntoMessagesThatFit(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", 10_000)
	var all []string
	for i := range 300 { // three megabytes
		all = append(all, fmt.Sprint(long, i))
		event := &pb.Event{Kind: pb.Event_KIND_RETURNED, Tickets: all[i : i+1]}
		if err := w.store.AppendEvent(t.Context(), project, event); err != nil {
			t.Fatal(err)
		}
	}
	w.publish()
	w.want(all...)
}
