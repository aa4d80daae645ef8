package runner

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/wait"
)

// countedBus counts heartbeats.
type countedBus struct {
	Bus
	heartbeats int
}

func (b *countedBus) Heartbeat(context.Context, *pb.RunnerStatus) error {
	b.heartbeats++
	return nil
}

// The longer heartbeats are, the fewer come of changes, but never fewer than one each Settings.Heartbeat.
func TestLongHeartbeatsComeLessOften(t *testing.T) {
	for _, test := range []struct {
		changes             bool
		kilobytes, min, max int // of heartbeats in ten seconds
	}{
		{changes: false, kilobytes: 0, min: 20, max: 22},
		{changes: false, kilobytes: 10_000, min: 20, max: 22},
		{changes: true, kilobytes: 0, min: 490, max: 502},
		{changes: true, kilobytes: 1_000, min: 38, max: 45},
		{changes: true, kilobytes: 10_000, min: 20, max: 22},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, hosts := new(countedBus), map[string]int32{}
			for i := range test.kilobytes {
				hosts[fmt.Sprintf("%0990d", i)] = 1 // with its number and lengths a thousand bytes
			}
			o := Options{Bus: b, Name: "r", Log: slog.New(slog.DiscardHandler), Now: time.Now,
				Settings: Settings{Timing: Timing{Heartbeat: 500 * time.Millisecond}}}
			r := &Runner{env: &env{Options: o, statusChanged: notify.New()}, peers: newPeers(&o), desiredHosts: hosts}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var changes sync.WaitGroup
			if test.changes {
				changes.Go(func() {
					for range wait.Every(ctx, time.Millisecond) {
						r.env.statusChanged.Notify()
					}
				})
			}
			r.sendHeartbeats(ctx)
			changes.Wait()
			if b.heartbeats < test.min || b.heartbeats > test.max {
				t.Errorf("%+v: %d heartbeats", test, b.heartbeats)
			}
		})
	}
}
