package runner

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

func TestBackoffDoublesUntilARunIsAnswered(t *testing.T) {
	var b backoff
	for _, want := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond} {
		if got := b.next(false); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	for range 20 {
		b.next(false)
	}
	if got := b.next(false); got != 5*time.Second {
		t.Errorf("the longest is %v", got)
	}
	b.reset()
	if got := b.next(false); got != 100*time.Millisecond {
		t.Errorf("after an answer: %v", got)
	}
	if got := b.next(true); got != 30*time.Second {
		t.Errorf("for a failure that is certain to come again: %v", got)
	}
}

func TestAGateWaitsForThoseInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		if !g.enter() {
			t.Fatal("it is closed")
		}
		closed := false
		go func() {
			g.close(t.Context())
			closed = true
		}()
		synctest.Wait()
		if closed || g.enter() {
			t.Errorf("closed %v with one inside", closed)
		}
		g.leave()
		synctest.Wait()
		if !closed {
			t.Error("it is not closed, and empty")
		}
	})
}

func TestAGateDoesNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		g.enter()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.close(ctx) // a deadlock fails the test
		g.leave()
	})
}

func TestAFeedIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed("p", slog.New(slog.DiscardHandler))
		reached := map[uint64]bool{}
		for _, position := range []uint64{0, 5, 6} {
			go func() {
				if err := f.await(t.Context(), position); err == nil {
					reached[position] = true
				}
			}()
		}
		expect := func(what string, want ...uint64) {
			t.Helper()
			synctest.Wait()
			if len(reached) != len(want) {
				t.Errorf("%s: %v, want %v", what, reached, want)
			}
		}
		body, err := proto.Marshal(&pb.Ticket{Id: "t", Created: 1})
		if err != nil {
			t.Fatal(err)
		}
		f.Reset()
		f.Apply([]state.Change{{Ticket: "t", Body: string(body)}}, 0)
		expect("within the snapshot")
		f.Apply(nil, 0)
		expect("after an empty project's snapshot", 0)
		f.Apply([]state.Change{{Ticket: "u", Body: "not a ticket"}}, 5)
		expect("at 5", 0, 5)
		f.Reset()
		f.Apply(nil, 4) // of a Redis that lost a little
		if err := f.await(t.Context(), 4); err != nil {
			t.Error(err)
		}
		f.Apply([]state.Change{{Ticket: "t"}}, 6)
		expect("at 6", 0, 5, 6)
		if n := f.index.Len(); n != 0 {
			t.Errorf("%d tickets", n)
		}
	})
}

func TestStampsAreInOrder(t *testing.T) {
	at := time.UnixMilli(1_795_322_921_228)
	e := &env{Options: Options{Now: func() time.Time { return at }}}
	var stamps []string
	for n := range 100 {
		stamps = append(stamps, e.stamp())
		if n == 50 {
			at = at.Add(-time.Hour) // a clock that goes back
		}
	}
	at = at.Add(24 * time.Hour)
	stamps = append(stamps, e.stamp())
	if !slices.IsSorted(stamps) || len(slices.Compact(slices.Clone(stamps))) != len(stamps) {
		t.Errorf("the stamps are %q", stamps)
	}
}
