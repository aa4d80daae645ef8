package state_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// A change of a function and its event are one step: what is not written is not told.
func TestFunctionsAreToldOf(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		const project = "p"
		s := open(state.Options{Functions: 1, History: 100})
		write := func(name, reason string, fail error) error {
			return s.ChangeFunctionWith(t.Context(), project, name,
				func(*pb.Function) (*pb.Function, *pb.Event, error) {
					var e *pb.Event
					if reason != "" {
						e = &pb.Event{Kind: pb.Event_KIND_FUNCTION, Function: name, Upload: 3, Reason: reason}
					}
					return &pb.Function{Name: name}, e, fail
				})
		}
		must(t, write("f", "uploaded", nil))
		must(t, write("f", "", nil))
		refused := errors.New("refused")
		if err := write("f", "refused", refused); !errors.Is(err, refused) {
			t.Errorf("a refused change: %v", err)
		}
		if write("g", "too many", nil) == nil {
			t.Error("there are more functions than allowed")
		}
		must(t, s.ChangeFunctionWith(t.Context(), project, "f", func(*pb.Function) (*pb.Function, *pb.Event, error) {
			return nil, &pb.Event{Kind: pb.Event_KIND_FUNCTION, Function: "f", Reason: "deleted"}, nil
		}))
		entries, err := s.History(t.Context(), project, nil, 100)
		must(t, err)
		var told []string
		for _, entry := range entries {
			for _, e := range entry.Events {
				told = append(told, fmt.Sprint(e.GetKind(), e.GetFunction(), e.GetUpload(), e.GetReason(), e.GetTickets()))
			}
		}
		if want := []string{"KIND_FUNCTIONf3uploaded[]", "KIND_FUNCTIONf0deleted[]"}; !slices.Equal(told, want) {
			t.Errorf("told is %q, want %q", told, want)
		}
	})
}
