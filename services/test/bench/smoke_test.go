package main

import (
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain runs the hidden commands, which the bench starts as processes of its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"bare", "nats"}, os.Args[1]) {
		main()
		return
	}
	os.Exit(m.Run())
}

// run runs a command in a folder, with more environment.
func run(t *testing.T, dir, environment string, words ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), strings.Fields(environment)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", words, err, text)
	}
}

// Each shape measures a real system once, with little load.
func TestShapesAreMeasured(t *testing.T) {
	// The go command runs this test again when a file changes that a test opens.
	for _, folder := range []string{"../../../pkg", "../../../proto", "../../../functions", "../.."} {
		if err := filepath.WalkDir(folder, func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	matchmaker, duel, bad, pair := file("matchmaker"), file("duel.zip"), file("rules.zip"), file("pair.wasm")
	run(t, ".", "", "go", "build", "-o", matchmaker, "matchmaker.dev/services/cmd/matchmaker")
	run(t, "../../../functions", "", "go", "run", "matchmaker.dev/pkg/matchfn/pack", "-o", duel, "duel")
	run(t, "../../../functions", "", "go", "run", "matchmaker.dev/pkg/matchfn/pack", "-o", bad, "rules")
	run(t, ".", "GOOS=wasip1 GOARCH=wasm", "go", "build", "-buildmode=c-shared", "-o", pair, "./pair")
	o := &options{
		Matchmaker: []string{matchmaker}, Function: []string{duel}, Pair: pair, Bad: bad, Rounds: 1, Seed: 1,
		Parts: true, Where: true,
		Rate: []int{100}, For: 400 * time.Millisecond, Warm: 100 * time.Millisecond, Settle: 100 * time.Millisecond,
		Hosting: []string{"none", "instant"}, Requests: []string{"two"}, Live: 100, Crowd: []int{200}, Configs: 3,
		Projects: 2, Each: 40, Streams: 20, Burst: 100, Waiting: []int{200}, Least: 20_000, Hold: 50 * time.Millisecond,
		Players: []int{10}, Idle: 3, Tickets: []int{1000}, Scan: 10_000, Connections: []int{2},
		Volley: 100 * time.Millisecond,
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	// A reading of each shape. On a busy machine its value may be that a queue grows.
	for name, want := range map[string]string{
		"function": "1,000 tickets: a run in the sandbox", "create": "2 connections",
		"steady":    "100/s, a server each: processor time a ticket",
		"sustained": "highest rate, a server each", "capacity": "10 players, a server each: tickets",
		"crowd":    "100/s among 200: p50",
		"configs":  "3 over 100/s: the runner's processor time a ticket",
		"projects": "2 with 40/s each: p99", "burst": "100 in a second, a server each: until the last is assigned",
		"signs":     "100/s among 200 who ask: processor time a ticket",
		"estimates": "20/s: ranges that hold",
		"insight":   "100/s, measured, recorded and explained: processor time a ticket",
		"return":    "100/s, a bad upload: failed runs",
		"simulated": "spread: how far a simulation is from it",
		"drain":     "200 wait: until the last is assigned", "restart": "among 200, the only runner: longest wait",
		"idle": "3 projects without players",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(shapes(), func(s shape) bool { return s.name == name })
			o := *o
			switch name {
			case "steady":
			case "simulated":
				o.For = 30 * time.Millisecond
			default:
				o.Hosting = []string{"instant"}
			}
			r := &round{options: &o, binary: &binary{Matchmaker: matchmaker, Function: duel}, errs: t.Output(), logs: t.Output()}
			if err := shapes()[i].measure(r, t.Context()); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, one := range r.readings {
				names = append(names, one.name)
				// Memory is the difference of two readings, and the collector may have worked between them.
				if math.IsNaN(one.value) || one.value < 0 && !strings.Contains(one.name, "memory") {
					t.Errorf("%s is %v", one.name, one.value)
				}
			}
			if !slices.Contains(names, want) {
				t.Errorf("no %q among %q", want, names)
			}
		})
	}
}

func TestPageNamesTheShapes(t *testing.T) {
	text, err := os.ReadFile("../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes() {
		if named := strings.Contains(string(text), "| `"+s.name+"` |"); named == s.asked {
			t.Errorf("docs/performance.md: %s is there: %v", s.name, named)
		}
	}
	for _, path := range []string{"../../../docs/performance.md", "../../../README.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replace(string(text), ""); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
