package simulation

import (
	"container/heap"
	"time"
)

// agenda is what will happen. What happens at the same time does so in the order in which it was planned.
type agenda struct {
	list    []event
	planned int
}

type event struct {
	at     time.Time
	number int
	do     func()
	of     *ticket // whose end makes it needless; nil for none
}

// plan plans what happens at a time.
func (a *agenda) plan(at time.Time, do func()) { a.planFor(nil, at, do) }

// planFor plans what happens at a time if a ticket has not ended before.
func (a *agenda) planFor(t *ticket, at time.Time, do func()) {
	a.planned++
	heap.Push(a, event{at, a.planned, do, t})
}

// next is when something happens next, and false if nothing is planned.
func (a *agenda) next() (time.Time, bool) {
	for len(a.list) > 0 && a.list[0].of != nil && a.list[0].of.ended {
		a.take()
	}
	if len(a.list) == 0 {
		return time.Time{}, false
	}
	return a.list[0].at, true
}

// take removes what happens next.
func (a *agenda) take() func() { return heap.Pop(a).(event).do }

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (a *agenda) Len() int { return len(a.list) }
func (a *agenda) Less(i, j int) bool {
	x, y := &a.list[i], &a.list[j]
	if !x.at.Equal(y.at) {
		return x.at.Before(y.at)
	}
	return x.number < y.number
}
func (a *agenda) Swap(i, j int) { a.list[i], a.list[j] = a.list[j], a.list[i] }
func (a *agenda) Push(x any)    { a.list = append(a.list, x.(event)) }

// Pop removes the last event.
func (a *agenda) Pop() any {
	last := len(a.list) - 1
	e := a.list[last]
	a.list[last] = event{}
	a.list = a.list[:last]
	return e
}
