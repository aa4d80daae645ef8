package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/state"
)

// Properties of all tickets of a match, and of one.
var (
	forAll = []byte(`{"all":"` + strings.Repeat("x", 60<<10) + `"}`)
	forOne = []byte(`{"one":"` + strings.Repeat("y", 100) + `"}`)
)

// withOutcome gives a claim large properties for all of its tickets, and small ones for its first.
func withOutcome(c *state.Claim, connection string) *state.Claim {
	p := c.Match.GetProposal()
	p.MatchProperties, p.TicketProperties = forAll, map[string][]byte{c.Tickets[0]: forOne}
	if c.Assignments != nil {
		c.Assignments = c.Assignments[:0]
		for _, id := range c.Tickets {
			c.Assignments = append(c.Assignments, assignment.Of(p, id, connection, ""))
		}
	}
	return c
}

// hasOutcome checks that tickets have the complete result of withOutcome, and that their rows do not.
func hasOutcome(t *testing.T, s *state.Store, connection string, ids ...string) {
	t.Helper()
	for i, id := range ids {
		got, err := s.Ticket(t.Context(), project, id)
		must(t, err)
		a, own := got.Assignment, ""
		if i == 0 {
			own = string(forOne)
		}
		if a.GetConnection() != connection || string(a.GetMatchProperties()) != string(forAll) ||
			string(a.GetProperties()) != own {
			t.Errorf("%s has the connection %q, %d bytes for all and %q", id, a.GetConnection(), len(a.GetMatchProperties()),
				a.GetProperties())
		}
		size, err := s.ResultSize(t.Context(), project, id)
		if must(t, err); size > 512 {
			t.Errorf("the result of %s takes %d bytes", id, size)
		}
	}
}

func manyIDs(prefix string, count int) []string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprint(prefix, i)
	}
	return ids
}

// A match of 50 tickets gets large properties for all in each of the four ways that there are.
func TestOutcomesAreStoredOnce(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = time.Minute
		direct1, hosted, waiting, proposed := manyIDs("d", 50), manyIDs("h", 50), manyIDs("w", 50), manyIDs("p", 50)
		create(t, s, slices.Concat(direct1, hosted, waiting, proposed)...)
		counted := func(outcomes int) {
			t.Helper()
			if used, want := large(t, s), int64(outcomes*len(forAll)); used < want || used > want+int64(outcomes)*16 {
				t.Errorf("%d bytes are counted, want %d outcomes of %d", used, outcomes, len(forAll))
			}
		}

		c := withOutcome(direct(revision, "direct", "1:1", direct1...), "1:1")
		mustClaim(t, s, terms, c)
		hasOutcome(t, s, "1:1", direct1...)
		counted(1)

		c = withOutcome(claim(revision, "hosted", hosted...), "")
		mustClaim(t, s, terms, c)
		counted(2)
		must(t, third(take(t.Context(), s, c.Match, epoch0, at(10))))
		results := map[string]*pb.Assignment{}
		for _, id := range hosted {
			results[id] = assignment.Of(c.Match.GetProposal(), id, "2:2", "")
		}
		_, assigned, err := s.Assign(t.Context(), project, c.Match, state.Outcome{Holder: "one", Readable: time.Minute,
			Connection: "2:2"}, results)
		if must(t, err); len(assigned) != len(hosted) {
			t.Fatalf("%d tickets are assigned", len(assigned))
		}
		hasOutcome(t, s, "2:2", hosted...)
		counted(2)

		c = withOutcome(direct(revision, "", "3:3", waiting...), "3:3")
		done, refused, _, err := s.AssignWaiting(t.Context(), project, c.Match.GetProposal(), waiting, c.Assignments,
			time.Minute)
		must(t, err)
		if len(done) != len(waiting) || string(done[1].Assignment.GetMatchProperties()) != string(forAll) {
			t.Fatalf("%d tickets are assigned, refused %q", len(done), refused)
		}
		hasOutcome(t, s, "3:3", waiting...)
		counted(3)

		createGame(t, s, game("g", 100))
		seen := game("g", 100)
		seen.Generation, err = s.Generation(t.Context(), project, "g")
		must(t, err)
		c = withOutcome(fill(revision, seen, game("g", 0), proposed...), "")
		if mustClaim(t, s, terms, c); c.Refusal != "" {
			t.Fatal(c.Refusal)
		}
		counted(4)
		// The server approves long after the proposal, so the results end later than was known then.
		if got := approve(t, s, "g", 50).Assigned; len(got) != len(proposed) {
			t.Fatalf("%d tickets are assigned", len(got))
		}
		hasOutcome(t, s, "g:1", proposed...)

		// All results but the last end's, then the outcomes, then the last's.
		for _, step := range []struct{ seconds, outcomes, results int }{{61, 4, 50}, {122, 1, 50}, {711, 0, 0}} {
			for more := true; more; {
				e, err := s.At(at(step.seconds)).Expire(t.Context(), project, time.Hour, time.Minute, 100)
				must(t, err)
				more = e.More
			}
			counted(step.outcomes)
			if step.results > 0 {
				hasOutcome(t, s.At(at(step.seconds)), "g:1", proposed...)
			}
		}
	})
}

// An outcome that comes to nothing is counted no more.
func TestOutcomesOfMatchesThatEndAreNotCounted(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		for name, end := range map[string]func(m *pb.Match, ids []string){
			"released": func(m *pb.Match, _ []string) {
				must(t, second(s.ReleaseMatch(t.Context(), project, m, "one", false, "allocation")))
			},
			"dropped": func(m *pb.Match, ids []string) {
				must(t, second(s.DeleteTicket(t.Context(), project, ids[0], "")))
				must(t, third(take(t.Context(), s, m, epoch0, at(10))))
			},
			"empty": func(m *pb.Match, ids []string) {
				must(t, third(take(t.Context(), s, m, epoch0, at(10))))
				results := map[string]*pb.Assignment{}
				for _, id := range ids {
					must(t, second(s.DeleteTicket(t.Context(), project, id, "")))
					results[id] = assignment.Of(m.GetProposal(), id, "1:1", "")
				}
				must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Holder: "one", Readable: time.Minute,
					Connection: "1:1"}, results)))
			},
		} {
			ids := manyIDs(name, 3)
			create(t, s, ids...)
			c := withOutcome(claim(revision, name, ids...), "")
			mustClaim(t, s, terms, c)
			if used := large(t, s); used < int64(len(forAll)) {
				t.Fatalf("%s: %d bytes are counted", name, used)
			}
			if end(c.Match, ids); large(t, s) != 0 {
				t.Errorf("%s: %d bytes are counted", name, large(t, s))
			}
		}
	})
}

// One proposal may have as many bytes as a part of an answer. All results together are limited.
func TestOutcomesAreBoundedInBytes(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{TicketMemory: 1, Backfills: 10}})
		revision, terms := setUp(t, s)
		properties, n := []byte(`{"x":"`+strings.Repeat("x", 400<<10)+`"}`), 0
		// proposal is a match of eight new tickets.
		proposal := func(of func(revision int64, match string, tickets ...string) *state.Claim) *state.Claim {
			t.Helper()
			n++
			ids := manyIDs(fmt.Sprint("t", n, "-"), 8)
			create(t, s, ids...)
			m := of(revision, fmt.Sprint("m", n), ids...)
			m.Match.Proposal.MatchProperties = properties
			for _, a := range m.Assignments {
				a.MatchProperties = properties
			}
			return m
		}
		atOnce := func(revision int64, match string, tickets ...string) *state.Claim {
			return direct(revision, match, "1:1", tickets...)
		}
		// Of one batch, two fit, the third does not, and a plain one does.
		batch := []*state.Claim{proposal(claim), proposal(atOnce), proposal(claim), proposal(claim)}
		batch[3].Match.Proposal.MatchProperties = nil
		mustClaim(t, s, terms, batch...)
		for i, want := range []string{"", "", "full", ""} {
			if got := batch[i].Refusal; got != want {
				t.Errorf("match %d is refused %q, want %q", i, got, want)
			}
		}
		opened := proposal(claim)
		opened.Match.Backfill = "b"
		opened.Match.Proposal.Filling = &pb.Filling{Contents: &pb.Backfill{}}
		if mustClaim(t, s, terms, opened); opened.Refusal != "full" {
			t.Errorf("a match with a backfill ticket is refused %q", opened.Refusal)
		}
		createGame(t, s, game("g", 100))
		seen, joining := game("g", 100), proposal(atOnce)
		var err error
		seen.Generation, err = s.Generation(t.Context(), project, "g")
		must(t, err)
		filling := fill(revision, seen, game("g", 0), joining.Tickets...)
		filling.Match.Proposal.MatchProperties = properties
		if mustClaim(t, s, terms, filling); filling.Refusal != "full" {
			t.Errorf("a proposal to a backfill ticket is refused %q", filling.Refusal)
		}
		assign := func() error {
			_, _, _, err := s.AssignWaiting(t.Context(), project, joining.Match.Proposal, joining.Tickets,
				joining.Assignments, time.Minute)
			return err
		}
		tooMuch(t, assign(), "ticket-memory")
		must(t, second(s.ReleaseMatch(t.Context(), project, batch[0].Match, "one", false, "allocation")))
		must(t, assign())
	})
}
