package state_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// forPlayers is a ticket of an owner, or of several players.
func forPlayers(id string, players ...string) *pb.Ticket {
	t := &pb.Ticket{Id: id, Owner: players[0]}
	if len(players) > 1 {
		for _, p := range players {
			t.Players = append(t.Players, &pb.Player{Id: p})
		}
	}
	return t
}

// maker creates tickets in a project that lists them.
type maker struct {
	t        *testing.T
	store    *state.Store
	creator  *state.Creator
	settings *pb.ProjectSettings
}

func (m *maker) create(id string, players ...string) (state.Created, error) {
	return m.creator.CreateAs(m.t.Context(), project,
		state.Creation{Ticket: forPlayers(id, players...), Settings: m.settings})
}

// made creates a ticket, which must end those others.
func (m *maker) made(id string, players []string, ended ...string) {
	m.t.Helper()
	got, err := m.create(id, players...)
	if err != nil || got.ID != id || !slices.Equal(got.Ended, ended) {
		m.t.Errorf("%s for %v: %+v, %v, want the end of %v", id, players, got, err, ended)
	}
}

// refused creates a ticket, which must be refused for another.
func (m *maker) refused(id string, players []string, has string) {
	m.t.Helper()
	_, err := m.create(id, players...)
	kindOf(m.t, err, problem.Conflict)
	if err != nil && !strings.Contains(err.Error(), "the ticket "+has+" already") {
		m.t.Errorf("%s: %v does not name %s", id, err, has)
	}
	_, err = m.store.Ticket(m.t.Context(), project, id)
	kindOf(m.t, err, problem.NotFound)
}

// listed checks which tickets of a player are listed, the newest first.
func (m *maker) listed(player string, want ...string) {
	m.t.Helper()
	tickets, err := m.store.TicketsOf(m.t.Context(), project, player)
	must(m.t, err)
	var got []string
	for _, t := range tickets {
		got = append(got, t.Body.GetId())
	}
	if !slices.Equal(got, want) {
		m.t.Errorf("%s has the tickets %v, want %v", player, got, want)
	}
}

func (m *maker) gone(ids ...string) {
	m.t.Helper()
	for _, id := range ids {
		_, err := m.store.Ticket(m.t.Context(), project, id)
		kindOf(m.t, err, problem.NotFound)
	}
}

func newMaker(t *testing.T, s *state.Store, limit int64, whenReached string) *maker {
	rules := &pb.TicketRules{Listed: true, PlayerLimit: limit, WhenReached: whenReached}
	return &maker{t: t, store: s, creator: s.Creator(nil), settings: &pb.ProjectSettings{Tickets: rules}}
}

func TestPlayerHasNoMoreTicketsThanAllowed(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		m := newMaker(t, s, 2, "")
		ada := []string{"ada"}
		m.made("a1", ada)
		m.made("a2", []string{"bob", "ada"})
		m.refused("a3", ada, "a1")
		m.refused("a3", []string{"cid", "dan", "ada"}, "a1")
		m.made("b2", []string{"bob"})
		m.refused("b3", []string{"bob"}, "a2")
		m.listed("ada", "a2", "a1")
		m.listed("cid")
		// One with a result does not count.
		mustClaim(t, s, terms, direct(revision, "m1", "here", "a1", "b2"))
		m.made("a3", ada)
		m.refused("a4", ada, "a2")
		m.listed("ada", "a3", "a2", "a1")
		// A player that ends a ticket has room, and so have the ticket's other players.
		_, err := s.DeleteTicket(t.Context(), project, "a2", "bob")
		must(t, err)
		m.listed("ada", "a3", "a1")
		m.listed("bob", "b2")
		m.made("a4", ada)
		// Lists end with the tickets.
		later := s.At(at(3600))
		_, err = later.Expire(t.Context(), project, time.Minute, time.Minute, 100)
		must(t, err)
		m.listed("ada")
		m.listed("bob")
		if left, err := s.AllKeys(t.Context(), "mm:*by_player"); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}

// Promise 1.
func TestOldestTicketIsReplaced(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		revision, terms := setUp(t, s)
		m := newMaker(t, s, 1, "replace")
		ada := []string{"ada"}
		m.made("a1", ada)
		m.made("a2", ada, "a1")
		m.gone("a1")
		// A claimed one is ended until its server is asked for.
		m.made("b1", []string{"bob"})
		mustClaim(t, s, terms, claim(revision, "m1", "a2", "b1"))
		m.made("a3", ada, "a2")
		m.gone("a2")
		m.listed("ada", "a3")
		// Of all players of the new ticket.
		m.made("p1", []string{"cid", "dan"})
		m.made("p2", []string{"eve", "dan", "ada"}, "p1", "a3")
		m.listed("cid")
		m.listed("ada", "p2")
		if n, err := s.Waiting(t.Context(), project); err != nil || n != 1 {
			t.Errorf("%d tickets wait, %v", n, err)
		}
		m.made("x1", []string{"xia"})
		m.made("y1", []string{"yan"})
		begun := claim(revision, "m2", "x1", "y1")
		mustClaim(t, s, terms, begun)
		_, err := s.BeginAllocation(t.Context(), project, begun.Match, tenSecondLease("one", 10*time.Second))
		must(t, err)
		m.refused("x2", []string{"xia"}, "x1")
		m.made("x3", []string{"zoe"})
		// The new ticket ends none when it is refused for another player.
		m.refused("x4", []string{"zoe", "xia"}, "x1")
		m.listed("zoe", "x3")
	})
}

// However many replicas race for a player, there is one ticket in the end, and each of the others was told.
// Promise 1.
func TestRacesForTheLimitOfAPlayer(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for _, replace := range []bool{false, true} {
			s := open(state.Options{Clock: time.Now})
			player := fmt.Sprint("ada-", replace)
			var mu sync.Mutex
			alive, refusals := map[string]bool{}, 0
			var all sync.WaitGroup
			for replica := range 4 {
				m := newMaker(t, open(state.Options{Clock: time.Now}), 1, map[bool]string{true: "replace"}[replace])
				for n := range 10 {
					all.Go(func() {
						id := fmt.Sprintf("%s-%d-%d", player, replica, n)
						var made state.Created
						err := error(&problem.Error{Kind: problem.Unavailable})
						for problem.KindOf(err) == problem.Unavailable { // the tickets of the player changed too fast
							made, err = m.create(id, player)
						}
						mu.Lock()
						defer mu.Unlock()
						switch {
						case problem.KindOf(err) == problem.Conflict && !replace:
							refusals++
						case err != nil:
							t.Error(err)
						default:
							if ended, was := alive[id]; was && !ended {
								delete(alive, id) // the one that ended it was faster to tell
							} else {
								alive[id] = true
							}
							for _, gone := range made.Ended {
								if alive[gone] {
									delete(alive, gone)
								} else {
									alive[gone] = false
								}
							}
						}
					})
				}
			}
			all.Wait()
			tickets, err := s.TicketsOf(context.WithoutCancel(t.Context()), project, player)
			must(t, err)
			if len(tickets) != 1 || len(alive) != 1 || !alive[tickets[0].Body.GetId()] {
				t.Errorf("replace %t: %d tickets are there, %v were made and not ended", replace, len(tickets), alive)
			}
			if !replace && refusals != 39 {
				t.Errorf("%d were refused", refusals)
			}
		}
	})
}

func TestListsAreBounded(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		m := newMaker(t, s, 0, "")
		var want []string
		for n := range 40 {
			m.made(fmt.Sprint("t", n), []string{"ada"})
			want = append([]string{fmt.Sprint("t", n)}, want...)
		}
		m.listed("ada", want[:32]...)
		for n := range 40 {
			_, err := s.DeleteTicket(t.Context(), project, fmt.Sprint("t", n), "ada")
			must(t, err)
		}
		m.listed("ada")
	})
}

func TestRepeatedCreatesMakeOneTicket(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Keys: 3}})
		send := func(s *state.Store, id, owner, key, request string) (string, error) {
			made, err := s.Creator(nil).CreateAs(t.Context(), project,
				state.Creation{Ticket: &pb.Ticket{Id: id, Owner: owner}, Key: key, Request: []byte(request)})
			return made.ID, err
		}
		same := func(s *state.Store, id, owner, key, want string) {
			t.Helper()
			if got, err := send(s, id, owner, key, "{}"); got != want || err != nil {
				t.Errorf("%s: %s, %v, want %s", id, got, err, want)
			}
		}
		same(s, "a", "ada", "k", "a")
		same(s, "b", "ada", "k", "a")
		same(s, "c", "bob", "k", "c") // a key is its player's own
		found := func(owner, key, want string) {
			t.Helper()
			got, err := s.TicketOfKey(t.Context(), project, owner, key)
			if want == "" {
				kindOf(t, err, problem.NotFound)
			} else if err != nil || got.Body.GetId() != want {
				t.Errorf("of %s's key: %v, %v, want %s", owner, got, err, want)
			}
		}
		found("ada", "k", "a")
		found("bob", "k", "c")
		found("eve", "k", "")
		_, err := send(s, "d", "ada", "k", `{"x":1}`)
		kindOf(t, err, problem.IdempotencyKeyReused)
		// It is the same ticket also when that was deleted.
		_, err = s.DeleteTicket(t.Context(), project, "a", "ada")
		must(t, err)
		same(s, "e", "ada", "k", "a")
		found("ada", "k", "")
		same(s, "f", "ada", "", "f")
		same(s, "g", "ada", "k2", "g")
		_, err = send(s, "h", "ada", "k3", "{}")
		kindOf(t, err, problem.Limited)
		for _, id := range []string{"b", "d", "e", "h"} {
			_, err := s.Ticket(t.Context(), project, id)
			kindOf(t, err, problem.NotFound)
		}
		// For ten minutes at least, twenty at most.
		same(s.At(at(599)), "i", "ada", "k", "a")
		// A request that was sent twice at the same time.
		ids := make(chan string, 16)
		for n := range cap(ids) {
			go func() {
				id, err := send(s.At(at(2000)), fmt.Sprint("r", n), "ada", "twice", "{}")
				if err != nil {
					id = err.Error()
				}
				ids <- id
			}()
		}
		first := <-ids
		for range cap(ids) - 1 {
			if id := <-ids; id != first {
				t.Errorf("%s and %s", first, id)
			}
		}
	})
}

// TestTicketsAreReadInTheirOrder: also more than are read at a time, and of those that do not exist nothing.
func TestTicketsAreReadInTheirOrder(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		setUp(t, s)
		m := newMaker(t, s, 0, "")
		var ids []string
		for i := range 150 {
			id := fmt.Sprint("t", i)
			if i%3 > 0 {
				m.made(id, []string{"player of " + id})
			}
			ids = append(ids, id)
		}
		tickets, err := s.Tickets(t.Context(), project, ids)
		must(t, err)
		for i, one := range tickets {
			if want := i%3 > 0; (one != nil) != want || want && one.Body.GetId() != ids[i] {
				t.Errorf("ticket %d of %d is %v", i, len(tickets), one)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Tickets(ctx, project, ids); err == nil {
			t.Error("nothing is wrong with a call that has ended")
		}
	})
}
