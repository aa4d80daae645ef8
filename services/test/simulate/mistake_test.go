package simulate

import (
	"flag"
	"fmt"
	command "os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"matchmaker.dev/services/test/chaos/mistake"
)

var broken = flag.String("mistake", "", "name of a mistake that the services are built with and that must be found, "+
	"or all")

// TestMistakesAreFound builds the services with one mistake after the other: the promise that it breaks must be found
// broken. make simulate-mistakes runs it.
func TestMistakesAreFound(t *testing.T) {
	if *broken == "" {
		t.Skip("no -mistake is given")
	}
	for _, m := range mistake.All() {
		if *broken != "all" && *broken != m.Name {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			overlay, err := m.Overlay("../../..", t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			test := command.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-timeout", "5m", "-failfast", "-run",
				"^TestPromisesAreKept$", ".", "-args", "-faults", strconv.Itoa(*faults),
				"-seed", strconv.FormatUint(max(1, *seed), 10))
			out, err := test.CombinedOutput()
			if found := fmt.Sprintf("promise %d:", m.Promise); err == nil || !strings.Contains(string(out), found) {
				t.Errorf("%s: promise %d was not found broken: %v\n%s", m.Says, m.Promise, err, tail(string(out), 2000))
			}
			for _, other := range brokenPromise.FindAllStringSubmatch(string(out), -1) {
				if m.Alone && other[1] != strconv.Itoa(m.Promise) {
					t.Errorf("%s: promise %s was found broken too:\n%s", m.Says, other[1], tail(string(out), 2000))
				}
			}
			t.Log(brokenLine.FindString(string(out)))
		})
	}
}

// What a test prints about a broken promise.
var (
	brokenPromise = regexp.MustCompile(`_test\.go:\d+: promise (\d+):`)
	brokenLine    = regexp.MustCompile(`promise \d+: .*`)
)

// tail is the end of a text.
func tail(text string, size int) string { return text[max(0, len(text)-size):] }
