package main

import (
	"context"
	"os"
	"runtime"
	"time"

	"matchmaker.dev/services/internal/platform/app"
)

// A process with little to do has one processor. With more, Go's runtime wakes a thread for each goroutine that becomes
// ready while a processor is idle, which mostly finds that the goroutine has run already: in a process that waits most
// of the time, half of the work is to wake threads in vain. It gets all processors when one was busy for more than
// crowded of the time since the last look, and has one again when less than spare of one was busy at each of calmLooks
// looks.
const (
	crowded, spare      = 0.7, 0.5
	busyLook, quietLook = 50 * time.Millisecond, 200 * time.Millisecond
	calmLooks           = 20
)

// processors is what a process had to do lately.
type processors struct {
	few  bool // it has one
	calm int  // looks in a row at which it needed less than spare
}

// look takes how many processors were busy on average since the last look. It reports whether the process is to have one
// or all from now on, and when to look next.
func (p *processors) look(busy float64) (change bool, next time.Duration) {
	p.calm++
	if busy >= spare {
		p.calm = 0
	}
	before := p.few
	p.few = before && busy < crowded || p.calm >= calmLooks
	if busy < spare/2 {
		return p.few != before, quietLook
	}
	return p.few != before, busyLook
}

// useProcessors is the part of a process that gives it as many processors as it needs. An operator who says how many
// there are, with GOMAXPROCS, is obeyed.
func useProcessors() app.Part {
	return app.Part{Name: "processors", Run: func(ctx context.Context) error {
		var p processors
		used, at := processorTime(), time.Now()
		timer := time.NewTimer(busyLook)
		defer timer.Stop()
		for os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) > 1 || p.few {
			select {
			case <-ctx.Done():
				return nil
			case <-timer.C:
			}
			before, last := used, at
			used, at = processorTime(), time.Now()
			change, next := p.look((used - before).Seconds() / at.Sub(last).Seconds())
			switch {
			case change && p.few:
				runtime.GOMAXPROCS(1)
			case change:
				runtime.SetDefaultGOMAXPROCS()
			}
			timer.Reset(next)
		}
		<-ctx.Done()
		return nil
	}}
}
