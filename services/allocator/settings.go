package allocator

import "time"

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
	// Poll is the time between two questions after an allocation that is pending.
	Poll time.Duration `default:"250ms"`
	// Hold is how long a match stays in the hands of an allocator that gives no sign of life.
	Hold time.Duration `default:"10s"`
	// Sweep is how often an allocator looks for servers to be given back, and Retry how soon one that could not be is
	// given back again.
	Sweep time.Duration `default:"1s"`
	Retry time.Duration `default:"15s"`
	// Note is how long an allocation waits until the key of its server's token is noted.
	Note time.Duration `default:"250ms"`
}
