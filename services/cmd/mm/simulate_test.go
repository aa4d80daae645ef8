package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scenario writes files of a scenario into a folder: a config for the guest that pairs tickets.
func scenario(t *testing.T, dir, name, text string) string {
	t.Helper()
	for file, content := range map[string]string{
		name: strings.ReplaceAll(text, "GUEST", builtPrograms(t).guest),
		"pairs.json": `{"matchmaking": {"name": "Pairs", "targetFunction": {"name": "guest", "version": "1"},
			"config": {"do": "pair"}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, name)
}

// simulated is what is read of the JSON of mm simulate.
type simulated struct {
	Scenarios []struct {
		Tickets, Matches, Runs int
		Numbers                map[string]float64
	}
	Differences map[string]struct {
		Mean float64
		Half float64 `json:"halfOfInterval"`
	}
}

const pairs = `
configs: {pairs: pairs.json}
functions: {guest: GUEST}
population: {duration: 2m, rate: 5, attributes: {skill: "normal:1500:400"}}
measure: {attribute: skill, to: 100s}
`

func TestSimulateComparesScenarios(t *testing.T) {
	t.Parallel()
	s := newSandboxShell(t)
	dir := t.TempDir()
	quick := scenario(t, dir, "quick.yaml", pairs)
	slow := scenario(t, dir, "slow.yaml", strings.Replace(pairs, "measure:",
		"service: {minInterval: 20s, maxInterval: 20s}\nmeasure:", 1))
	page := filepath.Join(t.TempDir(), "report.html")
	got := s.run("simulate", quick, "--against", slow, "--report", page)
	got.expect(0, "QUICK.YAML", "mm: wrote "+page)
	for _, want := range []string{"DIFFERENCE", "wait p50, s", "spread", " ± "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	if text, err := os.ReadFile(page); err != nil || strings.Count(string(text), "<svg") != 4 {
		t.Errorf("the report has %d bytes, %v", len(text), err)
	}
	got = s.run("simulate", quick, "--against", slow, "-o", "json")
	var value simulated
	if err := json.Unmarshal([]byte(got.out), &value); err != nil || got.code != 0 {
		t.Fatalf("%v: %s%s", err, got.out, got.err)
	}
	a, b := value.Scenarios[0], value.Scenarios[1]
	if a.Tickets < 450 || a.Tickets != b.Tickets || a.Matches < 200 || a.Runs <= b.Runs {
		t.Errorf("%+v, %+v", a, b)
	}
	// Twenty seconds between two runs make players wait for about half of that.
	d := value.Differences["mean wait, s"]
	if more := b.Numbers["mean wait, s"] - a.Numbers["mean wait, s"]; more < 8 || more > 12 || d.Mean-d.Half > more ||
		d.Mean+d.Half < more {
		t.Errorf("the mean wait is %.1f s more: %+v", more, d)
	}
	again := s.run("simulate", quick, "--against", slow, "-o", "json")
	if again.out != got.out {
		t.Error("the same seed gives another result")
	}
	s.run("simulate", quick, "--seed", "2", "-o", "json").expect(0, `"seed": 2`, "tickets with ")
}

func TestSimulateSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newSandboxShell(t)
	dir := t.TempDir()
	bad := scenario(t, dir, "bad.yaml", strings.Replace(pairs, "rate: 5", "rate: 5, hour: noon", 1))
	s.run("simulate", bad).expect(1, "", "mm: "+bad+": population.hour: a number is expected, got a string\n")
	s.run("simulate", filepath.Join(dir, "none.yaml")).expect(2, "", "none.yaml: no such file or directory")
	missing := scenario(t, dir, "missing.yaml", strings.Replace(pairs, "population: {",
		"recording: {file: none.mmrec}\nx: {", 1))
	s.run("simulate", missing).expect(1, "", "mm: "+missing+": x: unknown member")
	missing = scenario(t, dir, "missing.yaml", "configs: {pairs: pairs.json}\nfunctions: {guest: GUEST}\n"+
		"recording: {file: none.mmrec}\n")
	s.run("simulate", missing).expect(1, "", "missing.yaml: recording.file: "+filepath.Join(dir, "none.mmrec"))
	if err := os.WriteFile(filepath.Join(dir, "fail.json"), []byte(`{"matchmaking": {"name": "Fails",
		"targetFunction": {"name": "guest", "version": "1"}, "config": {"do": "fail"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	fails := scenario(t, dir, "fails.yaml", strings.Replace(pairs, "pairs.json", "fail.json", 1))
	s.run("simulate", fails).expect(1, "", "fails.yaml: after ")
	s.run("simulate", fails).expect(1, "", "configs.pairs: function guest: as told")
	s.run("simulate", fails, "--memory", "0").expect(2, "", "--memory must be from 1 to 1024")
}

// fiveOfTutorial is the config of the tutorial for two teams of five.
func fiveOfTutorial(t *testing.T) []byte {
	t.Helper()
	page, err := os.ReadFile("../../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "cat > five.json <<'END'\n")
	text, _, ends := strings.Cut(text, "\nEND\n")
	if !found || !ends {
		t.Fatal("the tutorial has no five.json")
	}
	return []byte(text)
}

// The tutorial's five against five is tried with players that have what its rules need. Without, it is said what they
// lack.
func TestFiveAgainstFiveIsTried(t *testing.T) {
	if testing.Short() { // the scenario "five" of end to end plays it
		t.Skip("make check runs it")
	}
	t.Parallel()
	s, dir := newSandboxShell(t), t.TempDir()
	config := filepath.Join(dir, "five.json")
	if err := os.WriteFile(config, fiveOfTutorial(t), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := builtPrograms(t).rules
	test := []string{"function", "test", rules, "--config", config, "--runs", "1"}
	generate := append(test, "--generate", "60", "--attribute", "skill=normal:1500:50")
	s.run(append(generate, "--value", `roles=["tank"]|["healer"]|["damage"]|["damage"]|["damage"]`,
		"--value", `latency={"eu": 30}|{"eu": 55}`)...).expect(0, "TEAM", "")
	s.run(generate...).expect(1, "matches    0 with", `mm: no match: the function proposed nothing for 60 tickets; of t01 it `+
		`says: `)
	tickets := filepath.Join(dir, "tickets.json")
	if err := os.WriteFile(tickets, []byte(`[{"attributes": {"skill": 1}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(append(test, "--tickets", tickets)...).expect(1, "tickets    1, 1 of them in no pool",
		`no pool has a ticket: the config takes tickets of the queue "five", and none waits there`)

	simulate := func(name, more string) result {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, fmt.Appendf(nil, `
configs: {five: five.json}
functions: {rules: %s}
population: {duration: 1m, rate: 5, patience: "45", attributes: {skill: "normal:1500:50"}%s}
`, rules, more), 0o600); err != nil {
			t.Fatal(err)
		}
		return s.run("simulate", file, "-o", "json")
	}
	got := simulate("roles.yaml", `, values: {roles: [[tank], [healer], [damage], [damage], [damage]]},
  latency: latency, cities: [london, paris], regions: {eu: frankfurt, us: [38.9, -77.5]}`)
	var value simulated
	if err := json.Unmarshal([]byte(got.out), &value); err != nil || got.code != 0 || value.Scenarios[0].Matches < 3 {
		t.Errorf("%d, %v: %s%s", got.code, err, got.out, got.err)
	}
	simulate("none.yaml", "").expect(1, `"matches": 0`,
		"mm: none.yaml: no match: configs.five: the function proposed nothing for 200 tickets; of ticket 1 it says: ")
	simulate("queue.yaml", ", queues: [six]").expect(1, `"matches": 0`, `queue.yaml: no match: configs.five: the function was not run, `+
		`since no pool has a ticket: the config takes tickets of the queue "five", and none waits there`)
}
