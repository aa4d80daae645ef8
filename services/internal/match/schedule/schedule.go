// Package schedule decides when the segments of a project run, and when their proposals are evaluated. Runs cost their
// project processor time, of which it has a budget. It is pure: it has no clock and makes no calls. The director's
// leader notes on each Segment what happens to its runs.
package schedule

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// Times are the settings of a schedule.
type Times struct {
	// A segment runs once each MinInterval on average while changes keep coming, and MaxInterval after its last start in
	// any case. A segment that ran less often may start spared runs without a pause. Where many segments have equal pools,
	// MinInterval is longer: see aloneAs.
	MinInterval, MaxInterval time.Duration
	// Window is how long proposals wait for the proposals of runs that started with their own.
	Window time.Duration
	// Run is how long a run may take.
	Run time.Duration
}

// Scheduled is a type that embeds a Segment.
type Scheduled interface{ schedule() *Segment }

// State is the input of a project's next step.
type State[S Scheduled] struct {
	Times
	Segments iter.Seq[S]
	// Paused keeps new runs from starting.
	Paused bool
	// Pending is when the first of the waiting proposals arrived; zero if none waits. Took is the duration of its run.
	Pending time.Time
	Took    time.Duration
	// Rivals reports whether runs of a segment may propose tickets of the waiting proposals; nil for all segments.
	Rivals func(S) bool
	// Wake is the time of the project's next other work.
	Wake time.Time
	// Budget is the budget of the segments' accounts; nil if they have none.
	Budget *Budget
}

// Next returns the segments whose runs start now, and when to call Next again at the latest. It charges the runs to
// their accounts: each must start.
func (s State[S]) Next(now time.Time) (starts []S, wake time.Time) {
	var due []S
	wake = earlier(now.Add(s.MaxInterval), s.Wake)
	if !s.Pending.IsZero() {
		wake = earlier(wake, s.EvaluateAt())
	}
	for one := range s.Segments {
		switch segment := one.schedule(); {
		case segment.running:
			wake = earlier(wake, segment.deadline)
		case s.Paused || segment.held || segment.unsettled > 0:
		case segment.due(s.Times).After(now):
			wake = earlier(wake, segment.due(s.Times))
		default:
			due = append(due, one)
		}
	}
	if s.Budget != nil && len(due) > 0 {
		s.Budget.refill(now)
	}
	due = slices.DeleteFunc(due, func(one S) bool { return !s.allows(one.schedule(), now, &wake) })
	// Accounts with the least recent charge come first, and of one config's segments the one that ran the longest time
	// ago.
	slices.SortStableFunc(due, func(a, b S) int {
		x, y := a.schedule(), b.schedule()
		return cmp.Or(cmp.Compare(y.account.balance(), x.account.balance()), x.started.Compare(y.started))
	})
	var sharers map[group]int
	if len(due) > 0 {
		sharers = s.sharers()
	}
	for _, one := range due {
		segment := one.schedule()
		if !s.allows(segment, now, &wake) { // the runs before it may have emptied the bucket
			continue
		}
		segment.reserved = segment.account.reserve()
		segment.interval = s.interval(segment, sharers)
		segment.paced = later(segment.paced, now).Add(segment.interval)
		segment.account.pace(segment.paced)
		starts = append(starts, one)
		wake = earlier(wake, segment.takeBy(now))
	}
	return starts, wake
}

// allows reports whether the account of a segment that is due allows a run. Otherwise it notes the delay, and when to
// look again.
func (s State[S]) allows(segment *Segment, now time.Time, wake *time.Time) bool {
	if segment.account.allows() {
		return true
	}
	if segment.delayed.IsZero() {
		segment.delayed = now
	}
	*wake = earlier(*wake, segment.account.allowsAt(now))
	return false
}

// EvaluateAt is when the pending proposals are evaluated: when they have waited for the window, or earlier if no run
// that started within it can add to them. For runs of fruitless configs they wait no longer than their own run took,
// and only for runs that had started when the first of them arrived: a run that started with theirs and is as fast is
// compared with them, but many configs that find nothing do not delay the others.
//
// They do not wait for a run that is not expected to end within the window from its start, nor for segments that are no
// rivals.
func (s State[S]) EvaluateAt() time.Time {
	var at time.Time
	for one := range s.Segments {
		segment := one.schedule()
		if !segment.running || segment.slow(s.Window) || s.Rivals != nil && !s.Rivals(one) {
			continue
		}
		until := segment.started.Add(s.Window)
		if segment.account.isFruitless() {
			if segment.started.After(s.Pending) {
				continue
			}
			until = earlier(until, s.Pending.Add(s.Took))
		}
		at = later(at, until)
	}
	return earlier(at, s.Pending.Add(s.Window))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
