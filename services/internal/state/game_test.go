package state_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// A server that has not called for three times as long as it usually takes is offered no tickets until it calls.
func TestSilentServerIsOfferedNobody(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = 200 * time.Second
		create(t, s, "a", "b")
		createGame(t, s, game("g", 3))
		m := follow(t, s)
		for _, second := range []int{1, 3, 5, 7} {
			approve(t, s, "g", second)
		}
		seen := m.seesGame(t, version(game("g", 3), 1))
		c := fill(revision, seen, game("g", 2), "a")
		if mustClaim(t, s.At(at(13)), terms, c); c.Refusal != "" {
			t.Fatalf("six seconds are no silence of one that takes two: %q", c.Refusal)
		}
		approval{approve(t, s, "g", 13)}.assigns(t, s, "g:1", "a")
		seen = m.seesGame(t, version(game("g", 2), 1))
		c = fill(revision, seen, game("g", 1), "b")
		if mustClaim(t, s.At(at(23)), terms, c); c.Refusal != "backfill" {
			t.Fatalf("ten seconds are silence of one that takes three: %q", c.Refusal)
		}
		m.seesGames(t)
		follow(t, s).seesGames(t) // a reader that begins now sees the same
		isWaiting(t, s, "b")
		approve(t, s, "g", 40)
		seen = m.seesGame(t, version(game("g", 2), 1))
		c = fill(revision, seen, game("g", 1), "b")
		if mustClaim(t, s.At(at(41)), terms, c); c.Refusal != "" {
			t.Fatalf("it has called: %q", c.Refusal)
		}
		approval{approve(t, s, "g", 42)}.assigns(t, s, "g:1", "b")
	})
}

// A server that approves every 50 ms is not silent after 200: a second is the least that it is given. Nor is one whose
// clock, or Redis's, jumped; and one that was away for long has its usual pace again soon.
func TestServerThatIsNotSilent(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = 2000 * time.Second
		m := follow(t, s)
		proposes := func(id string, seconds int, want string) {
			t.Helper()
			create(t, s, "t-"+id)
			generation, err := s.Generation(t.Context(), project, id)
			if err != nil {
				t.Fatal(err)
			}
			seen := game(id, 3)
			seen.Generation = generation
			c := fill(revision, seen, nil, "t-"+id)
			c.Match.Id = "m-" + id
			if mustClaim(t, s.At(at(seconds)), terms, c); c.Refusal != want {
				t.Errorf("%s: refused %q, want %q", id, c.Refusal, want)
			}
		}
		for _, id := range []string{"quick", "young", "jumped", "away", "gone"} {
			createGame(t, s, game(id, 3))
		}
		m.seesGames(t, "quick", "young", "jumped", "away", "gone")
		for _, id := range []string{"quick", "gone"} {
			for n := range 40 {
				if _, err := s.At(at(1).Add(time.Duration(n)*50*time.Millisecond)).ApproveBackfill(
					t.Context(), project, id, approvals()); err != nil {
					t.Fatal(err)
				}
			}
		}
		proposes("quick", 5, "")
		proposes("gone", 7, "backfill")
		approve(t, s, "young", 1) // once
		proposes("young", 500, "")
		approve(t, s, "jumped", 1000)
		approve(t, s, "jumped", 1001)
		proposes("jumped", 2, "")
		for _, second := range []int{1, 2, 3, 4, 1000, 1001, 1002, 1003} {
			approve(t, s, "away", second)
		}
		proposes("away", 1010, "backfill")
	})
}

// Players are not sent to a server that fell silent while they were asked.
func TestServerThatFallsSilentWhilePlayersAreAsked(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		createGame(t, s, game("g", 3))
		m := follow(t, s)
		for _, second := range []int{1, 2} {
			approve(t, s, "g", second)
		}
		seen := m.seesGame(t, version(game("g", 3), 1))
		asks := invite(revision, seen, game("g", 2), "a")
		if mustClaim(t, s.At(at(30)), terms, asks); asks.Refusal != "backfill" {
			t.Fatalf("a silent server: %q", asks.Refusal)
		}
		m.seesGames(t)
		approve(t, s, "g", 31)
		seen = m.seesGame(t, version(game("g", 3), 1))
		asks = invite(revision, seen, game("g", 2), "a")
		if mustClaim(t, s, terms, asks); asks.Refusal != "" {
			t.Fatalf("it has called: %q", asks.Refusal)
		}
		mustSay(t, s, true, true, "a")
		if ended := endAcceptances(t, s.At(at(300))); len(ended.Failed) != 1 || len(ended.Ended()) > 0 {
			t.Fatalf("ended: %+v", ended)
		}
		isWaiting(t, s, "a", "b")
		m.seesGames(t)
		approve(t, s, "g", 301)
		m.seesGame(t, version(game("g", 3), 1))
	})
}

// Players that join a game get the match properties that it was started with, unless the function gives them others.
func TestJoinersGetWhatTheirGameWasStartedWith(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		for name, started := range map[string][]byte{
			"small": []byte(`{"map":"cave"}`),
			"large": []byte(`{"map":"` + strings.Repeat("x", 4<<10) + `"}`),
			"huge":  []byte(`{"map":"` + strings.Repeat("x", 16<<10) + `"}`),
			"none":  nil,
		} {
			s := open(state.Options{})
			must(t, s.Flush(t.Context()))
			revision, terms := setUp(t, s)
			terms.Approval = 20 * time.Second
			create(t, s, "a", "plain", "own", "old", "private")
			opened := claimWithBackfill(revision, "m", "g", "a", "")
			opened.Tickets = []string{"a"}
			opened.Match.Proposal.Teams = []*pb.Team{{Tickets: []string{"a"}}}
			opened.Match.Proposal.MatchProperties = started
			if mustClaim(t, s, terms, opened); opened.Refusal != "" {
				t.Fatal(opened.Refusal)
			}
			begin(t, s, opened.Match, state.MatchActive)
			assign(t, s, opened.Match, "10.0.0.1:7")
			inherited := started
			if name == "huge" {
				inherited = nil // more than a game keeps
			}
			for ticket, of := range map[string]struct{ says, want *pb.Assignment }{
				"plain": {&pb.Assignment{}, &pb.Assignment{MatchProperties: inherited}},
				"own": {&pb.Assignment{MatchProperties: []byte(`{"map":"sea"}`)},
					&pb.Assignment{MatchProperties: []byte(`{"map":"sea"}`)}},
				"old": {&pb.Assignment{Properties: []byte(`{"map":"sea"}`)},
					&pb.Assignment{Properties: []byte(`{"map":"sea"}`)}},
				"private": {&pb.Assignment{Properties: []byte(`{"skin":"red"}`)},
					&pb.Assignment{Properties: []byte(`{"skin":"red"}`), MatchProperties: inherited}},
			} {
				generation, err := s.Generation(t.Context(), project, "g")
				if err != nil {
					t.Fatal(err)
				}
				c := fill(revision, &pb.Backfill{Id: "g", Generation: generation}, game("g", 1), ticket)
				p := c.Match.Proposal
				p.TicketProperties = nil
				switch ticket {
				case "old":
					p.AssignmentProperties = of.says.GetProperties()
				case "private":
					p.TicketProperties = map[string][]byte{ticket: of.says.GetProperties()}
				}
				p.MatchProperties = of.says.GetMatchProperties()
				if mustClaim(t, s, terms, c); c.Refusal != "" {
					t.Fatal(c.Refusal)
				}
				a := approve(t, s, "g", 11)
				if len(a.Assigned) != 1 {
					t.Fatalf("%s: assigned %v", ticket, idsOf(a.Assigned))
				}
				if got := assigned(t, s, ticket); !bytes.Equal(got.GetMatchProperties(), of.want.GetMatchProperties()) ||
					!bytes.Equal(got.GetProperties(), of.want.GetProperties()) {
					t.Errorf("%s: %s has %.80v, want %.80v", name, ticket, got, of.want)
				}
			}
		}
	})
}
