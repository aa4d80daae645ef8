package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/embedded"
)

// stage is a message bus on which things happen.
type stage struct {
	*bus.Bus
	last uint64
}

// newStage puts the address of the bus where mm finds it.
func newStage(t *testing.T, shell *shell) *stage {
	t.Helper()
	t.Setenv("MM_NATS", "")
	unset(t, "MM_NATS")
	log := slog.New(slog.DiscardHandler)
	nats, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nats.Close() })
	if err := os.WriteFile(filepath.Join(shell.data, bus.URLFile), []byte(nats.URL()), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := bus.Connect(t.Context(), bus.Options{URL: nats.URL(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	if err := b.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &stage{Bus: b}
}

func (s *stage) happen(t *testing.T, events ...*pb.Event) {
	t.Helper()
	var err error
	if s.last, err = s.PublishEvents(t.Context(), &pb.Events{Project: "demo", Events: events}, s.last); err != nil {
		t.Fatal(err)
	}
}

var (
	born    = &pb.Event{Kind: pb.Event_KIND_CREATED, Time: 1_893_456_000_000, Tickets: []string{"a", "b"}, Position: 3}
	paired  = &pb.Event{Kind: pb.Event_KIND_ASSIGNED, Time: 1_893_456_000_123, Tickets: []string{"a"}, Match: "m", Config: "ranked", Revision: 7, Position: 5}
	refused = &pb.Event{Kind: pb.Event_KIND_FAILED, Time: 1_893_456_000_123, Tickets: []string{"b"}, Match: "n", Reason: "function", Error: "no\x1bbody", Position: 5}
)

func TestEventLog(t *testing.T) {
	shell := newShell(t)
	stage := newStage(t, shell)
	const (
		first  = "2030-01-01 00:00:00.000  created    tickets=a,b\n"
		second = "2030-01-01 00:00:00.123  assigned   match=m config=ranked tickets=a\n"
		third  = "2030-01-01 00:00:00.123  failed     reason=function error=no�body match=n tickets=b\n"
	)
	log := func(args ...string) result {
		return shell.run(t.Context(), append([]string{"event", "log", "--data", shell.data}, args...)...)
	}
	log().expect(t, 0, "", "")
	stage.happen(t, born)
	stage.happen(t, paired, refused)
	log().expect(t, 0, first+second+third, "")
	log("--ticket", "a").expect(t, 0, first+second, "")
	log("--match", "n").expect(t, 0, third, "")
	log("--project", "other").expect(t, 0, "", "")

	got := log("--match", "m", "-o", "json")
	got.expect(t, 0, `{"time":"2030-01-01T00:00:00.123Z","kind":"assigned","match":"m","config":"ranked","revision":7,"tickets":["a"],"position":5}`+"\n", "")
	if !json.Valid([]byte(got.out)) {
		t.Error("that is no JSON")
	}

	shell.now = shell.now.Add(time.Hour)
	log("--since", "1m").expect(t, 0, "", "")
}

func TestEventLogFollows(t *testing.T) {
	shell := newShell(t)
	stage := newStage(t, shell)
	ctx, interrupt := context.WithTimeout(t.Context(), time.Minute)
	defer interrupt()
	out := &tripwire{until: "assigned", then: interrupt}
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"event", "log", "--follow", "--data", shell.data, "--ticket", "a"}, console{
			in: strings.NewReader(""), out: out, err: t.Output(), now: time.Now,
		})
	}()
	stage.happen(t, born)
	stage.happen(t, paired)
	if code := <-done; code != 0 || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("code %d, printed %s", code, out)
	}
}

// tripwire is what was written; it calls then once when it contains until.
type tripwire struct {
	strings.Builder
	until string
	then  func()
}

func (w *tripwire) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if strings.Contains(w.String(), w.until) {
		w.then()
	}
	return n, err
}

func TestEventLogWithoutABus(t *testing.T) {
	shell := newShell(t)
	t.Setenv("MM_NATS", "")
	unset(t, "MM_NATS")
	got := shell.run(t.Context(), "event", "log", "--data", shell.data)
	got.expect(t, 1, "", `mm: there is no message bus in `+shell.data)
	got = shell.run(t.Context(), "event", "log", "--nats", "nats://127.0.0.1:1")
	got.expect(t, 1, "", "mm: no message bus answers: ")
	shell.run(t.Context(), "event", "log", "--since", "0s").expect(t, 2, "", "--since must be more than nothing")
}
