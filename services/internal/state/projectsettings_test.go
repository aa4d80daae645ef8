package state_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// ruled are settings with a rule for an attribute.
func ruled(attribute string) *pb.ProjectSettings {
	return &pb.ProjectSettings{ChangedBy: "studio",
		Attributes: []*pb.SetterRule{{Name: attribute, SetBy: "service"}}}
}

func TestSettingsAndTheirHistory(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		none, err := s.Settings(t.Context(), project)
		must(t, err)
		if none.GetRevision() != 0 || len(none.GetAttributes()) > 0 {
			t.Errorf("a project without settings has %v", none)
		}
		first := ruled("a")
		kindOf(t, s.PutSettings(t.Context(), project, first, 7), problem.Conflict)
		must(t, s.PutSettings(t.Context(), project, first, state.NoRevision))
		if first.GetRevision() != epoch0.UnixMilli() || first.GetChanged() != epoch0.UnixMilli() {
			t.Errorf("the first settings are %v", first)
		}
		kindOf(t, s.PutSettings(t.Context(), project, ruled("b"), state.NoRevision), problem.Conflict)
		second := ruled("b")
		must(t, s.PutSettings(t.Context(), project, second, first.GetRevision()))
		if second.GetRevision() != first.GetRevision()+1 {
			t.Errorf("a change in the same millisecond has the revision %d after %d", second.GetRevision(),
				first.GetRevision())
		}
		got, err := s.Settings(t.Context(), project)
		must(t, err)
		if diff := cmp.Diff(second, got, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		for n := range 40 {
			must(t, s.At(at(n)).PutSettings(t.Context(), project, ruled(fmt.Sprint(n)), state.AnyRevision))
		}
		history, err := s.SettingsHistory(t.Context(), project)
		must(t, err)
		if len(history) != 32 {
			t.Fatalf("%d changes are kept", len(history))
		}
		for i, change := range history {
			if want := fmt.Sprint(39 - i); change.GetAttributes()[0].GetName() != want ||
				change.GetChangedBy() != "studio" ||
				change.GetChanged() != at(39-i).UnixMilli() {
				t.Errorf("change %d is %v, want %s", i, change, want)
			}
		}
		// The clock of another primary may be behind.
		last := ruled("last")
		must(t, s.PutSettings(t.Context(), project, last, state.AnyRevision))
		if last.GetRevision() <= history[0].GetRevision() || last.GetChanged() != epoch0.UnixMilli() {
			t.Errorf("after %v: %v", history[0], last)
		}
	})
}

// Once a change of settings has returned, no ticket is created that was decided by older settings.
func TestCreateNeedsTheSettingsOfTheProject(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		c := s.Creator(nil)
		under := func(id string, revision int64) error {
			_, err := c.CreateAs(t.Context(), project, state.Creation{Ticket: ticket(id, 0),
				Settings: &pb.ProjectSettings{Revision: revision}})
			return err
		}
		must(t, under("a", 0))
		other := func(id string, revision int64) {
			t.Helper()
			if err := under(id, revision); !errors.Is(err, state.ErrOtherSettings) {
				t.Errorf("%s: %v", id, err)
			}
			_, err := s.Ticket(t.Context(), project, id)
			kindOf(t, err, problem.NotFound)
		}
		other("b", 5)
		p := ruled("x")
		must(t, s.PutSettings(t.Context(), project, p, state.AnyRevision))
		other("b", 0)
		must(t, under("b", p.GetRevision()))
		old := p.GetRevision()
		must(t, s.PutSettings(t.Context(), project, p, state.AnyRevision))
		other("c", old)
		must(t, under("c", p.GetRevision()))
	})
}

// The same with many replicas at a time: each ticket says by which settings it was decided.
func TestSettingsRaceWithCreates(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Clock: time.Now})
		var answered atomic.Int64 // the revision of the last PUT that was answered
		done := make(chan error, 4)
		for replica := range 4 {
			creator := open(state.Options{Clock: time.Now}).Creator(nil)
			go func() {
				done <- func() error {
					revision := int64(0)
					for n := 0; n < 200; {
						before := answered.Load()
						_, err := creator.CreateAs(t.Context(), project,
							state.Creation{Ticket: ticket(fmt.Sprintf("t-%d-%d", replica, n), 0),
								Settings: &pb.ProjectSettings{Revision: revision}})
						switch {
						case errors.Is(err, state.ErrOtherSettings):
							p, err := s.Settings(t.Context(), project)
							if err != nil {
								return err
							}
							revision = p.GetRevision()
							continue
						case err != nil:
							return err
						case revision < before:
							return fmt.Errorf("created by settings %d after %d were answered", revision, before)
						}
						n++
					}
					return nil
				}()
			}()
		}
		for left := 4; left > 0; {
			select {
			case err := <-done:
				must(t, err)
				left--
			default:
				p := ruled("x")
				must(t, s.PutSettings(t.Context(), project, p, state.AnyRevision))
				answered.Store(p.GetRevision())
			}
		}
	})
}
