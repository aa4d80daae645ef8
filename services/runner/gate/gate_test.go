package gate

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// world is a gate whose runs are named by what they belong to: "project/function/config".
type world struct {
	t *testing.T
	*Gate[string]
	functions map[string]*Function[string]
	lacks     map[string]int // how often a function lacked workers
	workers   []*Worker[string]
	under     map[string][]*job
}

type job struct {
	*Run[string]
	worker *Worker[string]
}

func newWorld(t *testing.T, slots int) *world {
	return &world{t: t, Gate: New[string](slots), functions: map[string]*Function[string]{}, lacks: map[string]int{},
		under: map[string][]*job{}}
}

// function is the function of a run, with two workers.
func (w *world) function(project, name string) *Function[string] {
	key := project + "/" + name
	f := w.functions[key]
	if f == nil {
		f = w.Function(project, name, 2, func() { w.lacks[key]++ })
		w.functions[key] = f
		w.worker(f)
		w.worker(f)
	}
	return f
}

// worker adds a worker.
func (w *world) worker(f *Function[string]) {
	w.workers = append(w.workers, f.Worker(nil))
}

// settle lets all workers take what they were given.
func (w *world) settle() {
	synctest.Wait()
	for _, worker := range w.workers {
		select {
		case r := <-worker.Runs():
			w.under[r.Value] = append(w.under[r.Value], &job{r, worker})
		default:
		}
	}
}

// enter lets a run come, and reports whether it began.
func (w *world) enter(project, function, config string) bool {
	r := w.function(project, function).Enter(config, project+"/"+function+"/"+config)
	w.settle()
	select {
	case <-r.Taken():
		return true
	default:
		return false
	}
}

// done ends the run of a name that began first, after it took so long.
func (w *world) done(name string, took time.Duration) {
	w.t.Helper()
	all := w.under[name]
	if len(all) == 0 {
		w.t.Fatalf("%s is not under way: %v", name, w.names())
	}
	w.under[name] = all[1:]
	all[0].Done(took, all[0].worker)
	w.settle()
}

// learn makes runs of a config known to take so long.
func (w *world) learn(project, function, config string, took time.Duration) {
	w.t.Helper()
	if !w.enter(project, function, config) {
		w.t.Fatalf("%s/%s/%s does not begin", project, function, config)
	}
	w.done(project+"/"+function+"/"+config, took)
}

// names is the runs under way.
func (w *world) names() (names []string) {
	for name, jobs := range w.under {
		for range jobs {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// expect fails unless these runs are under way.
func (w *world) expect(want ...string) {
	w.t.Helper()
	if got := w.names(); !slices.Equal(got, want) {
		w.t.Errorf("under way: %q, want %q", got, want)
	}
}

// share keeps runs of each name waiting, ends those under way after the time that each takes, and returns how many of
// each of n runs there were.
func (w *world) share(n int, takes map[string]time.Duration) map[string]int {
	counts := map[string]int{}
	enter := func(name string) {
		parts := splitName(name)
		w.enter(parts[0], parts[1], parts[2])
	}
	for name := range takes {
		for range 3 { // so that one waits always
			enter(name)
		}
	}
	for range n {
		name := w.names()[0]
		counts[name]++
		w.done(name, takes[name])
		enter(name)
	}
	return counts
}

func splitName(name string) (parts [3]string) {
	_, _ = fmt.Sscanf(name, "%1s/%1s/%1s", &parts[0], &parts[1], &parts[2])
	return parts
}

const ms = time.Millisecond

// A project whose runs cost more gets fewer, and so does a config of a project. Each gets the same time.
// Promise 9.
func TestTimeIsSharedFairly(t *testing.T) {
	for name, takes := range map[string]map[string]time.Duration{
		"projects":               {"a/f/c": 1 * ms, "b/f/c": 9 * ms},
		"configs":                {"a/f/c": 1 * ms, "a/g/d": 9 * ms},
		"one function's configs": {"a/f/c": 1 * ms, "a/f/d": 9 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				for name, took := range takes {
					p := splitName(name)
					w.learn(p[0], p[1], p[2], took)
				}
				counts := w.share(500, takes)
				for name, took := range takes {
					if spent := time.Duration(counts[name]) * took; spent < 440*ms || spent > 460*ms {
						t.Errorf("%s had %v of 900 ms: %v", name, spent, counts)
					}
				}
			})
		})
	}
}

// A project with a hundred configs gets no more than a project with one.
func TestManyConfigsAreOneProject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		takes := map[string]time.Duration{"b/f/c": ms}
		for _, config := range "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
			takes["a/f/"+string(config)] = ms
		}
		for name := range takes {
			p := splitName(name)
			w.learn(p[0], p[1], p[2], ms)
		}
		if counts := w.share(200, takes); counts["b/f/c"] < 98 || counts["b/f/c"] > 102 {
			t.Errorf("the project with one config had %d of 200 runs", counts["b/f/c"])
		}
	})
}

// A project that was idle is not owed the time that it did not use, and one that was alone owes nothing.
func TestIdleProjectIsOwedNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.learn("b", "f", "c", ms)
		w.share(500, map[string]time.Duration{"a/f/c": ms})
		counts := w.share(100, map[string]time.Duration{"a/f/c": ms, "b/f/c": ms})
		if counts["b/f/c"] < 48 || counts["b/f/c"] > 52 {
			t.Errorf("got %v", counts)
		}
	})
}

// What counts is what a run took, and not what was expected of it.
func TestRunThatTookLongerIsCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.learn("a", "f", "c", ms)
		w.learn("b", "f", "c", ms)
		for range 10 { // no slot is free but for one of them
			w.enter("a", "f", "c")
			w.enter("b", "f", "c")
		}
		w.expect("a/f/c")
		w.done("a/f/c", 9*ms)
		for range 8 {
			w.expect("b/f/c")
			w.done("b/f/c", ms)
		}
	})
}

// However many strangers hang, a short run begins at once. Without short runs they have all slots.
func TestLongRunsLeaveASlotForShortOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		for _, project := range []string{"h", "i", "j", "k"} {
			w.learn(project, "f", "c", 5*time.Second)
		}
		w.learn("v", "f", "c", ms)
		for _, project := range []string{"h", "i", "j", "k"} {
			w.enter(project, "f", "c")
		}
		w.expect("h/f/c", "i/f/c")
		for range 100 {
			w.learn("v", "f", "c", ms)
		}
		w.expect("h/f/c", "i/f/c")
		time.Sleep(recent) //nolint:forbidigo // the fake clock of synctest
		w.settle()
		w.expect("h/f/c", "i/f/c", "j/f/c")
		if !w.enter("v", "f", "c") { // beyond the slots
			t.Error("a short run waits")
		}
	})
}

// Each length has a lane of its own: a run of tens of milliseconds does not wait for seconds.
func TestEachLengthHasALane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		for project, took := range map[string]time.Duration{
			"h": 5 * time.Second, "i": 5 * time.Second, "l": 500 * ms, "m": 50 * ms, "n": 50 * ms, "v": ms,
		} {
			w.learn(project, "f", "c", took)
		}
		for _, project := range []string{"h", "i", "l", "m", "n", "v"} {
			w.enter(project, "f", "c")
		}
		w.expect("h/f/c", "l/f/c", "m/f/c", "v/f/c")
		w.done("m/f/c", 50*ms)
		w.expect("h/f/c", "l/f/c", "n/f/c", "v/f/c")
		w.done("v/f/c", ms)
		w.done("n/f/c", 50*ms)
		w.done("l/f/c", 500*ms)
		w.expect("h/f/c") // the other hanging one leaves the slot for short runs
	})
}

// A function that was quick and suddenly hangs takes its slot, but not other functions' slots. Its config gets no other
// one beyond the slots meanwhile.
// Promise 9.
func TestRunThatIsLateHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		for _, project := range []string{"h", "i", "v"} {
			w.learn(project, "f", "c", ms)
		}
		w.enter("h", "f", "c")
		w.enter("i", "f", "c")
		if w.enter("v", "f", "c") {
			t.Error("a short run had a slot while two short ones were under way")
		}
		w.enter("h", "f", "c")
		time.Sleep(brief.end()) //nolint:forbidigo // the fake clock of synctest
		w.settle()
		w.expect("h/f/c", "i/f/c", "v/f/c")
		w.done("v/f/c", ms)
		w.expect("h/f/c", "i/f/c")
		w.done("i/f/c", time.Second)
		w.expect("h/f/c", "h/f/c")
	})
}

// Many new configs hang, of one project or of one each. The config that was quick all the time goes on, and so does
// another project's config.
func TestNewConfigsThatHangHoldUpNoKnownOne(t *testing.T) {
	for name, project := range map[string]func(int) string{
		"of one project":   func(int) string { return "p" },
		"of many projects": func(i int) string { return fmt.Sprint("p", i) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 2)
				w.learn("p", "f", "q", ms)
				w.learn("v", "f", "q", ms)
				for i := range 8 {
					w.enter(project(i), "h", fmt.Sprint(i))
					time.Sleep(medium.end()) //nolint:forbidigo // the fake clock of synctest
					w.settle()
					w.learn("p", "f", "q", ms)
					w.learn("v", "f", "q", ms)
				}
				if n := len(w.names()); n == 0 || n > 4 {
					t.Errorf("%d new configs hang at the same time: %v", n, w.names())
				}
			})
		})
	}
}

// A config that hangs leaves a worker of its function for a config that does not, also for one that is yet to start,
// and says that one is lacking.
func TestLongRunsLeaveAWorkerOfTheirFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 4)
		f := w.Function("p", "f", 2, func() { w.lacks["p/f"]++ })
		w.functions["p/f"] = f
		w.worker(f)
		w.learn("p", "f", "h", 5*time.Second)
		w.learn("p", "f", "q", ms)
		if w.enter("p", "f", "h") {
			t.Fatal("the config that hangs has the only worker")
		}
		if w.lacks["p/f"] == 0 {
			t.Error("no worker is said to lack")
		}
		w.learn("p", "f", "q", ms)
		w.worker(f)
		w.settle()
		w.expect("p/f/h")
		w.enter("p", "f", "h")
		w.learn("p", "f", "q", ms)
		w.expect("p/f/h")
		time.Sleep(recent) //nolint:forbidigo // the fake clock of synctest; without the other config nothing is left free
		w.settle()
		w.expect("p/f/h", "p/f/h")
	})
}

// A new config and one that hangs leave a worker together.
func TestLongerRunsOfAnyLengthLeaveAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 4)
		w.learn("p", "f", "h", 5*time.Second)
		w.learn("p", "f", "q", ms)
		w.enter("p", "f", "new")
		w.enter("p", "f", "h")
		w.expect("p/f/new")
		w.learn("p", "f", "q", ms)
	})
}

// A config that was slow once does not make room for itself.
func TestConfigDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		w.learn("p", "f", "h", 5*time.Second)
		w.learn("p", "f", "q", ms)
		w.enter("p", "f", "h")
		w.learn("p", "f", "q", 50*ms)
		for range 3 {
			w.learn("p", "f", "q", 50*ms)
		}
		w.expect("p/f/h")
	})
}

// Where no second worker can be had, the order alone decides.
func TestOnlyWorkerIsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		f := w.Function("p", "f", 2, func() {})
		w.functions["p/f"] = f
		w.worker(f)
		w.learn("p", "f", "h", 5*time.Second)
		w.learn("p", "f", "q", ms)
		w.enter("p", "f", "h")
		w.expect()
		f.SetMost(1)
		w.settle()
		w.expect("p/f/h")
	})
}

// A config stays known as long for as many runs as its long one was times two longer than they.
func TestEstimateForgetsSlowly(t *testing.T) {
	var e estimate
	if e.length() != medium {
		t.Errorf("unknown: %v", e.length())
	}
	e.learn(5 * time.Second)
	for n := range 8 {
		if e.learn(ms); e.length() == brief {
			t.Fatalf("brief after %d runs", n+1)
		}
	}
	if e.learn(ms); e.length() != brief {
		t.Errorf("still %v: %v", e.length(), e.took)
	}
}

func TestCanceledRunIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.learn("a", "f", "c", ms)
		w.enter("a", "f", "c")
		r := w.function("a", "f").Enter("c", "a/f/c")
		if w.function("a", "f").Waiting() != 1 || !r.Cancel() || w.function("a", "f").Waiting() != 0 {
			t.Error("the run that waits is not canceled")
		}
		if r.Cancel() {
			t.Error("it is canceled twice")
		}
		w.done("a/f/c", ms)
		w.expect()
	})
}

// A worker that leaves gets no more runs, and names the one that it was given before.
func TestWorkerLeaves(t *testing.T) {
	g := New[string](2)
	f := g.Function("p", "f", 2, func() {})
	w := f.Worker(nil)
	given := f.Enter("c", "given")
	if last := w.Leave(); last != given {
		t.Errorf("the last run is %v", last)
	}
	next := f.Enter("c", "next")
	if last := w.Leave(); last != nil {
		t.Errorf("it was given %v", last)
	}
	given.Done(ms, nil)
	select {
	case <-next.Taken():
		t.Error("the next run began")
	default:
	}
	if other := f.Worker(nil); <-other.Runs() != next {
		t.Error("another worker does not get it")
	}
}

// The gate forgets configs that have no more runs.
func TestGateForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		for n := range 100 {
			w.learn("p", "f", fmt.Sprint("c", n), ms)
			w.learn(fmt.Sprint("p", n), "f", "c", ms)
		}
		time.Sleep(forget + sweepPause) //nolint:forbidigo // the fake clock of synctest
		w.learn("q", "f", "c", ms)
		if names := slices.Collect(maps.Keys(w.projects)); !slices.Equal(names, []string{"q"}) {
			t.Errorf("it knows %q", names)
		}
	})
}

func BenchmarkRun(b *testing.B) {
	g := New[int](2)
	f := g.Function("p", "f", 2, func() {})
	w := f.Worker(nil)
	b.ReportAllocs()
	for b.Loop() {
		f.Enter("c", 1)
		(<-w.Runs()).Done(ms, w)
	}
}
