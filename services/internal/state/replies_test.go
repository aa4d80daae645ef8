package state_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// Of several scripts in a round trip, one reply is lost: what the others did is known, even when the context ends.
func TestLostReplyHidesNoOther(t *testing.T) {
	url, _ := limited(t, "0")
	s := openStore(t, state.Options{Server: state.Server{URL: url}})
	revision, terms := setUp(t, s)
	var claims []*state.Claim
	var begun []state.Beginning
	var endings []state.Ending
	for i := range 3 {
		match := fmt.Sprint("m", i)
		tickets := make([]string, 300) // more than half of a script's
		for j := range tickets {
			tickets[j] = fmt.Sprint(match, "-", j)
		}
		create(t, s, tickets...)
		c := claim(revision, match, tickets...)
		must(t, s.OpenTarget(t.Context(), project, c.Match))
		claims = append(claims, c)
		begun = append(begun, state.Beginning{Match: c.Match, Lease: state.MatchLease{Holder: "h", Hold: time.Minute,
			Search: time.Minute, Claim: time.Minute}})
		endings = append(endings, state.Ending{Match: c.Match, Tickets: tickets,
			Results: []*pb.Assignment{{Connection: "1.2.3.4:5"}},
			Outcome: state.Outcome{Holder: "h", Readable: time.Minute, Connection: "1.2.3.4:5"}})
	}
	mustClaim(t, s, terms, claims...)
	var lossy atomic.Bool
	s.LoseReplies(&lossy)
	lossy.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.OnTrips(func(int) { cancel() })
	leases, err := s.BeginAllocations(ctx, project, begun)
	if err == nil || len(leases) != 3 || leases[0].Status != state.MatchActive || leases[1].Status != "" ||
		leases[2].Status != state.MatchActive {
		t.Errorf("leases: %+v, %v", leases, err)
	}
	ended, err := s.EndMatches(ctx, project, endings)
	if err == nil || len(ended) != 3 || len(ended[0].Assigned) != 300 || ended[1].Status != "" ||
		len(ended[2].Assigned) != 300 {
		t.Errorf("ends: %+v, %v", ended, err)
	}
}
