package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// Promise 7.
func TestConformance(t *testing.T) {
	t.Parallel()
	conforms(t, "gameserver", Settings{Max: conformance.Room})
}

// A studio's own servers do what the others do.
func TestConformanceOfCommands(t *testing.T) {
	t.Parallel()
	conforms(t, "studio", Settings{Max: conformance.Room, Command: sleeper})
}

func conforms(t *testing.T, part string, s Settings) {
	conformance.Run(t, func(t *testing.T) conformance.Fixture {
		heard := filepath.Join(t.TempDir(), "heard")
		f := open(t, Options{
			Settings: s, PerProcess: 3, Binary: "/usr/bin/env", Env: []string{"PATH=" + os.Getenv("PATH")},
			Args: []string{"GORACE=atexit_sleep_ms=0", "HEARD=" + heard, os.Args[0], part},
		})
		return conformance.Fixture{
			Provider: f, InUse: f.InUse,
			PayloadOf: func(r provider.Ref) ([]byte, bool) { return payloadOf(t, heard, r.Match) },
			Exhaust: func() (refill func()) {
				var all sync.WaitGroup
				for i := range conformance.Room {
					all.Go(func() { allocate(t, f, fmt.Sprint("another", i)) })
				}
				all.Wait()
				return func() { release(t, f, "another0") }
			},
			End: func(r provider.Ref) { end(t, f, r) },
			// There are no answers to lose between the fleet and its processes, no maximum beside its size, no
			// contention, and no hosting that it would refuse: it looks at none.
		}
	})
}

func TestPlayersMeetOnTheirServer(t *testing.T) {
	f := open(t, Options{PerProcess: 2})
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			match := fmt.Sprint("m", i)
			addr := allocate(t, f, match)
			for n, ticket := range []string{match + "-a", match + "-b"} {
				w, err := gameservertest.Hello(t.Context(), addr, ticket)
				if err != nil {
					t.Error(err)
				} else if w.Match != match || w.Players != n+1 || string(w.Map) != `"harbour"` {
					t.Errorf("%s is welcomed with %+v", ticket, w)
				}
			}
			if _, err := gameservertest.Hello(t.Context(), addr, "somebody"); !errors.Is(err, gameservertest.ErrStranger) {
				t.Errorf("a stranger: %v", err)
			}
		})
	}
	all.Wait()
	if got := len(f.hosts); got != 3 {
		t.Errorf("5 servers run in %d processes of 2, want 3", got)
	}
}

func TestFullFleet(t *testing.T) {
	f := open(t, Options{Settings: Settings{Max: 2}})
	allocate(t, f, "m1")
	allocate(t, f, "m2")
	_, err := f.Allocate(t.Context(), request("m3"))
	if provider.ReasonOf(err) != provider.FleetEmpty ||
		!strings.Contains(err.Error(), "no free server: 2 of 2 are in use (setting max-servers)") {
		t.Errorf("a third server of two: %v", err)
	}
	allocate(t, f, "m1") // what is there is found all the same
	release(t, f, "m1")
	allocate(t, f, "m3")
}

func TestReleaseFreesThePort(t *testing.T) {
	f := open(t, Options{})
	addr := allocate(t, f, "m")
	release(t, f, "m")
	if !free(addr) {
		t.Errorf("the port of %s is still taken", addr)
	}
}

func TestLifetime(t *testing.T) {
	f := open(t, Options{Settings: Settings{Lifetime: 20 * time.Millisecond}})
	allocate(t, f, "m")
	waittest.Until(t, "the end of the server", func() bool { return f.InUse() == 0 })
	if s := poll(t, f, "m"); s.Status != provider.Gone {
		t.Errorf("a match whose server ended is %v", s.Status)
	}
	allocate(t, f, "m")
}

func TestBadRequests(t *testing.T) {
	f := open(t, Options{})
	good := allocate(t, f, "m")
	bad := request("bad")
	bad.Properties = []byte("{")
	if _, err := f.Allocate(t.Context(), bad); provider.ReasonOf(err) != provider.Refused {
		t.Errorf("properties that are no JSON: %v", err)
	}
	bad.Properties = []byte(`"` + strings.Repeat("x", gameserver.MaxCommand) + `"`)
	if _, err := f.Allocate(t.Context(), bad); provider.ReasonOf(err) != provider.Refused {
		t.Errorf("properties that are too large: %.200v", err)
	}
	odd := request("odd")
	odd.Properties = []byte("{\n\"map\":\r\n\"harbour\"\n}")
	if r, err := f.Allocate(t.Context(), odd); err != nil || r.Status != provider.Allocated {
		t.Errorf("properties over several lines: %+v, %v", r, err)
	}
	if _, err := gameservertest.Hello(t.Context(), good, "m-a"); err != nil {
		t.Errorf("a bad request hurt another match: %v", err)
	}
	if n := f.InUse(); n != 2 {
		t.Errorf("%d servers in use, want 2", n)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{
		{},
		{Binary: "x", Settings: Settings{Max: -1}},
		{Binary: "x", PerProcess: -1},
		{Binary: "x", Settings: Settings{Lifetime: -1}},
	} {
		if _, err := New(o); problem.KindOf(err) != problem.Invalid {
			t.Errorf("New(%+v): %v", o, err)
		}
	}
}

// payloadOf is the payload that a process got for a match.
func payloadOf(t *testing.T, heard, match string) ([]byte, bool) {
	t.Helper()
	text, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var c gameserver.Command
		var p provider.Payload
		if json.Unmarshal(line, &c) == nil && c.Start != nil && json.Unmarshal(c.Start.Match, &p) == nil && p.Match == match {
			return c.Start.Match, true
		}
	}
	return nil, false
}

// end kills the process of a match's server.
func end(t *testing.T, f *Fleet, r provider.Ref) {
	t.Helper()
	f.mu.Lock()
	h := f.servers[key{r.Project, r.Match}].host
	f.mu.Unlock()
	h.Signal(syscall.SIGKILL)
}

// open makes a fleet that ends with the test.
func open(t *testing.T, o Options) *Fleet {
	t.Helper()
	if o.Binary == "" {
		// The race detector would make every process take a second to end.
		o.Binary, o.Args = "/usr/bin/env", []string{"GORACE=atexit_sleep_ms=0", os.Args[0], "gameserver"}
	}
	o.Log = slog.New(slog.DiscardHandler)
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func request(match string) *provider.Request {
	return &provider.Request{
		Ref:        ref(match),
		Teams:      []provider.Team{{Name: "one", Tickets: []string{match + "-a", match + "-b"}}},
		Properties: []byte(`{"map":"harbour"}`),
	}
}

func ref(match string) provider.Ref { return provider.Ref{Project: "p", Match: match} }

func allocate(t *testing.T, f *Fleet, match string) string {
	t.Helper()
	r, err := f.Allocate(t.Context(), request(match))
	if err != nil || r.Status != provider.Allocated {
		t.Errorf("allocate %s: %+v, %v", match, r, err)
	}
	return r.Connection
}

func release(t *testing.T, f *Fleet, match string) {
	t.Helper()
	if err := f.Release(t.Context(), ref(match)); err != nil {
		t.Errorf("release %s: %v", match, err)
	}
}

func poll(t *testing.T, f *Fleet, match string) provider.Result {
	t.Helper()
	results, err := f.Poll(t.Context(), []provider.Ref{ref(match)})
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

// free reports whether a port can be had.
func free(addr string) bool {
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(context.Background(), "udp", addr)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
