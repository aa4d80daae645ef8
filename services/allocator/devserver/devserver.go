// Package devserver runs a studio's own game servers for development: for each match a command of the studio, which
// learns its match from environment variables.
//
// A command gets, beside PATH, HOME, USER, SHELL, LANG and TMPDIR:
//
//	SERVER_ADDRESS, SERVER_HOST, SERVER_PORT    where players connect to: a port that is free for UDP and TCP
//	SERVER_MATCH                                the match's id
//	SERVER_PAYLOAD                              the match, a provider.Payload
//	SERVER_BACKFILL                             the backfill ticket that was made with the match, if there is one
//	MM_URL, MM_PROJECT, MM_TOKEN                where the service is, and the server's token, if it has one
//
// It is asked to end with SIGTERM, and killed with all that it started if it still runs after five seconds; after two
// if this process was killed.
package devserver

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/process"
)

// MaxPayload is the most bytes of a match that a command can be given: an environment variable has a limit.
const MaxPayload = 96 << 10

const (
	host = "127.0.0.1"
	// grace is how long a command may take to end.
	grace = 5 * time.Second
	// settled is how long a command must run to count as started.
	settled = 250 * time.Millisecond
)

// guarded runs the command $0. Beside it, something waits for the end of standard input, which is this process's, and
// ends the command's process group then.
const guarded = `( (trap "" TERM; read -r _; kill 0; sleep 2; kill -9 0) <&3 >/dev/null 2>&1 & ) 3<&0
exec /bin/sh -c "$0"`

// Options of a server.
type Options struct {
	// Command is for the shell.
	Command string
	// Match is a provider.Payload.
	Match []byte
	// API is the URL of the service.
	API string
	// Log gets what the command prints.
	Log *slog.Logger
}

// Run runs a command for a match until it or ctx ends, and calls started with its address when it runs. Nothing that
// the command started runs when it returns. An error says why the command did not start.
func Run(ctx context.Context, o Options, started func(connection string)) error {
	p, address, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer signal(p, syscall.SIGKILL) // what the command left behind
	select {
	case <-p.Done():
		return p.Err()
	case <-ctx.Done():
	case <-time.After(settled):
		started(address)
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		signal(p, syscall.SIGTERM)
		select {
		case <-p.Done():
		case <-time.After(grace):
			signal(p, syscall.SIGKILL)
			<-p.Done()
		}
	}
	return nil
}

// signal sends a signal to a command and to all that it started, which are one process group.
func signal(p *process.Process, s syscall.Signal) { _ = syscall.Kill(-p.PID(), s) }

// start starts a command and returns where players are to connect to.
func start(ctx context.Context, o Options) (p *process.Process, address string, err error) {
	m, err := provider.ReadPayload(o.Match)
	if err != nil {
		return nil, "", err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("a port for the server: %w", err)
	}
	address = net.JoinHostPort(host, port)
	cmd := exec.Command("/bin/sh", "-c", guarded, o.Command)
	cmd.Env = []string{
		"SERVER_ADDRESS=" + address, "SERVER_HOST=" + host, "SERVER_PORT=" + port,
		"SERVER_MATCH=" + m.Match, "SERVER_PAYLOAD=" + string(o.Match), "SERVER_BACKFILL=" + m.Backfill,
		"MM_URL=" + o.API, "MM_PROJECT=" + m.Project, "MM_TOKEN=" + m.Token,
	}
	// Commands find programs and files as in the developer's shell. No setting of the services is among these.
	for _, name := range []string{"PATH", "HOME", "USER", "SHELL", "LANG", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	// The kernel must not kill the command with this process: it has two seconds to delete its backfill ticket.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Both are one writer, so that the last lines of both are in the error when it ends too soon.
	out := process.Lines(printer(o.Log, m.Match))
	cmd.Stdout, cmd.Stderr = out, out
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	p, err = process.Start(cmd)
	return p, address, err
}

// What a server may print: this many lines a second, and at once. The rest is counted.
const (
	linesPerSecond = 100
	linesAtOnce    = 1000
)

// printer logs the lines of a server.
func printer(log *slog.Logger, match string) func(line string) {
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
			log.Warn("game server: it prints too much: lines were left out", "match", match, "lines", dropped)
			dropped = 0
		}
		log.Info("game server: "+line, "match", match)
	}
}

// freePort finds a port that is free for UDP and TCP.
func freePort(ctx context.Context) (string, error) {
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
