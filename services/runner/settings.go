package runner

import (
	"fmt"
	"runtime"
	"time"
)

// Settings of a runner. A zero member means its default.
type Settings struct {
	// Hosts is how many runners host each project: 2.
	Hosts int
	// Instances is the most instances of one function on this runner: the number of cores.
	Instances int
	// Idle is how long a function's instances must not all be busy before one of
	// them, but never the last, is given up: 1 min.
	Idle time.Duration
	// Budget of a run whose request names none: 5 s. No budget is longer than a minute.
	Budget time.Duration
	// Drain is how long runs under way may take when the runner stops or a project leaves it: 5 s.
	Drain time.Duration
	// Handover is the longest that a runner serves a project that is placed elsewhere,
	// while the new hosts are not ready: 30 s.
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
	set(&err, "Instances", &s.Instances, runtime.NumCPU())
	set(&err, "Idle", &s.Idle, time.Minute)
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
