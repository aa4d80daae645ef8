package director

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

// maintained is the maintenance of a project whose clock, and Redis's, is now.
func maintained(t *testing.T, now *time.Time) *maintenance {
	log, clock := slog.New(slog.DiscardHandler), func() time.Time { return *now }
	store, err := state.Open(state.Options{Server: state.Server{URL: embeddedtest.Redis(t)}, Log: log, Clock: clock})
	must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	s := scope{Options: &Options{Store: store, Now: clock, Readable: time.Hour, Settings: settings.Default[Settings](),
		Timing: settings.Default[Timing]()}, project: "demo", log: log, inbox: newInbox(),
		observed: observe.New(telemetry.Meter{}, telemetry.Tracer{}).Project("demo", 1, log)}
	return &maintenance{scope: s, outbox: &outbox{scope: s}, listeners: new(listeners)}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// However much of the feed is to be trimmed, each look goes on with it, and the next one follows at once. A project
// that was quiet, and is so a moment after something happened, is quiet again at the next look.
func TestFeedIsTrimmedWithoutAPause(t *testing.T) {
	ctx, now := t.Context(), time.Unix(1_700_000_000, 0)
	m := maintained(t, &now)
	creator := m.Store.Creator(nil)
	var creating sync.WaitGroup
	for n := range 16 {
		creating.Go(func() {
			for i := range 600 {
				id := fmt.Sprint(n, "-", i)
				if err := creator.Create(ctx, "demo", &pb.Ticket{Id: id, Owner: id}); err != nil {
					t.Error(err)
					return
				}
				if _, err := m.Store.DeleteTicket(ctx, "demo", id, ""); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	creating.Wait()
	_, err := m.Store.TrimFeed(ctx, "demo") // notes how far the feed is
	must(t, err)
	now = now.Add(2 * time.Minute) // runners need none of it any more
	looks := 0
	for due := true; due && looks < 20; looks++ {
		found, looked := m.look(ctx, now)
		if !looked || found.Feed == found.Quiet {
			t.Fatalf("look %d: %v, %+v", looks, looked, found)
		}
		now, due = now.Add(lookAgain), found.Feed && m.next.Equal(now.Add(lookAgain))
	}
	if looks < 3 {
		t.Errorf("%d looks trim all: there was too little", looks)
	}
	now = now.Add(urgentLooks * m.Timing.Look)
	for _, after := range []time.Duration{0, quietLook, lookAgain} {
		if now = now.Add(after); after == lookAgain {
			m.rouse(now.Add(-after))
		}
		if found, looked := m.look(ctx, now); !looked || !found.Quiet || m.quiet.Load() == 0 {
			t.Errorf("after %v it looked: %v, and the project is quiet: %v", after, looked, found.Quiet)
		}
	}
}

// A match was claimed by a Redis whose clock was a day ahead. After a full look its tickets wait again in time.
func TestFullLookCapsTimesOfAnotherClock(t *testing.T) {
	ctx, now := t.Context(), time.Unix(1_700_000_000, 0)
	m := maintained(t, &now)
	must(t, m.Store.Creator(nil).Create(ctx, "demo", &pb.Ticket{Id: "a", Owner: "a"}))
	now = now.Add(24 * time.Hour)
	claimOne(t, m.Store, "a", time.Minute)
	must(t, m.Store.RemoveFromOutbox(ctx, "demo", []string{"m"}))
	now = now.Add(-24 * time.Hour)
	for _, want := range []int64{0, 1} {
		if found, looked := m.look(ctx, now); !looked || !found.full {
			t.Fatalf("it looked: %v, %+v", looked, found)
		}
		if n, err := m.Store.Waiting(ctx, "demo"); err != nil || n != want {
			t.Errorf("%d tickets wait, %v, want %d", n, err, want)
		}
		now = now.Add(2 * time.Minute)
	}
}

// claimOne claims the match "m" of a ticket.
func claimOne(t *testing.T, store *state.Store, ticket string, wait time.Duration) {
	t.Helper()
	ctx := t.Context()
	revision, _, err := store.PutConfig(ctx, "demo", &pb.Config{Id: "c", Function: "f"}, state.AnyRevision)
	must(t, err)
	epoch, err := store.AcquireLease(ctx, "demo", "d", time.Hour)
	must(t, err)
	claim := &state.Claim{Tickets: []string{ticket}, Match: &pb.Match{Id: "m", Config: "c", Revision: revision,
		Place: state.PlaceHosting, Hosting: &pb.Hosting{Fleet: "f"},
		Proposal: &pb.Proposal{Teams: []*pb.Team{{Tickets: []string{ticket}}}}}}
	_, err = store.Claim(ctx, "demo", state.ClaimOptions{Epoch: epoch, Claim: wait}, []*state.Claim{claim})
	if must(t, err); claim.Refusal != "" {
		t.Fatal(claim.Refusal)
	}
}

// Of the leader's looks every fourth is full. The others leave matches out as long as there were none, and find an
// overdue one at the second look after it was claimed.
func TestEveryFourthLookIsFull(t *testing.T) {
	ctx, now := t.Context(), time.Unix(1_700_000_000, 0)
	m := maintained(t, &now)
	store := m.Store
	for _, id := range []string{"waits", "matched"} { // a quiet project is looked at seldom
		must(t, store.Creator(nil).Create(ctx, "demo", &pb.Ticket{Id: id, Owner: id}))
	}
	look := func() findings {
		t.Helper()
		found, looked := m.look(ctx, now)
		if _, again := m.look(ctx, now.Add(m.Timing.Look-1)); !looked || again {
			t.Errorf("it looked: %v, and again too soon: %v", looked, again)
		}
		now = now.Add(m.Timing.Look)
		return found
	}
	var full []int
	for n := range 9 {
		found := look()
		if found.full {
			full = append(full, n)
		}
		if !m.idle {
			t.Errorf("look %d found a match", n)
		}
	}
	if !slices.Equal(full, []int{0, 4, 8}) {
		t.Errorf("the looks %v were full", full)
	}
	claimOne(t, store, "matched", -time.Second)
	for n, want := range []bool{false, true, false} {
		if found := look(); found.full || found.Claims != want {
			t.Errorf("look %d after the claim: full: %v, overdue: %v", n+1, found.full, found.Claims)
		}
	}
	m.lookNow()
	if !look().full {
		t.Error("a look at once is not full")
	}
}

// After a claim whose answer was lost Redis may get it later: that one look found no match does not say that there is
// room.
func TestClaimThatMayComeLaterCounts(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	m := maintained(t, &now)
	l := &leader{scope: m.scope, maintenance: m, segments: map[string][]*segment{}, budget: schedule.NewBudget(1),
		runners: newRunners()}
	l.settler = &settler{scope: m.scope, reporter: newReporter(m.scope), claimed: math.MaxInt32}
	// A quiet project is looked at seldom.
	must(t, m.Store.Creator(nil).Create(t.Context(), "demo", &pb.Ticket{Id: "waits", Owner: "a"}))
	looks := func(want ...int) {
		t.Helper()
		for n, most := range want {
			if l.maintain(t.Context(), now); l.settler.claimed != most {
				t.Errorf("after look %d there may be %d matches, want %d", n, l.settler.claimed, most)
			}
			now = now.Add(m.Timing.Look)
		}
	}
	looks(0)
	lost, cancel := context.WithCancel(t.Context())
	cancel()
	p := &proposal{Proposal: new(pb.Proposal), Tickets: []string{"waits"}}
	p.Origin.segment = l.newSegments(t.Context(), &pb.Config{Id: "c"}, nil, nil)[0]
	if _, _, err := l.settler.claimAll(lost, []*proposal{p}); err == nil {
		t.Fatal("the claim was answered")
	}
	looks(math.MaxInt32, 0, 0)
}
