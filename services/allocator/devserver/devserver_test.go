package devserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/services/allocator/devserver"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/process/processtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// fleet is a process of commands.
type fleet struct {
	t      *testing.T
	in     *io.PipeWriter
	events *json.Decoder
	ended  chan error
	log    *processtest.Buffer
}

func start(t *testing.T, command string) *fleet {
	t.Helper()
	in, w := io.Pipe()
	r, out := io.Pipe()
	f := &fleet{t: t, in: w, events: json.NewDecoder(r), ended: make(chan error, 1), log: new(processtest.Buffer)}
	go func() {
		f.ended <- devserver.Main(t.Context(), in, out, devserver.Options{
			Command: command, Env: []string{"PATH=" + os.Getenv("PATH")}, Log: slog.New(slog.NewTextHandler(f.log, nil)),
		})
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = w.Close()
		go func() { _, _ = io.Copy(io.Discard, r) }()
		<-f.ended
	})
	return f
}

func (f *fleet) command(c gameserver.Command) {
	f.t.Helper()
	if err := json.NewEncoder(f.in).Encode(c); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) event() (e gameserver.Event) {
	f.t.Helper()
	if err := f.events.Decode(&e); err != nil {
		f.t.Fatal(err)
	}
	return e
}

func match(t *testing.T) json.RawMessage {
	t.Helper()
	r := provider.Request{
		Ref: provider.Ref{Project: "demo", Match: "m-1"}, Teams: []provider.Team{{Tickets: []string{"a"}}},
		Properties: []byte(`{"map":"harbour"}`), Backfill: "b-1", Token: "secret",
	}
	payload, err := r.Payload()
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// A command learns its match, what it prints is logged, and it ends when it is asked to, with what it started.
func TestCommandRunsForItsMatch(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	f := start(t, `env > `+told+`; echo "hello $SERVER_MATCH"; sleep 1000 & echo $! > `+told+`.child; wait`)
	f.command(gameserver.Command{Start: &gameserver.Start{ID: "1", Match: match(t), API: "http://127.0.0.1:1"}})
	e := f.event()
	host, port, err := net.SplitHostPort(e.Connection)
	if err != nil || host != "127.0.0.1" {
		t.Fatalf("got %+v", e)
	}
	waittest.Until(t, "the server has said hello", func() bool { return strings.Contains(f.log.String(), "hello m-1") })
	text, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		env[name] = value
	}
	for name, want := range map[string]string{
		"SERVER_ADDRESS": e.Connection, "SERVER_HOST": host, "SERVER_PORT": port, "SERVER_MATCH": "m-1",
		"SERVER_BACKFILL": "b-1", "MM_URL": "http://127.0.0.1:1", "MM_PROJECT": "demo", "MM_TOKEN": "secret",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	if !strings.Contains(env["SERVER_PAYLOAD"], `"matchProperties":{"map":"harbour"}`) {
		t.Errorf("the payload is %q", env["SERVER_PAYLOAD"])
	}
	// Asked again, it is the same server.
	f.command(gameserver.Command{Start: &gameserver.Start{ID: "1", Match: match(t)}})
	if again := f.event(); again != e {
		t.Errorf("got %+v, want %+v", again, e)
	}
	var child []byte
	waittest.Until(t, "the child has begun", func() bool {
		child, _ = os.ReadFile(told + ".child")
		return bytes.HasSuffix(child, []byte("\n"))
	})
	f.command(gameserver.Command{Stop: &gameserver.Stop{ID: "1"}})
	if e := f.event(); e != (gameserver.Event{ID: "1", Ended: "stopped"}) {
		t.Errorf("got %+v", e)
	}
	waittest.Until(t, "the child has ended", func() bool {
		state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(child)) + "/stat")
		return err != nil || bytes.Contains(state, []byte(") Z ")) // no parent may be there to wait for it
	})
	f.command(gameserver.Command{Stop: &gameserver.Stop{ID: "never"}})
	if e := f.event(); e != (gameserver.Event{ID: "never", Ended: "stopped"}) {
		t.Errorf("got %+v", e)
	}
}

// A command that does not start says why; one that ends by itself is over; one that runs for too long is ended.
func TestCommandsThatEnd(t *testing.T) {
	f := start(t, `echo "no map" >&2; exit 3`)
	f.command(gameserver.Command{Start: &gameserver.Start{ID: "1", Match: match(t)}})
	if e := f.event(); !strings.Contains(e.Error, "exit status 3; its last output: no map") {
		t.Errorf("got %+v", e)
	}
	release := filepath.Join(t.TempDir(), "go")
	f = start(t, `while [ ! -e `+release+` ]; do sleep 0.05; done`)
	f.command(gameserver.Command{Start: &gameserver.Start{ID: "1", Match: match(t)}})
	if e := f.event(); e.Connection == "" {
		t.Fatalf("got %+v", e)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if e := f.event(); e != (gameserver.Event{ID: "1", Ended: "over"}) {
		t.Errorf("got %+v", e)
	}
	f = start(t, `exec sleep 1000`)
	f.command(gameserver.Command{Start: &gameserver.Start{ID: "1", Match: match(t), Lifetime: 2000}})
	if e := f.event(); e.Connection == "" {
		t.Fatalf("got %+v", e)
	}
	if e := f.event(); e != (gameserver.Event{ID: "1", Ended: "lifetime"}) {
		t.Errorf("got %+v", e)
	}
}

func TestMatchThatIsTooLargeIsRefused(t *testing.T) {
	f := start(t, `exec sleep 1000`)
	large := json.RawMessage(`{"match":"` + strings.Repeat("x", devserver.MaxPayload) + `"}`)
	f.command(gameserver.Command{Start: &gameserver.Start{ID: "1", Match: large}})
	if e := f.event(); !strings.Contains(e.Error, "98304 at most") {
		t.Errorf("got %+v", e)
	}
}

// A command that prints without end does not fill the log.
func TestOutputIsLimited(t *testing.T) {
	f := start(t, `i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exec sleep 1000`)
	f.command(gameserver.Command{Start: &gameserver.Start{ID: "1", Match: match(t)}})
	if e := f.event(); e.Connection == "" {
		t.Fatalf("got %+v", e)
	}
	waittest.Until(t, "the log is there", func() bool { return strings.Count(f.log.String(), "\n") >= 1000 })
	f.command(gameserver.Command{Stop: &gameserver.Stop{ID: "1"}})
	f.event()
	if n := strings.Count(f.log.String(), "\n"); n > 10000 {
		t.Errorf("%d lines were logged", n)
	}
}

func TestServersEndWithTheirParent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, w := io.Pipe()
	r, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		o := devserver.Options{Command: "exec sleep 1000", Log: slog.New(slog.DiscardHandler)}
		ended <- devserver.Main(ctx, in, out, o)
	}()
	events := json.NewDecoder(r)
	if err := json.NewEncoder(w).Encode(
		gameserver.Command{Start: &gameserver.Start{ID: "1", Match: match(t)}}); err != nil {
		t.Fatal(err)
	}
	var e gameserver.Event
	if err := events.Decode(&e); err != nil || e.Connection == "" {
		t.Fatalf("%+v, %v", e, err)
	}
	_ = w.Close()
	if err := events.Decode(&e); err != nil || e.Ended == "" {
		t.Errorf("%+v, %v", e, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
