package state_test

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

func TestReportsAreThoseOfTheLeader(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		body := func(matches int64) *pb.ReportSlot {
			return &pb.ReportSlot{Series: []*pb.ReportSeries{{Config: "a", Matches: matches}}}
		}
		keep := func(oldest int64) state.ReportKeep { return state.ReportKeep{Oldest: oldest, For: time.Hour} }
		if err := s.PutReport(t.Context(), project, 0, 1, body(1), keep(0)); !errors.Is(err, state.ErrLeaseLost) {
			t.Fatalf("without a lease: %v", err)
		}
		epoch, err := s.AcquireLease(t.Context(), project, "a", time.Minute)
		must(t, err)
		for slot := range int64(4) {
			must(t, s.PutReport(t.Context(), project, epoch, slot, body(slot), keep(0)))
		}
		must(t, s.PutReport(t.Context(), project, epoch, 3, body(33), keep(2))) // which is there already: nothing goes
		slots := []int64{0, 1, 2, 3, 4}
		found, bytes, err := s.Report(t.Context(), project, "", slots)
		if err != nil || len(found) != 4 || bytes == 0 || !proto.Equal(found[3], body(33)) {
			t.Fatalf("%v, %d bytes, %v", found, bytes, err)
		}
		must(t, s.PutReport(t.Context(), project, epoch, 4, body(4), keep(2)))
		found, _, err = s.Report(t.Context(), project, "", slots)
		if err != nil || len(found) != 3 || found[1] != nil || found[2] == nil {
			t.Fatalf("after the first ones went: %v, %v", found, err)
		}
		if err := s.PutReport(t.Context(), project, epoch+1, 4, body(9), keep(2)); !errors.Is(err, state.ErrLeaseLost) {
			t.Fatalf("of another epoch: %v", err)
		}
		if found, _, err := s.Report(t.Context(), "other", "", slots); err != nil || len(found) > 0 {
			t.Errorf("of another project: %v, %v", found, err)
		}
		if found, _, err := s.Report(t.Context(), project, "", nil); err != nil || len(found) > 0 {
			t.Errorf("of no time: %v, %v", found, err)
		}
	})
}
