package ticket

import (
	"testing"
	"testing/synctest"

	"matchmaker.dev/services/internal/telemetry"
)

// A process that stops waits for its streams, and begins no more.
func TestStreamsDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(1, 1, telemetry.Meter{})
		if !s.add() {
			t.Fatal("no stream may begin")
		}
		drained := false
		go func() {
			s.drain()
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
