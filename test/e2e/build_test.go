package e2e

import (
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

// artefacts are the files that are tested, built from the sources.
type artefacts struct {
	dir        string // of all of them
	matchmaker string // binary, with the race detector if dev is to have it
	plain, mm  string // binaries without it: matchmaker and mm, which compiles functions
	// newest is a binary whose rights all processes have, when matchmaker is of an older version; "" otherwise.
	newest      string
	duel, actor string // archives of match functions
	arena       string
	rules       string
	// hostile is a module that does what its settings say, and undeclared is the same without a manifest.
	hostile, undeclared string
	// instances are arguments for another binary that runs instances of functions: matchmaker with the race detector
	// cannot run them.
	instances []string
}

// build builds the artefacts into a temporary folder.
func build(t *testing.T) *artefacts {
	t.Helper()
	dir := t.TempDir()
	a := &artefacts{
		dir:        dir,
		matchmaker: filepath.Join(dir, "matchmaker"),
		mm:         filepath.Join(dir, "mm"),
		plain:      filepath.Join(dir, "matchmaker"),
		duel:       filepath.Join(dir, "duel.zip"),
		actor:      filepath.Join(dir, "actor.zip"),
		arena:      filepath.Join(dir, "arena.zip"),
		rules:      filepath.Join(dir, "rules.zip"),
		hostile:    "../neighbours/testdata/hostile.wasm",
		undeclared: "../neighbours/testdata/hostile-undeclared.wasm",
	}
	const services, mm = "matchmaker.dev/services/cmd/matchmaker", "matchmaker.dev/services/cmd/mm"
	var all sync.WaitGroup
	if *raceDev || raceEnabled() {
		child, err := sandboxtest.Build(dir)
		if err != nil {
			t.Fatal(err)
		}
		a.instances = []string{"--instance-binary", child}
		a.matchmaker = filepath.Join(dir, "matchmaker-race")
		all.Go(func() { golang(t, "build", "-race", "-ldflags=-s -w", "-o", a.matchmaker, services) })
	}
	for file, program := range map[string]string{a.mm: mm, a.plain: services} {
		all.Go(func() {
			if err := sandboxtest.Program(file, program); err != nil {
				t.Error(err)
			}
		})
	}
	for archive, function := range map[string]string{
		a.duel: "../../functions/duel", a.arena: "../../functions/arena", a.rules: "../../functions/rules",
		a.actor: "testdata/actor",
	} {
		all.Go(func() { golang(t, "run", "matchmaker.dev/pkg/matchfn/pack", "-o", archive, function) })
	}
	if all.Wait(); t.Failed() {
		t.FailNow()
	}
	a.compile(t)
	return a
}

// compile makes the machine code of the functions in Go, which the systems find in the folder of this user. An upload
// would make it beside all scenarios: at low priority, twice if it takes more than six seconds, and on a busy machine
// for longer than the tests wait.
func (a *artefacts) compile(t *testing.T) {
	t.Helper()
	binary := a.plain
	if len(a.instances) > 0 {
		binary = a.instances[1]
	}
	box, err := sandbox.New(sandbox.Options{
		Dir: t.TempDir(), Code: sandbox.UserCode(), Binary: binary, Log: slog.New(slog.DiscardHandler),
		Limits: sandbox.Limits{Compile: 10 * time.Minute, Start: patience},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	modules := [][]byte{withSection(unzip(t, a.actor))}
	for _, archive := range []string{a.duel, a.arena, a.rules, a.actor} {
		modules = append(modules, unzip(t, archive))
	}
	for _, wasm := range modules {
		if _, _, err := box.Load(t.Context(), "", wasm); err != nil {
			t.Fatal(err)
		}
	}
}

// withSection is a module that does the same as another one, and differs: it has an empty section of its own.
func withSection(wasm []byte) []byte { return append(wasm, 0, 2, 1, 'b') }

// withoutRace are the artefacts with binaries without the race detector.
func (a *artefacts) withoutRace() *artefacts {
	other := *a
	other.matchmaker, other.instances = a.plain, nil
	return &other
}

// golang runs the go command.
func golang(t *testing.T, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	if slices.Contains(args, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %v\n%s", cmd, err, &out)
	}
}

// raceEnabled reports whether the tests were built with the race detector.
func raceEnabled() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
