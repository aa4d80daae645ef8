package runner

import (
	"fmt"
	"math"
	"runtime"
	"time"
)

// Settings of a runner. A zero member means its default.
type Settings struct {
	// Hosts is how many runners host each project: 2. Under load it is more, up to MaxHosts: all that there are.
	Hosts, MaxHosts int
	// MinInstances and MaxInstances are the fewest and the most instances of one function on this runner: 1, and the
	// number of cores.
	MinInstances, MaxInstances int
	// Idle is how long a function's instances must not all be busy before one of
	// them is given up: 1 min. A project that was given to more runners is taken from one of them again after as long.
	Idle time.Duration
	// Crowded is how long runs of a project must go on waiting for instances, of which there are as many as
	// may be, before one more runner hosts it: 2 s.
	Crowded time.Duration
	// Budget of a run whose request names none: 5 s. No budget is longer than a minute.
	Budget time.Duration
	// Drain is how long runs under way may take when the runner stops or a project leaves it: 5 s.
	Drain time.Duration
	// Handover is the longest that a runner serves a project that is placed elsewhere, while some of the
	// new hosts are not ready: 30 s. As long as none of them is it goes on.
	Handover time.Duration
	// Heartbeat is how often a runner says what it hosts: 500 ms.
	Heartbeat time.Duration
	// Silence is how long a runner may say nothing before the others go on without it: 1.5 s.
	Silence time.Duration
	// Settle is how long a new runner listens for others before it places projects: 250 ms.
	Settle time.Duration
	// Poll is how often the state is read for projects and functions, should a poke be lost: 1 s.
	Poll time.Duration
}

// maxBudget is the ceiling of a run's budget, as of the sandbox's own limit.
const maxBudget = time.Minute

// complete fills in defaults and refuses what makes no sense.
func (s Settings) complete() (Settings, error) {
	var err error
	set(&err, "Hosts", &s.Hosts, 2)
	set(&err, "MaxHosts", &s.MaxHosts, math.MaxInt)
	set(&err, "MinInstances", &s.MinInstances, 1)
	set(&err, "MaxInstances", &s.MaxInstances, max(runtime.NumCPU(), s.MinInstances))
	set(&err, "Idle", &s.Idle, time.Minute)
	set(&err, "Crowded", &s.Crowded, 2*time.Second)
	set(&err, "Budget", &s.Budget, 5*time.Second)
	set(&err, "Drain", &s.Drain, 5*time.Second)
	set(&err, "Handover", &s.Handover, 30*time.Second)
	set(&err, "Heartbeat", &s.Heartbeat, 500*time.Millisecond)
	set(&err, "Silence", &s.Silence, 1500*time.Millisecond)
	set(&err, "Settle", &s.Settle, 250*time.Millisecond)
	set(&err, "Poll", &s.Poll, time.Second)
	if err == nil && s.Silence < 2*s.Heartbeat {
		err = fmt.Errorf("runner: Silence %v must be at least two times Heartbeat %v", s.Silence, s.Heartbeat)
	}
	if err == nil && (s.MinInstances > s.MaxInstances || s.Hosts > s.MaxHosts) {
		err = fmt.Errorf("runner: MinInstances %d and Hosts %d must not be more than MaxInstances %d and MaxHosts %d",
			s.MinInstances, s.Hosts, s.MaxInstances, s.MaxHosts)
	}
	return s, err
}

func set[T int | time.Duration](err *error, name string, v *T, byDefault T) {
	switch {
	case *v == 0:
		*v = byDefault
	case *v < 0:
		*err = fmt.Errorf("runner: %s is %v, less than 0", name, *v)
	}
}
