package state_test

import (
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

func TestUnusedModulesAreNoted(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		const project, grace = "p", time.Hour
		s := open(state.Options{})
		at := func(minutes int) *state.Store { return s.At(epoch0.Add(time.Duration(minutes) * time.Minute)) }
		note := func(minutes int, module string) {
			t.Helper()
			if err := at(minutes).NoteModule(t.Context(), project, module); err != nil {
				t.Fatal(err)
			}
		}
		write := func(minutes int, name string, modules ...string) error {
			return at(minutes).ChangeFunction(t.Context(), project, name, func(*pb.Function) (*pb.Function, error) {
				if len(modules) == 0 {
					return nil, nil //nolint:nilnil // deletes it
				}
				f := &pb.Function{Name: name, Module: modules[0]}
				for _, module := range modules {
					f.Versions = append(f.Versions, &pb.FunctionVersion{Module: module})
				}
				return f, nil
			})
		}
		lists := func(minutes int, all, due []string) {
			t.Helper()
			u, err := at(minutes).UnusedModules(t.Context(), []string{"other", project}, grace)
			if err != nil || !slices.Equal(u[project].All, all) || !slices.Equal(u[project].Due, due) ||
				len(u["other"].All) > 0 {
				t.Errorf("after %d min unused are %v, %v, want %v of which %v are due", minutes, u, err, all, due)
			}
		}
		take := func(minutes int, want []string, modules ...string) {
			t.Helper()
			taken, err := at(minutes).TakeModules(t.Context(), project, grace, modules)
			if err != nil || !slices.Equal(taken, want) {
				t.Errorf("after %d min taken are %v, %v, want %v", minutes, taken, err, want)
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := write(0, "f", "a"); problem.KindOf(err) != problem.Unavailable {
			t.Errorf("a module that was never announced: %v", err)
		}
		note(0, "a")
		lists(0, []string{"a"}, nil)
		must(write(1, "f", "a"))
		lists(1, nil, nil)
		note(2, "b")
		must(write(2, "f", "b", "a"))
		lists(2, nil, nil)
		note(3, "c")
		must(write(3, "f", "c", "b")) // a is dropped
		note(4, "never")              // its upload dies
		lists(4, []string{"a", "never"}, nil)
		lists(63, []string{"a", "never"}, nil) // for a minute Redis's clock may jump
		lists(64, []string{"a", "never"}, []string{"a"})
		take(63, nil, "a", "never", "b")
		take(64, []string{"a"}, "a", "never", "b")
		take(64, []string{"a"}, "a") // by another sweep, or again
		if err := write(64, "f", "a", "c", "b"); problem.KindOf(err) != problem.Unavailable {
			t.Errorf("a module that is being removed: %v", err)
		}
		note(64, "a") // too late
		if err := write(64, "f", "a"); problem.KindOf(err) != problem.Unavailable {
			t.Errorf("a module that was noted while it is being removed: %v", err)
		}
		lists(64, []string{"a", "never"}, []string{"a"})
		must(s.ForgetModules(t.Context(), project, []string{"a"}))
		must(s.ForgetModules(t.Context(), project, nil))
		lists(65, []string{"never"}, []string{"never"})
		// A slow upload comes before the sweep.
		must(write(65, "g", "never"))
		take(65, nil, "never")
		lists(65, nil, nil)
		must(write(66, "f"))
		lists(66, []string{"b", "c"}, nil)
		must(write(67, "g"))
		lists(67, []string{"b", "c", "never"}, nil)
		// A clock that jumps back makes nothing due.
		take(-1000, nil, "b", "c", "never")
	})
}
