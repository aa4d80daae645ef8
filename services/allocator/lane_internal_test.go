package allocator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/allocator/provider"
)

var fleet = provider.Hosting{Fleet: "f"}

func TestMatchWaitsWhereItsLaneMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLanes(2, 1)
		first, _ := l.enter(t.Context(), "p", fleet)
		if in, again := l.enter(t.Context(), "p", fleet); in != nil || again != 0 {
			t.Fatalf("a lane that nobody has left yet is told to be free in %v", again)
		}
		// As if others had left it, so that it is known how fast it moves.
		first.left, first.pace = time.Now(), 10*time.Millisecond
		entered := make(chan *lane)
		for range 3 {
			go func() {
				in, _ := l.enter(t.Context(), "p", fleet)
				entered <- in
			}()
		}
		synctest.Wait()
		in := first
		for range 3 {
			time.Sleep(10 * time.Millisecond) //nolint:forbidigo // the clock of the bubble
			l.leave(in)
			if in = <-entered; in == nil {
				t.Fatal("who waited at the entry did not get the place that became free")
			}
		}
		l.leave(in)
		if len(l.open) != 0 || l.taken != 0 {
			t.Errorf("%d lanes and %d hands are left over", len(l.open), l.taken)
		}
	})
}

func TestMatchDoesNotWaitWhereItsLaneHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLanes(2, 1)
		in, _ := l.enter(t.Context(), "p", fleet)
		in.left, in.pace = time.Now(), 10*time.Millisecond
		time.Sleep(3 * time.Second) //nolint:forbidigo // the clock of the bubble
		began := time.Now()
		if got, again := l.enter(t.Context(), "p", fleet); got != nil || again != 3*time.Second || time.Since(began) != 0 {
			t.Errorf("a lane that nobody left for three seconds: %v, again in %v, after %v", got, again, time.Since(began))
		}
		// One that hangs while somebody waits is given up.
		in.left = time.Now()
		if got, again := l.enter(t.Context(), "p", fleet); got != nil || again != soon || time.Since(began) != soon {
			t.Errorf("a lane that hangs: %v, again in %v, after %v", got, again, time.Since(began))
		}
		in.left = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if got, _ := l.enter(ctx, "p", fleet); got != nil || time.Since(began) != soon+time.Millisecond {
			t.Errorf("an allocator that ends: %v after %v", got, time.Since(began))
		}
		l.leave(in)
		if len(l.open) != 0 || l.taken != 0 {
			t.Errorf("%d lanes and %d hands are left over", len(l.open), l.taken)
		}
	})
}
