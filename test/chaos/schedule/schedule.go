// Package schedule draws up a schedule of faults: which process is killed or frozen, which connection is cut, when, and
// for how long. The same seed gives the same schedule.
package schedule

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Kind is the kind of a fault.
type Kind string

// Faults of a process.
const (
	// Kill ends it as a crash does, and starts it again later.
	Kill Kind = "kill"
	// Freeze stops it with SIGSTOP, and continues it later.
	Freeze Kind = "freeze"
	// Restart stops it in good order, and starts it again later.
	Restart Kind = "restart"
	// Starve lets it run for a fraction of the time, as on a machine that has too much to do.
	Starve Kind = "starve"
)

// Faults of a Redis.
const (
	// FillMemory lowers its limit to about what it uses, and lifts it later.
	FillMemory Kind = "fill memory"
	// FillDisk fills the file system of its files, and makes room later.
	FillDisk Kind = "fill disk"
	// FailOver makes a replica the primary, in good order.
	FailOver Kind = "fail over"
	// Lose holds a replica back, then kills its primary. The replica takes over: what was written meanwhile is lost.
	Lose Kind = "lose writes"
	// Move moves a project to another primary of a cluster, key by key.
	Move Kind = "move"
)

// Faults of a connection.
const (
	// Refuse resets all connections and new ones.
	Refuse Kind = "refuse"
	// Silence holds everything, and forwards it later.
	Silence Kind = "silence"
	// Deafen forwards requests, and holds the answers.
	Deafen Kind = "deafen"
	// Slow forwards everything with a delay.
	Slow Kind = "slow"
)

// Target is a process or connection that can have faults.
type Target struct {
	Name string
	// Kinds are the faults it can have, each as likely as the others.
	Kinds []Kind
	// Weight is how often the target is chosen, in relation to the weights of the others.
	Weight int
	// Longest is how long its faults last at the most.
	Longest time.Duration
	// Rest is how long its group has no other fault after one.
	Rest time.Duration
	// Group names targets of which only one has a fault at a time; "" for a target without a group.
	Group string
}

func (t Target) group() string { return cmp.Or(t.Group, t.Name) }

// Fault is one entry of a schedule.
type Fault struct {
	// At is when it begins, counted from the beginning of the schedule. For is how long it lasts.
	At, For time.Duration
	Kind    Kind
	Target  Target
}

// Options say what a schedule is like.
type Options struct {
	Seed     uint64
	Duration time.Duration
	// Pace is the time from one fault to the next, on average.
	Pace time.Duration
	// Together is how many faults there may be at the same time.
	Together int
	Targets  []Target
}

// shortest is how long a fault lasts at least, so that processes notice it.
const shortest = 50 * time.Millisecond

// fair is the share of faults whose kind is the one that there were fewest of, so that all kinds happen soon.
const fair = 0.25

// Make draws up a schedule, ordered by when its faults begin. No target and no group has two faults at a time. All
// faults end within the duration.
func Make(o Options) []Fault {
	random := rand.New(rand.NewPCG(o.Seed, o.Seed)) //nolint:gosec // it must be the same every time
	ends := map[string]time.Duration{}              // of the last fault of each group
	rests := map[string]time.Duration{}             // until when it has no other
	counts := map[Kind]int{}
	var faults []Fault
	for at := time.Duration(0); ; {
		at += time.Duration((0.3 + 1.4*random.Float64()) * float64(o.Pace))
		if at >= o.Duration-shortest {
			return faults
		}
		active, idle := 0, o.Targets[:0:0]
		for _, end := range ends {
			if end > at {
				active++
			}
		}
		for _, t := range o.Targets {
			if rests[t.group()] <= at {
				idle = append(idle, t)
			}
		}
		// Draw in any case, so that leaving out a fault does not change the faults after it.
		rare, target, kind, long := random.Float64(), random.Float64(), random.Float64(), random.Float64()
		if active >= o.Together || len(idle) == 0 {
			continue
		}
		if rare < fair {
			idle = rarest(idle, counts)
		}
		t := pick(idle, target)
		f := Fault{At: at, For: min(length(t.Longest, long), o.Duration-at), Kind: t.Kinds[int(kind*float64(len(t.Kinds)))],
			Target: t}
		ends[t.group()], rests[t.group()] = at+f.For, at+f.For+t.Rest
		counts[f.Kind]++
		faults = append(faults, f)
	}
}

// rarest are the targets that can have the kind of fault that there were fewest of, with that kind alone.
func rarest(targets []Target, counts map[Kind]int) (all []Target) {
	var kinds []Kind
	for _, t := range targets {
		kinds = append(kinds, t.Kinds...)
	}
	least := slices.MinFunc(kinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b))
	})
	for _, t := range targets {
		if slices.Contains(t.Kinds, least) {
			t.Kinds = []Kind{least}
			all = append(all, t)
		}
	}
	return all
}

// Kinds are the kinds of all targets, each once.
func Kinds(targets []Target) (all []Kind) {
	for _, t := range targets {
		all = append(all, t.Kinds...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// length is how long a fault lasts. Half of the faults are short, up to an eighth of the longest; the others are up to
// the longest. at is from 0 to 1.
func length(longest time.Duration, at float64) time.Duration {
	if at < 0.5 {
		longest /= 8
	} else {
		at -= 0.5
	}
	return shortest + time.Duration(2*at*float64(max(0, longest-shortest)))
}

// pick picks a target by weight. at is from 0 to 1.
func pick(targets []Target, at float64) Target {
	total := 0
	for _, t := range targets {
		total += t.Weight
	}
	left := at * float64(total)
	i := slices.IndexFunc(targets, func(t Target) bool {
		left -= float64(t.Weight)
		return left < 0
	})
	return targets[max(i, 0)]
}
