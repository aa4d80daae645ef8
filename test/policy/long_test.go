package policy

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variable is one of make that a line uses, or sets.
var variable = regexp.MustCompile(`\$\(([A-Z]+)\)|(?m)^(?:export |override )?([A-Z]+) *(:|\?)?=`)

// TestLongRunsAreNotedWhole lets the Makefile run .ci/long: a run is noted as green when it is what the table says, and
// not when a variable made it less.
func TestLongRunsAreNotedWhole(t *testing.T) {
	dir := t.TempDir()
	run := func(environment []string, name string, arguments ...string) string {
		t.Helper()
		cmd := exec.Command(name, arguments...)
		cmd.Dir = dir
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, environment...)
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, said)
		}
		return string(said)
	}
	makefile, err := filepath.Abs(filepath.Join(root, "Makefile"))
	const row = "\tpaths\t-\t-\t-\n"
	table := "bench\tmake bench" + row + "chaos\tmake chaos DURATION=10m" + row + "node\tmake kubernetes PART=node" + row +
		"sentinel\tmake chaos STATE=sentinel DURATION=3m" + row
	noted := filepath.Join(dir, ".ci", "long.tsv")
	err = errors.Join(err, os.Mkdir(filepath.Dir(noted), 0o750), os.WriteFile(noted, []byte(table), 0o600),
		os.WriteFile(filepath.Join(dir, ".ci", "long"), []byte(read(t, ".ci/long")), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	run(nil, "git", "init", "--quiet")
	run(nil, "git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "--allow-empty", "-m", "t")
	for _, c := range []struct {
		name, given, environment string
		noted                    bool
	}{
		{"bench", "", "", true},
		{"bench", "SEED=7", "", true},
		{"bench", "ONLY=", "", true},
		{"bench", "ONLY=rated ROUNDS=5", "", false},
		{"bench", "ROUNDS=1", "", false},
		{"bench", "", "ONLY=rated", false},
		{"chaos", "DURATION=10m", "", true},
		{"chaos", "DURATION=10m SEED=9", "", true},
		{"chaos", "", "DURATION=10m", true},
		{"chaos", "", "", false},
		{"chaos", "DURATION=2m", "", false},
		{"chaos", "DURATION=10m PACE=9s", "", false},
		{"sentinel", "DURATION=3m STATE=sentinel", "", true},
		{"sentinel", "STATE=sentinel", "", false},
		{"node", "PART=node", "", true},
		{"node", "FROM=HEAD~9", "", false},
	} {
		arguments := append([]string{"--file", makefile, "--no-print-directory", "--eval",
			"try:\n\t@.ci/long " + c.name + " true", "try"}, strings.Fields(c.given)...)
		said := run(strings.Fields(c.environment), "make", arguments...)
		after, err := os.ReadFile(noted)
		if err == nil {
			err = os.WriteFile(noted, []byte(table), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if done := string(after) != table; done != c.noted {
			t.Errorf("%s make %s: %s is noted: %t\n%s", c.environment, c.given, c.name, done, said)
		}
	}
}

// TestMakefileNamesWhatChangesALongTarget: each variable that a long target takes is one of those, but SEED.
func TestMakefileNamesWhatChangesALongTarget(t *testing.T) {
	targets := read(t, "Makefile")
	_, long, _ := strings.Cut(targets, "# What follows takes long.")
	_, list, _ := strings.Cut(strings.ReplaceAll(long, "\\\n", ""), "\nCHANGES := ")
	list, _, _ = strings.Cut(list, "\n")
	known := append(strings.Fields(list), "CURDIR", "SEED", "MODULE", "PACKAGE")
	for _, m := range variable.FindAllStringSubmatch(targets, -1) {
		if m[2] != "" && m[3] != "?" {
			known = append(known, m[2])
		}
	}
	for _, m := range variable.FindAllStringSubmatch(long, -1) {
		if name := m[1] + m[2]; !slices.Contains(known, name) {
			t.Errorf("the Makefile's CHANGES lacks %s", name)
		}
	}
}
