package quota

import (
	"math"
	"slices"
	"sync"
	"time"
)

// maxOwners is how many owners are told apart. Beyond, those with the least usage are forgotten.
const maxOwners = 10_000

// Usage is the time that owners used lately, which halves in halfLife. The zero Usage is empty. It is safe for
// concurrent use.
type Usage struct {
	mu     sync.Mutex
	owners map[string]usage
}

// usage is what an owner had used at a time, and when its turns under way began.
type usage struct {
	spent time.Duration
	at    time.Time
	turns []time.Time
}

func (u usage) left(now time.Time) time.Duration {
	left := time.Duration(float64(u.spent) * math.Exp2(-float64(now.Sub(u.at))/float64(halfLife)))
	for _, began := range u.turns {
		left += max(now.Sub(began), time.Millisecond) // one that has just begun counts as well
	}
	return left
}

// Of returns what counts of an owner's usage, its turns under way included.
func (u *Usage) Of(owner string, now time.Time) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.owners[owner].left(now)
}

func (u *Usage) begin(owner string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, known := u.owners[owner]; !known && len(u.owners) >= maxOwners {
		u.forget(now)
	}
	if u.owners == nil {
		u.owners = map[string]usage{}
	}
	e := u.owners[owner]
	e.turns = append(e.turns, now)
	u.owners[owner] = e
}

func (u *Usage) end(owner string, began time.Time, spent time.Duration, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	e := u.owners[owner]
	if i := slices.Index(e.turns, began); i >= 0 {
		e.turns = slices.Delete(e.turns, i, i+1)
	}
	left := usage{spent: e.spent, at: e.at}.left(now)
	u.owners[owner] = usage{spent: left + spent, at: now, turns: e.turns}
}

// forget forgets the half of the owners without turns that used least.
func (u *Usage) forget(now time.Time) {
	var all []time.Duration
	for _, e := range u.owners {
		all = append(all, e.left(now))
	}
	slices.Sort(all)
	for owner, e := range u.owners {
		if len(e.turns) == 0 && e.left(now) <= all[len(all)/2] {
			delete(u.owners, owner)
		}
	}
}
