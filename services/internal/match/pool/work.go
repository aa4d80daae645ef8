package pool

import (
	"runtime"
	"time"
)

// Work counts what is done in a view, and ends it when it is late.
type Work struct {
	// Deadline is when the work is given up. Zero is never.
	Deadline time.Time
	// Cells is how many values were looked at so far, by filters and by callers of Count.
	Cells int64

	late bool
}

// Count counts values that were looked at or written.
func (w *Work) Count(cells int) {
	if w != nil {
		w.Cells += int64(cells)
	}
}

// Late reports whether the deadline has passed. What was done since then is incomplete. It lets others go on first: a
// large request takes longer to write than the short runs of others take, and they would wait for a processor.
func (w *Work) Late() bool {
	if w == nil || w.Deadline.IsZero() {
		return false
	}
	runtime.Gosched()
	w.late = w.late || !time.Now().Before(w.Deadline)
	return w.late
}

// lateStep is after how many tickets a loop looks at the time.
const lateStep = 4096
