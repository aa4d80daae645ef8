package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/devserver"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// Promise 7.
func TestConformance(t *testing.T) {
	t.Parallel()
	conforms(t, Settings{Max: conformance.Room})
}

// A studio's own servers do what the others do.
func TestConformanceOfCommands(t *testing.T) {
	t.Parallel()
	conforms(t, Settings{Max: conformance.Room, Command: "exec sleep 1000"})
}

func conforms(t *testing.T, s Settings) {
	conformance.Run(t, func(t *testing.T) conformance.Fixture {
		f := open(t, s)
		return conformance.Fixture{
			Provider: f, InUse: f.InUse,
			PayloadOf: func(r provider.Ref) ([]byte, bool) {
				s := f.serverOf(r)
				return s.match, true
			},
			Exhaust: func() (refill func()) {
				var all sync.WaitGroup
				for i := range conformance.Room {
					all.Go(func() { allocate(t, f, fmt.Sprint("another", i)) })
				}
				all.Wait()
				return func() { release(t, f, "another0") }
			},
			End: func(r provider.Ref) { f.serverOf(r).end() },
			// There are no answers to lose, no maximum beside the fleet's size, no contention, and no hosting that it
			// would refuse: it looks at none.
		}
	})
}

func TestPlayersMeetOnTheirServer(t *testing.T) {
	f := open(t, Settings{})
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
}

func TestFullFleet(t *testing.T) {
	f := open(t, Settings{Max: 2})
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
	f := open(t, Settings{})
	addr := allocate(t, f, "m")
	release(t, f, "m")
	if !free(addr) {
		t.Errorf("the port of %s is still taken", addr)
	}
}

func TestLifetime(t *testing.T) {
	for _, s := range []Settings{
		{Lifetime: 20 * time.Millisecond}, {Lifetime: 700 * time.Millisecond, Command: "exec sleep 1000"},
	} {
		f := open(t, s)
		for range 2 {
			waittest.Until(t, "a server is ready before it ends, which it may not on a busy machine", func() bool {
				_, err := f.Allocate(t.Context(), request("m"))
				return err == nil
			})
			waittest.Until(t, "the end of the server", func() bool { return f.InUse() == 0 })
			if s := poll(t, f, "m"); s.Status != provider.Gone {
				t.Errorf("a match whose server ended is %v", s.Status)
			}
		}
	}
}

func TestBadRequestsForCommands(t *testing.T) {
	f := open(t, Settings{Command: "exec sleep 1000"})
	bad := request("bad")
	for _, properties := range []string{"{", `"` + strings.Repeat("x", devserver.MaxPayload) + `"`} {
		bad.Properties = []byte(properties)
		if _, err := f.Allocate(t.Context(), bad); provider.ReasonOf(err) != provider.Refused {
			t.Errorf("properties %.9s: %.200v", properties, err)
		}
	}
	bad.Properties = []byte(`"` + strings.Repeat("x", devserver.MaxPayload-1000) + `"`)
	if r, err := f.Allocate(t.Context(), bad); err != nil || r.Status != provider.Allocated {
		t.Errorf("the largest properties: %+v, %v", r, err)
	}
}

func TestBadRequests(t *testing.T) {
	f := open(t, Settings{})
	good := allocate(t, f, "m")
	bad := request("bad")
	bad.Properties = []byte("{")
	if _, err := f.Allocate(t.Context(), bad); provider.ReasonOf(err) != provider.Refused {
		t.Errorf("properties that are no JSON: %v", err)
	}
	bad.Properties = []byte(`"` + strings.Repeat("x", gameserver.MaxPayload) + `"`)
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

func TestCommandThatFails(t *testing.T) {
	f := open(t, Settings{Command: "echo no luck today >&2; exit 3"})
	failed := 0
	waittest.Until(t, "a command ends twice before it counts as started, which it may not on a busy machine", func() bool {
		_, err := f.Allocate(t.Context(), request("m"))
		if err == nil {
			return false
		}
		if provider.ReasonOf(err) != provider.Contention ||
			!strings.Contains(err.Error(), "exit status 3; its last output: no luck today") {
			t.Fatal(err)
		}
		failed++
		return failed == 2
	})
	waittest.Until(t, "no server is in use", func() bool { return f.InUse() == 0 })
}

// A server that takes its time to start and to end keeps callers no longer than they want to wait.
func TestSlowServer(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	f := open(t, Settings{Command: `trap "while [ ! -e ` + told + ` ]; do sleep 0.05; done; exit" TERM
		sleep 1000 & wait; sleep 1000 & wait`})
	ctx, cancel := context.WithCancel(t.Context())
	start, answer := make(chan struct{}), make(chan error, 1)
	f.options.API = func() string {
		select {
		case <-start:
		case <-t.Context().Done():
		}
		return ""
	}
	go func() {
		_, err := f.Allocate(ctx, request("m"))
		answer <- err
	}()
	waittest.Until(t, "the question for a server", func() bool { return f.serverOf(ref("m")) != nil })
	if s := poll(t, f, "m"); s.Status != provider.Pending {
		t.Errorf("a match whose server starts is %v", s.Status)
	}
	cancel()
	if err := <-answer; err == nil || provider.Final(err) {
		t.Errorf("Allocate: %v, want an error that is not final", err)
	}
	close(start)
	allocate(t, f, "m")
	began := time.Now()
	if err := f.Release(ctx, ref("m")); err == nil || provider.Final(err) {
		t.Errorf("Release: %v, want an error that is not final", err)
	}
	if s := poll(t, f, "m"); s.Status != provider.Gone {
		t.Errorf("a match whose release began is %v", s.Status)
	}
	_, err := f.Allocate(t.Context(), request("m"))
	if provider.ReasonOf(err) != provider.Contention && time.Since(began) < 5*time.Second { // then it is killed
		t.Errorf("Allocate during the release: %v", err)
	}
	if err := os.WriteFile(told, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	release(t, f, "m")
	allocate(t, f, "m")
}

func TestClose(t *testing.T) {
	f := open(t, Settings{})
	addrs := []string{allocate(t, f, "m1"), allocate(t, f, "m2")}
	f.Close()
	for _, addr := range addrs {
		if !free(addr) {
			t.Errorf("the port of %s is still taken", addr)
		}
	}
	if _, err := f.Allocate(t.Context(), request("m3")); provider.ReasonOf(err) != provider.Contention {
		t.Errorf("Allocate after Close: %v", err)
	}
	if f.InUse() != 0 {
		t.Errorf("%d servers in use after Close", f.InUse())
	}
}

func TestBadOptions(t *testing.T) {
	for want, s := range map[string]Settings{"max-servers": {Max: -1}, "server-lifetime": {Lifetime: -1},
		"player-stay": {Stay: -1}} {
		if _, err := New(Options{Settings: s}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v): %v", s, err)
		}
	}
}

// serverOf is the server of a match.
func (f *Fleet) serverOf(r provider.Ref) *server {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.servers[key{r.Project, r.Match}]
}

// open makes a fleet that ends with the test.
func open(t *testing.T, s Settings) *Fleet {
	t.Helper()
	f, err := New(Options{Settings: s, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
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

// InUse counts the servers that run, start or end.
func (f *Fleet) InUse() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.servers)
}
