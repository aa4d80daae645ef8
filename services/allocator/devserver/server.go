package devserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/process"
)

// server is the command of one match.
type server struct {
	address string
	process *process.Process
	// ending gets how long it may take to end, once.
	ending chan time.Duration
	// started is set when its parent was told that it runs. Guarded by the host's mu.
	started bool
}

// open starts a server.
func open(ctx context.Context, o Options, c *gameserver.Start) (*server, error) {
	var m provider.Payload
	if err := json.Unmarshal(c.Match, &m); err != nil {
		return nil, errors.New("the match is no JSON object") // the parser's error could quote the token in it
	}
	if len(c.Match) > MaxPayload {
		return nil, fmt.Errorf("the match takes %d bytes, a server command gets %d at most", len(c.Match), MaxPayload)
	}
	port, err := freePort(ctx, o.Host)
	if err != nil {
		return nil, fmt.Errorf("a port for the server: %w", err)
	}
	s := &server{address: net.JoinHostPort(o.Host, port), ending: make(chan time.Duration, 1)}
	cmd := exec.Command("/bin/sh", "-c", o.Command)
	cmd.Env = append(append([]string{}, o.Env...),
		"SERVER_ADDRESS="+s.address, "SERVER_HOST="+o.Host, "SERVER_PORT="+port,
		"SERVER_MATCH="+m.Match, "SERVER_PAYLOAD="+string(c.Match), "SERVER_BACKFILL="+m.Backfill,
		"MM_URL="+c.API, "MM_PROJECT="+m.Project, "MM_TOKEN="+m.Token)
	// Both are one writer, so that the last lines of both are in the error when it ends too soon.
	out := process.Lines(printer(o, m.Match))
	cmd.Stdout, cmd.Stderr = out, out
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if s.process, err = process.Start(cmd); err != nil {
		return nil, err
	}
	return s, nil
}

// What a server may print: this many lines a second, and at once. The rest is counted.
const (
	linesPerSecond = 100
	linesAtOnce    = 1000
)

// printer logs the lines of a server.
func printer(o Options, match string) func(line string) {
	limit, dropped := rate.NewLimiter(linesPerSecond, linesAtOnce), 0
	return func(line string) {
		if line = strings.TrimSpace(line); line == "" {
			return
		}
		if !limit.Allow() {
			dropped++
			return
		}
		if dropped > 0 {
			o.Log.Warn("the server prints too much: lines were left out", "match", match, "lines", dropped)
			dropped = 0
		}
		o.Log.Info(line, "match", match)
	}
}

// end asks the server to end within a time. It does not wait.
func (s *server) end(within time.Duration) {
	select {
	case s.ending <- within:
	default: // it was asked before
	}
}

// finish ends the server, and returns when it has ended.
func (s *server) finish(within time.Duration) {
	s.signal(syscall.SIGTERM)
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-s.process.Done():
	case <-late.C:
		s.signal(syscall.SIGKILL)
		<-s.process.Done()
	}
}

// sweep kills what the server started and left behind.
func (s *server) sweep() { s.signal(syscall.SIGKILL) }

// signal sends a signal to the server and to all that it started, which are one process group.
func (s *server) signal(signal syscall.Signal) { _ = syscall.Kill(-s.process.PID(), signal) }

// freePort finds a port that is free for UDP and TCP.
func freePort(ctx context.Context, host string) (string, error) {
	var (
		lc   net.ListenConfig
		last error
	)
	for range 16 {
		tcp, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return "", err
		}
		at := tcp.Addr().String()
		udp, err := lc.ListenPacket(ctx, "udp", at)
		_ = tcp.Close()
		if err != nil {
			last = err
			continue
		}
		_ = udp.Close()
		_, port, err := net.SplitHostPort(at)
		return port, err
	}
	return "", last
}
