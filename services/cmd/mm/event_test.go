package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
)

// eventBus is a message bus to which tests publish events.
type eventBus struct {
	*bus.Bus
	url  string
	last bus.EventTail
}

func newEventBus(t *testing.T) *eventBus {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	nats, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nats.Close() })
	b, err := bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: nats.URL()}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	embeddedtest.Prepare(t, b)
	return &eventBus{Bus: b, url: nats.URL()}
}

func (b *eventBus) publish(t *testing.T, events ...*pb.Event) {
	t.Helper()
	var err error
	if b.last, _, err = b.PublishEvents(t.Context(), &pb.Events{Project: "demo", Events: events}, b.last); err != nil {
		t.Fatal(err)
	}
}

var (
	createdEvent = &pb.Event{
		Kind:     pb.Event_KIND_CREATED,
		Time:     1_893_456_000_000,
		Tickets:  []string{"a", "b"},
		Position: 3,
	}
	assignedEvent = &pb.Event{
		Kind:     pb.Event_KIND_ASSIGNED,
		Time:     1_893_456_000_123,
		Tickets:  []string{"a"},
		Match:    "m",
		Config:   "ranked",
		Revision: 7,
		Position: 5,
	}
	failedEvent = &pb.Event{
		Kind:     pb.Event_KIND_FAILED,
		Time:     1_893_456_000_123,
		Tickets:  []string{"b"},
		Match:    "n",
		Reason:   "function",
		Error:    "no\x1bbody",
		Position: 5,
	}
)

func TestEventLogOfTheBusSelectsByTicketMatchAndTime(t *testing.T) {
	shell := newShell(t)
	events := newEventBus(t)
	const (
		first  = "2030-01-01 00:00:00.000  created    tickets=a,b\n"
		second = "2030-01-01 00:00:00.123  assigned   match=m config=ranked tickets=a\n"
		third  = "2030-01-01 00:00:00.123  failed     reason=function error=no�body match=n tickets=b\n"
	)
	log := func(args ...string) result {
		return shell.run(append([]string{"event", "log", "--nats", events.url}, args...)...)
	}
	log().expect(0, "", "")
	events.publish(t, createdEvent)
	events.publish(t, assignedEvent, failedEvent)
	log().expect(0, first+second+third, "")
	log("--ticket", "a").expect(0, first+second, "")
	log("--match", "n").expect(0, third, "")
	log("--config", "ranked").expect(0, second, "")
	log("--kind", "created", "--kind", "failed").expect(0, first+third, "")
	log("--project", "other").expect(0, "", "")
	events.publish(t, &pb.Event{Kind: pb.Event_KIND_FUNCTION, Time: 1_893_456_000_123, Function: "duel", Upload: 2,
		Reason: "rollback", By: "olga", Position: 6})
	log("--kind", "function").expect(0,
		"2030-01-01 00:00:00.123  function   reason=rollback by=olga function=duel upload=2\n", "")

	got := log("--match", "m", "-o", "json")
	got.expect(
		0,
		`{"time":"2030-01-01T00:00:00.123Z","kind":"assigned","match":"m","config":"ranked",`+
			`"revision":7,"tickets":["a"],"position":5}`+"\n",
		"",
	)
	if !json.Valid([]byte(got.out)) {
		t.Error("the output is no JSON")
	}

	shell.now = shell.now.Add(time.Hour)
	log("--since", "1m").expect(0, "", "")
}

func TestEventLogOfTheBusFollowPrintsNewEvents(t *testing.T) {
	events := newEventBus(t)
	ctx, interrupt := context.WithTimeout(t.Context(), time.Minute)
	defer interrupt()
	out := &watchedOutput{text: "assigned", found: interrupt}
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"event", "log", "--follow", "--nats", events.url, "--ticket", "a"}, console{
			in: strings.NewReader(""), out: out, err: t.Output(), now: time.Now,
		})
	}()
	events.publish(t, createdEvent)
	events.publish(t, assignedEvent)
	if code := <-done; code != exitInterrupted || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("code %d, printed %s", code, out)
	}
}

func TestEventLogNeedsABusThatAnswers(t *testing.T) {
	shell := newShell(t)
	got := shell.run("event", "log", "--nats", "nats://127.0.0.1:1")
	got.expect(1, "", "mm: no message bus answers at the address that --nats gives")
	shell.run("event", "log", "--since", "0s").expect(2, "", "--since must be more than 0")
	shell.run("event", "log", "--nats", "nats://127.0.0.1:1", "--player", "ada").expect(2, "", "--player: the message bus")
}
