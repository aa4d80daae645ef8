package ticket

import (
	"errors"
	"log/slog"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

type silence struct{}

func (silence) Stop() <-chan struct{} { return nil }

// A subscription that failed is tried again while streams are open, and not by those that are none.
func TestEventsThatAreNotHeardAreTriedAgain(t *testing.T) {
	tried := 0
	e := &events{log: slog.New(slog.DiscardHandler), projects: map[string]*subscription{},
		hear: func(string, func(*pb.Events)) (bus.Subscription, error) {
			if tried++; tried < 3 {
				return nil, errors.New("away")
			}
			return silence{}, nil
		}}
	leave := e.join("p")
	for want := range 4 {
		if e.follows("p") != (want >= 2) || tried != min(3, want+1) {
			t.Errorf("after %d tries it is heard: %t", tried, e.follows("p"))
		}
		e.retry("p")
	}
	leave()
	if e.retry("p"); tried != 3 || e.follows("p") {
		t.Errorf("a project without streams is heard: %d", tried)
	}
}
