package director

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

// Of the leader's looks every fourth is full. The others leave matches out as long as there were none, and find an
// overdue one at the second look after it was claimed.
func TestEveryFourthLookIsFull(t *testing.T) {
	ctx, log, now := t.Context(), slog.New(slog.DiscardHandler), time.Unix(1_700_000_000, 0)
	store, err := state.Open(state.Options{Server: state.Server{URL: embeddedtest.Redis(t)}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"waits", "matched"} { // a quiet project is looked at seldom
		must(store.Creator(nil).Create(ctx, "demo", &pb.Ticket{Id: id, Owner: id}))
	}
	s := scope{Options: &Options{Store: store, Now: func() time.Time { return now }, Readable: time.Hour,
		Settings: settings.Default[Settings](), Timing: Timing{}.orUsual()}, project: "demo", log: log, inbox: newInbox(),
		observed: observe.New(telemetry.Meter{}, telemetry.Tracer{}).Project("demo", 1, log)}
	m := &maintenance{scope: s, outbox: &outbox{scope: s}, listeners: new(listeners)}
	look := func() findings {
		t.Helper()
		found, looked := m.look(ctx, now)
		if _, again := m.look(ctx, now.Add(s.Timing.Look-1)); !looked || again {
			t.Errorf("it looked: %v, and again too soon: %v", looked, again)
		}
		now = now.Add(s.Timing.Look)
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
	revision, _, err := store.PutConfig(ctx, "demo", &pb.Config{Id: "c", Function: "f"}, state.AnyRevision)
	must(err)
	epoch, err := store.AcquireLease(ctx, "demo", "d", time.Hour)
	must(err)
	claim := &state.Claim{Tickets: []string{"matched"}, Match: &pb.Match{Id: "m", Config: "c", Revision: revision,
		Place: state.PlaceHosting, Hosting: &pb.Hosting{Fleet: "f"},
		Proposal: &pb.Proposal{Teams: []*pb.Team{{Tickets: []string{"matched"}}}}}}
	_, err = store.Claim(ctx, "demo", state.ClaimOptions{Epoch: epoch, Claim: -time.Second}, []*state.Claim{claim})
	if must(err); claim.Refusal != "" {
		t.Fatal(claim.Refusal)
	}
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
