package embeddedtest

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/process/processtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// ports counts the ports of FreePort. They are below those that systems give to connections, above what package launch
// gives away, and begin at one of the process's own.
var ports atomic.Int32

// FreePort returns a free port of 127.0.0.1, another one at each call.
func FreePort(tb testing.TB) string {
	tb.Helper()
	for range 100 {
		port := strconv.Itoa(30000 + (os.Getpid()*61+int(ports.Add(1)))%2700)
		l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	tb.Fatal("no port is free")
	return ""
}

// StartRedis starts a Redis or a Sentinel by its command line, and waits until it listens. Another process may take the
// port that was found free, for a moment. The server runs until stop is called, or the test ends.
func StartRedis(tb testing.TB, args ...string) (stop func()) {
	tb.Helper()
	path := embedded.RedisBinary()
	if path == "" {
		tb.Fatal("a redis-server or valkey-server is needed: install one")
	}
	for deadline := time.Now().Add(Patience); ; {
		out, ended := new(processtest.Buffer), make(chan struct{})
		server := exec.Command(path, args...)
		server.Stdout, server.Stderr = out, out
		if err := server.Start(); err != nil {
			tb.Fatal(err)
		}
		go func() { defer close(ended); _ = server.Wait() }()
		stop = func() { _ = server.Process.Kill(); <-ended }
		says := func(text string) bool { return strings.Contains(out.String(), text) }
		listens := func() bool { return says("eady to accept connections") || says("Sentinel ID is") }
		waittest.Until(tb, "a Redis listens, or ends", func() bool {
			select {
			case <-ended:
				return true
			default:
				return listens()
			}
		})
		if says("Address already in use") && time.Now().Before(deadline) {
			stop()
			continue
		}
		if !listens() {
			tb.Fatal(out.String())
		}
		tb.Cleanup(func() {
			stop()
			if tb.Failed() {
				tb.Log(out.String())
			}
		})
		return stop
	}
}
