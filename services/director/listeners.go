package director

import (
	"sync"
	"time"
)

// longestDeaf is the longest time between two heartbeats of ticket services in which players could answer all the time.
// Ticket services send one a second.
const longestDeaf = 3 * time.Second

// listeners knows since when players can answer, from the heartbeats of all ticket services together.
type listeners struct {
	mu          sync.Mutex
	since, last time.Time // the first and the last heartbeat without a gap; zero before
}

// heartbeat notes that a ticket service listened at a time.
func (l *listeners) heartbeat(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.Sub(l.last) > longestDeaf {
		l.since = at
	}
	if at.After(l.last) {
		l.last = at
	}
}

// listening returns how long players have been able to answer; 0 when they cannot.
func (l *listeners) listening(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.last) > longestDeaf {
		return 0
	}
	return now.Sub(l.since)
}
