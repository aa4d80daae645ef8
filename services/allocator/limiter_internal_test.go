package allocator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/allocator/provider"
)

var hosting = provider.Hosting{Fleet: "f"}

func TestMatchWaitsForAFleetThatMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(2, 1)
		first, _ := l.admit(t.Context(), "p", hosting)
		if in, again := l.admit(t.Context(), "p", hosting); in != nil || again != 0 {
			t.Fatalf("the delay of a fleet that no match has left yet is %v", again)
		}
		// Pretend that others have left it, so that the limiter knows how fast it moves.
		first.left, first.interval = time.Now(), 10*time.Millisecond
		admitted := make(chan *fleet)
		for range 3 {
			go func() {
				in, _ := l.admit(t.Context(), "p", hosting)
				admitted <- in
			}()
		}
		synctest.Wait()
		in := first
		for range 3 {
			time.Sleep(10 * time.Millisecond) //nolint:forbidigo // the fake clock of synctest
			l.leave(in)
			if in = <-admitted; in == nil {
				t.Fatal("a match that waited did not get the place that became free")
			}
		}
		l.leave(in)
		if len(l.fleets) != 0 || l.admitted != 0 {
			t.Errorf("%d fleets and %d places are left over", len(l.fleets), l.admitted)
		}
	})
}

func TestMatchDoesNotWaitForAFleetThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(2, 1)
		in, _ := l.admit(t.Context(), "p", hosting)
		in.left, in.interval = time.Now(), 10*time.Millisecond
		time.Sleep(3 * time.Second) //nolint:forbidigo // the fake clock of synctest
		began := time.Now()
		if got, again := l.admit(t.Context(), "p", hosting); got != nil || again != 3*time.Second || time.Since(began) != 0 {
			t.Errorf(
				"a fleet that no match has left for three seconds: %v, again in %v, after %v", got, again, time.Since(began),
			)
		}
		// A match does not wait longer than maxWait.
		in.left = time.Now()
		if got, again := l.admit(t.Context(), "p", hosting); got != nil || again != maxWait || time.Since(began) != maxWait {
			t.Errorf("a fleet that hangs: %v, again in %v, after %v", got, again, time.Since(began))
		}
		in.left = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if got, _ := l.admit(ctx, "p", hosting); got != nil || time.Since(began) != maxWait+time.Millisecond {
			t.Errorf("an allocator that stops: %v after %v", got, time.Since(began))
		}
		l.leave(in)
		if len(l.fleets) != 0 || l.admitted != 0 {
			t.Errorf("%d fleets and %d places are left over", len(l.fleets), l.admitted)
		}
	})
}

// A project with many fleets that hang leaves places to the others, however many it has.
func TestFleetsOfOneProjectLeavePlacesToOthers(t *testing.T) {
	l := newLimiter(30, 1)
	admitted := func(project string) (n int) {
		for _, fleet := range "abcdefghijklmnopqrstuvwxyz" {
			for range 30 {
				if in, _ := l.admit(t.Context(), project, provider.Hosting{Fleet: string(fleet)}); in != nil {
					n++
				}
			}
		}
		return n
	}
	for i, want := range []int{20, 7, 2} {
		if got := admitted(string(rune('a' + i))); got != want {
			t.Errorf("project %d has %d places, want %d", i, got, want)
		}
	}
	for _, f := range l.fleets {
		for range f.admitted {
			l.leave(f)
		}
	}
	if len(l.projects) != 0 || l.admitted != 0 {
		t.Errorf("%v are left over", l.projects)
	}
}
