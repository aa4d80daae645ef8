package adhoc_test

import (
	"context"
	"sync/atomic"
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

	// The runner never answers.
	stop, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if a := requester.Ask(stop, request()); a.Cost-nobody.Cost < time.Millisecond || a.Cost-nobody.Cost > bus.TakenAfter {
		t.Errorf("a run that was given up at once costs %v more than one that nobody did", a.Cost-nobody.Cost)
	}
	// Once the runner has said that it has the run, all of the time counts.
	for given := 4 * bus.TakenAfter; ; given *= 2 {
		began := time.Now()
		stop, cancel := context.WithTimeout(ctx, given)
		a := requester.Ask(stop, request())
		took := time.Since(began)
		cancel()
		if a.Cost > took+nobody.Cost || ctx.Err() != nil {
			t.Fatalf("a run that was given up after %v costs %v", took, a.Cost)
		}
		if a.Cost > bus.TakenAfter+nobody.Cost {
			break
		}
	}
}

// The time ends before a runner has said anything to the last of several requests: the answer before it counts.
func TestFailureIsTheLastThatARunnerTold(t *testing.T) {
	b := embeddedtest.Bus(t, bus.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var asked atomic.Int64
	if _, err := b.ServeRuns("runner", "p", "f", func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
		if asked.Add(1) > 1 {
			cancel()
			return
		}
		_ = answer(&pb.RunPart{Last: true, Error: bus.OtherUpload})
	}); err != nil {
		t.Fatal(err)
	}
	requester := &adhoc.Requester{Bus: b, Most: 10}
	if a := requester.Run(ctx, &pb.RunRequest{Project: "p", Function: "f"}); a.Failure != bus.OtherUpload ||
		asked.Load() != 2 {
		t.Errorf("after %d requests the failure is %q", asked.Load(), a.Failure)
	}
}
