package state_test

import (
	"slices"
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/state"
)

func TestProjectsAreBounded(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Projects: 3}})
		upload := func(*pb.Function) (*pb.Function, error) { return &pb.Function{Name: "f"}, nil }
		adds := []struct {
			project string
			add     func(project string) error
		}{
			{"with-config", func(project string) error {
				_, _, err := s.PutConfig(t.Context(), project, &pb.Config{Id: "c"}, state.AnyRevision)
				return err
			}},
			{"with-function", func(project string) error {
				return s.ChangeFunction(t.Context(), project, "f", upload)
			}},
			{"with-backfill", func(project string) error {
				_, err := s.CreateBackfill(t.Context(), project, game("b-"+project, 1))
				return err
			}},
		}
		for _, one := range adds {
			if err := one.add(one.project); err != nil {
				t.Fatalf("%s: %v", one.project, err)
			}
		}
		for _, one := range adds {
			err := one.add("fourth")
			if problem.KindOf(err) != problem.Invalid || !strings.Contains(err.Error(), "--max-projects") {
				t.Errorf("as %s: %v, want that there are too many", one.project, err)
			}
			// Those that exist go on.
			for _, other := range adds {
				if err := one.add(other.project); err != nil {
					t.Errorf("%s as %s: %v", other.project, one.project, err)
				}
			}
		}
		// Deleting what does not exist makes no project.
		if err := s.ChangeFunction(t.Context(), "fourth", "f",
			func(*pb.Function) (*pb.Function, error) { return nil, nil }); err != nil {
			t.Error(err)
		}
		got, err := s.Projects(t.Context())
		if slices.Sort(got); err != nil || !slices.Equal(got, []string{"with-backfill", "with-config", "with-function"}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
