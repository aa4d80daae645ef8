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

// A runner that joins and cannot start a function, for want of room on its disk say, takes it from nobody.
func TestAProjectIsNotLeftToThoseWhoCannotServeIt(t *testing.T) {
	now, ended := time.Unix(1, 0), false
	e := &env{Options: Options{Now: func() time.Time { return now }, Settings: Settings{Handover: 30 * time.Second}}}
	h := newHost(e, "p", func() { ended = true })
	h.functions["f"] = &function{target: target{"p", "f"}, subscription: served{}}
	h.functions["g"] = &function{target: target{"p", "g"}} // which this one does not serve either
	for _, c := range []struct {
		after   time.Duration
		serving int // of two
		want    bool
	}{
		{0, 0, false}, {0, 1, false}, {0, 2, true}, {29 * time.Second, 1, false}, {30 * time.Second, 1, true}, {time.Hour, 0, false},
	} {
		h.stay()
		ended = false
		h.yield(2, func(target) int { return 0 })
		now = now.Add(c.after)
		h.yield(2, func(f target) int {
			if f.function == "g" {
				return 0
			}
			return c.serving
		})
		if ended != c.want {
			t.Errorf("after %v with %d of 2 that serve: ended %v, want %v", c.after, c.serving, ended, c.want)
		}
	}
}

// served is a subscription to runs.
type served struct{}

func (served) Stop() <-chan struct{} { return nil }
