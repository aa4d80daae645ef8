package main

import (
	"encoding/base64"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
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
		t.Errorf("%q: %v\n%s", words, err, text)
	}
}

// bad is a module that is accepted as a match function, and fails in each run: its answer is empty.
const bad = "AGFzbQEAAAABFgVgAAF/YAF/AX9gAX8BfmAAAX5gAAADBgUAAQIDBAUDAQAEBzUFBm1lbW9yeQIABm1tX2FiaQAACG1tX2FsbG9jAAEGbW1fcnVuAAILX2luaXRpYWxpemUABAofBQQAQQELBgBBgIAECwQAQgALCQBCgICAgIACCwIACw=="

// Each shape measures a real system once, with little load; with -short only these. All share the system, so their
// values mean nothing.
var few = []string{"create", "steady"}

func TestShapesAreMeasured(t *testing.T) {
	t.Setenv("MATCHMAKER_INSTANCE_CODE", sandbox.UserCode()) // otherwise the function is compiled here
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	matchmaker, duel, pair := file("matchmaker"), file("duel.zip"), file("pair.wasm")
	var built sync.WaitGroup
	built.Go(func() {
		if err := sandboxtest.Program(matchmaker, "matchmaker.dev/services/cmd/matchmaker"); err != nil {
			t.Error(err)
		}
	})
	built.Go(func() {
		run(t, "../../functions", "", "go", "run", "matchmaker.dev/pkg/matchfn/pack", "-o", duel, "duel")
		run(t, ".", "GOOS=wasip1 GOARCH=wasm", "go", "build", "-trimpath", "-buildmode=c-shared",
			"-ldflags=-s -w", "-o", pair, "./pair")
	})
	module, err := base64.StdEncoding.DecodeString(bad)
	if err == nil {
		err = os.WriteFile(file("bad.wasm"), module, 0o600)
	}
	if built.Wait(); err != nil || t.Failed() {
		t.Fatal(err)
	}
	o := &options{
		Matchmaker: []string{matchmaker}, Function: []string{duel}, Pair: pair, Bad: file("bad.wasm"), Rounds: 1, Seed: 1,
		Parts: true, Where: true, With: streamLimits,
		Rate: []int{100}, For: 100 * time.Millisecond, Warm: 100 * time.Millisecond, Settle: 100 * time.Millisecond,
		Hosting: []string{"instant"}, Requests: []string{"two"}, Live: 100, Crowd: []int{200}, Configs: 3,
		Projects: 2, Each: 40, Streams: 20, Burst: 100, Waiting: []int{200}, Least: 1000, Hold: 50 * time.Millisecond,
		Players: []int{10}, Idle: 3, Tickets: []int{1000}, Scan: 10_000, Connections: []int{2},
		Volley: 100 * time.Millisecond, Peak: 100, Curve: file("launch.svg"),
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	system, err := install(t.Context(), matchmaker, t.Output(), arguments(o.With))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := system.Close(); err != nil {
			t.Error(err)
		}
	})
	system.players = 1000 // so that few tokens are signed
	measure := func(t *testing.T, s shape) {
		t.Helper()
		o := *o
		switch s.name {
		case "steady":
			o.Hosting = []string{"none", "instant"}
		case "simulated":
			o.For = 30 * time.Millisecond
		case "launch":
			o.For = 10 * time.Millisecond
		case "counts":
			o.For = time.Second
		}
		r := &round{options: &o, binary: &binary{Matchmaker: matchmaker, Function: duel}, system: system, errs: t.Output(),
			logs: t.Output()}
		if s.name == "launch" {
			r.system = nil // its servers are its own
		}
		if err := s.measure(r, t.Context()); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, one := range r.readings {
			names = append(names, one.name)
			// Memory and processor time are differences: a collector may have worked, an instance may have ended. So
			// are the steps of a ticket: the processes that stamp its events know Redis's clock to a trip each.
			difference := one.unit == micros || one.unit == mib || one.unit == kib || one.unit == cores ||
				s.name == "counts" || s.name == "steady" && one.unit == millis
			if math.IsNaN(one.value) || one.value < 0 && !difference {
				t.Errorf("%s is %v", one.name, one.value)
			}
			if most, limited := mostCounts[one.name]; limited && one.value > most {
				t.Errorf("%s: %v, want at most %v", one.name, one.value, most)
			}
		}
		if want := wanted[s.name]; !slices.Contains(names, want) {
			t.Errorf("no %q among %q", want, names)
		}
	}
	// What is counted must be alone. One restarts the runner, which must have few functions to start then. The others
	// mostly wait, so all at a time.
	var others sync.WaitGroup
	alone := []string{"counts", "restart"}
	for turn := range len(alone) + 1 {
		for _, s := range shapes() {
			own := slices.Index(alone, s.name)
			if (own == turn || own < 0 && turn == len(alone)) && (!testing.Short() || slices.Contains(few, s.name)) {
				others.Go(func() { t.Run(s.name, func(t *testing.T) { measure(t, s) }) })
			}
		}
		others.Wait()
	}
}

// mostCounts is what a ticket takes at most. Each has its poke, and wakes the config of its queue alone. A pair has one
// message with its results, and one for an allocator, which is seen twice and confirmed once. The others have room for
// what comes each second on a machine that is slow.
var mostCounts = map[string]float64{
	"4 pairs/s, no server: messages: mm.poke a ticket":           1,
	"4 pairs/s, no server: messages: mm.assigned a ticket":       0.5,
	"4 pairs/s, no server: messages a ticket":                    5,
	"4 pairs/s, no server: scripts a ticket":                     3,
	"4 pairs/s, no server: trips to Redis a ticket":              7.5,
	"4 pairs/s, no server: commands inside Redis a ticket":       38,
	"4 pairs/s, no server, one request: trips to Redis a ticket": 6.5,
	"4 pairs/s, a server each: messages: mm.assigned a ticket":   0.5,
	"4 pairs/s, a server each: messages: mm.match a ticket":      1,
	"4 pairs/s, a server each: messages a ticket":                7.5,
	"4 pairs/s, a server each: trips to Redis a ticket":          8,
	"4 pairs/s, a server each: commands inside Redis a ticket":   50,
	"3 queues with 20/s each: messages: mm.run a ticket":         1.5,
}

// wanted is a reading of each shape. On a busy machine its value may be that a queue grows.
var wanted = map[string]string{
	"function": "1,000 tickets: a run in the sandbox", "create": "2 connections",
	"counts": "4 pairs/s, a server each: messages a ticket", "signatures": "2 connections, RS256",
	"steady":    "100/s, a server each: processor time a ticket",
	"sustained": "highest rate, a server each", "capacity": "10 players, a server each: tickets",
	"crowd":    "100/s among 200: p50",
	"configs":  "3 over 100/s: the runner's processor time a ticket",
	"projects": "2 with 40/s each: p99", "queues": "3 with 10 pairs/s each: processor time a ticket",
	"burst":     "100 in a second, a server each: until the last is assigned",
	"streams":   "20 streams: memory of the ticket service for each",
	"signs":     "100/s among 200 who ask: processor time a ticket",
	"estimates": "20/s: ranges that hold",
	"rated":     "100/s with a rating: processor time a ticket",
	"insight":   "100/s, measured, recorded and explained: processor time a ticket",
	"return":    "100/s, a bad upload: failed runs",
	"simulated": "spread: how far a simulation is from it",
	"launch":    "a server each, 100 in a second on new connections: as usual after",
	"drain":     "200 wait: until the last is assigned", "restart": "among 200, the only runner: longest wait",
	"idle": "3 projects without players",
}

func TestPagesHaveRoomForNumbers(t *testing.T) {
	for _, path := range []string{"../../docs/performance.md", "../../README.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replace(string(text), ""); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
