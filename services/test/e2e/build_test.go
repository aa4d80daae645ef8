package e2e

import (
	"bytes"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
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
	look(t, "../../../functions", "../../../pkg", "../../../proto", "../..")
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
	command := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", dir}
	if *raceDev || raceEnabled() {
		command = append(command, "-race")
		child, err := sandboxtest.Build(dir)
		if err != nil {
			t.Fatal(err)
		}
		a.instances = []string{"--instance-binary", child}
		a.plain = filepath.Join(dir, "matchmaker-plain")
		golang(t, "build", "-trimpath", "-ldflags=-s -w", "-o", a.plain, "matchmaker.dev/services/cmd/matchmaker")
	}
	golang(t, append(command, "matchmaker.dev/services/cmd/matchmaker")...)
	golang(t, "build", "-trimpath", "-ldflags=-s -w", "-o", dir, "matchmaker.dev/services/cmd/mm")
	golang(t, "run", "matchmaker.dev/pkg/matchfn/pack", "-o", a.duel, "../../../functions/duel")
	golang(t, "run", "matchmaker.dev/pkg/matchfn/pack", "-o", a.arena, "../../../functions/arena")
	golang(t, "run", "matchmaker.dev/pkg/matchfn/pack", "-o", a.rules, "../../../functions/rules")
	golang(t, "run", "matchmaker.dev/pkg/matchfn/pack", "-o", a.actor, "testdata/actor")
	return a
}

// withoutRace are the artefacts with binaries without the race detector.
func (a *artefacts) withoutRace() *artefacts {
	other := *a
	other.matchmaker, other.instances = a.plain, nil
	return &other
}

// look lists all files below folders, so that the go command runs a test again when one changes. It takes a result from
// its cache otherwise, since it does not see what a build reads.
func look(t *testing.T, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
	}
}

func golang(t *testing.T, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &out)
	}
}

// raceEnabled tells whether the tests were built with the race detector.
func raceEnabled() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
