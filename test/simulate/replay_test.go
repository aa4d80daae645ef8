package simulate

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	command "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	_ "unsafe" // for go:linkname

	"matchmaker.dev/services/test/chaos/overlay"
)

var (
	again   = flag.Int("again", 0, "how often TestReplay plays a world")
	printed = flag.Bool("digest", false, "print a digest of each history")
)

// replayState is the replay state of all random numbers of the runtime, when the test is built for replay.
//
//go:linkname replayState runtime.replayState
var replayState uint64

// edits make a Go runtime in which a seed gives the same world again. One thread at a time runs Go code, no clock
// interrupts it, and every random number follows from the seed: the order of maps, of timers at the same instant and of
// the cases of a select, math/rand, and the seeds of hashes.
var edits = []overlay.Edit{
	{"runtime/proc.go", `const haveSysmon = GOARCH != "wasm"`, `const haveSysmon = false`},
	{"runtime/proc.go", "if pp.schedtick%61 == 0 && !sched.runq.empty() {", "if false {"},
	{"internal/sync/mutex.go", "starvationThresholdNs = 1e6", "starvationThresholdNs = 1e18"},
	{"runtime/time.go", "t.rand = cheaprand()", "t.rand = rand32()"},
	{"runtime/select.go", "cheaprandn(uint32(norder + 1))", "randn(uint32(norder + 1))"},
	{"runtime/rand.go", "if len(startupRand) >= 16 &&", "if seed[0] = 1; true {\n\t} else if len(startupRand) >= 16 &&"},
	{"runtime/rand.go", "mp.cheaprand = rand()", "mp.cheaprand = bootstrapRand()"},
	{
		"runtime/rand.go", "\tmp := getg().m\n\tc := &mp.chacha8\n\tfor {\n",
		"\treplayState += 0xa0761d6478bd642f\n" +
			"\tif hi, lo := math.Mul64(replayState, replayState^0xe7037ed1a0b428db); true {\n\t\treturn hi ^ lo\n\t}\n" +
			"\tmp := getg().m\n\tc := &mp.chacha8\n\tfor {\n",
	},
	{
		"runtime/rand.go", "var readRandomFailed bool",
		"var readRandomFailed bool\n\n//go:linkname replayState\nvar replayState uint64",
	},
}

var digests = regexp.MustCompile(`digest .*`)

// digest is the digest of all that was seen in a world, with all times.
func digest(t *testing.T, out *Outcome) string {
	t.Helper()
	text, err := json.Marshal(out.History)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("digest %x of %d steps", sha256.Sum256(text), out.Steps)
}

// A seed gives the same world again, to the last step, request and microsecond. The test is built with a changed Go
// runtime, which takes minutes the first time; so make replay runs it.
func TestReplay(t *testing.T) {
	if *again == 0 {
		t.Skip("no -again is given")
	}
	dir := t.TempDir()
	sources, err := overlay.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	binary := buildWith(t, overlay.Edits{Root: sources, Edits: edits})
	var first played
	equal := 0
	for n := range *again {
		one := play(t, binary, filepath.Join(dir, fmt.Sprint("record-", n)))
		switch {
		case n == 0:
			first = one
			fallthrough
		case one.digest == first.digest && bytes.Equal(one.record, first.record):
			equal++
		default:
			t.Log(firstDifference(first.record, one.record))
		}
	}
	t.Logf("%d of %d runs have the same history and the same %d steps; %s", equal, *again,
		bytes.Count(first.record, []byte("\n")), first.digest)
	if (*again-equal)*100 > *again {
		t.Errorf("%d of %d runs are different", *again-equal, *again)
	}
}

// played is a run of a world.
type played struct {
	digest string
	record []byte
}

// play runs a world in a process of its own.
func play(t *testing.T, binary, record string) (p played) {
	t.Helper()
	run := command.CommandContext(t.Context(), binary, "-test.run", "^TestPromisesAreKept$", "-test.v", "-digest",
		"-record", record, "-faults", strconv.Itoa(perWorld), "-seed", strconv.FormatUint(max(1, *seed), 10))
	// A collection of garbage lets goroutines go on in another order.
	run.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(string(out), 2000))
	}
	if p.digest = digests.FindString(string(out)); p.digest == "" {
		t.Fatalf("there is no digest:\n%s", out)
	}
	if p.record, err = os.ReadFile(record); err != nil {
		t.Fatal(err)
	}
	return p
}

// firstDifference shows where two records begin to differ.
func firstDifference(a, b []byte) string {
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for n := range min(len(x), len(y)) {
		if x[n] != y[n] {
			return fmt.Sprintf("step %d: %q, and before %q", n, y[n], x[n])
		}
	}
	return "the records are equal, but not the histories"
}
