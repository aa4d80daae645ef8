package runner

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/telemetry"
)

// newTestFunction is a function whose runs wait for a feed that is never complete.
func newTestFunction(t *testing.T, drain time.Duration) *function {
	e := &env{Options: Options{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Settings: Settings{Timing: Timing{Drain: drain}},
	}}
	e.metrics = newMetrics(telemetry.Meter{}, &Runner{env: e})
	return newFunction(t.Context(), e, functionKey{"p", "f"}, newFeed("p", e.Log))
}

// startRun gives the function a run with a budget of ten seconds. It returns where the error of the answer will be.
func startRun(t *testing.T, f *function) *string {
	var text string
	f.accept(t.Context(), &pb.RunRequest{Budget: 10_000}, func(p *pb.RunPart) error {
		text = p.GetError()
		return nil
	})
	return &text
}

func TestStopWaitsForRunsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestFunction(t, time.Minute)
		first := startRun(t, f)
		stopped := make(chan struct{})
		go func() {
			f.stop(t.Context())
			close(stopped)
		}()
		synctest.Wait()
		if *first != "" {
			t.Fatalf("the run in flight was answered with %q", *first)
		}
		if second := startRun(t, f); !strings.Contains(*second, "the function is leaving this runner") {
			t.Errorf("a run after the end was answered with %q", *second)
		}
		select {
		case <-stopped:
			t.Error("stop did not wait for the run in flight")
		default:
		}
		<-stopped
		if !strings.Contains(*first, "waited for 5s, half of the run's budget") {
			t.Errorf("the run in flight was answered with %q", *first)
		}
	})
}

func TestStopEndsRunsAfterDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestFunction(t, time.Second)
		first := startRun(t, f)
		began := time.Now()
		f.stop(t.Context())
		if took := time.Since(began); took != time.Second || *first == "" {
			t.Errorf("stop took %v, and the run was answered with %q", took, *first)
		}
	})
}
