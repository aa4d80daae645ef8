package state_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// ticketFor is a ticket of a game service's owner for players.
func ticketFor(n int, owner string, players ...string) *pb.Ticket {
	t := ticket(fmt.Sprint("t", n), n)
	t.Owner = owner
	for _, id := range players {
		t.Players = append(t.Players, &pb.Player{Id: id})
	}
	return t
}

// isLimited checks that an error is of a limit, and returns how long to wait: at a project's limit up to 5 s more.
func isLimited(t *testing.T, err error, limit string, after time.Duration) time.Duration {
	t.Helper()
	most := after
	if limit == "project" {
		most += 5 * time.Second
	}
	f, ok := errors.AsType[*problem.Error](err)
	if !ok || f.Kind != problem.Limited || f.Limit.Name != limit || f.RetryAfter < after || f.RetryAfter > most {
		t.Fatalf("got %+v, want the limit %q and RetryAfter from %s to %s", err, limit, after, most)
	}
	return f.RetryAfter
}

// A ticket counts to the rate of each player that it names. When one of them has none left, none is charged.
func TestTicketIsChargedToEachOfItsPlayers(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s, n := open(state.Options{Limits: state.Limits{PlayerRate: 1, PlayerBurst: 2}}), 0
		by := func(after time.Duration, owner string, players ...string) error {
			n++
			return s.At(epoch0.Add(after)).Creator(nil).Create(t.Context(), project, ticketFor(n, owner, players...))
		}
		mustBy := func(after time.Duration, owner string, players ...string) {
			t.Helper()
			if err := by(after, owner, players...); err != nil {
				t.Fatal(owner, players, err)
			}
		}
		mustBy(0, "lobby", "ada", "bob")
		mustBy(0, "ada")
		isLimited(t, by(0, "ada"), "player", time.Second)
		isLimited(t, by(0, "lobby", "cy", "ada", "dan"), "player", time.Second)
		isLimited(t, by(400*time.Millisecond, "lobby", "ada", "cy"), "player", 600*time.Millisecond)
		// The tickets that were refused charged neither cy nor bob; the owner is none of the players.
		for range 2 {
			mustBy(400*time.Millisecond, "cy")
			mustBy(400*time.Millisecond, "lobby")
		}
		mustBy(400*time.Millisecond, "bob")
		// The player that waits for longest counts: bob until 0.4 s later than ada.
		isLimited(t, by(900*time.Millisecond, "lobby", "ada", "bob", "cy"), "player", 500*time.Millisecond)
		mustBy(1400*time.Millisecond, "lobby", "ada", "bob", "cy")
	})
}

// A ticket takes as much of its project's rate as it has players, and at most all that there can be.
func TestProjectIsChargedForEachPlayer(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s, n := open(state.Options{Limits: state.Limits{ProjectRate: 10, ProjectBurst: 4}}), 0
		by := func(after time.Duration, players ...string) error {
			n++
			return s.At(epoch0.Add(after)).Creator(nil).Create(t.Context(), project, ticketFor(n, "lobby", players...))
		}
		if err := by(0, "a", "b", "c"); err != nil {
			t.Fatal(err)
		}
		isLimited(t, by(0, "a", "b", "c"), "project", 200*time.Millisecond)
		if err := by(0); err != nil {
			t.Fatal("one was left:", err)
		}
		isLimited(t, by(0), "project", 100*time.Millisecond)
		isLimited(t, by(0, "a", "b", "c", "d", "e"), "project", 400*time.Millisecond)
		if err := by(400*time.Millisecond, "a", "b", "c", "d", "e"); err != nil {
			t.Fatal("more players than there can be at once:", err)
		}
		isLimited(t, by(400*time.Millisecond), "project", 100*time.Millisecond)
	})
}

// A create that is repeated with its key charges its owner, and a refusal for a queue that no config serves all
// players.
func TestWhoPaysForWhatIsNotCreated(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s, n := open(state.Options{Clock: func() time.Time { return epoch0 },
			Limits: state.Limits{PlayerRate: 1, PlayerBurst: 3}}), 0
		c := s.Creator(nil)
		keyed := func() error {
			n++
			_, err := c.CreateAs(t.Context(), project, state.Creation{Ticket: ticketFor(n, "lobby", "ada"), Key: "k"})
			return err
		}
		for range 4 { // the first charges ada, and the others the lobby
			if err := keyed(); err != nil {
				t.Fatal(err)
			}
		}
		isLimited(t, keyed(), "player", time.Second)
		unserved := func(owner string, players ...string) error {
			n++
			in := ticketFor(n, owner, players...)
			in.Queues = []string{"nobody"}
			_, err := c.CreateAs(t.Context(), project, state.Creation{Ticket: in,
				Settings: &pb.ProjectSettings{Tickets: &pb.TicketRules{RefuseUnserved: true}}})
			return err
		}
		kindOf(t, unserved("lobby", "ada", "bob"), problem.Invalid)
		kindOf(t, unserved("lobby", "ada", "bob"), problem.Invalid)
		isLimited(t, unserved("lobby", "ada", "bob"), "player", time.Second)
		kindOf(t, unserved("bob"), problem.Invalid)
		isLimited(t, unserved("bob"), "player", time.Second)
	})
}

// Many tickets of many players each, at once: Redis gets no command that is too long for it.
func TestCrowdOfManyPlayersIsCreated(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Clock: func() time.Time { return epoch0 },
			Limits: state.Limits{PlayerRate: 1, PlayerBurst: 1}})
		c := s.Creator(nil)
		var all sync.WaitGroup
		for n := range 256 {
			players := make([]string, 64)
			for i := range players {
				players[i] = fmt.Sprint("player-", n, "-", i)
			}
			all.Go(func() {
				if err := c.Create(t.Context(), project, ticketFor(n, "lobby", players...)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if stored, err := s.Players(t.Context(), project); err != nil || stored != 256*64 {
			t.Error("buckets:", stored, err)
		}
		most := make([]string, 1000)
		for i := range most {
			most[i] = fmt.Sprint("one-of-most-", i)
		}
		if err := c.Create(t.Context(), project, ticketFor(1000, "lobby", most...)); err != nil {
			t.Error("the most players of a ticket:", err)
		}
		isLimited(t, c.Create(t.Context(), project, ticketFor(1001, "lobby", most[999])), "player", time.Second)
	})
}
