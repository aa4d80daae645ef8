package simulate

import (
	"cmp"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/test/chaos/checker"
)

var (
	faults = flag.Int("faults", 0, "how many faults there are in all simulated worlds together; when 0, 10,000, or "+
		"1,500 with -short or the race detector")
	logs   = flag.String("logs", "", "file for what the services of the last world log")
	record = flag.String("record", "", "file for what the gate of the last world let go, one step a line; one beside the "+
		"world's journal when empty")
	seed = flag.Uint64("seed", 0, "seed of the first world; fixed ones and a new one when 0")
)

// perWorld is how many faults a world has.
const perWorld = 500

// short reports whether there is little time: with the race detector a world takes six times as long.
func short() bool {
	info, ok := debug.ReadBuildInfo()
	return testing.Short() || ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// worlds is how many are simulated. With -short a fifth of all are played, one of them on a real Redis alone.
func worlds() int {
	n := cmp.Or(*faults, 10_000)
	if *faults == 0 && short() {
		n = n/5 - perWorld
	}
	return max(1, n/perWorld)
}

// live lets a world live.
func live(t *testing.T, o Options) (out *Outcome) {
	t.Helper()
	o.Dir = folder(t)
	if *logs != "" {
		file, err := os.Create(*logs)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		o.Log = slog.New(slog.NewTextHandler(file, nil))
	}
	file, err := os.Create(cmp.Or(*record, filepath.Join(o.Dir, "record")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	o.Record = file // at once, so that a panic leaves it
	cryptotest.SetGlobalRandom(t, o.Seed)
	replayState = o.Seed
	synctest.Test(t, func(t *testing.T) {
		var err error
		if out, err = Run(t.Context(), o); err != nil {
			t.Error(err)
		}
	})
	if out == nil {
		t.FailNow()
	}
	return out
}

// folder is for the files of a world. It stays when the test fails, which says where it is.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "matchmaker-simulation-"+path.Base(t.Name())+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("its record and its journal are in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// seeds are the seeds of n worlds: given ones, or fixed ones from the first and a new one, which -short leaves out.
func seeds(first uint64, n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = cmp.Or(*seed, first) + uint64(i)
	}
	if *seed == 0 && !testing.Short() {
		all[n-1] = rand.Uint64N(1_000_000)
	}
	return all
}

// check checks the history of a world. Shown is how many violations of a promise are printed.
func check(t *testing.T, out *Outcome) *checker.Result {
	t.Helper()
	const shown = 8
	r := checker.Check(out.History)
	for _, p := range r.Promises {
		for i, b := range p.Broken {
			if i == shown {
				t.Errorf("… and %d more", len(p.Broken)-shown)
				break
			}
			t.Errorf("promise %d: %s", p.Number, b)
		}
	}
	for _, p := range out.Problems {
		t.Error(p)
	}
	return r
}

func TestPromisesAreKept(t *testing.T) {
	var sums checker.Sums
	counts, order := map[string]*checker.Count{}, []string(nil)
	began := time.Now()
	for _, s := range seeds(2, worlds()) { // 1 is on a real Redis alone, 3 the first that is lossy
		t.Run(fmt.Sprint("seed=", s), func(t *testing.T) {
			out := live(t, Options{Seed: s, Faults: perWorld, Lossy: s%4 == 3})
			r := check(t, out)
			if *printed {
				t.Log(digest(t, out))
			}
			t.Logf("%v; lasted %v, %d steps; %v", r.Sums, out.Lasted.Round(time.Second), out.Steps, r.Waits)
			sums.Faults, sums.Tickets, sums.Matches = sums.Faults+out.Faults, sums.Tickets+r.Sums.Tickets,
				sums.Matches+r.Sums.Matches
			for _, p := range r.Promises {
				for _, c := range p.Counts {
					what := fmt.Sprintf("%d: %s", p.Number, c.What)
					if counts[what] == nil {
						order, counts[what] = append(order, what), new(checker.Count)
					}
					counts[what].Add(c)
				}
			}
		})
	}
	for _, what := range order {
		t.Logf("%8d  promise %s", counts[what].Count, what)
	}
	t.Logf("%v in %v", sums, time.Since(began).Round(time.Second))
}

// The first worlds keep the promises on a real Redis.
func TestPromisesAreKeptOnARealRedis(t *testing.T) {
	redis, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{
		Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	n := uint64(3)
	if short() {
		n = 1
	}
	for n := range n {
		seed := max(1, *seed) + n
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			check(t, live(t, Options{Seed: seed, Faults: perWorld, Redis: redis.Addr()}))
		})
	}
}
