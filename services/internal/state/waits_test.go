package state_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

func TestWaitsAreThoseOfTheLeader(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		none, err := s.Waits(t.Context(), project)
		if err != nil || none.GetAt() != 0 {
			t.Fatalf("of a project without any: %v, %v", none, err)
		}
		// Without a lease no director leads, not even after a project was deleted.
		if err := s.PutWaits(t.Context(), project, 0, &pb.Waits{At: 1}); !errors.Is(err, state.ErrLeaseLost) {
			t.Fatalf("without a lease: %v", err)
		}
		epoch, err := s.AcquireLease(t.Context(), project, "a", time.Minute)
		must(t, err)
		want := &pb.Waits{At: 5, Configs: []*pb.Config{{Id: "a"}},
			Classes: []*pb.WaitClass{{Class: 7, Reached: []float32{1}}}}
		must(t, s.PutWaits(t.Context(), project, epoch, want))
		if err := s.PutWaits(t.Context(), project, epoch+1, &pb.Waits{At: 9}); !errors.Is(err, state.ErrLeaseLost) {
			t.Fatalf("of another epoch: %v", err)
		}
		got, err := s.Waits(t.Context(), project)
		if err != nil || !proto.Equal(got, want) {
			t.Fatalf("waits are %v, %v, want %v", got, err, want)
		}
	})
}

func TestBodiesAreReadAsFarAsTheyFit(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		c := s.Creator(nil)
		for id, size := range map[string]int{"small": 10, "large": 5000, "other": 10} {
			must(t, c.Create(t.Context(), project, &pb.Ticket{Id: id, Owner: "ada", Created: 1,
				Properties: map[string][]byte{"p": []byte(strings.Repeat("x", size))}}))
		}
		ids := slices.Concat([]string{"large"}, make([]string, 200), []string{"small", "gone", "other"})
		for most, want := range map[int]int{0: 0, 1000: 2, 10_000: 3} {
			found, err := s.Bodies(t.Context(), project, ids, most)
			must(t, err)
			if len(found) != want || want > 1 && found["other"].GetOwner() != "ada" {
				t.Errorf("of %d bytes are %d tickets, want %d", most, len(found), want)
			}
		}
		some, err := s.SomeWaiting(t.Context(), project, 2)
		must(t, err)
		if len(some) != 2 {
			t.Errorf("2 of the waiting tickets are %v", some)
		}
		if all, err := s.SomeWaiting(t.Context(), project, 10); err != nil || len(all) != 3 || all["large"].Year() < 2020 {
			t.Errorf("10 of the waiting tickets are %v, %v", all, err)
		}
	})
}
