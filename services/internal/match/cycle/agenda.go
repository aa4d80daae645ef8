package cycle

import (
	"container/heap"
	"time"
)

// Agenda is what will happen. What happens at the same time does so in the order in which it was planned.
type Agenda struct {
	list    []event
	planned int
}

type event struct {
	at     time.Time
	number int
	do     func()
	of     *bool // whose truth makes it needless; nil for none
}

// Plan plans what happens at a time.
func (a *Agenda) Plan(at time.Time, do func()) { a.PlanUnless(nil, at, do) }

// PlanUnless plans what happens at a time, if what it is of has not ended before.
func (a *Agenda) PlanUnless(ended *bool, at time.Time, do func()) {
	a.planned++
	heap.Push(a, event{at, a.planned, do, ended})
}

// until lets happen all that is planned up to a time.
func (a *Agenda) until(now time.Time) {
	for {
		at, more := a.next()
		if !more || at.After(now) {
			return
		}
		a.take()()
	}
}

// next is when something happens next, and false if nothing is planned.
func (a *Agenda) next() (time.Time, bool) {
	for len(a.list) > 0 && a.list[0].of != nil && *a.list[0].of {
		a.take()
	}
	if len(a.list) == 0 {
		return time.Time{}, false
	}
	return a.list[0].at, true
}

// take removes what happens next.
func (a *Agenda) take() func() { return heap.Pop(a).(event).do }

// Len, Less and Swap implement heap.Interface.
func (a *Agenda) Len() int { return len(a.list) }
func (a *Agenda) Less(i, j int) bool {
	x, y := &a.list[i], &a.list[j]
	if !x.at.Equal(y.at) {
		return x.at.Before(y.at)
	}
	return x.number < y.number
}
func (a *Agenda) Swap(i, j int) { a.list[i], a.list[j] = a.list[j], a.list[i] }

// Push adds an event, as heap.Interface has it.
func (a *Agenda) Push(x any) { a.list = append(a.list, x.(event)) }

// Pop removes the last event.
func (a *Agenda) Pop() any {
	last := len(a.list) - 1
	e := a.list[last]
	a.list[last] = event{}
	a.list = a.list[:last]
	return e
}
