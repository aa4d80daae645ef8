// Package storm plans disturbances: what is killed, stopped or cut off, when, and for how long. The same seed, the same plan.
package storm

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Kind of a disturbance.
type Kind string

// What is done to a process.
const (
	// Kill ends it as a crash does, and starts it again later.
	Kill Kind = "kill"
	// Freeze makes it stand still, and go on later as if nothing had been.
	Freeze Kind = "freeze"
	// Restart asks it to stop in good order, and starts it again.
	Restart Kind = "restart"
)

// What is done to a stretch of network.
const (
	// Refuse ends all connections and takes no new ones.
	Refuse Kind = "refuse"
	// Silence lets nothing through, and what was said meanwhile late.
	Silence Kind = "silence"
	// Deafen lets requests through and keeps the answers back.
	Deafen Kind = "deafen"
	// Slow lets everything through late.
	Slow Kind = "slow"
)

// Target is what can be disturbed.
type Target struct {
	Name string
	// Kinds of what can be done to it, each as likely as the others.
	Kinds []Kind
	// Weight is how often it is chosen, beside the others'.
	Weight int
	// Longest is how long a disturbance of it may last.
	Longest time.Duration
	// Group is of targets that are not disturbed at the same time; "" when it is of none.
	Group string
}

func (t Target) group() string { return cmp.Or(t.Group, t.Name) }

// Fault is one disturbance.
type Fault struct {
	// At is when it begins, from the beginning of the storm, and For how long it lasts.
	At, For time.Duration
	Kind    Kind
	Target  Target
}

// Weather says how a storm is to be.
type Weather struct {
	Seed     uint64
	Duration time.Duration
	// Pace is the time from one fault to the next, on average.
	Pace time.Duration
	// Together is how many faults there may be at the same time.
	Together int
	Targets  []Target
}

// shortest is how long a disturbance lasts at least: something should notice.
const shortest = 50 * time.Millisecond

// Plan plans the faults of a storm, by when they begin. No target, and no group, has two at a time, and all are over when the storm is.
func Plan(w Weather) []Fault {
	random := rand.New(rand.NewPCG(w.Seed, w.Seed)) //nolint:gosec // it must be the same every time
	over := map[string]time.Duration{}              // when the last fault of each group is
	var plan []Fault
	for at := time.Duration(0); ; {
		at += time.Duration((0.3 + 1.4*random.Float64()) * float64(w.Pace))
		if at >= w.Duration-shortest {
			return plan
		}
		under, idle := 0, w.Targets[:0:0]
		for _, end := range over {
			if end > at {
				under++
			}
		}
		for _, t := range w.Targets {
			if over[t.group()] <= at {
				idle = append(idle, t)
			}
		}
		// Drawn in any case, so that one fault less does not change all that come after it.
		target, kind, length := random.Float64(), random.Float64(), random.Float64()
		if under >= w.Together || len(idle) == 0 {
			continue
		}
		t := pick(idle, target)
		f := Fault{At: at, For: min(lasting(t.Longest, length), w.Duration-at), Kind: t.Kinds[int(kind*float64(len(t.Kinds)))], Target: t}
		over[t.group()] = at + f.For
		plan = append(plan, f)
	}
}

// lasting is how long a fault lasts: every other one is short, the others are as long as may be, or anything between. at is from 0 to 1.
func lasting(longest time.Duration, at float64) time.Duration {
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
