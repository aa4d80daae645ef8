package launch

import (
	"fmt"
	"time"
)

// Processors is processor time since the machine started, of all processors together. It is empty where the system does
// not tell.
type Processors struct {
	// Ours is what this process took, with everything that it started.
	All, Busy, Stolen, Ours time.Duration
}

// Others is what others did while something was measured, as shares of all processors.
type Others struct {
	// Stolen is what the host of this virtual machine gave to others, Used what other processes here took.
	Stolen, Used float64
}

// Since tells what others did since before.
func (p Processors) Since(before Processors) Others {
	all := (p.All - before.All).Seconds()
	if all <= 0 {
		return Others{}
	}
	// What the kernel books in ticks and what processes are charged differ a little.
	used := (p.Busy - before.Busy - (p.Ours - before.Ours)).Seconds()
	return Others{Stolen: max(0, (p.Stolen-before.Stolen).Seconds()/all), Used: max(0, used/all)}
}

// Beyond these shares a measurement says more about the others.
const (
	mostStolen = 0.03
	mostUsed   = 0.06
)

// TooBusy says what the machine did beside the measurement, if that was too much.
func (o Others) TooBusy() string {
	if o.Stolen <= mostStolen && o.Used <= mostUsed {
		return ""
	}
	return fmt.Sprintf("other processes took %.0f %% of the processors, the host %.0f %%", 100*o.Used, 100*o.Stolen)
}
