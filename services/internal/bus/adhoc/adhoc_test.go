package adhoc_test

import (
	"context"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
)

const patience = 2 * time.Minute

// A run costs what its runner reports. A requester that gives up pays for the time in which a runner may have worked,
// whether it said that it has the run or not; without a runner for the function there is no such time.
func TestWhoStopsWaitingPays(t *testing.T) {
	b := embeddedtest.Bus(t, bus.Options{})
	requester := &adhoc.Requester{Bus: b, Most: 10}

	request := func() *pb.RunRequest { return &pb.RunRequest{Project: "p", Function: "f"} }
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	nobody := requester.Ask(ctx, request())
	if nobody.Failure != bus.NoRunner {
		t.Fatalf("without a runner the answer is %+v", nobody)
	}
	if _, err := b.ServeRuns("runner", "p", "f", func(_ context.Context, r *pb.RunRequest, answer bus.SendPart) {
		if r.GetSeed() > 0 {
			_ = answer(&pb.RunPart{Last: true, Stats: &pb.RunStats{Charge: 7_000_000}})
		}
	}); err != nil {
		t.Fatal(err)
	}
	answered := request()
	answered.Seed = 1
	if a := requester.Run(ctx, answered); a.Failure != "" || a.Cost-nobody.Cost != 7*time.Second {
		t.Errorf("a run that took seven seconds is %+v, and one that nobody did costs %v", a, nobody.Cost)
	}

	// The runner never answers. Once it has said that it has the run, all of the time counts.
	early, late := false, false
	for given := time.Millisecond; !early || !late; given = max(time.Millisecond, given*2%time.Second) {
		began := time.Now()
		stop, cancel := context.WithTimeout(ctx, given)
		a := requester.Ask(stop, request())
		took, lost := time.Since(began), a.Cost-nobody.Cost
		cancel()
		switch a.Failure {
		case "the runner did not answer in time":
			early = true
			if lost <= 0 || lost > min(took, bus.TakenAfter) {
				t.Errorf("a run that was given up after %v, before a runner had it, costs %v", took, lost)
			}
		case "the runner did not finish in time":
			late = late || lost > bus.TakenAfter
			if lost > took {
				t.Errorf("a run that was given up after %v costs %v", took, lost)
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("given up before a runner had it: %t, afterwards: %t", early, late)
		}
	}
}

// The time ends before a runner has said anything to the last of several requests: the answer before it counts.
func TestFailureIsTheLastThatARunnerTold(t *testing.T) {
	b := embeddedtest.Bus(t, bus.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := b.ServeRuns("runner", "p", "f", func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
		_ = answer(&pb.RunPart{Last: true, Error: bus.OtherUpload})
	}); err != nil {
		t.Fatal(err)
	}
	deaf := &deafAfterOne{Bus: b, then: cancel}
	requester := &adhoc.Requester{Bus: deaf, Most: 10}
	if a := requester.Run(ctx, &pb.RunRequest{Project: "p", Function: "f"}); a.Failure != bus.OtherUpload ||
		deaf.asked != 2 {
		t.Errorf("after %d requests the failure is %q", deaf.asked, a.Failure)
	}
}

// deafAfterOne is a bus that passes on the parts of one run alone.
type deafAfterOne struct {
	*bus.Bus
	asked int
	then  func()
}

func (d *deafAfterOne) StartRun(ctx context.Context, r *pb.RunRequest, parts func(bus.Part)) (*bus.Run, error) {
	if d.asked++; d.asked > 1 {
		parts = func(bus.Part) {}
		defer d.then()
	}
	return d.Bus.StartRun(ctx, r, parts)
}
