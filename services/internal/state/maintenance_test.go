package state_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// A project is quiet as long as nothing is stored that becomes due. Its position tells when that changes.
func TestQuietProjects(t *testing.T) {
	suite(t, testQuietProjects)
}

func testQuietProjects(t *testing.T, open func(state.Options) *state.Store) {
	s := open(state.Options{})
	quiet := func(project string) (bool, uint64) {
		t.Helper()
		due, err := s.DueWork(t.Context(), project, state.Ages{})
		if err != nil {
			t.Fatal(err)
		}
		return due.Quiet, due.Position
	}
	var names []string
	for i := range 600 { // more than one round trip
		names = append(names, fmt.Sprintf("p%d", i))
	}
	if is, at := quiet("p598"); !is || at != 0 {
		t.Errorf("an empty project is quiet: %v, at %d", is, at)
	}
	if _, _, err := s.PutConfig(t.Context(), "p598", &pb.Config{Id: "c", Function: "f"}, state.AnyRevision); err != nil {
		t.Fatal(err)
	}
	if is, _ := quiet("p598"); !is {
		t.Error("a project with a config alone is not quiet")
	}
	before, err := s.Positions(t.Context(), names)
	if err != nil || len(before) != len(names) || slices.Max(before) != 0 {
		t.Fatalf("positions of empty projects: %v, %v", before, err)
	}
	creator := s.Creator(nil)
	if err := creator.Create(t.Context(), "p598", &pb.Ticket{Id: "a", Owner: "o"}); err != nil {
		t.Fatal(err)
	}
	is, at := quiet("p598")
	if is || at == 0 {
		t.Errorf("a project with a ticket is quiet: %v, at %d", is, at)
	}
	after, err := s.Positions(t.Context(), names)
	if err != nil || after[598] != at || slices.Max(after[:598]) != 0 || after[599] != 0 {
		t.Errorf("positions %v, %v; want %d for p598", after, err, at)
	}
}

// An urgent look finds matches that are overdue, and no more.
func TestUrgentLooks(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		must(t, s.DueAll(t.Context(), project))
		for urgent, want := range map[bool]state.DueWork{
			true:  {Outbox: true, Claims: true, Backfills: true},
			false: {Outbox: true, Claims: true, Backfills: true, Tickets: true, Results: true, Unserved: 1},
		} {
			due, err := s.At(at(1000000)).DueWork(t.Context(), project, state.Ages{Urgent: urgent})
			must(t, err)
			if due.Idle {
				t.Error("a project with matches is idle")
			}
			got := state.DueWork{Outbox: due.Outbox, Claims: due.Claims, Backfills: due.Backfills, Tickets: due.Tickets,
				Results: due.Results, Unserved: due.Unserved}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("urgent %v: %+v, want %+v", urgent, got, want)
			}
		}
		due, err := s.At(at(1000000)).DueWork(t.Context(), project, state.Ages{Urgent: true, Idle: true})
		if must(t, err); due.Outbox || due.Claims || due.Backfills || due.Idle {
			t.Errorf("without matches: %+v", due)
		}
		if due, err = s.DueWork(t.Context(), "other", state.Ages{Urgent: true}); err != nil || !due.Idle || due.Quiet {
			t.Errorf("an urgent look at nothing: %+v, %v", due, err)
		}
		must(t, s.NoJoins(t.Context(), project))
		for _, urgent := range []bool{true, false} { // of running games, only matches that go there are urgent
			if due, err := s.At(at(1000000)).DueWork(t.Context(), project, state.Ages{Urgent: urgent}); err != nil ||
				due.Backfills == urgent {
				t.Errorf("urgent %v: %v, %v", urgent, due.Backfills, err)
			}
		}
	})
}
