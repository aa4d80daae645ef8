package party

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// A player holds some requests, and not all that there are.
func TestHeldRequestsOfAPlayerAreBounded(t *testing.T) {
	w := newWaiters(1000, time.Second, telemetry.Meter{})
	ctx, end := context.WithCancel(t.Context())
	known := &pb.Party{Id: "1", Revision: 1}
	var held sync.WaitGroup
	loaded := make(chan struct{})
	for range heldPlayer {
		held.Go(func() {
			first := sync.OnceFunc(func() { loaded <- struct{}{} })
			_, _, _ = w.wait(ctx, "demo", "ada", time.Hour, known, func(context.Context) (*pb.Party, error) {
				first()
				return known, nil
			})
		})
	}
	for range heldPlayer {
		<-loaded
	}
	called := errors.New("held")
	load := func(context.Context) (*pb.Party, error) { return nil, called }
	if p, waits, err := w.wait(ctx, "demo", "ada", time.Hour, known, load); err != nil || waits || p != known {
		t.Errorf("one more request of the player: %v, %v, %v, want an answer at once", p, waits, err)
	}
	if _, waits, err := w.wait(ctx, "demo", "bob", time.Hour, known, load); !waits || !errors.Is(err, called) {
		t.Errorf("another player's request is not held: %v", err)
	}
	end()
	held.Wait()
	if _, _, err := w.wait(t.Context(), "demo", "ada", time.Hour, known, load); !errors.Is(err, called) {
		t.Errorf("the player holds none any more, and its request is not held: %v", err)
	}
}

// Two processes that find the same members silent change the party once.
func TestWhoLeftBeforeChangesNothing(t *testing.T) {
	p := &pb.Party{Code: "ABCDEF", Leader: "ada", Members: []*pb.Member{{Player: "ada"}, {Player: "bob"}}}
	after := without(proto.CloneOf(p), "bob")
	if after.GetCode() == p.GetCode() || len(after.GetMembers()) != 1 {
		t.Errorf("after bob left: %v", after)
	}
	if again := without(proto.CloneOf(after), "bob"); !proto.Equal(again, after) {
		t.Errorf("bob, who left, changed %v to %v", after, again)
	}
}
