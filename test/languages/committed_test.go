package languages

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/services/internal/sandbox"
)

var update = flag.Bool("update", false, "write the modules that are committed")

// committed are modules in C below test that are committed, so that other tests need no compiler.
var committed = []struct {
	file, source string
	defines      []string
}{
	{"neighbours/testdata/hostile.wasm", "hostile.c", nil},
	{"neighbours/testdata/hostile-undeclared.wasm", "hostile.c", []string{`-DWANTS="{}"`}},
	{"chaos/testdata/chaos.wasm", "chaos.c", nil},
	{"chaos/testdata/chaos-2.wasm", "chaos.c", []string{"-DEDITION=2"}},
}

// The committed modules are what the compiler makes of their sources. A compiler of another version makes other bytes,
// which do the same.
func TestCommittedModulesAreWhatTheirSourcesSay(t *testing.T) {
	for _, c := range committed {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			file := filepath.Join("..", c.file)
			source := filepath.Join(filepath.Dir(file), c.source)
			made := compile(t, languages()[0], source, c.defines...)
			if *update {
				if err := os.WriteFile(file, made, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			kept, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case bytes.Equal(made, kept):
			case bytes.Equal(madeBy(t, made), madeBy(t, kept)):
				t.Errorf("%s is another module than %s becomes: run this test with -args -update", c.file, c.source)
			default:
				doTheSame(t, source, made, kept)
			}
		})
	}
}

// madeBy is the version of the compiler that made a module.
func madeBy(t *testing.T, wasm []byte) []byte {
	t.Helper()
	found := regexp.MustCompile(`(?s)processed-by.*?([0-9]+\.[0-9.]+)`).FindSubmatch(wasm)
	if found == nil {
		t.Fatal("the module does not say what compiler made it")
	}
	return found[1]
}

// doTheSame runs two modules with all settings that their source looks for, and compares what they answer, what they
// print and how they fail.
func doTheSame(t *testing.T, source string, one, other []byte) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	settings := [][]byte{nil}
	for _, found := range regexp.MustCompile(`"(\\"\w+\\":(true|\\"\w+\\"))"`).FindAllSubmatch(text, -1) {
		settings = append(settings, slices.Concat([]byte("{"), bytes.ReplaceAll(found[1], []byte(`\`), nil), []byte("}")))
	}
	if len(settings) < 5 {
		t.Fatalf("only %d settings in %s", len(settings), source)
	}
	for _, s := range settings {
		request, want := request(t, s), outcome{}
		for i, wasm := range [][]byte{one, other} {
			got := outcomeOf(t, wasm, request)
			if i == 0 {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("with %s: %.500v, want %.500v", s, got, want)
			}
		}
	}
}

// outcome is what came of a run.
type outcome struct {
	manifest sandbox.Manifest
	answer   []byte
	cause    sandbox.Cause
	printed  []string
}

func outcomeOf(t *testing.T, wasm, request []byte) (o outcome) {
	t.Helper()
	i := startWithin(t, wasm, sandbox.Limits{Memory: 16 << 20})
	answer, _, err := i.Run(t.Context(), request, time.Second)
	if failed, ok := errors.AsType[*sandbox.Error](err); ok {
		o.cause = failed.Cause
	} else if err != nil {
		t.Fatal(err)
	}
	o.manifest, o.answer = i.module.Manifest, slices.Clone(answer)
	if o.printed = i.printed(); o.cause == sandbox.Deadline {
		o.printed = o.printed[:min(len(o.printed), 1)] // as many as there was time for
	}
	return o
}

// request is a request with all that the modules look at.
func request(t *testing.T, settings []byte) []byte {
	t.Helper()
	var b block.RequestBuilder
	b.Start(block.Meta{Now: 1_900_000_000_000, Budget: 1000, Tickets: 9, Backfills: 2})
	b.Config(settings)
	for _, name := range []string{"value", "number"} {
		for i, column := 0, b.Numbers(block.KindAttribute, name); i < len(column); i++ {
			column[i] = float64(i)
		}
	}
	b.Numbers(block.KindBackfillCreated, "")
	copy(b.BackfillVersion(), []int64{3, 4})
	b.Values(block.KindBackfillConnection, "", func(i int) ([]byte, bool) { return []byte{'a' + byte(i)}, true })
	copy(b.Numbers(block.KindBackfillAttribute, "free"), []float64{1, 5})
	request, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return request
}
