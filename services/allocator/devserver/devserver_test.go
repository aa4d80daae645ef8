package devserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/services/allocator/devserver"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/process/processtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// TestMain lets the test binary be a parent that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "parent" {
		o := devserver.Options{Command: os.Args[2], Match: []byte("{}"), Log: slog.New(slog.DiscardHandler)}
		fmt.Println(devserver.Run(context.Background(), o, func(string) {}))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// server is a command that runs until end, or until it ends.
type server struct {
	at    chan string
	end   context.CancelFunc
	ended chan error
	log   *processtest.Buffer
}

func start(t *testing.T, command string) *server {
	t.Helper()
	r := provider.Request{
		Ref: provider.Ref{Project: "demo", Match: "m-1"}, Teams: []provider.Team{{Tickets: []string{"a"}}},
		Properties: []byte(`{"map":"harbour"}`), Backfill: "b-1", Token: "secret",
	}
	match, err := r.Payload()
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	s := &server{at: make(chan string, 1), end: end, ended: make(chan error), log: new(processtest.Buffer)}
	go func() {
		defer close(s.ended)
		o := devserver.Options{Command: command, Match: match, API: "http://127.0.0.1:1",
			Log: slog.New(slog.NewTextHandler(s.log, nil))}
		if err := devserver.Run(ctx, o, func(connection string) { s.at <- connection }); err != nil {
			s.ended <- err
		}
	}()
	t.Cleanup(func() {
		end()
		<-s.ended
	})
	return s
}

// gone reports whether a process has ended. No parent may be there to wait for it.
func gone(pid string) bool {
	state, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || bytes.Contains(state, []byte(") Z "))
}

// told is a file that a command writes a process's id to, and read waits for it.
func told(t *testing.T) (path string, read func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "told")
	return path, func() string {
		t.Helper()
		var text []byte
		waittest.Until(t, "the process has begun", func() bool {
			text, _ = os.ReadFile(path)
			return bytes.HasSuffix(text, []byte("\n"))
		})
		return strings.TrimSpace(string(text))
	}
}

// A command learns its match, what it prints is logged, and it ends when it is asked to, with what it started.
func TestCommandRunsForItsMatch(t *testing.T) {
	path, child := told(t)
	s := start(t, `env > `+path+`.env; echo "hello $SERVER_MATCH"; sleep 1000 & echo $! > `+path+`; wait`)
	at := <-s.at
	host, port, err := net.SplitHostPort(at)
	if err != nil || host != "127.0.0.1" {
		t.Fatalf("it is at %q", at)
	}
	waittest.Until(t, "the server has said hello", func() bool { return strings.Contains(s.log.String(), "hello m-1") })
	text, err := os.ReadFile(path + ".env")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		env[name] = value
	}
	for name, want := range map[string]string{
		"SERVER_ADDRESS": at, "SERVER_HOST": host, "SERVER_PORT": port, "SERVER_MATCH": "m-1", "PATH": os.Getenv("PATH"),
		"SERVER_BACKFILL": "b-1", "MM_URL": "http://127.0.0.1:1", "MM_PROJECT": "demo", "MM_TOKEN": "secret",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	if !strings.Contains(env["SERVER_PAYLOAD"], `"matchProperties":{"map":"harbour"}`) {
		t.Errorf("the payload is %q", env["SERVER_PAYLOAD"])
	}
	pid := child()
	s.end()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	waittest.Until(t, "the child has ended", func() bool { return gone(pid) })
}

// A command has no secret of the service.
func TestEnvironmentIsNotTheServices(t *testing.T) {
	t.Setenv("MATCHMAKER_KEYS", "secret")
	s := start(t, `echo "has <$MATCHMAKER_KEYS>"; exec sleep 1000`)
	waittest.Until(t, "the server has said it", func() bool { return strings.Contains(s.log.String(), "has <") })
	if strings.Contains(s.log.String(), "has <secret") {
		t.Error(s.log)
	}
}

// A command that does not start says why; one that ends by itself is over.
func TestCommandsThatEnd(t *testing.T) {
	var err error
	waittest.Until(t, "a command ends before it counts as started, which it may not on a busy machine", func() bool {
		err = <-start(t, `echo "no map" >&2; exit 3`).ended
		return err != nil
	})
	if !strings.Contains(err.Error(), "exit status 3; its last output: no map") {
		t.Error(err)
	}
	release := filepath.Join(t.TempDir(), "go")
	s := start(t, `while [ ! -e `+release+` ]; do sleep 0.05; done`)
	<-s.at
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// A command that prints without end does not fill the log.
func TestOutputIsLimited(t *testing.T) {
	s := start(t, `i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exec sleep 1000`)
	<-s.at
	waittest.Until(t, "the log is there", func() bool { return strings.Count(s.log.String(), "\n") >= 1000 })
	s.end()
	<-s.ended
	if n := strings.Count(s.log.String(), "\n"); n > 10000 {
		t.Errorf("%d lines were logged", n)
	}
}

// Servers end with a parent that is killed, also those that take no notice of SIGTERM.
func TestServersEndWithTheirParent(t *testing.T) {
	for _, command := range []string{"exec sleep 1000", "trap '' TERM; sleep 1000; sleep 1000"} {
		path, server := told(t)
		parent := exec.Command(os.Args[0], "parent", "echo $$ > "+path+"; "+command)
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		pid := server()
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait() // "signal: killed"
		waittest.Until(t, "the end of the orphaned server", func() bool { return gone(pid) })
	}
}

func TestMatchThatIsNone(t *testing.T) {
	err := devserver.Run(t.Context(), devserver.Options{Match: json.RawMessage(`"secret`)}, nil)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
