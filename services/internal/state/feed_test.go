package state_test

import (
	"fmt"
	"slices"
	"testing"

	"matchmaker.dev/services/internal/state"
)

func TestFeedFollowsEveryChange(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b") // before the reader starts: the snapshot has them
		m := follow(t, s)
		m.sees(t, "a", "b")
		create(t, s, "c", "d")
		m.sees(t, "a", "b", "c", "d")
		mustClaim(t, s, terms, claim(revision, "m1", "a", "b"), direct(revision, "m2", "x", "c", "d"))
		m.sees(t)
		if _, _, err := s.At(at(10)).ReleaseOverdueMatches(t.Context(), project, 10); err != nil {
			t.Fatal(err)
		}
		m.sees(t, "a", "b")
		if _, err := s.DeleteTicket(t.Context(), project, "a", ""); err != nil {
			t.Fatal(err)
		}
		m.sees(t, "b")
		if want := []string{"a", "b", "c", "d"}; !slices.Equal(m.claimed, want) { // the deleted one was not taken again
			t.Errorf("matches took %v, want %v", m.claimed, want)
		}
		if m.resets != 1 {
			t.Errorf("the reader started %d times", m.resets)
		}
	})
}

func TestReaderThatFellBehindStartsAgain(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Feed: 1})
		m := &slow{mirror: newMirror(), gate: make(chan struct{})}
		followInto(t, s, m, nil)
		<-m.changed // the empty snapshot
		var ids []string
		for i := range 300 { // more than the server keeps: it trims whole nodes of a hundred
			ids = append(ids, fmt.Sprint("t", i))
			create(t, s, ids[i])
		}
		if _, err := s.DeleteTicket(t.Context(), project, "t0", ""); err != nil {
			t.Fatal(err)
		}
		close(m.gate)
		m.sees(t, ids[1:]...)
		if m.resets < 2 {
			t.Error("the reader did not start again")
		}
	})
}

func TestFeedThatWasPutBackIsNoticed(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		m := newMirror()
		followInto(t, s, m, nil)
		create(t, s, "a", "b", "c")
		m.sees(t, "a", "b", "c")
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.sees(t) // the reader notices it
		create(t, s, "d")
		m.sees(t, "d")
	})
}

func TestNewFeedAtTheSamePositionIsNoticed(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		m := newMirror()
		followInto(t, s, m, nil)
		create(t, s, "a", "b")
		m.sees(t, "a", "b")
		// The positions are the positions of the entries that the reader has read.
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		create(t, s, "c", "d", "e")
		m.sees(t, "c", "d", "e")
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		create(t, s, "f", "g", "h")
		m.sees(t, "f", "g", "h")
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.sees(t)
	})
}

// Entries may name tickets without their bodies.
func TestBodiesThatAreNotInTheFeed(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		m := follow(t, s)
		appended := func(changes ...string) {
			t.Helper()
			position, err := s.AppendFeed(t.Context(), project, changes...)
			if err != nil {
				t.Fatal(err)
			}
			m.reaches(t, position)
		}
		var ids, gone, named []string
		for i := range 50 { // more than are read at once
			id := fmt.Sprint("t", i)
			ids, gone, named = append(ids, id), append(gone, "-"+id, ""), append(named, "@"+id, "")
		}
		create(t, s, ids...)
		m.sees(t, ids...)
		body := m.body("t49")
		appended(gone...)
		m.sees(t)
		appended(named...)
		if m.sees(t, ids...); m.body("t49") != body {
			t.Errorf("the body is %q, not %q", m.body("t49"), body)
		}
		// The last change counts, whatever the ticket says.
		appended("@t0", "", "-t0", "", "-t1", "", "@t1", "", "-", "t2 t3", "@t3", "")
		m.sees(t, slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "t0" || id == "t2" })...)
		// One that does not wait any more is not shown.
		mustClaim(t, s, terms, claim(revision, "m1", "t4", "t5"))
		appended("@t4", "", "@t5", "", "@nobody", "")
		m.sees(t, slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			return slices.Contains([]string{"t0", "t2", "t4", "t5"}, id)
		})...)

		createGame(t, s, game("g", 3))
		m.seesGames(t, "g")
		appended("/g", "")
		m.seesGames(t)
		appended("%g", "", "%nobody", "")
		m.seesGame(t, version(game("g", 3), 1))
		appended("/g", "", "%g", "", "/g", "")
		m.seesGames(t)
		if m.resets != 1 {
			t.Errorf("the reader started %d times", m.resets)
		}
	})
}

// slow is a mirror that waits for its gate before it applies changes. It applies the snapshot at once.
type slow struct {
	*mirror
	gate chan struct{}
}

func (s *slow) Apply(changes []state.Change, position uint64) {
	if position > 0 && len(changes) > 0 {
		<-s.gate
	}
	s.mirror.Apply(changes, position)
}
