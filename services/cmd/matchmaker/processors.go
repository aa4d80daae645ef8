package main

import "time"

// A process with little to do has one processor. With more, Go's runtime wakes a thread for each goroutine that becomes
// ready while a processor is idle, and that thread mostly finds that the goroutine has run already: in a process that
// waits most of the time, much of the work is to wake threads in vain.
//
// It gets all processors when more than crowded of one was busy since the last look, and has one again when less than
// spare was busy for calmTime.
const (
	crowded, spare = 0.7, 0.5
	calmTime       = time.Second
)

// processors is what a process had to do lately.
type processors struct {
	few  bool // it has one
	calm time.Duration
}

// look takes how much processor time was used since the last look, and how long that was. It reports whether the
// process is to have one instead of all from now on, or all instead of one.
func (p *processors) look(used, passed time.Duration) (change bool) {
	busy := used.Seconds() / passed.Seconds()
	if p.calm += passed; busy >= spare {
		p.calm = 0
	}
	before := p.few
	p.few = before && busy < crowded || p.calm >= calmTime
	return p.few != before
}
