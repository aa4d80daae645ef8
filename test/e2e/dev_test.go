package e2e

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
)

// newDev starts the system as one process. Its front checks each answer and passes it on.
func newDev(t *testing.T, made *artefacts, more ...string) *system {
	t.Helper()
	dir := t.TempDir()
	s := newSystem(t, made, dir)
	command := []string{
		"dev", "--listen", "127.0.0.1:0", "--data", dir, "--log-format", "json",
		"--drain", patience.String(), "--player-stay", "0s",
	}
	s.commands["dev"] = slices.Concat(command, made.instances, more)
	front := httptest.NewServer(openapitest.Handler(t, passOn(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: s.address("dev")}) },
		Transport: newWay(t),
		ErrorLog:  slog.NewLogLogger(slog.NewTextHandler(&s.between, nil), slog.LevelWarn),
	})))
	t.Cleanup(front.Close)
	s.front = func() string { return front.URL }
	s.nats = func() string {
		url, err := os.ReadFile(filepath.Join(dir, bus.URLFile))
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSpace(string(url))
	}
	s.start(t, "dev")
	greeting := "Matchmaker listens on http://" + s.address("dev") + ","
	s.replica("dev").await(t, "printing "+greeting, func() bool { return s.replica("dev").log.contains(greeting) })
	return s
}

func dev(t *testing.T, made *artefacts) {
	if !persistent() {
		t.Fatal("redis-server or valkey-server is needed: without one dev keeps its state in memory")
	}
	s := newDev(t, made)
	guarded(t, s)
	play(t, s, nil)
	t.Run("crash", func(t *testing.T) { crash(t, s.project(t)) })
	t.Run("restart", func(t *testing.T) { restart(t, s.project(t)) })
	t.Run("memory", func(t *testing.T) {
		s := newDev(t, made, "--memory")
		guarded(t, s)
		if warning := "will not survive a restart"; !s.replica("dev").log.contains(warning) {
			t.Errorf("dev does not say that its state %s", warning)
		}
		liveServer(t, s.project(t))
	})
	t.Run("server-command", func(t *testing.T) { serverCommand(t, made) })
}

// serverCommand: a studio's own server runs for each match. It learns its match, what it prints is in the log, and it
// ends with the service.
func serverCommand(t *testing.T, made *artefacts) {
	told := t.TempDir()
	s := newDev(t, made, "--memory", "--server-command",
		`echo "serves $SERVER_MATCH"; echo "$MM_PROJECT $SERVER_MATCH $$" > `+told+`/$SERVER_PORT; exec sleep 1000`)
	p := s.project(t)
	p.upload(t, "duel", made.duel)
	p.ranked(t, "ranked", 0)
	ada, bob := p.ticket(t, "ada", attributes{"skill": 1200}), p.ticket(t, "bob", attributes{"skill": 1200})
	_, port, err := net.SplitHostPort(together(t, ada, bob))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	eventually(t, "the server writes what it is told", func() bool {
		text, _ := os.ReadFile(filepath.Join(told, port))
		words = strings.Fields(string(text))
		return len(words) == 3
	})
	if words[0] != p.name {
		t.Fatalf("the server of project %s is told %q", p.name, words)
	}
	match, process := words[1], words[2]
	eventually(t, "the match is told", func() bool {
		_, err := p.developer(t).GetMatch(within(t), match)
		if err != nil && client.Status(err) != http.StatusNotFound {
			t.Fatal(err)
		}
		return err == nil
	})
	log := s.replica("dev").log
	eventually(t, "what the server prints is logged", func() bool { return log.contains("serves " + match) })
	running := func() bool {
		_, err := os.Stat("/proc/" + process)
		return err == nil
	}
	if !running() {
		t.Error("the server does not run")
	}
	s.stop(t, "dev")
	eventually(t, "the server ends", func() bool { return !running() })
}

// guarded: a program that finds the ports of dev's Redis and NATS cannot log in, and only the user who started dev can
// read the files with the passwords.
func guarded(t *testing.T, s *system) {
	t.Helper()
	dir := s.commands["dev"][slices.Index(s.commands["dev"], "--data")+1]
	for name, refusal := range map[string]string{"redis.url": "-NOAUTH", bus.URLFile: "-ERR 'Authorization"} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want a file for its owner only", name, info, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		address, err := url.Parse(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", address.Host)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		question := "*1\r\n$6\r\nDBSIZE\r\n"
		if address.Scheme == "nats" {
			question = "CONNECT {}\r\nPING\r\n"
		}
		_, _ = io.WriteString(conn, question)
		in := bufio.NewScanner(conn)
		for in.Scan() && strings.HasPrefix(in.Text(), "INFO ") { // NATS greets everybody
		}
		if !strings.HasPrefix(in.Text(), refusal) {
			t.Errorf("%s answers a stranger %q, want %s", name, in.Text(), refusal)
		}
		conn.Close()
	}
}

// persistent reports whether there is a Redis server to start.
func persistent() bool {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}

// crash: after the process was killed and started again, all tickets are matched that it had created.
func crash(t *testing.T, p *project) {
	p.actor(t)
	p.crowd(t, 2, nil).paired(t) // from here on matches are made at once
	var came []*ticket
	for number := range 20 {
		came = append(came, p.ticket(t, fmt.Sprintf("player-%d", number), attributes{"number": float64(number)}))
	}
	p.s.kill("dev")
	p.s.start(t, "dev")
	all := make(crowd, len(came))
	for number, k := range came {
		all[number] = member{ticket: k, got: k.result(t)}
	}
	all.paired(t)
	p.crowd(t, 2, nil).meet(t)
}

// restart: after the process was stopped in good order and started again, tickets still wait, and functions and configs
// are there.
func restart(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	ada := p.ticket(t, "ada", attributes{"skill": 1200})
	drain(t, p, ada)
	p.s.start(t, "dev")
	ada.mustWait(t)
	if f, err := p.developer(t).GetFunction(within(t), "duel"); err != nil || f.Name != "duel" {
		t.Errorf("want the function, got %+v, %v", f, err)
	}
	if c, err := p.developer(t).GetConfig(within(t), "ranked"); err != nil || c.Matchmaking.TargetFunction.Name != "duel" {
		t.Errorf("want the config, got %+v, %v", c, err)
	}
	bob := p.ticket(t, "bob", attributes{"skill": 1200})
	server := together(t, ada, bob)
	ada.hello(t, server)
	bob.hello(t, server)
}
