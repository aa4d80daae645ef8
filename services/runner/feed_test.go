package runner

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

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

func TestPokesAndRunsWakeTheFeedsReader(t *testing.T) {
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
	if f.poke(5); woken() {
		t.Error("woken for what is there")
	}
	if f.poke(6); !woken() {
		t.Error("not woken by a poke")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := f.wait(ended, 7); err == nil || !woken() {
		t.Errorf("not woken by a run, or %v", err)
	}
	if err := f.wait(ended, 5); err != nil || woken() {
		t.Errorf("woken by a run that need not wait, or %v", err)
	}
}
