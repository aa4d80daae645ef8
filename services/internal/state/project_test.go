package state_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

func TestProjectsAreBounded(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Projects: 4}})
		tickets := 0
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
			{"with-ticket", func(project string) error {
				tickets++
				return s.Creator(nil).Create(t.Context(), project, ticket(fmt.Sprint("t-", tickets), 1))
			}},
		}
		for _, one := range adds {
			if err := one.add(one.project); err != nil {
				t.Fatalf("%s: %v", one.project, err)
			}
		}
		for _, one := range adds {
			err := one.add("fifth")
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
		if err := s.ChangeFunction(t.Context(), "fifth", "f",
			func(*pb.Function) (*pb.Function, error) { return nil, nil }); err != nil {
			t.Error(err)
		}
		got, err := s.Projects(t.Context())
		slices.Sort(got)
		want := []string{"with-backfill", "with-config", "with-function", "with-ticket"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// The list of projects is one key, which may be lost alone.
func TestLostProjectsAreFound(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := s.PutConfig(t.Context(), "config", &pb.Config{Id: "c"}, state.AnyRevision)
		must(err)
		must(s.ChangeFunction(t.Context(), "function", "f", func(*pb.Function) (*pb.Function, error) {
			return &pb.Function{Name: "f"}, nil
		}))
		must(s.NoteModule(t.Context(), "module", "m"))
		_, err = s.CreateBackfill(t.Context(), "backfill", game("b", 1))
		must(err)
		must(s.Creator(nil).Create(t.Context(), "t.i-c_ket", ticket("t", 1)))
		// These are no projects.
		_, err = s.AcquireLease(t.Context(), "lease", "director", time.Minute)
		must(err)
		must(s.Allow(t.Context(), "rates", "r", state.Rate{PerSecond: 1, Burst: 1}))
		want := []string{"backfill", "config", "function", "module", "t.i-c_ket"}
		if found, err := s.FindProjects(t.Context()); err != nil || !slices.Equal(found, []string{"module"}) {
			t.Errorf("found %v, %v", found, err) // no function names it yet
		}
		must(s.ForgetProjects(t.Context()))
		must(s.AddProjects(t.Context(), []string{"config"}))
		if found, err := s.FindProjects(t.Context()); err != nil || !slices.Equal(found, slices.Concat(want[:1], want[2:])) {
			t.Errorf("found %v, %v", found, err)
		}
		got, err := s.Projects(t.Context())
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("listed are %v, %v", got, err)
		}
	})
}

// Plain tickets cost no call more: only the first of a project waits for the list, and one a minute has it read.
func TestProjectsOfTicketsStayListed(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		host := time.Now()
		s := open(state.Options{Host: func() time.Time { return host }})
		create := func(n int) {
			t.Helper()
			if err := s.Creator(nil).Create(t.Context(), "p", ticket(fmt.Sprint("t-", n), n)); err != nil {
				t.Fatal(err)
			}
		}
		listed := func() bool {
			got, err := s.Projects(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return slices.Equal(got, []string{"p"})
		}
		create(1)
		if !listed() {
			t.Error("not listed after the first ticket")
		}
		if err := s.ForgetProjects(t.Context()); err != nil {
			t.Fatal(err)
		}
		host = host.Add(59 * time.Second)
		create(2)
		if listed() {
			t.Error("it is looked at more than once in a minute")
		}
		host = host.Add(time.Second)
		create(3)
		waittest.Until(t, "listed again", listed)
		if err := s.ForgetProjects(t.Context()); err != nil {
			t.Fatal(err)
		}
		host = host.Add(-time.Hour) // the host's clock was set
		create(4)
		waittest.Until(t, "listed again", listed)
	})
}

// What is deleted is all of one project, in steps that may be interrupted.
func TestProjectIsRemovedCompletely(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, project := range []string{"p", "p2"} {
			runMatches(t, s, project)
			_, err := s.CreateBackfill(t.Context(), project, game("b", 1))
			must(err)
			must(s.NoteModule(t.Context(), project, "m"))
			must(s.Allow(t.Context(), project, "r", state.Rate{PerSecond: 1, Burst: 1}))
			for n := range 300 {
				must(s.Creator(nil).Create(t.Context(), project, ticket(fmt.Sprint("more-", n), n)))
			}
		}
		before, err := s.Leases(t.Context(), []string{"p"})
		must(err)
		others, err := s.AllKeys(t.Context(), "mm:{p2}:*")
		must(err)

		must(s.WithdrawProject(t.Context(), "p"))
		must(s.WithdrawProject(t.Context(), "p"))
		leases, err := s.Leases(t.Context(), []string{"p"})
		must(err)
		if leases[0].Epoch <= before[0].Epoch || leases[0].Free(epoch0, time.Second) {
			t.Errorf("the lease is %v after %v", leases[0], before[0])
		}
		if now, err := s.AcquireLease(t.Context(), "p", before[0].Owner, time.Second); err != nil || now != 0 {
			t.Errorf("the director still leads it: epoch %d, %v", now, err)
		}
		interrupted, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.RemoveProject(interrupted, "p"); err == nil {
			t.Error("not interrupted")
		}
		if n, err := s.RemoveProject(t.Context(), "p"); err != nil || n < 300 {
			t.Errorf("%d keys, %v", n, err)
		}
		if n, err := s.RemoveProject(t.Context(), "p"); err != nil || n != 0 {
			t.Errorf("again %d keys, %v", n, err)
		}
		if left, err := s.AllKeys(t.Context(), "mm:{p}:*"); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
		if now, err := s.AllKeys(t.Context(), "mm:{p2}:*"); err != nil || !slices.Equal(now, others) {
			t.Errorf("of another project %d keys are left of %d, %v", len(now), len(others), err)
		}
		if listed, err := s.Projects(t.Context()); err != nil || !slices.Equal(listed, []string{"p2"}) {
			t.Errorf("listed are %v, %v", listed, err)
		}
		// It may come back.
		runMatches(t, s, "p")
	})
}
