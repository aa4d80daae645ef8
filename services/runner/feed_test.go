package runner

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

func TestRunsWaitForTheFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed("p", 10, slog.New(slog.DiscardHandler))
		reached := map[uint64]bool{}
		for _, position := range []uint64{0, 5, 6} {
			go func() {
				if err := f.wait(t.Context(), position); err == nil {
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
		if err := f.wait(t.Context(), 4); err != nil {
			t.Error(err)
		}
		f.Apply([]state.Change{{Ticket: "t"}}, 6)
		expect("at 6", 0, 5, 6)
		if n := f.index.Len(); n != 0 {
			t.Errorf("%d tickets", n)
		}
	})
}

func TestRunsWakeTheFeedsReader(t *testing.T) {
	f := newFeed("p", 10, slog.New(slog.DiscardHandler))
	woken := func() bool {
		select {
		case <-f.wake.C():
			return true
		default:
			return false
		}
	}
	f.Reset()
	f.Apply(nil, 5)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := f.wait(ended, 7); err == nil || !woken() {
		t.Errorf("not woken by a run, or %v", err)
	}
	if err := f.wait(ended, 5); err != nil || woken() {
		t.Errorf("woken by a run that need not wait, or %v", err)
	}
}

// An index without the ids of owners is read anew for a function that reads them, once, and runs wait for it. What the
// reader that ends still brings does not count.
func TestFeedIsReadAgainForTheIDsOfOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed("p", 10, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		reads, hold, ended := 0, make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			f.follow(ctx, func(ctx context.Context) {
				reads++
				f.Reset()
				f.Apply(nil, 5)
				<-ctx.Done()
				f.Apply(nil, 9)
				<-hold
			})
		}()
		synctest.Wait()
		if err := f.wait(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
		f.needOwners()
		synctest.Wait()
		short, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := f.wait(short, 5); err == nil {
			t.Error("a run did not wait for the index")
		}
		hold <- struct{}{}
		if err := f.wait(t.Context(), 5); err != nil {
			t.Error(err)
		}
		f.needOwners()
		synctest.Wait()
		if reads != 2 {
			t.Errorf("it was read %d times", reads)
		}
		cancel()
		close(hold)
		<-ended
	})
}
