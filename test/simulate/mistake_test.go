package simulate

import (
	"flag"
	"fmt"
	"os"
	command "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchmaker.dev/services/test/chaos/mistake"
	"matchmaker.dev/services/test/chaos/overlay"
)

var broken = flag.String("mistake", "", "names of mistakes, between commas, that the services are built with and "+
	"that must be found, or all")

// TestMistakesAreFound builds the services with mistakes and lets them make one after the other: the promise that it
// breaks must be found broken.
func TestMistakesAreFound(t *testing.T) {
	if *broken == "" {
		t.Skip("no -mistake is given")
	}
	edits, err := mistake.Edits("../..")
	if err != nil {
		t.Fatal(err)
	}
	binary := buildWith(t, edits)
	for _, m := range mistake.All() {
		if *broken != "all" && !slices.Contains(strings.Split(*broken, ","), m.Name) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			test, found := "^TestPromisesAreKept$", fmt.Sprintf(`_test\.go:\d+: promise %d:`, m.Promise)
			if m.Truth != "" {
				found = ": " + m.Truth + ": "
			}
			if m.Truth != "" && !m.Simulated {
				test = "^TestWalkOverEveryScript$"
			}
			play := func(more ...string) ([]byte, error) {
				run := command.CommandContext(t.Context(), binary, append(more, "-test.run", test,
					"-faults", strconv.Itoa(worlds()*perWorld), "-seed", strconv.FormatUint(max(1, *seed), 10))...)
				run.Env = append(os.Environ(), mistake.Variable+"="+m.Name, "TMPDIR="+t.TempDir())
				return run.CombinedOutput()
			}
			wanted := regexp.MustCompile(found)
			out, err := play("-test.failfast")
			if err != nil && !wanted.Match(out) { // the first world may show another promise
				out, err = play()
			}
			if err == nil || !wanted.Match(out) {
				t.Errorf("%s: %q was not found: %v\n%s", m.Says, found, err, tail(string(out), 20_000))
			}
			for _, other := range brokenPromise.FindAllStringSubmatch(string(out), -1) {
				if m.Alone && other[1] != strconv.Itoa(m.Promise) {
					t.Errorf("%s: promise %s was found broken too:\n%s", m.Says, other[1], tail(string(out), 20_000))
				}
			}
			t.Log(brokenLine.FindString(string(out)))
		})
	}
}

// buildWith builds these tests with changed sources, and returns the binary.
func buildWith(t *testing.T, edits overlay.Edits) string {
	t.Helper()
	dir := t.TempDir()
	list, err := overlay.Write(dir, edits)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "simulate.test")
	build := command.CommandContext(t.Context(), "go", "test", "-c", "-overlay", list, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// What a test prints about a broken promise.
var (
	brokenPromise = regexp.MustCompile(`_test\.go:\d+: promise (\d+):`)
	brokenLine    = regexp.MustCompile(`_test\.go:\d+: (promise|step) \d+: .*`)
)

// tail is the end of a text.
func tail(text string, size int) string { return text[max(0, len(text)-size):] }
