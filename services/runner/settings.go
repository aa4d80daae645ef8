package runner

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"time"

	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/platform/settings"
)

// Settings of a runner.
type Settings struct {
	Hosts        int `help:"How many runners host each project; more under load." default:"2" bounds:"1.." group:"runner"`
	MaxHosts     int `help:"Most runners that host a project under load; 0 is all there are." default:"0" bounds:"0.." group:"runner"`
	MinInstances int `help:"Fewest instances of a function on a runner." default:"1" bounds:"1.." group:"runner"`
	MaxInstances int `help:"Most instances of a function on a runner, under load; 0 is the number of cores, at least 2." default:"0" bounds:"0.." group:"runner"`
	// RunnerInstances bounds the memory of the machine: each may take --function-memory.
	RunnerInstances int `help:"Most instances of all functions together on a runner." default:"100" bounds:"1.." group:"runner"`
	IndexNames      int `help:"Most attribute names of a project with a column in the index; those that configs use have one anyway." default:"1024" bounds:"0.." group:"runner"`

	Leave time.Duration `help:"How long a stopping runner waits until others serve its projects." name:"handover-time" default:"15s" bounds:"0.." group:"runner"`

	Timing `kong:"-"`
}

// Timing has the times that no flag sets. A zero member means its default.
type Timing struct {
	// Idle is how long not all instances of a function must be busy before one of them ends. A project with more
	// hosts than Settings.Hosts loses one of them after as long without overload.
	Idle time.Duration `default:"1m"`
	// Crowded is how long runs of a project must wait for instances, with as many instances as allowed, before one more
	// runner hosts it.
	Crowded time.Duration `default:"2s"`
	// Budget of a run whose request names none. No budget is longer than a minute.
	Budget time.Duration `default:"5s"`
	// Drain is how long runs in flight may take when the runner stops or a project leaves it.
	Drain time.Duration `default:"5s"`
	// Handover is the longest that a runner serves a project that is placed elsewhere while some of the new hosts are
	// not ready. As long as none of them is ready it goes on.
	Handover time.Duration `default:"30s"`
	// Heartbeat is how often a runner sends its status.
	Heartbeat time.Duration `default:"500ms"`
	// Silence is how long a runner may send nothing before the others count it as down.
	Silence time.Duration `default:"1500ms"`
	// Settle is how long a new runner listens for others before it places projects.
	Settle time.Duration `default:"250ms"`
	// KeepFrom is the number of tickets from which on a function that can keep its tickets does: 1,024. With fewer, a run
	// of all takes as long.
	KeepFrom int
	// Poll is how often the state is read for projects and functions, in case a poke is lost.
	Poll time.Duration `default:"1s"`
}

// maxBudget is the longest budget of a run, as in the sandbox's own limits.
const maxBudget = time.Minute

// complete replaces zeros by their defaults, and refuses what makes no sense.
func (s Settings) complete() (Settings, error) {
	if err := settings.Check(&s); err != nil {
		return s, err
	}
	s.MaxHosts = cmp.Or(s.MaxHosts, math.MaxInt)
	s.IndexNames = cmp.Or(s.IndexNames, pool.DefaultNames)
	s.MaxInstances = cmp.Or(s.MaxInstances, max(2, runtime.GOMAXPROCS(0), s.MinInstances))
	if s.MinInstances > s.MaxInstances || s.Hosts > s.MaxHosts {
		return s, fmt.Errorf("--min-instances %d and --hosts %d must not be more than --max-instances %d and --max-hosts %d",
			s.MinInstances, s.Hosts, s.MaxInstances, s.MaxHosts)
	}
	settings.Complete(&s.Timing)
	if s.Silence < 2*s.Heartbeat {
		return s, fmt.Errorf("runner: Silence %v must be at least two times Heartbeat %v", s.Silence, s.Heartbeat)
	}
	return s, nil
}

// slots is how many runs a runner works on at a time: as many as it has cores, at least two, so that one of them is not
// in the way of all, and as many as it may have instances of one function.
func (s *Settings) slots() int { return max(2, runtime.GOMAXPROCS(0), s.MaxInstances) }
