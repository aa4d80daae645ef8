package state_test

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/state"
)

// awaiting is a claim whose match is to have a result, and is assigned at once.
func awaiting(revision int64, match string, tickets ...string) *state.Claim {
	c := direct(revision, match, "host:1", tickets...)
	c.Match.Proposal.Connection, c.Match.Proposal.Teams = "host:1", nil
	for i, id := range tickets {
		c.Match.Proposal.Teams = append(c.Match.Proposal.Teams, &pb.Team{Name: fmt.Sprint("team", i), Tickets: []string{id}})
	}
	c.Match.Awaited = &pb.Awaited{Time: time.Hour.Milliseconds(), Match: match, Config: "c", Queue: "ranked"}
	return c
}

// skill is a rating whose deviation grows, and which begins with an attribute.
func skill() *pb.RatingRule {
	return &pb.RatingRule{Name: "skill", Model: rating.PlackettLuce, Mean: 25, Deviation: 8, Beta: 4, Tau: 0.1, Growth: 1,
		Start: "mmr", Season: "s2", Keep: 0.5}
}

// A result counts once, however many report it at the same time. Its players play no match any more.
// Promise 12.
func TestResultCountsOnce(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		revision, terms := setUp(t, s)
		creator := s.Creator(nil)
		must(t, creator.Create(t.Context(), project, group("t1", 1, "ada", "bea")))
		create(t, s, "t2")
		mustClaim(t, s, terms, awaiting(revision, "m", "t1", "t2"))
		m, err := s.RunningMatch(t.Context(), project, "bea")
		must(t, err)
		want := []state.PlayedTicket{{Team: "team0", Ticket: "t1", Players: []string{"ada", "bea"}},
			{Team: "team1", Ticket: "t2", Players: []string{"owner-of-t2"}}}
		if diff := cmp.Diff(want, m.Tickets); diff != "" || m.GetConnection() != "host:1" || m.GetQueue() != "ranked" {
			t.Fatalf("the match is %v:\n%s", m.Awaited, diff)
		}
		result := &pb.MatchResult{First: 1, Time: 1, Teams: []*pb.ResultTeam{{Name: "team0", Rank: 1}}}
		var count atomic.Int32
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				done, err := s.PutResult(t.Context(), project, &state.ResultBasis{Played: m}, result, nil,
					[]state.Rated{{"ada", "", "skill - 26 7 0 1 5"}})
				if err != nil {
					t.Error(err)
				} else if done {
					count.Add(1)
				}
			})
		}
		all.Wait()
		if count.Load() != 1 {
			t.Errorf("the result counts %d times", count.Load())
		}
		if m, err := s.RunningMatch(t.Context(), project, "bea"); err != nil || m != nil {
			t.Errorf("a player whose match is over plays %v, %v", m, err)
		}
		read, err := s.ReadResult(t.Context(), project, "m", []string{"ada", "bea"})
		must(t, err)
		if diff := cmp.Diff(result, read.Result, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"ada": "skill - 26 7 0 1 5", "bea": ""}, read.Ratings); diff != "" {
			t.Error(diff)
		}
		// A rating that changed meanwhile.
		done, err := s.PutResult(t.Context(), project, read, result, nil, []state.Rated{{"ada", "", "skill - 1 1 0 1 5"}})
		if err != nil || done {
			t.Errorf("a rating was overwritten: %v", err)
		}
		// A correction that came while a player was taken out of it.
		eraser, corrected := open(state.Options{}), proto.CloneOf(result)
		corrected.Corrections = 1
		var once sync.Once
		eraser.OnTrips(func(scripts int) {
			if scripts > 0 {
				once.Do(func() {
					if done, err := s.PutResult(t.Context(), project, read, corrected, nil, nil); err != nil || !done {
						t.Error(done, err)
					}
				})
			}
		})
		if done, err := eraser.ForgetPlayed(t.Context(), project, "m", "ada"); err != nil || done {
			t.Errorf("a player was taken out of a result that was replaced: %v", err)
		}
		read, err = s.ReadResult(t.Context(), project, "m", []string{"ada", "bea"})
		must(t, err)
		if read.Result.GetCorrections() != 1 {
			t.Errorf("the result is %v", read.Result)
		}
		// A player that was taken out of it while a result was computed.
		if done, err := s.ForgetPlayed(t.Context(), project, "m", "ada"); err != nil || !done {
			t.Fatal(done, err)
		}
		done, err = s.PutResult(t.Context(), project, read, result, nil, nil)
		if err != nil || done {
			t.Errorf("a result brought an erased player back: %v", err)
		}
		_, err = s.Played(t.Context(), project, "other")
		kindOf(t, err, problem.NotFound)
	})
}

// A ticket has its players' ratings as soon as it is created: what is stored, after the time since then and in the
// season; or what they begin with, which is stored.
func TestTicketsHaveRatings(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		now := epoch0
		s := open(state.Options{Clock: func() time.Time { return now }})
		revision, terms := setUp(t, s)
		rules := []*pb.RatingRule{skill(), {Name: "z", Model: rating.Glicko2, Mean: 1500, Deviation: 350, Tau: 0.5,
			Volatility: 0.06}}
		create(t, s, "t0")
		mustClaim(t, s, terms, awaiting(revision, "m", "t0"))
		m, err := s.Played(t.Context(), project, "m")
		must(t, err)
		stored := []state.PlayerRating{
			{Name: "z", Rating: rating.Rating{Mean: -1234.5678, Deviation: 60.25, Volatility: 0.059}, Matches: 3, Changed: now},
			{Name: "skill", Season: "s1", Rating: rating.Rating{Mean: 31.3, Deviation: 3}, Matches: 2, Changed: now}}
		done, err := s.PutResult(t.Context(), project, &state.ResultBasis{Played: m}, &pb.MatchResult{}, nil,
			[]state.Rated{{"ada", "", state.FormatRatings(stored)}})
		if err != nil || !done {
			t.Fatal(done, err)
		}
		now = now.Add(10 * 24 * time.Hour)
		ticket := group("t1", 1, "ada", "bob")
		ticket.AttributeNames, ticket.AttributeValues = []string{"a", "mmr", "zz"}, []float64{1, 40, 2}
		ticket.Players[1].AttributeNames, ticket.Players[1].AttributeValues = []string{"mmr", "z"}, []float64{50, 7}
		ticket.Properties = map[string][]byte{"p": []byte("q")}
		_, err = s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: ticket,
			Settings: &pb.ProjectSettings{Ratings: rules}})
		must(t, err)
		got, err := s.Ticket(t.Context(), project, "t1")
		must(t, err)
		ada := map[string]state.PlayerRating{}
		for i, rule := range rules {
			model, err := rating.New(state.RatingModel(rule))
			must(t, err)
			ada[rule.GetName()] = state.Current(rule, model, stored[1-i], now)
		}
		skill, z := ada["skill"].Rating, ada["z"].Rating
		want := &pb.Ticket{Id: "t1", Owner: ticket.GetOwner(), Created: ticket.GetCreated(),
			AttributeNames: []string{"a", "mmr", "skill", "skill.sigma", "z", "z.sigma", "zz"},
			AttributeValues: []float64{1, 40, (skill.Mean + 50) / 2, math.Sqrt((skill.Deviation*skill.Deviation + 64) / 2),
				(z.Mean + 1500) / 2, math.Sqrt((z.Deviation*z.Deviation + 350*350) / 2), 2},
			Properties: ticket.GetProperties(),
			Players: []*pb.Player{
				{Id: "ada", AttributeNames: []string{"skill", "skill.sigma", "z", "z.sigma"},
					AttributeValues: []float64{skill.Mean, skill.Deviation, z.Mean, z.Deviation}},
				{Id: "bob", AttributeNames: []string{"mmr", "skill", "skill.sigma", "z", "z.sigma"},
					AttributeValues: []float64{50, 50, 8, 7, 350}}}}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) })
		if diff := cmp.Diff(want, got.Body, protocmp.Transform(), near); diff != "" {
			t.Error(diff)
		}
		begun, err := s.RatingsOf(t.Context(), project, "bob")
		must(t, err)
		if len(begun) != 1 || begun[0].Name != "skill" || begun[0].Mean != 50 || begun[0].Season != "s2" {
			t.Errorf("what a player begins with is %v", begun)
		}
		if had, err := s.ForgetRatings(t.Context(), project, "ada"); err != nil || !had {
			t.Error(had, err)
		}
		if left, err := s.RatingsOf(t.Context(), project, "ada"); err != nil || left != nil {
			t.Error(left, err)
		}
	})
}

// A rating that does not change with the time is found wherever it is stored, and no other: a ticket has it, or what
// players begin with.
func TestTicketsHaveTheirRating(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		for i, c := range []struct {
			name, season, stored string
			keep, mean, sigma    float64
		}{
			{"a.b", "", "a.b - 30.5 2.25 0 1 5", 1, 30.5, 2.25},
			{"a.b", "", "a.b s1 30.5 2.25 0 1 5", 1, 30.5, 2.25},
			{"a.b", "", "axb - 30.5 2.25 0 1 5", 1, 25, 8},
			{"b", "", "a.b - 30.5 2.25 0 1 5\n!b 3", 1, 25, 8},
			{"b", "s-1", "a.b - 30.5 2.25 0 1 5\nb s-1 1.5e-3 1.25 0 1 5\n!b 3", 1, 0.0015, 1.25},
			{"b", "s-1", "b s-1 -4 1.25 0 1 5\nc s-1 7 8 0 1 5", 1, -4, 1.25},
			{"b", "s-1", "b sx1 27 4 0 1 5", 0.5, 26, 6},
			{"b", "s-1", "", 1, 25, 8},
		} {
			player, id := fmt.Sprint("p", i), fmt.Sprint("t", i)
			must(t, s.Rate(t.Context(), project, player, c.stored))
			one := &pb.Ticket{Id: id, Owner: player, AttributeNames: []string{"zz"}, AttributeValues: []float64{3}}
			_, err := s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: one,
				Settings: &pb.ProjectSettings{Ratings: []*pb.RatingRule{
					{Name: c.name, Season: c.season, Keep: c.keep, Mean: 25, Deviation: 8, Model: rating.TrueSkill}}}})
			must(t, err)
			got, err := s.Ticket(t.Context(), project, id)
			must(t, err)
			if diff := cmp.Diff([]float64{c.mean, c.sigma, 3}, got.Body.GetAttributeValues()); diff != "" {
				t.Errorf("%+v: %s", c, diff)
			}
		}
	})
}

// A new search of a player in a match is refused, or told, as the project wants it.
func TestSearchWhileAMatchRuns(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "t0")
		mustClaim(t, s, terms, awaiting(revision, "m", "t0"))
		creator := s.Creator(nil)
		again := func(id string) *pb.Ticket {
			one := ticket(id, 1)
			one.Owner = "owner-of-t0"
			return one
		}
		when := func(running string) *pb.ProjectSettings {
			return &pb.ProjectSettings{Tickets: &pb.TicketRules{Running: running}}
		}
		_, err := creator.CreateAs(t.Context(), project, state.Creation{Ticket: again("t1"), Settings: when("refuse")})
		kindOf(t, err, problem.Conflict)
		told, err := creator.CreateAs(t.Context(), project, state.Creation{Ticket: again("t2"), Settings: when("tell")})
		if err != nil || told.Running != "m" || told.ID != "t2" {
			t.Errorf("%+v, %v", told, err)
		}
	})
}

// A result that does not come in time is told once, may come later, and is forgotten at last.
func TestMissingResults(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		now := epoch0
		s := open(state.Options{History: 1000, Clock: func() time.Time { return now }})
		revision, terms := setUp(t, s)
		create(t, s, "t0")
		mustClaim(t, s, terms, awaiting(revision, "m", "t0"))
		for i, step := range []struct {
			after   time.Duration
			missing int
			known   bool
		}{{time.Minute, 0, true}, {time.Hour, 1, true}, {time.Hour, 0, true}, {state.ResultMemory, 0, false}} {
			now = now.Add(step.after)
			missing, _, err := s.SweepResults(t.Context(), project, 10)
			_, failed := s.Played(t.Context(), project, "m")
			if err != nil || missing != step.missing || (failed == nil) != step.known {
				t.Errorf("step %d: %d are missing, %v, %v", i, missing, err, failed)
			}
		}
		if m, err := s.RunningMatch(t.Context(), project, "owner-of-t0"); err != nil || m != nil {
			t.Errorf("a player plays %v, %v", m, err)
		}
	})
}
