package state_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// bulky is a ticket with a body of somewhat more than size bytes.
func bulky(id string, n, size int) *pb.Ticket {
	t := ticket(id, n)
	t.Properties["blob"] = []byte(strings.Repeat("x", size))
	return t
}

// tooMuch fails the test unless an error says that a limit of bytes is reached.
func tooMuch(t *testing.T, err error, limit string) {
	t.Helper()
	e, ok := errors.AsType[*problem.Error](err)
	if !ok || e.Kind != problem.Limited || e.Limit.Name != limit || e.RetryAfter == 0 {
		t.Errorf("got %v, want that %s is reached", err, limit)
	}
}

func countsOf(t *testing.T, s *state.Store) state.Counts {
	t.Helper()
	counts, err := s.Counts(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func large(t *testing.T, s *state.Store) int64 {
	t.Helper()
	return countsOf(t, s).Large
}

func TestLargeTicketsAreBoundedInBytes(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{TicketMemory: 1, Backfills: 1}})
		c := s.Creator(nil)
		var err error
		stored := 0
		for ; stored < 100; stored++ {
			if err = c.Create(t.Context(), project, bulky(fmt.Sprint("t", stored), stored, 20<<10)); err != nil {
				break
			}
		}
		if tooMuch(t, err, "ticket-memory"); stored != 51 {
			t.Fatalf("%d tickets of 20 KiB fit into 1 MiB", stored)
		}
		if used := large(t, s); used > 1<<20 || used < 51*20<<10 {
			t.Errorf("%d bytes are counted", used)
		}
		// Plain tickets are not concerned.
		if err := c.Create(t.Context(), project, bulky("small", 0, 900)); err != nil {
			t.Error(err)
		}
		if _, err := s.DeleteTicket(t.Context(), project, "t0", ""); err != nil {
			t.Fatal(err)
		}
		if err := c.Create(t.Context(), project, bulky("next", 0, 20<<10)); err != nil {
			t.Errorf("after a delete there is room again: %v", err)
		}
	})
}

// Whatever becomes of large tickets, none of them counts after it was deleted.
func TestBytesOfLargeTicketsDoNotDrift(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		c := s.Creator(nil)
		random := rand.New(rand.NewPCG(1, 2))
		var live []string
		take := func() string {
			i := random.IntN(len(live))
			id := live[i]
			live = append(live[:i], live[i+1:]...)
			return id
		}
		for n := range 400 {
			switch {
			case len(live) < 4 || random.IntN(3) > 0:
				id := fmt.Sprint("t", n)
				if err := c.Create(t.Context(), project, bulky(id, n, random.IntN(4<<10))); err != nil {
					t.Fatal(err)
				}
				live = append(live, id)
			case random.IntN(2) == 0:
				if _, err := s.DeleteTicket(t.Context(), project, take(), ""); err != nil {
					t.Fatal(err)
				}
			default: // a match without hosting: its tickets are resolved at once
				one, other := take(), take()
				m := claim(revision, fmt.Sprint("m", n), one, other)
				m.Match.Hosting = nil
				for range 2 {
					m.Assignments = append(m.Assignments, &pb.Assignment{Error: "none"})
				}
				if _, err := s.Claim(t.Context(), project, terms, []*state.Claim{m}); err != nil || m.Refusal != "" {
					t.Fatal(err, m.Refusal)
				}
			}
		}
		if large(t, s) == 0 {
			t.Fatal("no large ticket is counted")
		}
		// All tickets end: those that wait by the waiting limit, the others when their results were readable.
		end := epoch0.Add(time.Hour)
		for more := true; more; {
			e, err := s.At(end).Expire(t.Context(), project, 0, time.Minute, 100)
			if err != nil {
				t.Fatal(err)
			}
			more = e.More
		}
		if used := large(t, s); used != 0 {
			t.Errorf("%d bytes are counted and no ticket is left", used)
		}
	})
}

// A player has a share of the memory for large tickets, so that a few accounts do not take all of it.
func TestLargeTicketsOfAPlayerHaveAShare(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{TicketMemory: 1}})
		c, n := s.Creator(nil), 0
		by := func(size int, owner string, players ...string) *pb.Ticket {
			n++
			one := bulky(fmt.Sprint("t", n), n, size)
			one.Owner = owner
			for _, player := range players {
				one.Players = append(one.Players, &pb.Player{Id: player})
			}
			return one
		}
		fill := func(want int, owner string, players ...string) {
			t.Helper()
			stored, err := 0, error(nil)
			for ; stored < 10; stored++ {
				if err = c.Create(t.Context(), project, by(30<<10, owner, players...)); err != nil {
					break
				}
			}
			if tooMuch(t, err, "player-ticket-memory"); stored != want {
				t.Errorf("%s %v: %d tickets of 30 KiB fit into 128 KiB", owner, players, stored)
			}
		}
		fill(4, "ada")
		must(t, c.Create(t.Context(), project, by(100, "ada")))
		// A ticket that names players counts to the first of them: a game service acts for many.
		fill(4, "lobby", "bob", "ada")
		fill(4, "lobby", "carol")
		for _, owner := range []string{"ada", "bob"} {
			kindOf(t, c.Create(t.Context(), project, by(30<<10, owner)), problem.Limited)
		}
		// What ends makes room.
		must(t, second(s.DeleteTicket(t.Context(), project, "t1", "")))
		must(t, c.Create(t.Context(), project, by(30<<10, "ada")))
		for i := range n {
			if _, err := s.DeleteTicket(t.Context(), project, fmt.Sprint("t", i+1), ""); err != nil {
				kindOf(t, err, problem.NotFound)
			}
		}
		contents, err := s.Contents(t.Context())
		must(t, err)
		for key, content := range contents {
			if strings.Contains(key, "large") {
				t.Errorf("without tickets, %s has %s", key, content)
			}
		}
	})
}
