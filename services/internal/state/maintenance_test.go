package state_test

import (
	"fmt"
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
