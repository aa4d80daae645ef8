package schedule

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// overEqualPools is loads over equal pools. The first of them find matches, the others do not.
func overEqualPools(b *Budget, find, vain int, runCost time.Duration) (all []*load) {
	for i := range find + vain {
		l := newLoad(b, fmt.Sprint(i), runCost, time.Millisecond)
		l.vain = i >= find
		l.See(Pools{1})
		all = append(all, l)
	}
	return all
}

func runsOf(loads []*load) (sum int) {
	for _, l := range loads {
		sum += l.runs
	}
	return sum
}

// Each run takes no time, so that only the interval keeps the next one from starting.
func TestManyConfigsOverEqualPoolsRunAsOftenAsAFew(t *testing.T) {
	const seconds, each = 10, 100 // runs a second of a config that is alone
	for n, want := range map[int]int{1: 1, 2: 2, aloneAs: aloneAs, aloneAs + 1: aloneAs, 30: aloneAs, 200: aloneAs} {
		loads := overEqualPools(NewBudget(100), n, 0, 0)
		for _, l := range loads {
			l.Account().Found(epoch)
		}
		simulate(loads[0].Account().budget, seconds*time.Second, loads...)
		if got := runsOf(loads); got < want*each*seconds*9/10 || got > want*each*seconds+spared*n {
			t.Errorf("%d configs run %d times in %d s, want %d", n, got, seconds, want*each*seconds)
		}
		for _, l := range loads {
			if even := runsOf(loads) / n; l.runs < even-spared || l.runs > even+spared {
				t.Errorf("of %d configs one runs %d times, the average one %d", n, l.runs, even)
			}
		}
	}
}

func TestConfigsOverOtherPoolsRunAsIfAlone(t *testing.T) {
	b := NewBudget(100)
	loads := overEqualPools(b, 30, 0, 0)
	other := newLoad(b, "other", 0, time.Millisecond)
	other.See(Pools{2})
	unknown := newLoad(b, "unknown", 0, time.Millisecond)
	simulate(b, 10*time.Second, append(loads, other, unknown)...)
	if other.runs < 990 || unknown.runs < 990 {
		t.Errorf("they run %d and %d times in 10 s", other.runs, unknown.runs)
	}
}

func TestConfigsThatFindNothingSlowDownNobody(t *testing.T) {
	b := NewBudget(100)
	loads := overEqualPools(b, 1, 100, 0)
	simulate(b, 20*time.Second, loads...)
	if loads[0].runs < 1900 { // at first it has found nothing, either
		t.Errorf("the config that finds matches runs %d times in 20 s", loads[0].runs)
	}
	if got := runsOf(loads[1:]); got < aloneAs*1800 || got > aloneAs*2000+spared*100 {
		t.Errorf("the others run %d times in 20 s, want %d", got, aloneAs*2000)
	}
}

func TestNothingIsSharedWithoutALimit(t *testing.T) {
	b := NewBudget(0)
	loads := overEqualPools(b, 30, 0, 0)
	simulate(b, 10*time.Second, loads...)
	for _, l := range loads {
		if l.runs < 990 {
			t.Fatalf("a config runs %d times in 10 s", l.runs)
		}
	}
}

// The two players of a pair come one after the other, and no others do.
func TestPairIsSeenAtOnceByAllConfigs(t *testing.T) {
	b := NewBudget(100)
	loads := overEqualPools(b, 30, 0, 0)
	simulate(b, time.Second, loads...)
	quiet := epoch.Add(time.Minute)
	for i := range spared {
		now := quiet.Add(time.Duration(i) * time.Millisecond)
		for _, l := range loads {
			l.End(OK, 0, now)
			l.Touch()
		}
		starts, _ := sharedState(b, loads).Next(now)
		if len(starts) != len(loads) {
			t.Errorf("player %d: %d of %d configs run", i, len(starts), len(loads))
		}
		for _, l := range starts {
			l.Start(now)
		}
	}
}

func sharedState(b *Budget, loads []*load) State[*load] {
	return State[*load]{Times: times, Budget: b, Wake: epoch.Add(time.Hour), Segments: func(yield func(*load) bool) {
		for _, l := range loads {
			if !yield(l) {
				return
			}
		}
	}}
}

// Equal pools select the same of any tickets; pools are equal if only names, orders and repetitions differ.
func TestEqualPoolsSelectTheSameTickets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		filter := rapid.Custom(func(t *rapid.T) *pb.Filter {
			f := &pb.Filter{Attribute: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "attribute")}
			if rapid.Bool().Draw(t, "has min") {
				f.Min = new(float64(rapid.IntRange(0, 2).Draw(t, "min")))
			}
			if rapid.Bool().Draw(t, "has max") {
				f.Max = new(float64(rapid.IntRange(0, 2).Draw(t, "max")))
			}
			return f
		})
		sets := rapid.SliceOfN(rapid.SliceOfN(filter, 0, 3), 0, 3)
		queue := rapid.SampledFrom([]string{"", "q", "r"})
		named := func(prefix string, lists [][]*pb.Filter) map[string]*pb.Pool {
			pools := map[string]*pb.Pool{}
			for i, list := range lists {
				pools[fmt.Sprint(prefix, i)] = &pb.Pool{Filters: list}
			}
			return pools
		}
		one := sets.Draw(t, "one")
		q := queue.Draw(t, "queue")
		mixed := rapid.Permutation(one).Draw(t, "mixed")
		for i := range mixed {
			mixed[i] = rapid.Permutation(mixed[i]).Draw(t, "filters")
		}
		if len(mixed) > 0 && rapid.Bool().Draw(t, "twice") {
			mixed = append(mixed, mixed[0])
		}
		if PoolsOf(q, named("x", one)) != PoolsOf(q, named("y", mixed)) {
			t.Fatalf("%v and %v are not equal", one, mixed)
		}
		other, r := sets.Draw(t, "other"), queue.Draw(t, "other queue")
		if PoolsOf(q, named("x", one)) != PoolsOf(r, named("x", other)) {
			return
		}
		if q != r {
			t.Fatalf("queues %q and %q are equal", q, r)
		}
		for a := range 4 {
			for b := range 4 {
				ticket := map[string]float64{"a": float64(a), "b": float64(b)}
				if a == 3 {
					delete(ticket, "a")
				}
				if b == 3 {
					delete(ticket, "b")
				}
				if selects(one, ticket) != selects(other, ticket) {
					t.Fatalf("%v and %v are equal, and select another ticket: %v", one, other, ticket)
				}
			}
		}
	})
}

// selects reports whether a ticket is in one of the pools.
func selects(pools [][]*pb.Filter, ticket map[string]float64) bool {
	for _, filters := range pools {
		all := true
		for _, f := range filters {
			v, has := ticket[f.GetAttribute()]
			all = all && has && (f.Min == nil || v >= f.GetMin()) && (f.Max == nil || v <= f.GetMax())
		}
		if all {
			return true
		}
	}
	return len(pools) == 0
}
