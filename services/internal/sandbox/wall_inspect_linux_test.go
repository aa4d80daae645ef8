package sandbox_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"matchmaker.dev/services/internal/sandbox"
)

// This machine's kernel has all the walls, and they hold.
func TestWallsHold(t *testing.T) {
	t.Setenv("SECRET", "of the runner")
	b := boxOf(t, sandbox.Options{Dir: t.TempDir(), Binary: child(t), Require: true})
	i, _ := start(t, b, load(t, b, reactor(echo()).bytes()))
	run(t, i, "x")
}

// The inspection reports each wall that is missing.
func TestInspectionFindsHoles(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for wall, test := range map[string]struct{ could, couldNot string }{
		"limitResources": {"exceed its limit of memory, be read by others of its user", "socket"},
		"loading": {
			"open a socket while a module is loaded, open a local socket while a module is loaded, " +
				"execute a program while",
			"while a module runs",
		},
		"running": {
			"map code while a module runs, make data code while a module runs, " +
				"map shared memory while a module runs, map a stack that grows while a module runs, " +
				"map droppable memory while a module runs, map populated memory while a module runs, " +
				"map memory that is not counted while a module runs, start a thread while a module runs, " +
				"map memory all over the address space while a module runs, copy mappings while a module runs, " +
				"unmap memory while a module runs, populate memory while a module runs",
			"while a module is loaded",
		},
	} {
		t.Run(wall, func(t *testing.T) {
			var log bytes.Buffer
			o := sandbox.Options{
				Dir: t.TempDir(), Binary: exe, Args: []string{without, wall}, Require: true,
				Log: slog.New(slog.NewTextHandler(&log, nil)),
			}
			_, err := sandbox.New(o)
			if _, ok := errors.AsType[*sandbox.HolesError](err); !ok {
				t.Fatalf("a sandbox without %s: %v", wall, err)
			}
			for part := range strings.SplitSeq(test.could, ", ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not found out: %v", part, err)
				}
			}
			if strings.Contains(err.Error(), test.couldNot) {
				t.Errorf("found out %q: %v", test.couldNot, err)
			}
			o.Require = false
			b, err := sandbox.New(o)
			if err != nil {
				t.Fatal(err)
			}
			b.Close()
			if part, _, _ := strings.Cut(test.could, ", "); !strings.Contains(log.String(), "level=WARN") ||
				!strings.Contains(log.String(), part) {
				t.Errorf("logged %s", log.String())
			}
		})
	}
}

// The inspection also reports what a careless parent passes on to a child. The child closes only descriptors itself,
// since the parent may not know what it has inherited.
func TestInspectionFindsCarelessParent(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	careless := []string{
		"read the environment variable SECRET", "use descriptor 2, of kind 020000",
		"signal the session of its parent", "gain privileges by a setuid binary",
		"list a folder while a module is loaded", "read a file while a module is loaded",
		"write a file while a module is loaded",
	}
	if capable, _ := strconv.ParseUint(status(t, os.Getpid(), "CapEff"), 16, 64); capable != 0 { // of root
		careless = append(careless, "use the capabilities of root")
	}
	if raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil && raw > 20 { // 20 is usual
		careless = append(careless, "compute as urgently as its parent")
	}
	for name, test := range map[string]struct {
		cmd  *exec.Cmd
		want []string
	}{
		"a child": {exec.Command(child(t), sandbox.Command), careless},
		"one without that caution": {exec.Command(exe, without, "closeInherited"),
			append(careless, "use descriptor 5, of kind 0100000",
				"use descriptor 40, of kind 0100000")},
	} {
		t.Run(name, func(t *testing.T) {
			holes := inspect(t, test.cmd)
			for _, want := range test.want {
				// Other holes depend on how the tests were started.
				if !slices.Contains(holes, want) {
					t.Errorf("%q is not found out, but %q", want, holes)
				}
			}
			if name == "a child" && len(holes) != len(test.want) {
				t.Errorf("found out %q", holes)
			}
		})
	}
}

// inspect starts a child without any of the parent's walls, and returns the holes that it found.
func inspect(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	dir := t.TempDir()
	secret, err := os.Create(filepath.Join(dir, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	requestsIn, requests, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer requests.Close()
	frames, framesOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	cmd.Env = []string{"SECRET=1", "GODEBUG=containermaxprocs=0"}
	cmd.ExtraFiles = []*os.File{requestsIn, framesOut, secret}
	for len(cmd.ExtraFiles) < 50 {
		cmd.ExtraFiles = append(cmd.ExtraFiles, nil)
	}
	cmd.ExtraFiles[40-3] = secret
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	requestsIn.Close()
	framesOut.Close()
	block, err := json.Marshal(map[string]any{"Inspect": true, "Data": 512 << 20, "Outside": dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := requests.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(block))), block...)); err != nil {
		t.Fatal(err)
	}
	frame, err := io.ReadAll(frames)
	if err != nil || len(frame) < 32 {
		t.Fatalf("%d bytes, %v", len(frame), err)
	}
	var found struct{ Holes []string }
	if err := json.Unmarshal(frame[32:], &found); err != nil {
		t.Fatalf("%v in %q", err, frame)
	}
	return found.Holes
}
