package allocator

import (
	"cmp"
	"time"
)

// Settings of the allocator.
type Settings struct {
	Parallel int           `help:"How many matches one allocator has in hand at once; fleets that are slow leave each other a share." name:"parallel-allocations" default:"2048" bounds:"1.." group:"allocator"`
	Fleet    int           `help:"How many servers of one fleet one allocator asks for at once." name:"fleet-allocations" default:"64" bounds:"1.." group:"allocator"`
	Deadline time.Duration `help:"How long a provider may take, retries included, while an allocator works on the match, before the tickets get an error, or wait again as their config has it." name:"allocation-time" default:"30s" bounds:">0" group:"allocator"`
	Call     time.Duration `help:"How long one call of a hosting system may take." name:"hosting-call-time" default:"10s" bounds:">0" group:"allocator"`
	Return   time.Duration `help:"How long a server that no ticket uses is tried to be given back, before an error is logged and the allocator gives up." name:"return-time" default:"24h" bounds:">0" group:"allocator"`

	Timing `kong:"-"`
}

// Timing is what no flag sets. A zero member means its default.
type Timing struct {
	// Poll is the time between two questions after an allocation that is pending: 250 ms.
	Poll time.Duration
	// Hold is how long a match stays in the hands of an allocator that gives no sign of life: 10 s.
	Hold time.Duration
	// Sweep is how often an allocator looks for servers to be given back, 1 s, and Retry how soon one that could not be
	// is given back again, 15 s.
	Sweep, Retry time.Duration
	// Note is how long an allocation waits until the key of its server's token is noted: 250 ms.
	Note time.Duration
}

func (t Timing) complete() Timing {
	return Timing{
		Poll: cmp.Or(t.Poll, 250*time.Millisecond), Hold: cmp.Or(t.Hold, 10*time.Second),
		Sweep: cmp.Or(t.Sweep, time.Second), Retry: cmp.Or(t.Retry, 15*time.Second),
		Note: cmp.Or(t.Note, 250*time.Millisecond),
	}
}

// slack is what the claim of a match lasts beyond Deadline, for the rest of the work.
func (s *Settings) slack() time.Duration { return s.Deadline / 2 }
