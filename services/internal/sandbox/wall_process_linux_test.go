package sandbox_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
)

// status reads a field of /proc/<pid>/status.
func status(t *testing.T, pid int, field string) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	t.Fatalf("/proc/%d/status has no %s", pid, field)
	return ""
}

func TestProcessIsConfined(t *testing.T) {
	t.Setenv("SECRET", "of the runner")
	b := newBox(t, sandbox.Limits{Memory: 64 << 20})
	i, _ := start(t, b, load(t, b, reactor(echo()).bytes()))
	run(t, i, "x")

	for field, want := range map[string]string{"NoNewPrivs": "1", "Seccomp": "2"} {
		if got := status(t, i.Pid(), field); got != want {
			t.Errorf("%s = %s, want %s", field, got, want)
		}
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", i.Pid()))
	if err != nil || len(tasks) == 0 {
		t.Fatal(tasks, err)
	}
	for _, task := range tasks { // and so is every thread
		tid, err := strconv.Atoi(filepath.Base(task))
		if err != nil {
			t.Fatal(err)
		}
		if got := status(t, tid, "Seccomp") + status(t, tid, "NoNewPrivs"); got != "21" {
			t.Errorf("thread %d: Seccomp and NoNewPrivs = %s, want 21", tid, got)
		}
	}
	// One capability may be left: to pass through folders of other users.
	for _, field := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
		if got := status(t, i.Pid(), field); got != "0000000000000000" && got != "0000000000000004" {
			t.Errorf("%s = %s", field, got)
		}
	}
	raised, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	nice := min(20-raised+5, 19)
	for _, task := range tasks {
		tid, _ := strconv.Atoi(filepath.Base(task))
		if got := niceOf(t, tid); got != nice {
			t.Errorf("the nice value of thread %d is %d, want %d", tid, got, nice)
		}
	}
	if enabled, _ := os.ReadFile("/proc/sys/kernel/sched_autogroup_enabled"); string(enabled) == "1\n" {
		// The group of the first session has no name, and its nice value counts as 0.
		var own int
		if about := proc(t, os.Getpid(), "autogroup"); about != "" {
			if _, err := fmt.Sscanf(about, "/autogroup-%d nice %d", new(int), &own); err != nil {
				t.Fatalf("%q: %v", about, err)
			}
		}
		// A process without privileges may have to try again.
		want := fmt.Sprintf("nice %d\n", min(own+5, 19))
		await(t, func() bool { return strings.HasSuffix(proc(t, i.Pid(), "autogroup"), want) },
			func() string { return fmt.Sprintf("its session is %q, want %q", proc(t, i.Pid(), "autogroup"), want) })
	}
	limits := proc(t, i.Pid(), "limits")
	for name, want := range map[string]int{"Max data size": (256 + 64) << 20, "Max open files": 32,
		"Max core file size": 0} {
		_, rest, _ := strings.Cut(limits, name)
		if fields := strings.Fields(rest); len(fields) < 2 || fields[0] != strconv.Itoa(want) || fields[1] != fields[0] {
			t.Errorf("%s: %.60q, want soft and hard %d", name, rest, want)
		}
	}
	if sid, err := syscall.Getpgid(i.Pid()); err != nil || sid != i.Pid() {
		t.Errorf("its process group is %d, %v; want its own, %d", sid, err, i.Pid())
	}
	// Other processes of the same user cannot read its memory. Root can, and sees no secret.
	if env := proc(t, i.Pid(), "environ"); strings.Contains(env, "SECRET") || strings.Contains(env, "PATH") {
		t.Errorf("its environment: %q", env)
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", i.Pid()))
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		t.Fatal(err)
	}
	for _, fd := range fds {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", i.Pid(), fd.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if kind, _, _ := strings.Cut(target, ":"); target != "/dev/null" && kind != "pipe" && kind != "anon_inode" {
			t.Errorf("descriptor %s is %s", fd.Name(), target)
		}
	}
}

// niceOf reads the nice value of a thread.
func niceOf(t *testing.T, tid int) int {
	t.Helper()
	_, fields, _ := strings.Cut(proc(t, tid, "stat"), ") ")
	nice, err := strconv.Atoi(strings.Fields(fields)[16])
	if err != nil {
		t.Fatal(err)
	}
	return nice
}

// await waits for a condition, and fails with the reason when it does not come true.
func await(t *testing.T, condition func() bool, reason func() string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal(reason())
		}
	}
}

// proc reads a file of /proc/<pid>, "" when it is not ours to read.
func proc(t *testing.T, pid int, file string) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		t.Fatal(err)
	}
	return string(b)
}

// An instance that is killed from outside while it is idle is known to have ended.
func TestKilledInstanceIsNoticed(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	i, _ := start(t, b, load(t, b, reactor(echo()).bytes()))
	if err := syscall.Kill(i.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-i.Done()
	if e := fails(t, i, "x", sandbox.Died); !strings.Contains(e.Detail, "signal: killed") {
		t.Errorf("detail = %s", e.Detail)
	}
}

// In the process that is to be killed, this test is a runner with one instance that computes for ever and an idle one.
// It prints their process ids.
func TestInstancesDieWithTheRunner(t *testing.T) {
	if dir := os.Getenv("SANDBOX_DIR"); dir != "" {
		runner(t, dir)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(exe, "-test.run=^TestInstancesDieWithTheRunner$")
	parent.Env = append(os.Environ(), "SANDBOX_DIR="+t.TempDir(), "SANDBOX_CHILD="+child(t))
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = parent.Wait()
	for field := range strings.FieldsSeq(line) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("the runner printed %q", line)
		}
		awaitGone(t, pid)
	}
}

func runner(t *testing.T, dir string) {
	b := boxOf(t, sandbox.Options{Dir: dir, Binary: os.Getenv("SANDBOX_CHILD"), Limits: sandbox.Limits{Run: time.Minute}})
	spin := reactor(cat(write(16, 8), loop(nil)), printing())
	spin.text = "running\n"
	m := load(t, b, spin.bytes())
	idle, _ := start(t, b, m)
	var busy *sandbox.Instance
	busy, err := b.Start(t.Context(), m, "busy", func(string) { fmt.Println(idle.Pid(), busy.Pid()) })
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = busy.Run(t.Context(), nil, 0)
	t.Fatalf("this process was not killed: %v", err)
}

// awaitGone waits until a process has ended or is a zombie: its parent is dead, and the machine's init may be slow.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	stat := func() string {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return string(b)
	}
	await(t, func() bool { return stat() == "" || strings.Contains(stat(), ") Z ") },
		func() string { return fmt.Sprintf("process %d outlived its parent: %s", pid, stat()) })
}

// The cache has code that is executed: only its owner may write to it.
func TestFolderIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "box")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	b := boxOf(t, sandbox.Options{Dir: dir, Binary: child(t)})
	load(t, b, reactor(echo()).bytes())
	var open []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o022 != 0 {
			open = append(open, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 || !slices.Equal(open, nil) {
		t.Errorf("%v, %v; others can write to %v", info.Mode(), err, open)
	}
}
