package state_test

import (
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// opening is a claim of a match whose server gets a backfill ticket.
func opening(revision int64, match string, tickets ...string) *state.Claim {
	c := claim(revision, match, tickets...)
	c.Match.Backfill = "game-of-" + match
	c.Match.Proposal.Filling = &pb.Filling{Contents: new(pb.Backfill)}
	return c
}

func TestClaimsStopAtTheMostMatches(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Backfills: 1}})
		revision, terms := setUp(t, s)
		create(t, s, "t0", "t1", "t2", "t3", "t4", "t5", "t6")
		terms.Matches = 3
		claims := []*state.Claim{
			claim(revision, "m0", "t0"), claim(revision, "m1", "t1"), opening(revision, "m2", "t2"),
			// The project may have one backfill ticket, and three matches.
			opening(revision, "m3", "t3"),
		}
		mustClaim(t, s, terms, claims...)
		more := []*state.Claim{
			claim(revision, "m4", "t4"), direct(revision, "m5", "here", "t5"), claim(revision, "m6", "t6"),
		}
		mustClaim(t, s, terms, more...)
		for i, want := range []string{"", "", "", "full", "full", "", "full"} {
			if c := append(claims, more...)[i]; c.Refusal != want {
				t.Errorf("the claim of %s: %q, want %q", c.Match.GetId(), c.Refusal, want)
			}
		}
		// Tickets whose claims were refused wait on, and are claimed when there is room.
		terms.Matches = 4
		again := claim(revision, "m7", "t4")
		if mustClaim(t, s, terms, again); again.Refusal != "" {
			t.Errorf("with room for one more: %q", again.Refusal)
		}
		terms.Matches = 0
		for _, test := range []struct {
			claim *state.Claim
			want  string
		}{{claim(revision, "m8", "t6"), ""}, {opening(revision, "m9", "t3"), "full"}} {
			if mustClaim(t, s, terms, test.claim); test.claim.Refusal != test.want {
				t.Errorf("without a limit of matches: %q, want %q", test.claim.Refusal, test.want)
			}
		}
	})
}
