package state_test

import (
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// invite is the claim of a match that asks its players for 20 seconds whether they go to a running game. Its id is m.
func invite(revision int64, seen, made *pb.Backfill, tickets ...string) *state.Claim {
	c := fill(revision, seen, made, tickets...)
	c.Match.Id, c.Match.Acceptance, c.Assignments = "m", 20_000, nil
	return c
}

// mustJoin fails the test unless EndAcceptances let one match go to its game.
func mustJoin(t *testing.T, ended state.Acceptances) {
	t.Helper()
	if len(ended.Accepted) != 1 || len(ended.Failed) > 0 || ended.Position == 0 {
		t.Fatalf("ended: %+v", ended)
	}
}

// gameAsks lets a match ask the players of tickets whether they go to the game g.
func gameAsks(
	t *testing.T, s *state.Store, made *pb.Backfill, tickets ...string,
) (revision int64, terms state.ClaimOptions, shown *mirror) {
	t.Helper()
	revision, terms = setUp(t, s)
	terms.Approval = 20 * time.Second
	create(t, s, tickets...)
	createGame(t, s, game("g", 3))
	shown = follow(t, s)
	seen := shown.seesGame(t, version(game("g", 3), 1))
	c := invite(revision, seen, made, tickets...)
	if mustClaim(t, s, terms, c); c.Refusal != "" {
		t.Fatal(c.Refusal)
	}
	shown.seesGames(t)
	shown.sees(t)
	return revision, terms, shown
}

// Promise 10.
func TestPlayersAreAskedBeforeTheyAreProposedToAGame(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for _, made := range []*pb.Backfill{nil, game("g", 1)} {
			s := open(state.Options{History: 1000})
			must(t, s.Flush(t.Context()))
			revision, terms, shown := gameAsks(t, s, made, "a", "b")
			create(t, s, "late")
			generation, err := s.Generation(t.Context(), project, "g")
			must(t, err)
			for _, c := range []*state.Claim{
				fill(revision, &pb.Backfill{Id: "g", Generation: generation}, game("g", 2), "late"),
				invite(revision, &pb.Backfill{Id: "g", Generation: generation}, nil, "late"),
			} {
				c.Match.Id = "other"
				if mustClaim(t, s, terms, c); c.Refusal != "backfill" {
					t.Fatalf("others are sent to the game meanwhile: %q", c.Refusal)
				}
			}
			got, err := s.Ticket(t.Context(), project, "a")
			if must(t, err); got.Acceptance == nil || got.Acceptance.Match != "m" || got.Acceptance.Players != 2 {
				t.Fatalf("the ticket has %+v", got.Acceptance)
			}
			mustSay(t, s, false, true, "a")
			approval{approve(t, s, "g", 1)}.assigns(t, s, "g:1")
			if ended := endAcceptances(t, s); len(ended.Accepted)+len(ended.Failed) > 0 {
				t.Fatalf("ended early: %+v", ended)
			}
			mustSay(t, s, true, true, "b")
			approval{approve(t, s, "g", 12)}.assigns(t, s, "g:1")
			s = s.At(at(15))
			mustJoin(t, endAcceptances(t, s))
			if again := endAcceptances(t, s); len(again.Accepted)+len(again.Failed) > 0 { // its answer was lost
				t.Fatalf("ended again: %+v", again)
			}
			if made == nil {
				shown.seesGames(t) // the proposed tickets could not be known
			} else {
				shown.seesGame(t, version(game("g", 1), 1))
			}
			if got, err = s.Ticket(t.Context(), project, "a"); err != nil || got.Acceptance != nil || !got.Matched {
				t.Fatalf("the ticket is %+v, %v", got, err)
			}
			// The server's time began when all had accepted.
			lapsed, err := s.At(at(35)).EndOverdueJoins(t.Context(), project, time.Minute, 10)
			if err != nil || lapsed.Games > 0 {
				t.Fatal("lapsed:", lapsed, err)
			}
			approval{approve(t, s, "g", 35)}.assigns(t, s, "g:1", "a", "b")
			mustTell(t, s, "claimed a,b", "accepted a", "accepted b", "assigned a,b")
		}
	})
}

// When a player declines, leaves or is silent, the game gets no players and is as it was.
// Promise 10.
func TestGameIsShownAgainWhenAPlayerDoesNotCome(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for name, c := range map[string]struct {
			end    func(t *testing.T, s *state.Store)
			at     int
			events []string
		}{
			"declined": {
				end:    func(t *testing.T, s *state.Store) { mustSay(t, s, true, false, "b") },
				events: []string{"declined b", "expired b declined", "released a declined"},
			},
			"deleted": {
				end:    func(t *testing.T, s *state.Store) { must(t, second(s.DeleteTicket(t.Context(), project, "b", ""))) },
				events: []string{"cancelled b claimed", "released a declined"},
			},
			"silent": {
				end: func(*testing.T, *state.Store) {}, at: 20,
				events: []string{"expired b silent", "released a silent"},
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := open(state.Options{History: 1000})
				must(t, s.Flush(t.Context()))
				revision, terms, shown := gameAsks(t, s, game("g", 1), "a", "b")
				mustSay(t, s, false, true, "a")
				c.end(t, s)
				ended := endAcceptances(t, s.At(at(c.at)))
				if len(ended.Failed) != 1 || len(ended.Accepted) > 0 || ended.Position == 0 {
					t.Fatalf("ended: %+v", ended)
				}
				seen := shown.seesGame(t, version(game("g", 3), 1))
				isWaiting(t, s, "a")
				_, err := s.Ticket(t.Context(), project, "b")
				kindOf(t, err, problem.NotFound)
				mustTell(t, s, append([]string{"claimed a,b", "accepted a"}, c.events...)...)
				got := approve(t, s, "g", 21)
				approval{got}.assigns(t, s, "g:1")
				if got.Backfill.GetVersion() != 1 {
					t.Errorf("the server sees version %d", got.Backfill.GetVersion())
				}
				again := fill(revision, seen, nil, "a")
				if mustClaim(t, s, terms, again); again.Refusal != "" {
					t.Error(again.Refusal)
				}
			})
		}
	})
}

// A game that changes or ends while players are asked gets none of them. They all wait again, and none was silent, also
// when all had accepted. A player that had declined has declined.
// Promise 10.
func TestGameThatChangesEndsTheAcceptance(t *testing.T) {
	changes := map[string]func(t *testing.T, s *state.Store){
		"replaced": func(t *testing.T, s *state.Store) {
			must(t, second(s.ReplaceBackfill(t.Context(), project, game("g", 2))))
		},
		"deleted": func(t *testing.T, s *state.Store) {
			_, _, err := s.DeleteBackfill(t.Context(), project, "g", "")
			must(t, err)
		},
		"its server is silent": func(t *testing.T, s *state.Store) {
			gone, _, err := s.At(at(130)).DeleteSilentBackfills(t.Context(), project, time.Minute, 10)
			if err != nil || len(gone) != 1 {
				t.Fatal(gone, err)
			}
		},
	}
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for name, change := range changes {
			for _, said := range []string{"", "accepted", "declined"} {
				t.Run(name+" "+said, func(t *testing.T) {
					s := open(state.Options{History: 1000})
					must(t, s.Flush(t.Context()))
					gameAsks(t, s, game("g", 1), "a", "b")
					want := []string{"claimed a,b"}
					switch said {
					case "accepted":
						mustSay(t, s, false, true, "a")
						mustSay(t, s, true, true, "b")
						want = append(want, "accepted a", "accepted b", "released a,b game")
					case "declined":
						mustSay(t, s, true, false, "b")
						want = append(want, "declined b", "expired b declined", "released a declined")
					default:
						want = append(want, "released a,b game")
					}
					change(t, s)
					ended := endAcceptances(t, s) // at once
					if len(ended.Failed) != 1 || len(ended.Accepted) > 0 || ended.Position == 0 {
						t.Fatalf("ended: %+v", ended)
					}
					if said == "declined" {
						isWaiting(t, s, "a")
					} else {
						isWaiting(t, s, "a", "b")
					}
					mustTell(t, s, want...)
					if left, err := s.MatchKeys(t.Context(), project); err != nil || left > 0 {
						t.Errorf("%d matches are stored, %v", left, err)
					}
					if name == "replaced" {
						approval{approve(t, s, "g", 3)}.assigns(t, s, "g:1")
					}
				})
			}
		}
	})
}

// Tickets that a config without acceptance proposed before are approved meanwhile, and the players that are asked
// follow. When the server lets the proposed tickets lapse, what the function made of the game is void, and so is the
// acceptance.
func TestAcceptanceBesideOtherProposals(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for _, lapse := range []string{"", "found by the director", "found by an approval"} {
			s := open(state.Options{History: 1000})
			must(t, s.Flush(t.Context()))
			revision, terms := setUp(t, s)
			terms.Approval = 5 * time.Second
			create(t, s, "a", "b")
			createGame(t, s, game("g", 3))
			shown := follow(t, s)
			first := fill(revision, shown.seesGame(t, version(game("g", 3), 1)), game("g", 2), "a")
			mustClaim(t, s, terms, first)
			asks := invite(revision, shown.seesGame(t, version(game("g", 2), 1)), game("g", 1), "b")
			if mustClaim(t, s, terms, asks); first.Refusal+asks.Refusal != "" {
				t.Fatal(first.Refusal, asks.Refusal)
			}
			shown.seesGames(t)
			switch lapse {
			case "":
				approval{approve(t, s, "g", 1)}.assigns(t, s, "g:1", "a")
				shown.seesGames(t)
				mustSay(t, s, true, true, "b")
				mustJoin(t, endAcceptances(t, s))
				shown.seesGame(t, version(game("g", 1), 1))
				approval{approve(t, s, "g", 2)}.assigns(t, s, "g:1", "b")
				continue
			case "found by the director":
				lapsed, err := s.At(at(6)).EndOverdueJoins(t.Context(), project, time.Minute, 10)
				if err != nil || lapsed.Games != 1 {
					t.Fatal(lapsed, err)
				}
			case "found by an approval":
				approval{approve(t, s, "g", 6)}.assigns(t, s, "g:1")
				shown.seesGame(t, version(game("g", 3), 1))
			}
			if ended := endAcceptances(t, s); len(ended.Failed) != 1 || len(ended.Ended()) > 0 {
				t.Fatalf("%s: ended: %+v", lapse, ended)
			}
			isWaiting(t, s, "a", "b")
		}
	})
}

// Players are asked for a game whose server is still being allocated. They join it when both are done.
func TestAcceptanceDuringTheAllocation(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for _, late := range []bool{false, true} {
			s := open(state.Options{})
			must(t, s.Flush(t.Context()))
			revision, terms := setUp(t, s)
			create(t, s, "a", "b", "c")
			opens := claimWithBackfill(revision, "opens", "g", "a", "b")
			mustClaim(t, s, terms, opens)
			seen := game("g", 2)
			seen.Generation = epoch0.UnixMilli()
			asks := invite(revision, seen, game("g", 1), "c")
			if mustClaim(t, s, terms, asks); opens.Refusal+asks.Refusal != "" {
				t.Fatal(opens.Refusal, asks.Refusal)
			}
			if status, _, err := take(t.Context(), s, opens.Match, epoch0, at(10)); err != nil || status != state.MatchActive {
				t.Fatal(status, err)
			}
			accept := func() {
				mustSay(t, s, true, true, "c")
				mustJoin(t, endAcceptances(t, s))
			}
			if !late {
				accept()
			}
			got, err := s.EndMatch(t.Context(), project, state.Ending{Match: opens.Match, Tickets: opens.Tickets,
				Results: []*pb.Assignment{{Connection: "x:1"}},
				Outcome: state.Outcome{Holder: "one", Connection: "x:1", Readable: time.Minute}})
			if err != nil || got.Status != state.MatchActive || slices.Contains(got.Assigned, "c") == late {
				t.Fatal(got, err)
			}
			if late {
				accept()
				approval{approve(t, s, "g", 1)}.assigns(t, s, "x:1", "c")
			}
		}
	})
}

// A match that asks for a game counts to the limits of matches, players, tickets and bytes before its players are
// asked, and when all have accepted the game must still have room.
func TestAcceptanceForAGameIsBounded(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c")
		g := game("g", 3)
		g.Roster = rosterOf("owner-of-a")
		createGame(t, s, g)
		terms.Matches = 1
		mustClaim(t, s, terms, offer(revision, "other", "c"))
		for ticket, want := range map[string]string{"a": "players", "b": "full"} {
			terms.Matches = 1
			if ticket == "a" {
				terms.Matches = 0
			}
			c := invite(revision, g, game("g", 2), ticket)
			if mustClaim(t, s, terms, c); c.Refusal != want {
				t.Errorf("%s: %q, want %q", ticket, c.Refusal, want)
			}
		}
		terms.Matches = 2
		stale := invite(revision+1, g, nil, "b")
		if mustClaim(t, s, terms, stale); stale.Refusal != "config" {
			t.Error(stale.Refusal)
		}
		busy := invite(revision, g, nil, "c")
		if mustClaim(t, s, terms, busy); busy.Refusal != "c" {
			t.Error(busy.Refusal)
		}
		isWaiting(t, s, "a", "b")
		terms.Epoch++
		if _, err := s.Claim(t.Context(), project, terms, []*state.Claim{invite(revision, g, nil, "b")}); err == nil {
			t.Error("a director without the lease asks players")
		}
	})
}
