package state_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// createTold creates tickets whose ends are told, each for its players.
func createTold(t *testing.T, s *state.Store, tickets ...*pb.Ticket) {
	t.Helper()
	for _, one := range tickets {
		_, err := s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: one,
			Settings: &pb.ProjectSettings{Tickets: &pb.TicketRules{EndsTold: true}}, Readable: time.Minute})
		must(t, err)
	}
}

// leave deletes a ticket as one of its players.
func leave(t *testing.T, s *state.Store, id, player string, service bool) error {
	t.Helper()
	_, _, err := s.Leave(t.Context(), project, state.Leaving{Ticket: id, Player: player, By: player, Service: service,
		Readable: time.Minute})
	return err
}

// ends wants a ticket to have ended with a reason, "" if it does not exist.
func ends(t *testing.T, s *state.Store, id, reason string) *state.Ticket {
	t.Helper()
	got, err := s.Ticket(t.Context(), project, id)
	if reason == "" {
		kindOf(t, err, problem.NotFound)
		return nil
	}
	must(t, err)
	if !got.Ended || got.Assignment.GetError() != reason || got.Assignment.GetConnection() != "" || got.Matched {
		t.Fatalf("%s has %+v, want the end %q", id, got, reason)
	}
	return got
}

// Promise 1.
func TestEndsAreTold(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for _, c := range []struct {
			name, reason string
			end          func(t *testing.T, s *state.Store, revision int64, terms state.ClaimOptions)
			events       []string
		}{
			{"waiting limit", "abandoned", func(t *testing.T, s *state.Store, _ int64, _ state.ClaimOptions) {
				e, err := s.At(at(100)).Expire(t.Context(), project, 50*time.Second, time.Minute, 10)
				if err != nil || e.Abandoned != 2 || !slices.Equal(e.Told, []string{"a"}) || e.Position == 0 {
					t.Fatalf("expired: %+v, %v", e, err)
				}
			}, []string{"expired a,plain abandoned"}},
			{"decline", "declined", func(t *testing.T, s *state.Store, revision int64, terms state.ClaimOptions) {
				mustClaim(t, s, terms, offer(revision, "m", "a"), offer(revision, "n", "plain"))
				mustSay(t, s, true, false, "a", "bob")
				must(t, second(s.AnswerMatch(t.Context(), project, state.Answer{Ticket: "plain", Match: "n"})))
				if ended := endAcceptances(t, s.At(at(100))); !slices.Equal(ended.Ended(), []string{"a", "plain"}) {
					t.Fatalf("ended: %+v", ended)
				}
			}, []string{"claimed a", "claimed plain", "declined a player 2", "declined plain player 1",
				"declined plain player 2", "expired a declined", "released  declined", "expired plain declined",
				"released  declined"}},
			{"nobody asks for it", "unheard", func(t *testing.T, s *state.Store, _ int64, _ state.ClaimOptions) {
				must(t, s.Hear(t.Context(), project, []string{"a", "plain"}))
				endUnheard(t, s.At(at(60)))
				endUnheard(t, s.At(at(80)))
				if found := endUnheard(t, s.At(at(100))); found.Ended != 2 || !slices.Equal(found.Told, []string{"a"}) ||
					found.Position == 0 {
					t.Fatalf("ended: %+v", found)
				}
			}, []string{"expired a,plain unheard"}},
			{"silence", "silent", func(t *testing.T, s *state.Store, revision int64, terms state.ClaimOptions) {
				mustClaim(t, s, terms, offer(revision, "m", "a", "plain"))
				endAcceptances(t, s.At(at(100)))
			}, []string{"claimed a,plain", "expired a,plain silent", "released  silent"}},
			{"deletion", "deleted", func(t *testing.T, s *state.Store, _ int64, _ state.ClaimOptions) {
				must(t, leave(t, s.At(at(100)), "a", "bob", false))
				must(t, leave(t, s.At(at(100)), "plain", "bob", false))
			}, []string{"cancelled a waiting player 2", "cancelled plain waiting player 2"}},
			{"deletion of a claimed one", "deleted", func(t *testing.T, s *state.Store, r int64, terms state.ClaimOptions) {
				m := claim(r, "m", "a", "plain")
				mustClaim(t, s, terms, m)
				must(t, leave(t, s.At(at(100)), "a", "bob", false))
				must(t, leave(t, s.At(at(100)), "plain", "bob", false))
				if status, _, err := take(t.Context(), s, m.Match, epoch0, at(10)); err != nil ||
					status != state.MatchDropped {
					t.Fatal(status, err)
				}
			}, []string{"claimed a,plain", "cancelled a claimed player 2", "cancelled plain claimed player 2",
				"released  left"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				must(t, open(state.Options{}).Flush(t.Context()))
				s := open(state.Options{History: 1000})
				revision, terms := setUp(t, s)
				large := group("a", 0, "ada", "bob")
				large.Properties = map[string][]byte{"blob": []byte(strings.Repeat("x", 2000))}
				createTold(t, s, large)
				must(t, s.Creator(nil).Create(t.Context(), project, group("plain", 0, "eve", "bob")))
				m := follow(t, s)
				m.sees(t, "a", "plain")
				c.end(t, s, revision, terms)
				m.sees(t)
				isWaiting(t, s)
				ends(t, s, "plain", "")
				ends(t, s, "a", c.reason)
				counts, err := s.At(at(100)).Counts(t.Context(), project)
				if must(t, err); counts.Results != 1 || counts.Large == 0 {
					t.Errorf("an end is counted as %+v", counts)
				}
				if _, err := s.At(at(159)).Expire(t.Context(), project, time.Hour, time.Minute, 10); err != nil {
					t.Fatal(err)
				}
				ends(t, s, "a", c.reason)
				if _, err := s.At(at(160)).Expire(t.Context(), project, time.Hour, time.Minute, 10); err != nil {
					t.Fatal(err)
				}
				ends(t, s, "a", "")
				if c.name == "decline" { // the two matches end side by side
					slices.Sort(c.events)
					mustTellInAnyOrder(t, s, c.events)
				} else {
					mustTell(t, s, c.events...)
				}
				if counts, err = s.At(at(160)).Counts(t.Context(), project); err != nil || counts.Large != 0 {
					t.Errorf("an end that was read leaves %+v, %v", counts, err)
				}
			})
		}
	})
}

// Promise 1.
func TestTicketIsGoneForThoseWhoDeletedIt(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		createTold(t, s, group("a", 0, "ada", "bob", "eve"), group("b", 0, "ada", "bob"), forPlayers("own", "ada"),
			&pb.Ticket{Id: "owned", Owner: "lobby", Players: []*pb.Player{{Id: "ada"}}})
		must(t, leave(t, s, "own", "ada", false))
		ends(t, s, "own", "") // there is no other player
		must(t, leave(t, s, "owned", "ada", false))
		ends(t, s, "owned", "deleted")

		must(t, leave(t, s, "a", "bob", false))
		got := ends(t, s, "a", "deleted")
		for player, gone := range map[string]bool{"ada": false, "bob": true, "eve": false, "": false, "bo": false} {
			if got.IsGoneFor(player, false) != gone {
				t.Errorf("it is gone for %q: %v", player, !gone)
			}
		}
		if got.IsGoneFor("", true) {
			t.Error("it is gone for services")
		}
		kindOf(t, leave(t, s, "a", "bob", false), problem.NotFound)
		kindOf(t, leave(t, s, "a", "zoe", false), problem.NotFound)
		must(t, leave(t, s, "a", "eve", true)) // she has read it
		if got = ends(t, s, "a", "deleted"); !got.IsGoneFor("eve", false) || !got.IsGoneFor("", true) ||
			got.IsGoneFor("ada", false) {
			t.Errorf("after eve too: %+v", got)
		}
		kindOf(t, leave(t, s, "a", "eve", false), problem.NotFound)
		kindOf(t, leave(t, s, "a", "ada", true), problem.NotFound) // the service has deleted it
		must(t, leave(t, s, "a", "ada", false))
		ends(t, s, "a", "deleted") // its owner has not read it
		must(t, leave(t, s, "a", "owner-of-a", false))
		ends(t, s, "a", "")

		must(t, second2(s.Leave(t.Context(), project, state.Leaving{Ticket: "b", Readable: time.Minute})))
		if got = ends(t, s, "b", "deleted"); got.IsGoneFor("ada", true) {
			t.Error("nobody in particular deleted it")
		}
		mustTell(t, s, "cancelled own waiting", "cancelled owned waiting player 1", "cancelled a waiting player 2",
			"cancelled b waiting")
		// One with a result is gone for all.
		createTold(t, s, group("c", 0, "ada", "bob"))
		revision, terms := setUp(t, s)
		mustClaim(t, s, terms, direct(revision, "m", "here", "c"))
		// But not for a player that only stops a search.
		_, _, err := s.Leave(t.Context(), project, state.Leaving{Ticket: "c", By: "ada", Keeps: true, Readable: time.Minute})
		kindOf(t, err, problem.NotFound)
		if c, err := s.Ticket(t.Context(), project, "c"); err != nil || c.Assignment.GetConnection() != "here" {
			t.Errorf("%+v, %v", c, err)
		}
		must(t, leave(t, s, "c", "ada", false))
		ends(t, s, "c", "")
	})
}

func second2[A, B any](_ A, _ B, err error) error { return err }

func TestReplacedTicketIsTold(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		revision, terms := setUp(t, s)
		make := func(id string, players ...string) {
			t.Helper()
			_, err := s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: forPlayers(id, players...),
				Settings: &pb.ProjectSettings{Tickets: &pb.TicketRules{PlayerLimit: 1, WhenReached: "replace", EndsTold: true}},
				Readable: time.Minute})
			must(t, err)
		}
		m := newMaker(t, s, 0, "")
		make("a1", "ada", "bob")
		make("a2", "ada")
		ends(t, s, "a1", "replaced")
		m.listed("ada", "a2", "a1")
		make("b1", "bob") // the one that ended does not count
		m.listed("bob", "b1", "a1")
		mustClaim(t, s, terms, offer(revision, "m", "a2", "b1"))
		make("a3", "ada")
		ends(t, s, "a2", "replaced")
		if ended := endAcceptances(t, s); len(ended.Failed) != 1 || len(ended.Ended()) != 0 {
			t.Errorf("the acceptance: %+v", ended)
		}
		isWaiting(t, s, "b1", "a3")
		must(t, second(s.At(at(61)).Expire(t.Context(), project, time.Hour, time.Minute, 10)))
		m.listed("ada", "a3")
		m.listed("bob", "b1")
		mustTell(t, s, "cancelled a1 replaced", "claimed a2,b1", "cancelled a2 replaced", "released b1 declined")
	})
}

// However calls race, a ticket ends once, and is told or gone.
// Promise 1.
func TestEndsThatRace(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 10_000})
		revision, terms := setUp(t, s)
		terms.Readable = time.Hour // longer than the clocks below differ
		ctx := context.WithoutCancel(t.Context())
		isAbandoned := func(id string) bool {
			for _, line := range told(t, s) {
				words := strings.Fields(line)
				if words[0] == "expired" && words[2] == "abandoned" && slices.Contains(strings.Split(words[1], ","), id) {
					return true
				}
			}
			return false
		}
		for round := range 30 {
			id := "t" + string(rune('A'+round))
			createTold(t, s, group(id, 0, "ada", "bob"), group("other"+id, 0, "cid"))
			var calls sync.WaitGroup
			var left [2]error
			for i, player := range []string{"ada", "bob"} {
				calls.Go(func() {
					_, _, left[i] = s.Leave(ctx, project, state.Leaving{Ticket: id, Player: player, By: player,
						Readable: time.Hour})
				})
			}
			calls.Go(func() {
				_, _ = s.At(at(100)).Expire(ctx, project, 50*time.Second, time.Hour, 10)
			})
			c := direct(revision, "m"+id, "here", id)
			calls.Go(func() { _, _ = s.Claim(ctx, project, terms, []*state.Claim{c}) })
			calls.Wait()
			got, err := s.Ticket(ctx, project, id)
			switch {
			case problem.KindOf(err) == problem.NotFound: // both left, or it was matched before
				if left[0] != nil && left[1] != nil {
					t.Fatalf("%s is gone, and nobody left: %v", id, left)
				}
			case err != nil:
				t.Fatal(err)
			case c.Refusal == "" && !got.Ended: // matched, and no player left
				if left[0] == nil || left[1] == nil {
					t.Fatalf("%s is matched, and %v", id, left)
				}
			case got.Ended:
				if isAbandoned(id) != (got.Assignment.GetError() == "abandoned") {
					t.Fatalf("%s: %+v, and the event of its expiry: %v", id, got.Assignment, isAbandoned(id))
				}
				for i, player := range []string{"ada", "bob"} {
					if (left[i] == nil) != got.IsGoneFor(player, false) {
						t.Fatalf("%s: %s left: %v", id, player, left[i])
					}
				}
			default:
				t.Fatalf("%s waits: %+v", id, got)
			}
		}
		strays, err := s.Strays(ctx, project)
		if err != nil || len(strays) > 0 {
			t.Error("strays:", strays, err)
		}
		for range 10 {
			must(t, second(s.At(at(10_000)).Expire(ctx, project, time.Hour, time.Minute, 100)))
		}
		if rest, err := s.Leftovers(ctx, project); err != nil || len(rest) > 0 {
			t.Error("left:", rest, err)
		}
	})
}
