package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/state"
)

// offer is the claim of a match whose players may accept it for 20 seconds.
func offer(revision int64, match string, tickets ...string) *state.Claim {
	c := claim(revision, match, tickets...)
	c.Match.Acceptance = 20_000
	return c
}

// say answers a match for players of a ticket, all if there are none.
func say(t *testing.T, s *state.Store, accept bool, ticket string, players ...string) (over bool, err error) {
	t.Helper()
	return s.AnswerMatch(t.Context(), project, state.Answer{Ticket: ticket, Match: "m", Accept: accept, Players: players})
}

func mustSay(t *testing.T, s *state.Store, wantOver, accept bool, ticket string, players ...string) {
	t.Helper()
	if over, err := say(t, s, accept, ticket, players...); err != nil || over != wantOver {
		t.Fatalf("%s says %v: over %v, %v", ticket, accept, over, err)
	}
}

func endAcceptances(t *testing.T, s *state.Store) state.Acceptances {
	t.Helper()
	ended, err := s.EndAcceptances(t.Context(), project,
		state.AcceptanceTerms{Claim: 10 * time.Second, Approval: 20 * time.Second, Readable: time.Minute,
			Watched: time.Hour, Limit: 10})
	must(t, err)
	return ended
}

// told lists kinds, reasons and tickets of the events since the claim, without creations.
func told(t *testing.T, s *state.Store) (all []string) {
	t.Helper()
	entries, err := s.History(t.Context(), project, nil, 10_000)
	must(t, err)
	for _, entry := range entries {
		for _, e := range entry.Events {
			if e.GetKind() == pb.Event_KIND_CREATED {
				continue
			}
			one := strings.ToLower(strings.TrimPrefix(e.GetKind().String(), "KIND_")) + " " + strings.Join(e.GetTickets(), ",")
			if e.GetReason() != "" {
				one += " " + e.GetReason()
			}
			if e.GetPlayer() > 0 {
				one += fmt.Sprint(" player ", e.GetPlayer())
			}
			all = append(all, one)
		}
	}
	return all
}

func mustTell(t *testing.T, s *state.Store, want ...string) {
	t.Helper()
	if got := told(t, s); !slices.Equal(got, want) {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// mustTellInAnyOrder is mustTell for sorted events.
func mustTellInAnyOrder(t *testing.T, s *state.Store, want []string) {
	t.Helper()
	if got := slices.Sorted(slices.Values(told(t, s))); !slices.Equal(got, want) {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Promise 10.
func TestMatchGoesOnWhenAllPlayersAccepted(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		revision, terms := setUp(t, s)
		must(t, s.Creator(nil).Create(t.Context(), project, group("party", 0, "ada", "bob")))
		create(t, s, "c")
		m := offer(revision, "m", "party", "c")
		mustClaim(t, s, terms, m)
		isWaiting(t, s)
		got, err := s.At(at(5)).Ticket(t.Context(), project, "party")
		must(t, err)
		if a := got.Acceptance; a == nil || a.Match != "m" || a.Left != 15*time.Second || a.Players != 3 || a.Accepted != 0 ||
			!slices.Equal(a.Open, []string{"ada", "bob"}) {
			t.Fatalf("the ticket has %+v", a)
		}
		// Neither the outbox nor an allocator gets it before.
		if left, err := s.Outbox(t.Context(), project, 0, 10); err != nil || len(left) > 0 {
			t.Fatal("in the outbox:", left, err)
		}
		if status, _, err := take(t.Context(), s, m.Match, epoch0, at(10)); err != nil || status != state.MatchForgotten {
			t.Fatal("an allocator begins it:", status, err)
		}
		mustSay(t, s, false, true, "party", "bob")
		mustSay(t, s, false, true, "party", "bob") // its answer was lost
		mustSay(t, s, false, true, "c", "owner-of-c", "owner-of-c")
		if ended := endAcceptances(t, s); len(ended.Accepted)+len(ended.Failed) > 0 {
			t.Fatalf("ended early: %+v", ended)
		}
		got, err = s.Ticket(t.Context(), project, "party")
		must(t, err)
		if a := got.Acceptance; a == nil || a.Accepted != 2 || !slices.Equal(a.Open, []string{"ada"}) ||
			!slices.Equal(a.Answered, []string{"bob"}) {
			t.Fatalf("the ticket has %+v", a)
		}
		mustSay(t, s, true, true, "party")
		if released, _, err := s.At(at(30)).ReleaseOverdueMatches(t.Context(), project, 10); err != nil || len(released) > 0 {
			t.Fatal("released:", released, err)
		}
		ended := endAcceptances(t, s)
		if len(ended.Accepted) != 1 || ended.Accepted[0].GetId() != "m" || len(ended.Failed) > 0 {
			t.Fatalf("ended: %+v", ended)
		}
		if left, err := s.Outbox(t.Context(), project, 0, 10); err != nil || !slices.Equal(left, []string{"m"}) {
			t.Fatal("in the outbox:", left, err)
		}
		mustSay(t, s, false, true, "c") // late, but nothing else than before
		kindOf(t, second(say(t, s, false, "c")), problem.Conflict)
		if got, err = s.Ticket(t.Context(), project, "party"); err != nil || got.Acceptance != nil || !got.Matched {
			t.Fatalf("the ticket is %+v, %v", got, err)
		}
		// From here on it has the time of every claim.
		if released, _, err := s.At(at(9)).ReleaseOverdueMatches(t.Context(), project, 10); err != nil || len(released) > 0 {
			t.Fatal("released:", released, err)
		}
		if status, _, err := take(t.Context(), s, m.Match, epoch0, at(10)); err != nil || status != state.MatchActive {
			t.Fatal(status, err)
		}
		mustTell(t, s, "claimed party,c", "accepted party player 2", "accepted c", "accepted party player 1",
			"allocating party,c")
	})
}

// Promise 10.
func TestFirstDeclineEndsTheAcceptance(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for name, c := range map[string]struct {
			end    func(t *testing.T, s *state.Store)
			at     int
			waits  []string
			events []string
		}{
			"declined": {
				end:    func(t *testing.T, s *state.Store) { mustSay(t, s, true, false, "b") },
				waits:  []string{"a", "c", "party"},
				events: []string{"declined b", "expired b declined", "released a,c,party declined"},
			},
			"declined by one of two": {
				end:    func(t *testing.T, s *state.Store) { mustSay(t, s, true, false, "party", "eve") },
				waits:  []string{"a", "b", "c"},
				events: []string{"declined party player 2", "expired party declined", "released a,b,c declined"},
			},
			"deleted": {
				end: func(t *testing.T, s *state.Store) {
					_, declined, err := s.Leave(t.Context(), project,
						state.Leaving{Ticket: "b", Player: "owner-of-b", By: "owner-of-b"})
					if err != nil || !declined {
						t.Fatal(declined, err)
					}
				},
				waits:  []string{"a", "c", "party"},
				events: []string{"cancelled b claimed", "released a,c,party declined"},
			},
			"changed its mind": {
				end:    func(t *testing.T, s *state.Store) { mustSay(t, s, true, false, "a") },
				waits:  []string{"b", "c", "party"},
				events: []string{"declined a", "expired a declined", "released b,c,party declined"},
			},
			"accepted, and then deleted": {
				end: func(t *testing.T, s *state.Store) {
					mustSay(t, s, false, true, "b")
					mustSay(t, s, false, true, "c")
					mustSay(t, s, true, true, "party")
					must(t, second(s.DeleteTicket(t.Context(), project, "b", "")))
				},
				waits: []string{"a", "c", "party"},
				events: []string{"accepted b", "accepted c", "accepted party player 1", "accepted party player 2",
					"cancelled b claimed", "released a,c,party declined"},
			},
			"silent": {
				end:    func(t *testing.T, s *state.Store) { mustSay(t, s, false, true, "party", "dan") },
				at:     20,
				waits:  []string{"a"},
				events: []string{"accepted party player 1", "expired b,c,party silent", "released a silent"},
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := open(state.Options{History: 1000})
				must(t, s.Flush(t.Context()))
				revision, terms := setUp(t, s)
				create(t, s, "a", "b", "c")
				must(t, s.Creator(nil).Create(t.Context(), project, group("party", 3, "dan", "eve")))
				mustClaim(t, s, terms, offer(revision, "m", "a", "b", "c", "party"))
				mustSay(t, s, false, true, "a")
				c.end(t, s)
				if c.at > 0 {
					if early := endAcceptances(t, s.At(at(c.at).Add(-time.Millisecond))); len(early.Failed) > 0 {
						t.Fatalf("ended early: %+v", early)
					}
				}
				ended := endAcceptances(t, s.At(at(c.at)))
				if len(ended.Failed) != 1 || len(ended.Accepted) > 0 || ended.Position == 0 {
					t.Fatalf("ended: %+v", ended)
				}
				isWaiting(t, s, c.waits...)
				for _, id := range ended.Ended() {
					_, err := s.Ticket(t.Context(), project, id)
					kindOf(t, err, problem.NotFound)
				}
				mustTell(t, s, append([]string{"claimed a,b,c,party", "accepted a"}, c.events...)...)
				if left, err := s.Outbox(t.Context(), project, 0, 10); err != nil || len(left) > 0 {
					t.Error("in the outbox:", left, err)
				}
				if left, err := s.MatchKeys(t.Context(), project); err != nil || left > 0 {
					t.Errorf("%d matches are stored, %v", left, err)
				}
				// The tickets that wait again may be matched again.
				again := claim(revision, "again", c.waits...)
				if mustClaim(t, s, terms, again); again.Refusal != "" {
					t.Error(again.Refusal)
				}
			})
		}
	})
}

func TestAnswersThatAreRefused(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c", "plain", "too")
		mustClaim(t, s, terms, offer(revision, "m", "a", "b"), claim(revision, "n", "plain", "too"))
		kindOf(t, second(say(t, s, true, "nobody")), problem.NotFound)
		kindOf(t, second(say(t, s, true, "a", "owner-of-a", "owner-of-b")), problem.Invalid)
		kindOf(t, second(say(t, s, true, "c")), problem.Conflict)
		kindOf(t, second(say(t, s, true, "plain")), problem.Conflict)
		kindOf(t, second(say(t, s.At(at(20)), true, "a")), problem.Conflict)
		if got, err := s.Ticket(t.Context(), project, "a"); err != nil || got.Acceptance.Accepted != 0 {
			t.Errorf("%+v, %v", got.Acceptance, err)
		}
		mustSay(t, s, true, false, "a")
		mustSay(t, s, false, false, "a")
		kindOf(t, second(say(t, s, true, "a")), problem.Conflict)
		kindOf(t, second(say(t, s, true, "b")), problem.Conflict)
	})
}

// A newer ticket of a player ends the older one that is asked, and with it the acceptance.
// Promise 10.
func TestReplacedTicketEndsTheAcceptance(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "other")
		settings := &pb.ProjectSettings{Tickets: &pb.TicketRules{PlayerLimit: 1, WhenReached: "replace"}}
		old, newer := ticket("old", 0), ticket("newer", 1)
		newer.Owner = old.Owner
		must(t, second(s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: old, Settings: settings})))
		mustClaim(t, s, terms, offer(revision, "m", "old", "other"))
		made, err := s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: newer, Settings: settings})
		if err != nil || !slices.Equal(made.Ended, []string{"old"}) {
			t.Fatal(made, err)
		}
		if ended := endAcceptances(t, s); len(ended.Failed) != 1 || len(ended.Ended()) > 0 {
			t.Fatalf("ended: %+v", ended)
		}
		isWaiting(t, s, "newer", "other")
	})
}

// An accepted match without hosting gets its results in one step, and what its players said is gone.
// Promise 10.
func TestAcceptedMatchWithoutHosting(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		m := offer(revision, "m", "a", "b")
		m.Match.Hosting, m.Match.Place = nil, ""
		mustClaim(t, s, terms, m)
		mustSay(t, s, false, true, "a")
		mustSay(t, s, true, true, "b")
		if ended := endAcceptances(t, s); len(ended.Accepted) != 1 {
			t.Fatalf("ended: %+v", ended)
		}
		e := state.Ending{Match: m.Match, Tickets: m.Tickets, Results: []*pb.Assignment{{Connection: "here:1"}},
			Outcome: state.Outcome{Readable: time.Minute}}
		got, err := s.EndMatches(t.Context(), project, []state.Ending{e})
		if err != nil || !slices.Equal(got[0].Assigned, []string{"a", "b"}) {
			t.Fatal(got, err)
		}
		if a := assigned(t, s, "b"); a.GetConnection() != "here:1" {
			t.Error(a)
		}
		must(t, second(s.DeleteTicket(t.Context(), project, "a", "")))
		if again := endAcceptances(t, s); len(again.Accepted)+len(again.Failed) > 0 {
			t.Errorf("ended again: %+v", again)
		}
		credit, err := s.Credit(t.Context(), project)
		if err != nil || len(credit) > 0 {
			t.Error(credit, err)
		}
	})
}

// A match that asks its players takes no place of a server before they accepted.
func TestAcceptanceTakesNoServer(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c", "d")
		for _, c := range []struct {
			ticket string
			accept bool
		}{{"a", false}, {"b", true}} {
			m := offer(revision, "m", c.ticket)
			mustClaim(t, s, terms, m)
			if credit, err := s.Credit(t.Context(), project); err != nil || len(credit) > 0 {
				t.Error("while its players are asked:", credit, err)
			}
			mustSay(t, s, true, c.accept, c.ticket)
			endAcceptances(t, s)
		}
		credit, err := s.Credit(t.Context(), project)
		if must(t, err); len(credit) != 1 {
			t.Errorf("one match is accepted, the credit is %v", credit)
		}
	})
}

// A backfill ticket that is created with a match ends with it when a player declines.
// Promise 10.
func TestDeclinedMatchWithABackfillTicket(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		m := offer(revision, "m", "a", "b")
		m.Match.Backfill = "game"
		m.Match.Proposal.Filling = &pb.Filling{Contents: game("game", 2)}
		mustClaim(t, s, terms, m)
		if m.Refusal != "" {
			t.Fatal(m.Refusal)
		}
		mustSay(t, s, false, true, "a")
		mustSay(t, s, true, false, "b")
		if ended := endAcceptances(t, s); len(ended.Failed) != 1 {
			t.Fatalf("ended: %+v", ended)
		}
		isWaiting(t, s, "a")
		if shown, err := s.Shown(t.Context(), project); err != nil || len(shown) > 0 {
			t.Error("functions are shown", shown, err)
		}
	})
}

// The largest match is asked and ends, both ways, in one step each.
func TestLargestAcceptance(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 100_000})
		revision, terms := setUp(t, s)
		var tickets []string
		for i := range invocation.MaxTickets {
			id := fmt.Sprint("t", i)
			must(t, s.Creator(nil).Create(t.Context(), project, group(id, 0, id+"-1", id+"-2", id+"-3")))
			tickets = append(tickets, id)
		}
		mustClaim(t, s, terms, offer(revision, "m", tickets...))
		if ended := endAcceptances(t, s.At(at(20))); len(ended.Failed) != 1 || len(ended.Ended()) != len(tickets) {
			t.Fatalf("%d tickets ended", len(ended.Ended()))
		}
		for _, id := range tickets {
			must(t, s.Creator(nil).Create(t.Context(), project, group(id, 0, id+"-1", id+"-2", id+"-3")))
		}
		m := offer(revision, "m", tickets...)
		mustClaim(t, s, terms, m)
		for i, id := range tickets {
			mustSay(t, s, i == len(tickets)-1, true, id)
		}
		if ended := endAcceptances(t, s); len(ended.Accepted) != 1 {
			t.Fatalf("%d failed", len(ended.Failed))
		}
		if status, _, err := take(t.Context(), s, m.Match, epoch0, at(10)); err != nil || status != state.MatchActive {
			t.Fatal(status, err)
		}
	})
}

// Redis may lose that the players of a match accepted, after an allocator asked for its server. The server goes, and
// the tickets wait again: no director would end the match later.
// Promise 10.
func TestServerOfAMatchThatIsStillAsked(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for _, backfill := range []string{"", "game"} {
			for _, declined := range []bool{false, true} {
				s := open(state.Options{History: 1000})
				must(t, s.Flush(t.Context()))
				revision, terms := setUp(t, s)
				create(t, s, "a", "b")
				m := offer(revision, "m", "a", "b")
				if backfill != "" {
					m.Match.Backfill, m.Match.Proposal.Filling = backfill, &pb.Filling{Contents: game(backfill, 2)}
				}
				mustClaim(t, s, terms, m)
				mustSay(t, s, false, true, "a")
				want := []string{"claimed a,b", "accepted a", "released a,b lost"}
				if declined {
					mustSay(t, s, true, false, "b")
					want = []string{"claimed a,b", "accepted a", "declined b", "released a,b lost"}
				}
				got, err := s.EndMatch(t.Context(), project, state.Ending{Match: m.Match, Tickets: m.Tickets,
					Results: []*pb.Assignment{{Connection: "x:1"}},
					Outcome: state.Outcome{Holder: "one", Connection: "x:1", Readable: time.Minute}})
				if must(t, err); got.Status != state.MatchReleased || len(got.Assigned) > 0 {
					t.Fatalf("ended: %+v", got)
				}
				isWaiting(t, s, "a", "b")
				mustTell(t, s, want...)
				wantDeallocations(t, s, epoch0, "m")
				if late := endAcceptances(t, s.At(at(30))); len(late.Failed)+len(late.Accepted) > 0 {
					t.Errorf("ended again: %+v", late)
				}
				again := claim(revision, "again", "a", "b")
				if mustClaim(t, s, terms, again); again.Refusal != "" {
					t.Error(again.Refusal)
				}
			}
		}
	})
}

// A player that could not answer, since Redis was not there, is not silent: the ticket waits again with the others.
// Promise 10.
func TestNobodyIsSilentWhoseAnswerMayBeLost(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c", "d")
		mustClaim(t, s, terms, offer(revision, "m", "a", "b"), offer(revision, "n", "c", "d"))
		mustSay(t, s, false, true, "a")
		if over, err := s.AnswerMatch(t.Context(), project, state.Answer{Ticket: "c", Match: "n"}); err != nil || !over {
			t.Fatal(over, err)
		}
		look := state.AcceptanceTerms{Claim: 10 * time.Second, Watched: 20*time.Second - time.Millisecond, Limit: 10}
		ended, err := s.At(at(20)).EndAcceptances(t.Context(), project, look)
		if must(t, err); len(ended.Failed) != 2 || !slices.Equal(ended.Ended(), []string{"c"}) {
			t.Fatalf("ended: %+v", ended)
		}
		isWaiting(t, s, "a", "b", "d")
		mustClaim(t, s, terms, offer(revision, "m", "a", "b"))
		look.Watched += time.Millisecond // as long as they were asked
		ended, err = s.At(at(20)).EndAcceptances(t.Context(), project, look)
		if must(t, err); len(ended.Failed) != 1 || !slices.Equal(ended.Ended(), []string{"a", "b"}) {
			t.Fatalf("ended: %+v", ended)
		}
	})
}
