package stream

import (
	"testing"
	"testing/synctest"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// A process that stops waits for its streams, and begins no more.
func TestStreamsDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Instruments: Instruments{Ended: telemetry.Meter{}.Counter("ended", "", "")}})
		if !s.add() {
			t.Fatal("no stream may begin")
		}
		drained := false
		go func() {
			s.Drain()
			drained = true
		}()
		synctest.Wait()
		if drained || s.add() {
			t.Errorf("drained: %v, or a stream begins", drained)
		}
		s.running.Done()
		synctest.Wait()
		if !drained {
			t.Error("no stream is open, and the process waits")
		}
	})
}
