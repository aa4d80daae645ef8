package invocation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/sandbox"
)

// pairs is a matcher that pairs tickets of the same kind, and keeps one of each kind at most.
type pairs struct {
	alone map[float64]uint32
	kinds map[uint32]float64
	runs  *[]int // how many tickets each run had
	// deaf matchers take in no ticket after the first run, and greedy ones propose tickets that are gone.
	deaf, greedy bool
	began        bool
}

func (p *pairs) Match(r *matchfn.Run) error {
	*p.runs = append(*p.runs, r.Tickets())
	for _, number := range r.Gone() {
		if p.greedy {
			r.Propose(1, number)
		}
		if kind, ok := p.kinds[number]; ok {
			delete(p.kinds, number)
			delete(p.alone, kind)
		}
	}
	if p.deaf && p.began {
		return nil
	}
	p.began = true
	for i, kind := range r.Attribute("kind") {
		number := r.First() + uint32(i)
		other, ok := p.alone[kind]
		if !ok {
			p.alone[kind], p.kinds[number] = number, kind
			continue
		}
		delete(p.alone, kind)
		delete(p.kinds, other)
		r.Propose(1, other, number)
	}
	return nil
}

// newPairs returns a function of pairs, and how many tickets each of its runs had.
func newPairs(change func(*pairs)) (*matchfn.Function, *[]int) {
	runs := new([]int)
	return matchfn.NewMatcher(func(s *matchfn.Settings) (matchfn.Matcher, error) {
		s.String("name", "")
		p := &pairs{alone: map[float64]uint32{}, kinds: map[uint32]float64{}, runs: runs}
		change(p)
		return p, s.Err()
	}, matchfn.Attributes("kind"), matchfn.Properties()), runs
}

// session is an index, and an instance of pairs that keeps tickets of it.
type session struct {
	t        *testing.T
	index    *pool.Index
	f        *matchfn.Function
	runs     *[]int
	inv      Invoker
	k        *Session
	settings string
	pools    map[string]*pb.Pool
	created  int64
	kinds    map[string]float64 // of the tickets
}

func newSession(t *testing.T, change func(*pairs)) *session {
	t.Helper()
	w := &session{t: t, index: pool.New(), created: 1000, kinds: map[string]float64{},
		pools: map[string]*pb.Pool{"all": {Filters: []*pb.Filter{{Attribute: "kind", Min: proto.Float64(0)}}}}}
	w.f, w.runs = newPairs(change)
	w.k = &Session{least: 20, most: 4000, bases: map[string]*base{}}
	return w
}

func (w *session) put(id string, kind float64) {
	w.t.Helper()
	w.created++
	w.kinds[id] = kind
	raw, err := proto.Marshal(&pb.Ticket{Id: id, Created: w.created, AttributeNames: []string{"kind"},
		AttributeValues: []float64{kind}})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.index.Put(id, raw); err != nil {
		w.t.Fatal(err)
	}
}

func (w *session) drop(id string) {
	delete(w.kinds, id)
	w.index.Drop(id)
}

func (w *session) run() *Run {
	return &Run{
		Request: &pb.RunRequest{Config: "c", Pools: w.pools, Settings: []byte(w.settings), Now: 1 << 40}, Index: w.index,
		Began: time.Now(), Deadline: time.Now().Add(time.Hour), Session: w.k, Answer: func(*pb.RunPart) error { return nil },
	}
}

// invoke does a run, and returns its pairs.
func (w *session) invoke() (found [][]string, stats *pb.RunStats, err error) {
	w.t.Helper()
	r := w.run()
	last, err := w.inv.Invoke(w.t.Context(), r, native{Function: w.f}, needsOf(w.f))
	stats = last.GetStats()
	answer := proto.CloneOf(last)
	if err := proposals.Unpack(answer); err != nil {
		w.t.Fatal(err)
	}
	for _, p := range answer.GetProposals() {
		found = append(found, p.GetTeams()[0].GetTickets())
	}
	if err == nil && w.k.Due(r) {
		if err := w.inv.Check(w.t.Context(), r, native{Function: w.f}, needsOf(w.f)); err != nil {
			return found, stats, err
		}
	}
	return found, stats, err
}

func needsOf(f *matchfn.Function) Needs {
	m := f.Manifest()
	return NeedsOf(sandbox.Manifest{Attributes: m.Attributes, Properties: m.Properties})
}

func (w *session) mustInvoke() [][]string {
	w.t.Helper()
	found, stats, err := w.invoke()
	if err != nil {
		w.t.Fatal(err)
	}
	if stats.Tickets != int64(len(w.members())) {
		w.t.Fatalf("the run had %d tickets, want %d", stats.Tickets, len(w.members()))
	}
	return found
}

// members are the tickets of the pool.
func (w *session) members() (ids []string) {
	for id, kind := range w.kinds {
		if kind >= 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// Runs of changes find what runs of all tickets find, whatever comes, goes, comes back, or is replaced, whatever
// happens to the index, the instance, the settings and the pools.
func TestRunsOfChangesFindWhatThereIs(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 9))
		w := newSession(t, func(*pairs) {})
		next, went := 0, 0
		for step := range 150 {
			for range r.IntN(40) {
				w.put(fmt.Sprint("t", next), float64(r.IntN(300)-30))
				next++
			}
			ids := slices.Sorted(func(yield func(string) bool) {
				for id := range w.kinds {
					if !yield(id) {
						return
					}
				}
			})
			for range r.IntN(12) {
				if len(ids) == 0 {
					break
				}
				switch id := ids[r.IntN(len(ids))]; r.IntN(3) {
				case 0:
					w.put(id, float64(r.IntN(300))) // it may be there still
				default:
					w.drop(id)
				}
			}
			switch r.IntN(60) {
			case 0: // the feed is read anew
				w.index.Reset()
				w.kinds = map[string]float64{}
			case 1: // the instance ended
				w.f, w.runs = newPairs(func(*pairs) {})
				w.k = &Session{least: 20, most: 4000, bases: map[string]*base{}}
			case 2:
				w.settings = fmt.Sprintf(`{"name":"%d"}`, step)
			case 3: // the project moved to another runner
				moved := pool.New()
				w.index = moved
				for id, kind := range w.kinds {
					w.put(id, kind)
				}
			}
			counts := map[float64]int{}
			for id, kind := range w.kinds {
				if kind >= 0 {
					counts[w.kinds[id]]++
				}
			}
			before := len(*w.runs)
			found := w.mustInvoke()
			if len(*w.runs) > before && (*w.runs)[before] < len(w.members()) {
				went++
			}
			for _, pair := range found {
				kind, ok := w.kinds[pair[0]]
				if other, also := w.kinds[pair[1]]; !ok || !also || kind != other || pair[0] == pair[1] {
					t.Fatalf("seed %d, step %d: the pair %v", seed, step, pair)
				}
				counts[kind] -= 2
				if r.IntN(3) > 0 { // otherwise another config was faster
					w.drop(pair[0])
					w.drop(pair[1])
				} else if r.IntN(2) == 0 {
					w.drop(pair[r.IntN(2)])
				}
			}
			for kind, n := range counts {
				if n > 1 {
					t.Fatalf("seed %d, step %d: %d tickets of the kind %v are left over", seed, step, n, kind)
				}
			}
		}
		if went < 75 {
			t.Errorf("seed %d: only %d runs were of changes", seed, went)
		}
	}
}

// A function that works on changes and overlooks matches is found out; one that does not is not accused.
func TestWrongFunctionIsFoundOut(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		w := newSession(t, func(p *pairs) { p.deaf = deaf })
		for i := range 100 {
			w.put(fmt.Sprint("crowd", i), float64(i))
		}
		var err error
		for i := 0; i < 3*checkRuns && err == nil; i++ {
			w.put(fmt.Sprint("t", i), 1000+float64(i%7))
			var found [][]string
			found, _, err = w.invoke()
			for _, pair := range found {
				w.drop(pair[0])
				w.drop(pair[1])
			}
		}
		if _, caught := errors.AsType[CheckError](err); caught != deaf || err != nil && !caught {
			t.Errorf("deaf %t: %v", deaf, err)
		}
		checks := 0
		for _, n := range *w.runs {
			if n >= 100 {
				checks++
			}
		}
		if want := 2; !deaf && checks < want {
			t.Errorf("%d runs had all tickets, want %d or more: the first one and a check", checks, want)
		}
	}
}

// A function that proposes a ticket that is gone is a function whose instance must end.
func TestTicketThatIsGoneIsNotProposed(t *testing.T) {
	w := newSession(t, func(p *pairs) { p.greedy = true })
	for i := range 100 {
		w.put(fmt.Sprint("crowd", i), float64(i))
	}
	w.mustInvoke()
	w.drop("crowd5")
	_, _, err := w.invoke()
	if _, mild := errors.AsType[FunctionError](err); err == nil || mild {
		t.Errorf("the error is %v", err)
	}
}

// An instance keeps no more tickets than its limit, of the configs that ran last, and the function is told which it may
// forget. Few tickets, and too many, are not kept.
func TestWhatAnInstanceKeepsIsBounded(t *testing.T) {
	w := newSession(t, func(*pairs) {})
	w.k.most = 250
	for i := range 100 {
		w.put(fmt.Sprint("crowd", i), float64(i))
	}
	of := func(name string) int {
		w.settings = fmt.Sprintf(`{"name":%q}`, name)
		before := len(*w.runs)
		w.mustInvoke()
		return (*w.runs)[before]
	}
	for i, c := range []struct {
		config string
		got    int
	}{{"a", 100}, {"b", 100}, {"a", 0}, {"c", 100}, {"a", 0}, {"b", 100}, {"b", 0}, {"c", 100}} {
		if got := of(c.config); got != c.got {
			t.Errorf("run %d, of config %s, had %d tickets, want %d", i, c.config, got, c.got)
		}
		if n := len(w.k.bases); n > 2 {
			t.Errorf("run %d: %d configs are kept", i, n)
		}
	}
	for i := range 200 {
		w.put(fmt.Sprint("more", i), float64(1000+i))
	}
	if of("c"); of("c") != 300 {
		t.Error("more tickets are kept than allowed")
	}
	for i := range 290 {
		w.drop(fmt.Sprint("crowd", i))
		w.drop(fmt.Sprint("more", i))
	}
	w.put("x", 1)
	if of("c"); of("c") != 1 {
		t.Error("a single ticket is kept")
	}
}

// A run that fails ends what is kept: it is unknown what the function has.
func TestFailedRunBeginsAnew(t *testing.T) {
	w := newSession(t, func(*pairs) {})
	for i := range 100 {
		w.put(fmt.Sprint("crowd", i), float64(i))
	}
	w.mustInvoke()
	w.put("x", 5)
	r := w.run()
	if _, err := w.inv.Invoke(t.Context(), r, cut{native{Function: w.f}}, needsOf(w.f)); err == nil {
		t.Fatal("no error")
	}
	if found := w.mustInvoke(); len(found) != 1 {
		t.Errorf("found %v", found)
	}
}

// cut is an instance whose answers are lost.
type cut struct{ native }

func (c cut) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error) {
	if _, _, err := c.native.Run(ctx, request, budget); err != nil {
		return nil, sandbox.Stats{}, err
	}
	return nil, sandbox.Stats{}, FunctionError{errors.New("lost")}
}

// Requests that differ in nothing but the time of the run are of one base; others are not.
func TestKeyTellsConfigsApart(t *testing.T) {
	of := func(change func(*pb.RunRequest)) string {
		r := &pb.RunRequest{Run: "1", Config: "c", Settings: []byte(`{}`), Now: 1, Seed: 2, Position: 3, Budget: 4,
			Pools: map[string]*pb.Pool{"a": {Filters: []*pb.Filter{{Attribute: "x"}}}, "b": {}}}
		change(r)
		return Key(r)
	}
	same := of(func(*pb.RunRequest) {})
	if got := of(func(r *pb.RunRequest) {
		r.Run, r.Now, r.Seed, r.Position, r.Budget, r.Census = "2", 9, 9, 9, 9, map[string]*pb.Pool{"a": {}}
		r.Number, r.Epoch = 9, 9
	}); got != same {
		t.Error("a later run has another key")
	}
	for what, change := range map[string]func(*pb.RunRequest){
		"config":   func(r *pb.RunRequest) { r.Config = "d" },
		"settings": func(r *pb.RunRequest) { r.Settings = []byte(`{"a":1}`) },
		"pools":    func(r *pb.RunRequest) { r.Pools["b"] = &pb.Pool{Filters: []*pb.Filter{{Attribute: "y"}}} },
		"filter":   func(r *pb.RunRequest) { r.Pools["a"].Filters[0].Max = proto.Float64(1) },
	} {
		if of(change) == same {
			t.Errorf("another %s has the same key", what)
		}
	}
}
