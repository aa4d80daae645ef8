package launch

import (
	"fmt"
	"os"
	"strconv"
	"strings"
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

// ProcessorsNow reads what all processors have done. Outside of Linux it cannot tell.
func ProcessorsNow() Processors {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Processors{}
	}
	p := parseProcessors(string(text))
	p.Ours = ours(os.Getpid(), Processes())
	return p
}

// parseProcessors reads the first line of /proc/stat. What interrupts take is neither ours nor others'.
func parseProcessors(text string) (p Processors) {
	line, _, _ := strings.Cut(text, "\n")
	// cpu user nice system idle iowait irq softirq steal guest guest_nice; user includes guest
	fields := strings.Fields(line)
	for i := 1; i < len(fields) && i <= 8; i++ {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return Processors{}
		}
		d := time.Duration(n) * tick
		p.All += d
		switch i {
		case 1, 2, 3:
			p.Busy += d
		case 8:
			p.Stolen = d
		}
	}
	return p
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
