package runner

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// newTestFunction is a function whose runs wait for a feed that is never complete.
func newTestFunction(t *testing.T, drain time.Duration) *function {
	e := newEnv(Options{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Settings: Settings{Timing: Timing{Drain: drain}},
	})
	e.metrics = newMetrics(telemetry.Meter{}, &Runner{env: e})
	return newFunction(t.Context(), e, functionKey{"p", "f"}, newFeed("p", 10, e.Log),
		rate.NewLimiter(projectLogRate, projectLogBurst))
}

// accept gives the function a run with a budget of ten seconds, and returns the error of its answer.
func accept(t *testing.T, f *function) <-chan string {
	answer := make(chan string, 1)
	f.accept(t.Context(), &pb.RunRequest{Budget: 10_000}, func(p *pb.RunPart) error {
		answer <- p.GetError()
		return nil
	})
	return answer
}

func TestStopWaitsForRunsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestFunction(t, time.Minute)
		first := accept(t, f)
		stopped := make(chan struct{})
		go func() {
			f.stop(t.Context(), f.env.Settings.Drain)
			close(stopped)
		}()
		synctest.Wait()
		select {
		case text := <-first:
			t.Fatalf("the run in flight was answered with %q", text)
		case <-stopped:
			t.Fatal("stop did not wait for the run in flight")
		default:
		}
		if text := <-accept(t, f); !strings.Contains(text, "the function is leaving this runner") {
			t.Errorf("a run after stop was answered with %q", text)
		}
		<-stopped
		if text := <-first; !strings.Contains(text, "waited for 5s, half of the run's budget") {
			t.Errorf("the run in flight was answered with %q", text)
		}
	})
}

func TestStopEndsRunsAfterDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestFunction(t, time.Second)
		run := accept(t, f)
		began := time.Now()
		f.stop(t.Context(), f.env.Settings.Drain)
		if took := time.Since(began); took != time.Second {
			t.Errorf("stop took %v", took)
		}
		if text := <-run; text == "" {
			t.Error("the run was answered without an error")
		}
	})
}
