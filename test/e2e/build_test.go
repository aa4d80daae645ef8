package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

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
	return a
}

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
