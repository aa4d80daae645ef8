package gameserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/allocator/provider"
)

// parent rules a process of servers, which runs here as a goroutine.
type parent struct {
	t      *testing.T
	in     *io.PipeWriter
	events *bufio.Scanner
	done   chan error
}

func start(t *testing.T) *parent {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &parent{t: t, in: inW, events: bufio.NewScanner(outR), done: make(chan error, 1)}
	go func() {
		p.done <- gameserver.Main(t.Context(), inR, outW, gameserver.Options{Log: slog.New(slog.DiscardHandler)})
		outW.Close()
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return p
}

func (p *parent) command(c gameserver.Command) {
	p.t.Helper()
	if err := json.NewEncoder(p.in).Encode(c); err != nil {
		p.t.Fatal(err)
	}
}

func (p *parent) event() gameserver.Event {
	p.t.Helper()
	if !p.events.Scan() {
		p.t.Fatalf("no event: %v", p.events.Err())
	}
	var e gameserver.Event
	if err := json.Unmarshal(p.events.Bytes(), &e); err != nil {
		p.t.Fatal(err)
	}
	return e
}

// about is the payload of a match.
func about(match string, properties []byte, tickets ...string) []byte {
	r := provider.Request{
		Ref: provider.Ref{Match: match}, Teams: []provider.Team{{Name: "all", Tickets: tickets}}, Properties: properties,
	}
	text, err := r.Payload()
	if err != nil {
		panic(err)
	}
	return text
}

// server starts one and returns where it is.
func (p *parent) server(s gameserver.Start) string {
	p.t.Helper()
	p.command(gameserver.Command{Start: &s})
	e := p.event()
	if e.ID != s.ID || e.Connection == "" {
		p.t.Fatalf("start %s: %+v", s.ID, e)
	}
	return e.Connection
}

func TestHello(t *testing.T) {
	p := start(t)
	addr := p.server(gameserver.Start{
		ID: "p/m1", Match: about("m1", []byte(`{"map":{"name":"harbour"},"mode":"duel"}`), []string{"a", "b"}...),
	})
	if !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Errorf("the server is at %s, want a port of the loopback interface", addr)
	}
	for _, step := range []struct {
		ticket  string
		players int
	}{{"a", 1}, {"a", 1}, {"b", 2}, {"a", 2}} {
		got, err := gameservertest.Hello(t.Context(), addr, step.ticket)
		if err != nil {
			t.Fatal(err)
		}
		want := &gameserver.Welcome{
			Ticket: step.ticket, Match: "m1", Players: step.players, Map: []byte(`{"name":"harbour"}`),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := gameservertest.Hello(t.Context(), addr, "c"); !errors.Is(err, gameservertest.ErrStranger) {
		t.Errorf("a stranger's hello: %v", err)
	}
}

func TestGarbageGetsNoAnswer(t *testing.T) {
	p := start(t)
	addr := p.server(gameserver.Start{
		ID: "1", Match: about("m", []byte(`{"map":"`+strings.Repeat("x", 1000)+`"}`), []string{"a", "b"}...),
	})
	conn, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	long := `{"hello":"b"}` + strings.Repeat(" ", 512)
	for _, garbage := range []string{
		"", "{", "[]", "{}", `{"hello":""}`, `{"hello":7}`, `{"hello":null}`, "\x00\xff\xfe", strings.Repeat("[", 400), long,
		strings.Repeat("x", 60000), `{"hello":"a"}`,
	} {
		if _, err := conn.Write([]byte(garbage)); err != nil {
			t.Fatal(err)
		}
	}
	answer := make([]byte, 65536)
	n, err := conn.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	// The map of a thousand bytes is left out.
	if got, want := string(answer[:n]), `{"welcome":"a","match":"m","players":1}`; got != want {
		t.Errorf("the first answer is %s, want %s", got, want)
	}
}

func TestAStrangersAnswerIsShort(t *testing.T) {
	p := start(t)
	addr := p.server(gameserver.Start{ID: "1", Match: about("m", []byte(`{"map":"harbour"}`), []string{"a"}...)})
	conn, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(`{"hello":"` + strings.Repeat("b", 400) + `"}`)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 65536)
	n, err := conn.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(answer[:n]), `{"error":"stranger"}`; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
}

func TestStartingTwiceGivesTheSameServer(t *testing.T) {
	p := start(t)
	s := gameserver.Start{ID: "1", Match: about("m", nil, []string{"a"}...)}
	if one, two := p.server(s), p.server(s); one != two {
		t.Errorf("started twice: %s and %s", one, two)
	}
}

func TestStopFreesThePort(t *testing.T) {
	p := start(t)
	addr := p.server(gameserver.Start{ID: "1", Match: about("m", nil)})
	for range 2 { // the second time there is nothing to stop
		p.command(gameserver.Command{Stop: &gameserver.Stop{ID: "1"}})
		if diff := cmp.Diff(gameserver.Event{ID: "1", Ended: "stopped"}, p.event()); diff != "" {
			t.Error(diff)
		}
	}
	expectFree(t, addr)
}

func TestLifetime(t *testing.T) {
	p := start(t)
	addr := p.server(gameserver.Start{ID: "1", Match: about("m", nil), Lifetime: 20})
	if diff := cmp.Diff(gameserver.Event{ID: "1", Ended: "lifetime"}, p.event()); diff != "" {
		t.Error(diff)
	}
	expectFree(t, addr)
}

func TestEndsWithItsInput(t *testing.T) {
	p := start(t)
	addr := p.server(gameserver.Start{ID: "1", Match: about("m", nil)})
	p.in.Close()
	if err := <-p.done; err != nil {
		t.Errorf("Main() = %v at the end of its input", err)
	}
	expectFree(t, addr)
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	cancel()
	if err := gameserver.Main(ctx, in, io.Discard, gameserver.Options{}); err != nil {
		t.Errorf("Main() = %v when its context ended", err)
	}
}

func TestBrokenPipesAreErrors(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	err := gameserver.Main(t.Context(), strings.NewReader("nonsense\n"), io.Discard, gameserver.Options{Log: log})
	if err == nil || !strings.Contains(err.Error(), "command: ") {
		t.Errorf("nonsense on the input: %v", err)
	}
	deaf, out := io.Pipe()
	deaf.Close()
	err = gameserver.Main(
		t.Context(), strings.NewReader(`{"start":{"id":"1","match":{}}}`+"\n"), out, gameserver.Options{Log: log},
	)
	if err == nil || !strings.Contains(err.Error(), "write events: ") {
		t.Errorf("nobody at the output: %v", err)
	}
}

func TestAddressThatIsNotHere(t *testing.T) {
	var out strings.Builder
	err := gameserver.Main(t.Context(), strings.NewReader(`{"start":{"id":"1","match":{}}}`+"\n"), &out,
		gameserver.Options{Host: "192.0.2.1", Log: slog.New(slog.DiscardHandler)})
	if err != nil || !strings.HasPrefix(out.String(), `{"id":"1","error":"listen udp 192.0.2.1:0`) {
		t.Errorf("Main() = %v, event %s", err, &out)
	}
}

func TestManyServers(t *testing.T) {
	const many = 500
	p := start(t)
	addrs := make([]string, many)
	for i := range addrs {
		addrs[i] = p.server(gameserver.Start{ID: fmt.Sprint(i), Match: about(fmt.Sprint("m", i), nil, fmt.Sprint("t", i))})
	}
	var all sync.WaitGroup
	for i, addr := range addrs {
		all.Go(func() {
			w, err := gameservertest.Hello(t.Context(), addr, fmt.Sprint("t", i))
			if err != nil || w.Match != fmt.Sprint("m", i) {
				t.Errorf("server %d: %+v, %v", i, w, err)
			}
		})
	}
	all.Wait()
}

func expectFree(t *testing.T, addr string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		t.Errorf("the port is not free: %v", err)
		return
	}
	conn.Close()
}
