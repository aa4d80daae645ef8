package compose

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// prefix begins the names of what an engine makes: its folder, in which its network namespace is, and its cgroups. A
// process id follows.
const prefix = "matchmaker-compose-"

// engine is a Docker engine with a network namespace of its own, whose ports collide with no others.
type engine struct {
	name   string
	folder string // has all its files
	daemon *exec.Cmd
	log    *os.File
}

// start starts an engine, and removes it with everything that it made when the test ends. ctx ends before the test
// does, so that there is time for that.
func start(ctx context.Context, t *testing.T) *engine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("a container engine needs root: run make compose as root")
	}
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	e := &engine{name: prefix + strconv.Itoa(os.Getpid())}
	e.folder = filepath.Join(os.TempDir(), e.name)
	t.Cleanup(func() { e.stop(t) })
	if err := os.Mkdir(e.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	e.write(t, "daemon.json", `{"deprecated-key-path": "`+filepath.Join(e.folder, "key.json")+`"}`)
	e.write(t, "net", "")
	for _, line := range [][]string{
		{"unshare", "--net=" + e.namespace(), "true"}, // the namespace stays, as a mount
		{"nsenter", "--net=" + e.namespace(), "ip", "link", "set", "lo", "up"},
	} {
		if said, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, said)
		}
	}
	var err error
	if e.log, err = os.Create(filepath.Join(e.folder, "dockerd.log")); err != nil {
		t.Fatal(err)
	}
	// Not ip netns exec, in whose mount namespace the cgroups are hidden.
	e.daemon = exec.Command("nsenter", "--net="+e.namespace(), "dockerd",
		"--config-file", filepath.Join(e.folder, "daemon.json"),
		"--data-root", filepath.Join(e.folder, "data"), "--exec-root", filepath.Join(e.folder, "exec"),
		"--pidfile", filepath.Join(e.folder, "pid"), "--host", e.socket(), "--storage-driver", "overlay2",
		"--cgroup-parent", "/"+e.name, "--log-level", "warn")
	e.daemon.Stdout, e.daemon.Stderr = e.log, e.log
	e.daemon.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the terminal is for the test
	if err := e.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, 2*time.Minute, "the engine answers", func(ctx context.Context) error {
		_, err := e.run(ctx, "", "docker", "version")
		return err
	})
	return e
}

func (e *engine) socket() string    { return "unix://" + filepath.Join(e.folder, "sock") }
func (e *engine) namespace() string { return filepath.Join(e.folder, "net") }

// write makes a file in the engine's folder.
func (e *engine) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(e.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command is one that speaks to the engine.
func (e *engine) command(ctx context.Context, folder, name string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir = folder
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "DOCKER_") || strings.HasPrefix(v, "COMPOSE_") || strings.HasPrefix(v, "MM_")
	})
	cmd.Env = append(cmd.Env, "HOSTING_KEYS="+filepath.Join(e.folder, "hosting-keys"), "DOCKER_HOST="+e.socket(),
		"DOCKER_CONFIG="+filepath.Join(e.folder, "client"),
		// The engine's own builder needs no plug-in of the client.
		"DOCKER_BUILDKIT=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// run runs such a command and returns what it prints.
func (e *engine) run(ctx context.Context, folder, name string, arguments ...string) (string, error) {
	cmd := e.command(ctx, folder, name, arguments...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(arguments, " "), err, tail(out.String()),
			tail(errs.String()))
	}
	return out.String(), nil
}

// must is run for what has to succeed.
func (e *engine) must(ctx context.Context, t *testing.T, folder, name string, arguments ...string) string {
	t.Helper()
	said, err := e.run(ctx, folder, name, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// inside runs a command in the engine's network, where the published ports are.
func (e *engine) inside(ctx context.Context, folder, name string, arguments ...string) (string, error) {
	return e.run(ctx, folder, "nsenter", append([]string{"--net=" + e.namespace(), "--", name}, arguments...)...)
}

// client sends requests in the engine's network.
func (e *engine) client() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.DialContext = e.dial
	transport.MaxIdleConnsPerHost = 64
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// dial opens a connection in the engine's network. A socket stays in the namespace in which it was made.
func (e *engine) dial(ctx context.Context, network, address string) (net.Conn, error) {
	type dialed struct {
		conn net.Conn
		err  error
	}
	answer := make(chan dialed, 1)
	go func() {
		// Never unlocked: the thread is in the other namespace, and ends with this goroutine.
		runtime.LockOSThread()
		there, err := os.Open(e.namespace())
		if err == nil {
			err = unix.Setns(int(there.Fd()), unix.CLONE_NEWNET)
			_ = there.Close()
		}
		if err != nil {
			answer <- dialed{err: err}
			return
		}
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, network, address)
		answer <- dialed{conn, err}
	}()
	d := <-answer
	return d.conn, d.err
}

// stop ends the engine and removes what it made. What is left then is an error.
func (e *engine) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if t.Failed() && e.log != nil {
		if text, err := os.ReadFile(e.log.Name()); err == nil {
			t.Logf("the engine's log ends with:\n%s", tail(string(text)))
		}
	}
	if e.daemon != nil && e.daemon.Process != nil {
		if ids, err := e.run(ctx, "", "docker", "ps", "--all", "--quiet"); err == nil && ids != "" {
			_, _ = e.run(ctx, "", "docker", append([]string{"rm", "--force", "--volumes"}, strings.Fields(ids)...)...)
		}
		ended := make(chan error, 1)
		_ = e.daemon.Process.Signal(syscall.SIGTERM)
		go func() { ended <- e.daemon.Wait() }()
		select {
		case <-ended:
		case <-ctx.Done():
			t.Error("the engine does not end, and is killed")
			_ = e.daemon.Process.Kill()
			<-ended
		}
	}
	if e.log != nil {
		_ = e.log.Close()
	}
	if err := remove(e.name); err != nil {
		t.Error(err)
	}
	if left := leftovers(e.name); len(left) != 0 {
		t.Errorf("left behind: %s", strings.Join(left, ", "))
	}
}

// sweep removes what an earlier run left that was killed.
func sweep() error {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range found {
		name := filepath.Base(path)
		id, err := strconv.Atoi(strings.TrimPrefix(name, prefix))
		if err != nil || id == os.Getpid() || syscall.Kill(id, 0) == nil {
			continue // of a process that still runs
		}
		if err := remove(name); err != nil {
			return err
		}
	}
	return nil
}

// remove ends the processes of an engine, and removes its mounts, cgroups and files. Its network namespace, with the
// rules in it, is one of the mounts.
func remove(name string) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; <-again.C {
		left := processes(name)
		for _, id := range left {
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
		if len(left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	var errs []error
	for _, point := range slices.Backward(mounts(name)) {
		if err := unix.Unmount(point, unix.MNT_DETACH); err != nil {
			errs = append(errs, fmt.Errorf("unmount %s: %w", point, err))
		}
	}
	for _, group := range slices.Backward(cgroups(name)) {
		if err := os.Remove(group); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, os.RemoveAll(filepath.Join(os.TempDir(), name)))...)
}

// leftovers names what there still is of an engine.
func leftovers(name string) (left []string) {
	for _, id := range processes(name) {
		left = append(left, "process "+strconv.Itoa(id))
	}
	for _, path := range slices.Concat(mounts(name), cgroups(name), []string{filepath.Join(os.TempDir(), name)}) {
		if _, err := os.Lstat(path); err == nil {
			left = append(left, path)
		}
	}
	return left
}

// processes are the processes of an engine: its own, by what they are called with, and its containers'.
func processes(name string) (found []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil || id == os.Getpid() || id == os.Getppid() {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		group, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cgroup"))
		if bytes.Contains(line, []byte(name)) || bytes.Contains(group, []byte("/"+name)) {
			found = append(found, id)
		}
	}
	return found
}

// mounts are those below an engine's folder, in the order in which they were made.
func mounts(name string) (found []string) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && slices.Contains(strings.Split(fields[4], "/"), name) {
			found = append(found, fields[4])
		}
	}
	return found
}

// cgroups are the control groups of an engine, parents first.
func cgroups(name string) (found []string) {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains(strings.Split(path, "/"), name) {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// bounded is the time that a test has: until it is interrupted, or a while before it must end.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-4*time.Minute))
		t.Cleanup(cancel)
	}
	return ctx
}

// patience is how long a condition may take that a busy machine delays.
const patience = 3 * time.Minute

// until waits until a condition holds, which is asked again and again.
func until(ctx context.Context, t *testing.T, patience time.Duration, what string, holds func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		err := holds(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %v: %v", what, patience, err)
		case <-again.C:
		}
	}
}

// step does a part of the test that others need.
func step(t *testing.T, name string, do func(t *testing.T)) {
	t.Helper()
	if !part(t, name, do) {
		t.FailNow()
	}
}

// part does a part of the test and says how long it took.
func part(t *testing.T, name string, do func(t *testing.T)) bool {
	t.Helper()
	began := time.Now()
	passed := t.Run(name, do)
	t.Logf("%-40s %s", name, time.Since(began).Round(100*time.Millisecond))
	return passed
}

// tail is the end of a text.
func tail(text string) string {
	const most = 6000
	if len(text) > most {
		return "…" + text[len(text)-most:]
	}
	return text
}

// state is what the engine says of a container.
type state struct {
	Status string
	Pid    int
	Health *struct{ Status string }
}

// inspect asks for the state of a service's container.
func (e *engine) inspect(ctx context.Context, service string) (s state, restarts int, err error) {
	text, err := e.run(ctx, "", "docker", "inspect", "matchmaker-"+service+"-1")
	if err != nil {
		return s, 0, err
	}
	var all []struct {
		State        state
		RestartCount int
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) != 1 {
		return s, 0, fmt.Errorf("docker inspect: %w: %s", err, text)
	}
	return all[0].State, all[0].RestartCount, nil
}

// awaitHealthy waits until a service's container is healthy.
func (e *engine) awaitHealthy(ctx context.Context, t *testing.T, service string) {
	t.Helper()
	until(ctx, t, patience, service+" is healthy", func(ctx context.Context) error { return e.healthy(ctx, service) })
}

// healthy is nil when a service's container runs, and is healthy where it has a check.
func (e *engine) healthy(ctx context.Context, service string) error {
	s, _, err := e.inspect(ctx, service)
	if err == nil && (s.Status != "running" || s.Health != nil && s.Health.Status != "healthy") {
		err = fmt.Errorf("%s is %s, %+v", service, s.Status, s.Health)
	}
	return err
}
