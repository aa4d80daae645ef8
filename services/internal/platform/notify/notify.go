// Package notify wakes a goroutine without making the sender wait.
package notify

import (
	"context"
	"time"
)

// Signal tells a receiver that something happened since it last looked. Notifications that the receiver has not
// taken yet are merged into one. The zero Signal never notifies.
type Signal struct{ c chan struct{} }

// New makes a signal.
func New() Signal { return Signal{make(chan struct{}, 1)} }

// Notify notifies the receiver. It never blocks.
func (s Signal) Notify() {
	select {
	case s.c <- struct{}{}:
	default:
	}
}

// Await waits until the receiver is notified, or for d at most. It is false when ctx ended before, or stopped was
// closed.
func (s Signal) Await(ctx context.Context, d time.Duration, stopped <-chan struct{}) bool {
	select {
	case <-s.c:
	case <-time.After(d):
	case <-stopped:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// C is the channel on which the receiver waits.
func (s Signal) C() <-chan struct{} { return s.c }
