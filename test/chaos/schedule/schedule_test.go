package schedule

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNoTargetOrGroupHasTwoFaultsAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Duration: time.Duration(rapid.IntRange(1, 600).Draw(t, "seconds")) * time.Second,
			Pace:     time.Duration(rapid.IntRange(50, 5000).Draw(t, "pace")) * time.Millisecond,
			Together: rapid.IntRange(1, 4).Draw(t, "together"),
			Targets: []Target{
				{Name: "a", Kinds: []Kind{Kill, Freeze}, Weight: 3, Longest: 5 * time.Second},
				{Name: "b", Kinds: []Kind{Refuse}, Weight: 1, Longest: time.Second, Group: "g"},
				{Name: "c", Kinds: []Kind{Silence, Slow}, Weight: 1, Longest: 20 * time.Second},
				{Name: "d", Kinds: []Kind{Kill}, Weight: 1, Longest: 20 * time.Second, Group: "g", Rest: time.Second},
			},
		}
		faults := Make(o)
		if again := Make(o); !reflect.DeepEqual(faults, again) {
			t.Fatal("the same seed gives another schedule")
		}
		for i, f := range faults {
			if f.At < 0 || f.For <= 0 || f.For > f.Target.Longest || f.At+f.For > o.Duration {
				t.Fatalf("%+v in a schedule of %v", f, o.Duration)
			}
			active := 1
			for _, before := range faults[:i] {
				if before.At > f.At {
					t.Fatalf("%+v comes before %+v", before, f)
				}
				if before.At+before.For > f.At {
					active++
					if before.Target.group() == f.Target.group() {
						t.Fatalf("%+v begins while %+v lasts", f, before)
					}
				}
				if before.At+before.For+before.Target.Rest > f.At && before.Target.group() == f.Target.group() {
					t.Fatalf("%+v begins while the group rests after %+v", f, before)
				}
			}
			if active > o.Together {
				t.Fatalf("%d at once at %+v", active, f)
			}
		}
	})
}

func TestEveryKindOfFaultIsScheduled(t *testing.T) {
	targets := []Target{
		{Name: "often", Kinds: []Kind{Kill, Freeze, Restart}, Weight: 4, Longest: time.Second},
		{Name: "seldom", Kinds: []Kind{Refuse, Silence, Deafen, Slow}, Weight: 1, Longest: time.Second},
	}
	counts, kinds := map[string]int{}, map[Kind]int{}
	for _, f := range Make(Options{Seed: 1, Duration: time.Hour, Pace: 2 * time.Second, Together: 2, Targets: targets}) {
		counts[f.Target.Name]++
		kinds[f.Kind]++
	}
	if counts["often"] < counts["seldom"]*5/4 || counts["seldom"] == 0 {
		t.Errorf("targets of weight 4 and 1 are chosen %v times", counts)
	}
	for _, k := range []Kind{Kill, Freeze, Restart, Refuse, Silence, Deafen, Slow} {
		if kinds[k] == 0 {
			t.Errorf("in an hour there is no %s: %v", k, kinds)
		}
	}
	// Also one of a target that is hardly ever chosen.
	targets = append(targets, Target{Name: "never", Kinds: []Kind{Lose}, Weight: 0, Longest: time.Second})
	happened := map[Kind]bool{}
	for _, f := range Make(Options{Seed: 1, Duration: time.Minute, Pace: time.Second, Together: 2, Targets: targets}) {
		happened[f.Kind] = true
	}
	for _, k := range Kinds(targets) {
		if !happened[k] {
			t.Errorf("in a minute there is no %s: %v", k, happened)
		}
	}
	seeded := func(seed uint64) []Fault {
		return Make(Options{Seed: seed, Duration: time.Minute, Pace: time.Second, Together: 1, Targets: targets})
	}
	if reflect.DeepEqual(seeded(1), seeded(2)) {
		t.Error("two seeds give the same schedule")
	}
}
