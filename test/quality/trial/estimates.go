package trial

import (
	"math"
	"strconv"
	"time"

	"matchmaker.dev/services/internal/match/estimate"
	"matchmaker.dev/services/test/quality/world"
)

// oneClass is the class of all tickets: a world has one pool.
const oneClass estimate.Class = 1

// estimates are what the service would have told players for how long they wait. It is told what happens at each run
// of the match function.
type estimates struct {
	book     *estimate.Book
	forecast *estimate.Forecast
	waiting  map[*world.Ticket]*estimated
	n        int
}

// estimated is a ticket that waits.
type estimated struct {
	id    string
	told  estimate.Range // when it came
	known bool
}

func newEstimates(seed uint64) *estimates {
	return &estimates{book: estimate.NewBook(0, seed), waiting: map[*world.Ticket]*estimated{}}
}

func milliseconds(of float64) int64 { return int64(math.Round(1000 * of)) }

// come is told of a ticket that comes, before the tickets that come later.
func (e *estimates) come(t *world.Ticket) {
	e.n++
	one := &estimated{id: strconv.Itoa(e.n)}
	if e.forecast != nil {
		one.told, one.known = e.forecast.Range(0)
	}
	e.waiting[t] = one
	at := milliseconds(t.Arrives)
	e.book.Enter(one.id, oneClass, at, at)
}

// leave is told of a ticket that leaves.
func (e *estimates) leave(now float64, t *world.Ticket) {
	e.book.Leave(e.end([]*world.Ticket{t}), milliseconds(now))
}

// match is told of tickets that are matched together. It returns of how many of those that are measured the range was
// told, and of how many it held.
func (e *estimates) match(now float64, tickets []*world.Ticket) (told, held int) {
	for _, t := range tickets {
		one := e.waiting[t]
		if !t.Measured || !one.known {
			continue
		}
		told++
		waited := time.Duration(milliseconds(now-t.Arrives)) * time.Millisecond
		if one.told.Low <= waited && waited <= one.told.High {
			held++
		}
	}
	ids := e.end(tickets)
	e.book.Match(ids, milliseconds(now))
	e.book.Leave(ids, milliseconds(now))
	return told, held
}

// end forgets tickets, and returns their ids.
func (e *estimates) end(tickets []*world.Ticket) (ids []string) {
	for _, t := range tickets {
		ids = append(ids, e.waiting[t].id)
		delete(e.waiting, t)
	}
	return ids
}

// advance is told that a run is over.
func (e *estimates) advance(now float64) {
	e.book.Advance(milliseconds(now))
	if e.forecast = nil; e.book.Wait(oneClass) != nil {
		e.forecast = e.book.Wait(oneClass).Forecast()
	}
}
