package director

import (
	"testing"
	"time"
)

func TestListenersAreThereSinceTheirLastGap(t *testing.T) {
	l, now := new(listeners), time.Unix(1_700_000_000, 0)
	since := func(want time.Duration) {
		t.Helper()
		if got := l.listening(now); got != want {
			t.Errorf("listening since %v, want %v", got, want)
		}
	}
	since(0)
	l.heartbeat(now)
	for range 4 {
		now = now.Add(longestDeaf)
		l.heartbeat(now)
	}
	since(4 * longestDeaf)
	now = now.Add(longestDeaf)
	since(5 * longestDeaf)
	now = now.Add(1)
	since(0)
	l.heartbeat(now)
	since(0)
	now = now.Add(time.Second)
	since(time.Second)
	l.heartbeat(now.Add(-2 * time.Second)) // one that comes late says nothing
	since(time.Second)
	now = now.Add(longestDeaf)
	l.heartbeat(now.Add(-longestDeaf - 1))
	since(0)
}
