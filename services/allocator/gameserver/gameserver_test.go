package gameserver_test

import (
	"context"
	"errors"
	"fmt"
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

// server runs until end, or until its game is over.
type server struct {
	at    string
	end   context.CancelFunc
	ended chan error
}

func start(t *testing.T, o gameserver.Options) *server {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	ctx, end := context.WithCancel(t.Context())
	s, at := &server{end: end, ended: make(chan error, 1)}, make(chan string, 1)
	go func() { s.ended <- gameserver.Run(ctx, o, func(connection string) { at <- connection }) }()
	select {
	case s.at = <-at:
	case err := <-s.ended:
		t.Fatal(err)
	}
	return s
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

func TestHello(t *testing.T) {
	addr := start(t, gameserver.Options{
		Match: about("m1", []byte(`{"map":{"name":"harbour"},"mode":"duel"}`), "a", "b"),
	}).at
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
	addr := start(t, gameserver.Options{
		Match: about("m", []byte(`{"map":"`+strings.Repeat("x", 1000)+`"}`), "a", "b"),
	}).at
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
	addr := start(t, gameserver.Options{Match: about("m", []byte(`{"map":"harbour"}`), "a")}).at
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

func TestTheEndFreesThePort(t *testing.T) {
	s := start(t, gameserver.Options{Match: about("m", nil)})
	s.end()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	conn, err := net.ListenPacket("udp", s.at)
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	conn.Close()
}

func TestMatchThatIsNone(t *testing.T) {
	err := gameserver.Run(t.Context(), gameserver.Options{Match: []byte(`"secret`)}, nil)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestManyServers(t *testing.T) {
	const many = 500
	addrs := make([]string, many)
	for i := range addrs {
		addrs[i] = start(t, gameserver.Options{Match: about(fmt.Sprint("m", i), nil, fmt.Sprint("t", i))}).at
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
