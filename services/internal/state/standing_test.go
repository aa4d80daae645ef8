package state_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// trusting are settings that keep all that there is of a standing.
func trusting() *pb.StandingRules {
	return &pb.StandingRules{Games: true, Left: true, Recent: 3, Numbers: []*pb.StandingNumber{
		{Name: "mmr", Start: 7, Ticket: "mean"}, {Name: "trust", Start: 1, Ticket: "least"}}}
}

// keep stores the standing of a player, as the result of a match would.
func keep(t *testing.T, s *state.Store, player string, standing state.Standing) {
	t.Helper()
	_, done, err := s.SetStanding(t.Context(), project, player, trusting(), map[string]float64{"trust": 0})
	if err != nil || !done {
		t.Fatal(done, err)
	}
	revision, terms := setUp(t, s)
	id := "keeps" + strings.ReplaceAll(player, " ", "")
	create(t, s, id)
	mustClaim(t, s, terms, awaiting(revision, "m"+id, id))
	m, err := s.ReadResult(t.Context(), project, "m"+id, []string{player})
	must(t, err)
	done, err = s.PutResult(t.Context(), project, m, &pb.MatchResult{}, nil,
		[]state.Rated{{player, m.Ratings[player], state.FormatRated(nil, standing)}})
	if err != nil || !done {
		t.Fatal(done, err)
	}
}

// A ticket has its players' standing as soon as it is created. What a game service gave stays.
func TestTicketsHaveStanding(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		keep(t, s, "ada", state.Standing{Games: 12, Left: 2, Recent: []string{"bob", `c "\ y`, "di"},
			Numbers: map[string]float64{"trust": 0.25, "mmr": -1.5}})
		keep(t, s, "bob", state.Standing{Games: 3, Recent: []string{"eve", "di"}, Numbers: map[string]float64{"trust": 0.5}})
		made := func(id string, change func(*pb.Ticket), players ...string) *pb.Ticket {
			t.Helper()
			ticket := group(id, 1, players...)
			ticket.Owner, ticket.AttributeNames, ticket.AttributeValues = players[0], nil, nil
			if len(players) == 1 {
				ticket.Players = nil
			}
			change(ticket)
			must(t, second(s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: ticket,
				Settings: &pb.ProjectSettings{Standing: trusting()}})))
			got, err := s.Ticket(t.Context(), project, id)
			must(t, err)
			return got.Body
		}
		names := []string{"games", "left", "mmr", "trust"}
		got := made("t1", func(t *pb.Ticket) { t.Properties = map[string][]byte{"p": []byte("q")} }, "ada", "bob", "new")
		want := &pb.Ticket{Id: "t1", Owner: "ada", Created: got.GetCreated(), AttributeNames: names,
			AttributeValues: []float64{12, 2, (-1.5 + 7 + 7) / 3, 0.25},
			Properties:      map[string][]byte{"p": []byte("q"), "recent": []byte(`["c \"\\ y","di","eve"]`)},
			Players: []*pb.Player{{Id: "ada", AttributeNames: names, AttributeValues: []float64{12, 2, -1.5, 0.25}},
				{Id: "bob", AttributeNames: names, AttributeValues: []float64{3, 0, 7, 0.5}},
				{Id: "new", AttributeNames: names, AttributeValues: []float64{0, 0, 7, 1}}}}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		got = made("t2", func(t *pb.Ticket) {
			t.AttributeNames, t.AttributeValues = []string{"trust"}, []float64{0.75}
			t.Properties = map[string][]byte{"recent": []byte("[]")}
		}, "ada")
		want = &pb.Ticket{Id: "t2", Owner: "ada", Created: got.GetCreated(), AttributeNames: names,
			AttributeValues: []float64{12, 2, -1.5, 0.75}, Properties: map[string][]byte{"recent": []byte("[]")}}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	})
}

// The last opponents need no other part of a standing, whatever an id looks like.
func TestTicketsHaveOpponentsAlone(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		keep(t, s, "TEAM 7", state.Standing{Recent: []string{"bob"}})
		ticket := group("t1", 1, "TEAM 7")
		ticket.Owner, ticket.Players, ticket.AttributeNames, ticket.AttributeValues = "TEAM 7", nil, nil, nil
		must(t, second(s.Creator(nil).CreateAs(t.Context(), project,
			state.Creation{Ticket: ticket, Settings: &pb.ProjectSettings{Standing: &pb.StandingRules{Recent: 3}}})))
		got, err := s.Ticket(t.Context(), project, "t1")
		must(t, err)
		if recent := string(got.Body.GetProperties()["recent"]); recent != `["bob"]` {
			t.Error(recent)
		}
	})
}

// An erase takes a player out of the opponents of all others, however many there are, and nothing else.
func TestForgetOpponent(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		other := state.Standing{Games: 1, Recent: []string{"ada2", "ada", "a ada"}, Numbers: map[string]float64{"trust": 0}}
		for n := range 30 {
			keep(t, s, fmt.Sprint("p", n), other)
		}
		must(t, s.ForgetOpponent(t.Context(), project, "ada"))
		other.Recent = []string{"ada2", "a ada"}
		for n := range 30 {
			got, err := s.StandingOf(t.Context(), project, fmt.Sprint("p", n))
			must(t, err)
			if diff := cmp.Diff(other, got); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// The opponents of a player are the latest ones, each once, and have a bound in number and bytes.
func TestRecentIsBounded(t *testing.T) {
	s := state.Standing{Recent: []string{"ada", "bob"}}
	s.Meet([]string{"cy", "bob"}, 3)
	if diff := cmp.Diff([]string{"cy", "bob", "ada"}, s.Recent); diff != "" {
		t.Error(diff)
	}
	var many []string
	for n := range 16 {
		many = append(many, strings.Repeat(string(rune('a'+n)), 256))
	}
	if s.Meet(many, 16); len(s.Recent) != 7 {
		t.Errorf("%d long names are kept", len(s.Recent))
	}
}

// A standing is refused beyond the limit of players, and what was set is read again.
func TestStandingLimit(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		now := epoch0
		s := open(state.Options{Limits: state.Limits{Rated: 1}, Clock: func() time.Time { return now }})
		set := func(player string) error {
			_, done, err := s.SetStanding(t.Context(), project, player, trusting(), map[string]float64{"trust": 0.5})
			if err == nil && !done {
				t.Error("it changed meanwhile")
			}
			return err
		}
		must(t, set("ada"))
		kindOf(t, set("bob"), problem.Limited)
		must(t, set("ada"))
		// It goes with the ratings.
		now = now.Add(9_700 * time.Hour)
		_, _, err := s.SweepResults(t.Context(), project, 10)
		must(t, err)
		if had, err := s.ForgetRatings(t.Context(), project, "ada"); err != nil || had {
			t.Error(had, err)
		}
	})
}

// A leaver pauses, once, where the project wants it.
func TestLeaversPause(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 100})
		create(t, s, "tfalse", "ttrue")
		for _, leavers := range []bool{false, true} {
			settings := &pb.ProjectSettings{Acceptance: &pb.AcceptanceRules{FirstPause: 60_000, LongestPause: 600_000,
				Leavers: leavers}}
			must(t, s.PutSettings(t.Context(), project, settings, state.AnyRevision))
			revision, terms := setUp(t, s)
			id := fmt.Sprint("t", leavers)
			mustClaim(t, s, terms, awaiting(revision, "m"+id, id))
			player := "owner-of-" + id
			left := &pb.MatchResult{Teams: []*pb.ResultTeam{{Players: []*pb.ResultPlayer{{Id: player, Left: new(9.0)}}}}}
			for range 2 {
				m, err := s.ReadResult(t.Context(), project, "m"+id, nil)
				must(t, err)
				if done, err := s.PutResult(t.Context(), project, m, left, nil, nil); err != nil || !done {
					t.Fatal(done, err)
				}
			}
			pause, err := s.PauseOf(t.Context(), project, player)
			if want := map[bool]int{true: 1}[leavers]; err != nil || pause.Count != want {
				t.Errorf("with leavers %v: %+v, %v", leavers, pause, err)
			}
		}
	})
}
