package embedded

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"matchmaker.dev/services/internal/edge/problem"
)

func TestRedisKeepsItsStateOverARestart(t *testing.T) {
	dir := t.TempDir()
	first := startRedis(t, RedisOptions{Dir: dir, AOF: true})
	if !first.Persistent() {
		t.Error("Persistent() = false for a server with AOF")
	}
	set(t, first.Addr(), "greeting", "hello")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := startRedis(t, RedisOptions{Dir: dir, AOF: true})
	if got := get(t, second.Addr(), "greeting"); got != "hello" {
		t.Errorf("greeting = %q after a restart, want hello", got)
	}
}

func TestRedisIsTakenOverFromAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	parent := exec.Command(os.Args[0], "parent", dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || strings.HasPrefix(addr, "error") {
		t.Fatalf("the other process said %q, %v", addr, err)
	}
	set(t, strings.TrimSpace(addr), "greeting", "hello")

	_, err = StartRedis(t.Context(), RedisOptions{Dir: dir, AOF: true, Log: silent()})
	if problem.KindOf(err) != problem.Conflict ||
		!strings.Contains(err.Error(), dir+" is in use by process "+strconv.Itoa(parent.Process.Pid)) {
		t.Errorf("a second process on the folder got %v, want a conflict that names the first", err)
	}

	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // "signal: killed"
	heir := startRedis(t, RedisOptions{Dir: dir, AOF: true})
	if got := get(t, heir.Addr(), "greeting"); got != "hello" {
		t.Errorf("greeting = %q after the owner was killed, want hello", got)
	}
}

// A child that is being started has all files of its parent for a moment, as a copy of the file has.
func TestRedisStartsAgainWhileAnotherChildHasItsFiles(t *testing.T) {
	dir := t.TempDir()
	r := startRedis(t, RedisOptions{Dir: dir, AOF: true})
	held, err := syscall.Dup(int(r.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(held)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	startRedis(t, RedisOptions{Dir: dir, AOF: true})
}

func TestRedisReportsItsLastOutput(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "appendonlydir")
	if err := os.Mkdir(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "appendonly.aof.manifest"), []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := StartRedis(t.Context(), RedisOptions{Dir: dir, AOF: true, Log: silent()})
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), "manifest") {
		t.Errorf("StartRedis on a broken folder: %v, want the exit status and what the server said", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is longer than a line: %q", err)
	}
	expectUnlocked(t, dir)
}

func TestRedisOnATakenPort(t *testing.T) {
	l, err := net.Listen("tcp", loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = StartRedis(t.Context(), RedisOptions{Dir: t.TempDir(), Port: l.Addr().(*net.TCPAddr).Port, Log: silent()})
	if err == nil || !strings.Contains(err.Error(), "port is taken") {
		t.Errorf("StartRedis on a taken port: %v", err)
	}
}

func TestRedisThatNeverAnswersIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	mute := filepath.Join(dir, "mute")
	if err := os.WriteFile(mute, []byte("#!/bin/sh\necho thinking\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	heard := &listener{word: "thinking", then: cancel}
	_, err := StartRedis(ctx, RedisOptions{Dir: dir, Binary: mute, Log: heard.logger()})
	if err == nil || !strings.Contains(err.Error(), "not ready: context canceled; its last output: thinking") {
		t.Errorf("StartRedis of a mute server: %v", err)
	}
	expectUnlocked(t, dir) // the process, which shares the lock, is gone
}

func TestAnswers(t *testing.T) {
	info := func(pid, loading int) string {
		text := fmt.Sprintf("# Server\r\nprocess_id:%d\r\n# Persistence\r\nloading:%d\r\nasync_loading:0\r\n", pid, loading)
		return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
	}
	tests := []struct {
		answer string
		want   bool
	}{
		{info(42, 0), true},
		{info(42, 1), false},   // still loading
		{info(4, 0), false},    // another owner's server
		{info(4242, 0), false}, // the same
		{"-ERR no\r\n", false},
		{"$1000\r\nprocess_id:42", false},
		{"", false},
	}
	for _, test := range tests {
		l, err := net.Listen("tcp", loopback(0))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if conn, err := l.Accept(); err == nil {
				_, _ = bufio.NewReader(conn).ReadString('\n')
				_, _ = io.WriteString(conn, test.answer)
				conn.Close()
			}
		}()
		if got := answers(l.Addr().String(), "", 42); got != test.want {
			t.Errorf("answers() = %v for a server that says %q", got, test.answer)
		}
		l.Close()
	}
}

func TestRedisWatch(t *testing.T) {
	r := startRedis(t, RedisOptions{Dir: t.TempDir()})
	if r.Persistent() {
		t.Error("Persistent() = true for a server without AOF")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Watch(ctx); err != nil {
		t.Errorf("Watch() = %v when its context ended first", err)
	}
	r.child.Kill()
	if err := r.Watch(t.Context()); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("Watch() = %v after the server was killed", err)
	}
}

func TestRedisInMemoryWhenThereIsNoBinary(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := startRedis(t, RedisOptions{Dir: t.TempDir(), AOF: true})
	if r.Persistent() {
		t.Error("Persistent() = true for a server in memory")
	}
	set(t, r.Addr(), "greeting", "hello")
	if got := get(t, r.Addr(), "greeting"); got != "hello" {
		t.Errorf("greeting = %q, want hello", got)
	}
	if _, err := StartRedis(t.Context(), RedisOptions{Dir: t.TempDir(), Binary: "redis-server",
		Log: silent()}); err == nil {
		t.Error("a binary that was named and is missing is no error")
	}
}

func TestRedisCloseIsQuiet(t *testing.T) {
	var out bytes.Buffer
	r, err := StartRedis(t.Context(), RedisOptions{Dir: t.TempDir(), AOF: true,
		Log: slog.New(slog.NewTextHandler(&out, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		t.Errorf("a good start and stop logged above debug: %s", &out)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// startRedis starts a server that ends with the test.
func startRedis(t *testing.T, o RedisOptions) *Redis {
	t.Helper()
	o.Log = silent()
	r, err := StartRedis(t.Context(), o)
	if err != nil {
		t.Fatalf("%v (on Debian and Ubuntu: apt-get install redis-server)", err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func expectUnlocked(t *testing.T, dir string) {
	t.Helper()
	f, err := lock(t.Context(), dir)
	if err != nil {
		t.Errorf("after a failed start: %v", err)
		return
	}
	f.Close()
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// set and get speak the protocol by hand; only package state may use a client.
func set(t *testing.T, addr, key, value string) {
	t.Helper()
	if got := call(t, addr, "SET", key, value); got != "+OK" {
		t.Fatalf("SET %s: %s", key, got)
	}
}

func get(t *testing.T, addr, key string) string {
	t.Helper()
	head, body, _ := strings.Cut(call(t, addr, "GET", key), "\r\n")
	if !strings.HasPrefix(head, "$") {
		t.Fatalf("GET %s: %s", key, head)
	}
	return body
}

// call is the answer to a command, without its last line end.
func call(t *testing.T, addr string, words ...string) string {
	t.Helper()
	conn := dial(t, addr)
	defer conn.Close()
	var out strings.Builder
	fmt.Fprintf(&out, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(w), w)
	}
	out.WriteString("*1\r\n$4\r\nQUIT\r\n")
	if _, err := io.WriteString(conn, out.String()); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(answer), "\r\n+OK\r\n")
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// listener calls then when a word is logged.
type listener struct {
	word string
	then func()
	once sync.Once
}

func (l *listener) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (l *listener) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(l.word)) {
		l.once.Do(l.then)
	}
	return len(p), nil
}
