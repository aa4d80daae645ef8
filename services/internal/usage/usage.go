// Package usage keeps what each owner used lately of something shared, to serve the one that used least first.
package usage

import (
	"math"
	"slices"
	"time"
)

// maxOwners is how many owners are told apart. Beyond, those with the least usage are forgotten.
const maxOwners = 10_000

// Ledger is the time that owners used, which halves in HalfLife. It is not safe for concurrent use.
type Ledger struct {
	HalfLife time.Duration

	owners map[string]entry
}

// entry is what an owner had used at a time.
type entry struct {
	spent time.Duration
	at    time.Time
}

// Of is what counts of an owner's usage.
func (l *Ledger) Of(owner string, now time.Time) time.Duration {
	return l.left(l.owners[owner], now)
}

func (l *Ledger) left(e entry, now time.Time) time.Duration {
	if e.spent == 0 {
		return 0
	}
	return time.Duration(float64(e.spent) * math.Exp2(-float64(now.Sub(e.at))/float64(l.HalfLife)))
}

// Add adds to what an owner used.
func (l *Ledger) Add(owner string, spent time.Duration, now time.Time) {
	had, known := l.owners[owner]
	if l.owners == nil {
		l.owners = map[string]entry{}
	}
	if !known && len(l.owners) >= maxOwners {
		l.forget(now)
	}
	l.owners[owner] = entry{l.left(had, now) + spent, now}
}

// forget forgets the half of the owners that used least.
func (l *Ledger) forget(now time.Time) {
	var all []time.Duration
	for _, e := range l.owners {
		all = append(all, l.left(e, now))
	}
	slices.Sort(all)
	for owner, e := range l.owners {
		if l.left(e, now) <= all[len(all)/2] {
			delete(l.owners, owner)
		}
	}
}
