package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

// programs are what tests share, since it takes long to build.
type programs struct {
	dir   string
	child string // is executed by sandboxes
	guest string // a function that does what the setting "do" says
	rules string // the function rules
	mm    string
}

var built = sync.OnceValues(func() (p programs, err error) {
	if p.dir, err = os.MkdirTemp("", "mm"); err != nil {
		return p, err
	}
	if p.child, err = sandboxtest.Build(p.dir); err != nil {
		return p, err
	}
	guest, err := sandboxtest.Module(p.dir, ".", "../../runner/testdata/guest")
	if err != nil {
		return p, err
	}
	rules, err := sandboxtest.Shipped(p.dir, "../../../functions", "rules")
	if err != nil {
		return p, err
	}
	p.guest, p.rules = filepath.Join(p.dir, "guest.wasm"), filepath.Join(p.dir, "rules.wasm")
	if err := errors.Join(os.WriteFile(p.guest, guest, 0o600), os.WriteFile(p.rules, rules, 0o600)); err != nil {
		return p, err
	}
	p.mm = filepath.Join(p.dir, "mm")
	return p, sandboxtest.Program(p.mm, ".")
})

func TestMain(m *testing.M) {
	for _, name := range []string{"MM_URL", "MM_PROJECT", "MM_DATA", "MM_TOKEN", "MM_OUTPUT", "MM_CONTEXT", "COMP_LINE"} {
		_ = os.Unsetenv(name)
	}
	m.Run()
	if p, err := built(); err == nil {
		_ = os.RemoveAll(p.dir)
	}
}

func builtPrograms(t *testing.T) programs {
	t.Helper()
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newSandboxShell returns a shell that can run functions.
func newSandboxShell(t *testing.T) *shell {
	t.Helper()
	s := newShell(t)
	s.binary = builtPrograms(t).child
	return s
}

func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	// Without their paths, packages in another folder are taken from the go command's cache.
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

func TestFunctionNewMakesAProjectThatBuildsAndRuns(t *testing.T) {
	t.Parallel()
	s := newSandboxShell(t)
	s.path = "/opt/bin/mm"
	dir := filepath.Join(t.TempDir(), "functions", "ffa")
	got := s.run("function", "new", "FFA", "--dir", dir)
	got.expect(0, "cd "+dir+"\ngo test ./...\nmake try MM=/opt/bin/mm\n", "mm: wrote the match function ffa.")
	command(t, dir, "go", "test", "./...")
	command(t, dir, "make")

	files := []string{"--config", filepath.Join(dir, "config.json"), "--tickets", filepath.Join(dir, "tickets.json")}
	for _, file := range []string{"ffa.wasm", "ffa.zip"} {
		got = s.run(
			append([]string{"function", "test", filepath.Join(dir, file), "--deadline", "1m", "--timeout", "5m"}, files...)...)
		got.expect(0, file, "")
		for _, want := range []string{
			"tickets    10, 1 of them in no pool\n",
			"matches    2 with 8 tickets, of 2 proposals\n",
			"left over  2 tickets ida jon\n",
			"median of 5",
			"    1  35     hana finn | ben gus  27..60    1385..1720\n",
			"    2  15     dan eve | ann cleo   0.5..8.5  985..1075\n",
		} {
			if !strings.Contains(strings.ToLower(got.out), strings.ToLower(want)) {
				t.Errorf("%s: it does not print %q:\n%s", file, want, got.out)
			}
		}
	}

	s.run("function", "new", "ffa", "--dir", dir).
		expect(1, "", "mm: "+dir+" exists and is not empty: nothing was written\n")
	s.run("function", "new", "ffa", "--dir", dir, "--only-sdk").
		expect(0, "", "mm: the SDK in "+dir+"/sdk is now mm dev's\n")
}

func TestFunctionNewNamesMMOnlyIfItIsNotInThePATH(t *testing.T) {
	s := newShell(t)
	bin := t.TempDir()
	s.path = filepath.Join(bin, "mm")
	if err := os.WriteFile(s.path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Chdir(t.TempDir())
	s.run("function", "new", "ffa").expect(0, "cd ffa\ngo test ./...\nmake try\n", "mm: wrote")
	if _, err := os.Stat(filepath.Join("ffa", "main.go")); err != nil {
		t.Error(err)
	}
}

func config(t *testing.T, do string) string {
	t.Helper()
	return write(t, "config.json", `{"matchmaking": {"targetFunction": {"name": "guest"}, "config": {"do": "`+do+`"}}}`)
}

func TestFunctionTestPrintsJSON(t *testing.T) {
	t.Parallel()
	s := newSandboxShell(t)
	got := s.run("function", "test", builtPrograms(t).guest, "--deadline", "1m", "--timeout", "5m", "--config",
		config(t, "all"), "--output", "json", "--generate", "100", "--attribute", "skill=uniform:0:1", "--attribute",
		"region=2", "--wait", "choice:5,25", "--runs", "2")
	got.expect(0, "{", "")
	var v struct {
		Tickets, Proposals, Runs, MemoryBytes int
		Waiting, Log                          []string
		Matches                               []struct {
			Score   float64
			Teams   []struct{ Tickets []string }
			Spreads map[string]struct{ Min, Max float64 }
			Region  string
		}
		Steps []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(got.out), &v); err != nil {
		t.Fatal(err)
	}
	if v.Tickets != 100 || v.Proposals != 1 || v.Runs != 2 || v.MemoryBytes < 1<<20 || len(v.Waiting) != 0 ||
		len(v.Steps) != 5 ||
		len(v.Log) != 1 ||
		v.Log[0] != "asked for all" ||
		len(v.Matches) != 1 {
		t.Fatalf("got %s", got.out)
	}
	m := v.Matches[0]
	if m.Score != 7 || len(m.Teams) != 2 || len(m.Teams[1].Tickets) != 100 || m.Region != "eu" {
		t.Errorf("the match is %+v", m)
	}
	if w, r := m.Spreads["wait"], m.Spreads["region"]; w.Min != 5 || w.Max != 25 || r.Min != 2 || r.Max != 2 {
		t.Errorf("spreads %v", m.Spreads)
	}
}

func TestFunctionTestPrintsSomeMatchesAndIsReproducible(t *testing.T) {
	t.Parallel()
	s, module := newSandboxShell(t), builtPrograms(t).guest
	args := []string{"function", "test", module, "--deadline", "1m", "--timeout", "5m", "--generate", "100",
		"--attribute", "skill=uniform:0:1", "--show", "3"}
	got := s.run(args...)
	got.expect(0, "matches    50 with 100 tickets, of 50 proposals\n",
		"log: asked for pair\nmm: 47 more matches: --show 50 or --output json prints all\n")
	if n := len(regexp.MustCompile(`(?m)^ +\d+  1 +t\d\d\d t\d\d\d  `).FindAllString(got.out, -1)); n != 3 {
		t.Errorf("%d matches are printed:\n%s", n, got.out)
	}
	if again := s.run(args...); withoutTimes(again.out) != withoutTimes(got.out) {
		t.Errorf("the same command prints\n%s\nand\n%s", got.out, again.out)
	}
}

func TestFunctionTestExplains(t *testing.T) {
	t.Parallel()
	s, module := newSandboxShell(t), builtPrograms(t).guest
	tickets := write(t, "tickets.json", `[{"id": "a", "attributes": {"skill": 1}, "wait": 3},
		{"id": "b", "attributes": {"skill": 2}, "wait": 2}, {"id": "c", "attributes": {"skill": 3}, "wait": 1}]`)
	args := []string{"function", "test", module, "--deadline", "1m", "--timeout", "5m", "--tickets", tickets, "--config",
		config(t, "explain")}
	got := s.run(append(args, "--explain", "c,a")...)
	got.expect(0, `TICKET  WHY IT IS IN NO MATCH  CANDIDATES WITHOUT THAT
c       as told                2
a       it is in a match
`, "log: asked for explain\n")
	got = s.run(append(args, "--explain", "c", "-o", "json")...)
	got.expect(0, `"reason": "as told"`, "")
	if got := s.run(args...); strings.Contains(got.out, "as told") {
		t.Errorf("nobody asks: %s", got.out)
	}
	s.run(append(args, "--explain", "z")...).expect(1, "", `mm: --explain: there is no ticket "z"`)
}

func TestFunctionTestGeneratesPlayersAndProperties(t *testing.T) {
	t.Parallel()
	s, module := newSandboxShell(t), builtPrograms(t).rules
	rules := write(t, "config.json", `{"matchmaking": {"targetFunction": {"name": "rules"}, "config": {
		"values": {"skill": "number"}, "teams": [{"name": "squad", "size": 2, "roles": {"tank": 1, "healer": 1}}],
		"rules": [{"name": "near", "spread": "skill", "max": 10000}]}}}`)
	args := []string{"function", "test", module, "--deadline", "1m", "--timeout", "5m", "--runs", "1", "--config", rules,
		"--generate", "40", "--attribute", "skill=normal:1500:100", "--players", "1", "--show", "20"}
	for _, more := range [][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}} {
		args = append(args, "--attribute", more[0]+"=uniform:0:1")
	}
	got := s.run(append(args, "--value", `roles=["tank"]|["healer"]`)...)
	got.expect(0, "matches    ", "")
	// The config names skill, which comes by its name after the others.
	for _, want := range []string{"GAP IN A MATCH", "\nskill  ", "\ne  ", "  SKILL\n"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("it does not print %q:\n%s", want, got.out)
		}
	}
	got = s.run(append(args, "--value", `roles=["tank"]`)...)
	got.expect(1, "matches    0 with 0 tickets, of 0 proposals",
		"mm: no match: the function proposed nothing for 40 tickets; of t01 it says: ")
	for line, want := range map[string]string{
		"--value roles":                "is not NAME=VALUE|VALUE",
		"--value a=1 --value a=2":      "--value a is given twice",
		"--players x=2":                "--players takes a distribution without a name",
		"--value a=1|[1]":              "is float64, and a set has strings",
		"--tickets x.json --players 2": "either --tickets FILE or --generate N",
	} {
		s.run(append([]string{"function", "test", "a.wasm", "--generate", "1"}, strings.Fields(line)...)...).
			expect(2, "", want)
	}
}

// A text of another matchmaker's rules gets the attributes and properties that it reads, as in a runner.
func TestFunctionTestTakesRulesAsText(t *testing.T) {
	t.Parallel()
	s, module := newSandboxShell(t), builtPrograms(t).rules
	text, err := json.Marshal(`{"matchDefinition": {"teams": [{"name": "t", "teamCount": {"min": 2, "max": 2},
		"playerCount": {"min": 1, "max": 1}}], "matchRules": [
			{"name": "near", "type": "Difference", "source": "Players.CustomData.skill", "reference": 100},
			{"name": "same", "type": "Equality", "source": "Players.CustomData.mode"}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	config := write(t, "config.json",
		fmt.Sprintf(`{"matchmaking": {"targetFunction": {"name": "rules"}, "config": {"unity": %s}}}`, text))
	args := []string{"function", "test", module, "--deadline", "1m", "--timeout", "5m", "--runs", "1", "--config", config,
		"--generate", "20", "--value", `mode="ranked"|"casual"`, "--attribute"}
	s.run(append(args, "skill=uniform:1500:1590")...).expect(0, "matches    ", "exact")
	s.run(append(args, "other=uniform:1500:1590")...).expect(1, "matches    0 with 0 tickets", "mm: no match: ")
}

// withoutTimes removes the table of times.
func withoutTimes(out string) string {
	return regexp.MustCompile(`(?ms)^STEP.*?\n\n`).ReplaceAllString(out, "")
}

func TestFunctionTestNamesTheCauseOfAFailure(t *testing.T) {
	t.Parallel()
	s, module := newSandboxShell(t), builtPrograms(t).guest
	try := func(do string, more ...string) result {
		return s.run(
			append(
				[]string{"function", "test", module, "--timeout", "5m", "--config", config(t, do), "--generate", "10"},
				more...)...)
	}
	try("fail").expect(1, "", "log: asked for fail\nmm: the function failed: as told\n")
	before := time.Now()
	late := try("hang", "--deadline", "2s") // less what was over when the instance got the request
	late.expect(1, "", "log: asked for hang\nmm: the function failed: deadline: the run took longer than ")
	took := time.Since(before)
	_, given, _ := strings.Cut(strings.TrimSpace(late.err), "longer than ")
	// What is not the run's comes before it: the two are the deadline.
	if d, err := time.ParseDuration(given); err != nil || d <= 0 || d > 2*time.Second || took < 2*time.Second {
		t.Errorf("it took %v: %s", took, late.err)
	}
	got := try("panic", "-o", "json")
	got.expect(1, "", "log: panic: as told\n")
	if !strings.Contains(got.err, "mm: the function failed: trap: panic: as told (unreachable)\nmm: .runtime.") ||
		!strings.Contains(got.err, "mm: .main.match(") {
		t.Errorf("it prints\n%s", got.err)
	}
	small := try("pair", "--memory", "1")
	small.expect(1, "", "mm: "+module+": the module starts with ")
	if strings.Count(small.err, "starts with") != 1 || strings.Count(small.err, "\n") != 1 {
		t.Errorf("it prints %q", small.err)
	}
}

func TestFunctionTestNamesErrorsInItsFiles(t *testing.T) {
	s := newShell(t)
	for name, test := range map[string]struct {
		module, config, tickets string
		says                    []string
	}{
		"no module":   {"text", "{}", "[]", []string{"a.wasm: neither a .wasm module nor a .zip archive\n"}},
		"bad archive": {"PK\x03\x04", "{}", "[]", []string{"a.wasm: zip: not a valid zip file\n"}},
		"bad config": {"\x00asm", `{"matchmaking": {}, "pools": {"a": [{}]}}`, "[]", []string{
			"config.json: matchmaking.targetFunction: required", "config.json: pools.a[0].attribute: required"}},
		"no JSON":     {"\x00asm", `{"matchmaking": `, "[]", []string{"config.json:1:17: not JSON: it ends too early\n"}},
		"no text":     {"\x00asm", "{\"a\":\n \"\xff\"}", "[]", []string{"config.json:2:3: not JSON: invalid UTF-8\n"}},
		"half a pair": {"\x00asm", "", `[{"id": "\ud800"}]`, []string{"tickets.json:1:10: not JSON: invalid surrogate pair"}},
		"nothing":     {"\x00asm", "", " ", []string{"tickets.json: empty\n"}},
		"no tickets":  {"\x00asm", "", "{}", []string{"tickets.json: an array is expected, got an object\n"}},
		"bad tickets": {"\x00asm", "", `[{}, {"attributes": {"skill": "x"}}, 7]`, []string{
			"tickets.json: [1].attributes.skill: a number is expected, got a string\n",
			"tickets.json: [2]: an object is expected"}},
	} {
		tickets := write(t, "tickets.json", test.tickets)
		args := []string{"function", "test", write(t, "a.wasm", test.module), "--tickets", tickets}
		if test.config != "" {
			args = append(args, "--config", write(t, "config.json", test.config))
		}
		got := s.run(args...)
		for _, says := range test.says {
			if got.code != 1 || !strings.Contains(got.err, says) || got.out != "" {
				t.Errorf("%s: %d, %s, want %q", name, got.code, got.err, says)
			}
		}
	}
	s.in = "[{}, 1]"
	s.run("function", "test", write(t, "a.wasm", "\x00asm"), "--tickets", "-").
		expect(1, "", "mm: standard input: [1]: an object is expected, got a number\n")
	s.run("function", "test", "a.wasm", "--tickets", "-", "--config", "-").expect(2, "", "only one file can be -")
	s.run("function", "test", "a.wasm", "--generate", "1", "--attribute", "skill=normal:x").
		expect(2, "", `skill: "x" is no finite number`)
	s.run("function", "test", "a.wasm", "--generate", "1", "--attribute", "created=1").
		expect(2, "", "the service sets this attribute itself")
	games := write(t, "games.json", `[{"version": 0}, {"skill": 1}]`)
	s.run("function", "test", write(t, "a.wasm", "\x00asm"), "--generate", "1", "--backfills", games).
		expect(1, "", "games.json: [0].version: 0 is below 1\n")
	s.run("function", "test", "missing.wasm", "--generate", "1").
		expect(2, "", "mm: open missing.wasm: no such file or directory\n")
}

// In the binary, sandboxes execute the binary itself.
func TestFunctionTestInTheBinary(t *testing.T) {
	t.Parallel()
	mm := builtPrograms(t).mm
	games := write(t, "games.json", `[{"id": "game", "attributes": {"open": 2}}]`)
	out, err := exec.CommandContext(t.Context(), mm, "function", "test", builtPrograms(t).guest, "--deadline", "1m",
		"--timeout", "5m", "--generate", "10", "--attribute", "skill=uniform:0:1", "--backfills", games).CombinedOutput()
	const want = "backfills  1, 0 of them get tickets\nmatches    5 with 10 tickets, of 5 proposals\n"
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v\n%s", err, out)
	}
}

// In the sandbox, a match of the function rules that starts short gets a backfill ticket; and its game gets the missing
// players, and no others.
func TestRulesFillAGameThatStartedShort(t *testing.T) {
	t.Parallel()
	s, module := newSandboxShell(t), builtPrograms(t).rules
	config := write(t, "config.json", `{"matchmaking": {"targetFunction": {"name": "rules"}, "config": {
		"values": {"skill": "number"},
		"teams": [{"name": "squad", "size": {"min": {"start": 3, "steps": [[10, 2]]}, "max": 3},
			"roles": {"tank": {"max": 1}, "healer": {"max": 1}, "damage": {"max": 1}}}],
		"rules": [{"name": "near", "spread": "skill", "max": 100}], "backfill": {"create": "short"}}}}`)
	type output struct {
		Matches []struct {
			Teams    []struct{ Tickets []string }
			Backfill *struct {
				ID         string
				Attributes map[string]float64
				Properties map[string][]byte
			}
			MatchProperties json.RawMessage
		}
		Explanations []struct {
			Reasons []struct{ Reason string }
		}
	}
	try := func(tickets string, more ...string) (o output) {
		t.Helper()
		got := s.run(append([]string{"function", "test", module, "--deadline", "1m", "--timeout", "5m", "--runs", "1", "-o",
			"json", "--config", config, "--tickets", write(t, "tickets.json", tickets)}, more...)...)
		got.expect(0, "{", "")
		if err := json.Unmarshal([]byte(got.out), &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	ticket := func(id, role string, skill, wait int) string {
		roles := base64.StdEncoding.EncodeToString([]byte(`["` + role + `"]`))
		return fmt.Sprintf(`{"id": "t-%s", "wait": %d, "players": [{"id": %q, "attributes": {"skill": %d},
			"properties": {"roles": %q}}]}`, id, wait, id, skill, roles)
	}
	first := try("[" + ticket("ada", "tank", 1200, 20) + "," + ticket("bob", "damage", 1220, 5) + "]")
	if len(first.Matches) != 1 || first.Matches[0].Backfill == nil || first.Matches[0].Backfill.ID != "" {
		t.Fatalf("got %+v", first)
	}
	const says = `{"places":3,"open":[{"team":"squad","role":"healer","places":1}]}`
	if got := string(compact(t, first.Matches[0].MatchProperties)); got != says {
		t.Errorf("the match says %s, want %s", got, says)
	}
	made := first.Matches[0].Backfill
	if made.Attributes["skill"] != 1210 {
		t.Errorf("the backfill ticket has the attributes %v", made.Attributes)
	}
	game, err := json.Marshal([]map[string]any{{
		"id": "game", "connection": "203.0.113.7:7777", "attributes": made.Attributes, "properties": made.Properties,
	}})
	if err != nil {
		t.Fatal(err)
	}
	second := try("["+ticket("tank", "tank", 1200, 0)+","+ticket("far", "healer", 1500, 0)+","+
		ticket("healer", "healer", 1210, 0)+"]", "--backfills", write(t, "games.json", string(game)))
	if len(second.Matches) != 1 || len(second.Matches[0].Teams) != 1 || second.Matches[0].Backfill == nil ||
		!slices.Equal(second.Matches[0].Teams[0].Tickets, []string{"t-healer"}) ||
		second.Matches[0].Backfill.ID != "game" ||
		!strings.Contains(string(second.Matches[0].Backfill.Properties["players"]), `"id":"healer"`) {
		t.Errorf("got %+v", second)
	}
	alone := try("["+ticket("far", "healer", 1500, 0)+"]", "--backfills", write(t, "games.json", string(game)),
		"--explain", "t-far")
	const near = "near: without it the ticket joins a running game"
	if len(alone.Explanations) != 1 || len(alone.Explanations[0].Reasons) != 1 ||
		alone.Explanations[0].Reasons[0].Reason != near {
		t.Errorf("who is too far is told %+v", alone.Explanations)
	}
}

func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
