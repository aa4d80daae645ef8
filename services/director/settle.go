package director

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/assignment"
	"matchmaker.dev/services/internal/state"
)

// claimStep is how many matches are claimed at a time: the first need not wait for the last, nor other configs for the
// matches of one.
const claimStep = 1024

// settler turns proposals into matches. It evaluates proposals that came at about the same time, claims the tickets of
// those that are selected, and hands their matches on.
type settler struct {
	scope
	outbox *outbox

	// pending are proposals that wait for an evaluation, since is when the first of them came. It is zero if none waits.
	pending []*proposal
	since   time.Time
	// evaluations have proposals that are to be claimed, the first evaluation first.
	evaluations []*evaluation
}

// add adds proposals of a segment's run.
func (s *settler) add(now time.Time, from *segment, proposals []*pb.Proposal) {
	if len(proposals) == 0 {
		return
	}
	if len(s.pending) == 0 {
		s.since = now
	}
	added := make([]proposal, len(proposals))
	for i, p := range proposals {
		added[i] = proposal{
			Proposal: p, Tickets: state.TicketsOf(p), Config: from.config.GetId(),
			First: s.Settings.BackfillFirst && p.GetFilling().GetBackfill() != "", Origin: from,
		}
		s.pending = append(s.pending, &added[i])
	}
	from.Propose(len(added))
}

// evaluate evaluates the pending proposals.
func (s *settler) evaluate(ctx context.Context, now time.Time) {
	began := time.Now()
	e := newEvaluation(s.pending)
	s.observed.RecordEvaluation(ctx, now.Sub(s.since), began, records(e.candidates), records(e.selected))
	s.evaluations = append(s.evaluations, e)
	s.pending, s.since = nil, time.Time{}
}

// claiming tells whether there is something to claim.
func (s *settler) claiming() bool { return len(s.evaluations) > 0 }

// claim claims the tickets of some selected proposals, and returns the position of the feed behind that. Errors:
// state.ErrLeaseLost when another director leads the project.
func (s *settler) claim(ctx context.Context) (position uint64, err error) {
	if !s.claiming() {
		return 0, nil
	}
	e := s.evaluations[0]
	if proposals := e.unclaimed(claimStep); len(proposals) > 0 {
		var claims []*state.Claim
		claims, position, err = s.claimAll(ctx, proposals)
		if !s.observed.Check(ctx, "claiming matches", err) {
			// What was claimed all the same is in the outbox, or was assigned. The rest is proposed again.
			s.observed.CountUnclaimed(ctx, records(e.unclaimed(len(e.selected))))
			s.end(ctx, e, nil)
			return position, err
		}
		e.claims = append(e.claims, claims...)
		s.handOn(ctx, claims)
	}
	if len(e.claims) == len(e.selected) {
		s.end(ctx, e, e.retries())
	}
	return position, nil
}

// end ends the first evaluation. Its proposals are settled, except for those that are evaluated again.
func (s *settler) end(ctx context.Context, e *evaluation, again []*proposal) {
	if len(e.candidates) > len(e.selected) {
		s.observed.CountOutbid(ctx, records(e.candidates), records(e.selected), records(again))
	}
	for _, p := range again {
		p.Origin.Propose(1)
	}
	if len(again) > 0 {
		s.evaluations[0] = newEvaluation(again)
	} else {
		s.evaluations = s.evaluations[1:]
	}
	for _, p := range e.candidates {
		p.Origin.Settle(1)
		p.Origin.closeIfIdle()
	}
}

// stop gives up all proposals that are not settled.
func (s *settler) stop() {
	unsettled := s.pending
	for _, e := range s.evaluations {
		unsettled = append(unsettled, e.candidates...)
	}
	for _, p := range unsettled {
		p.Origin.observed.EndCycle()
	}
}

// claimAll claims the tickets of proposals, each one's or none of them.
func (s *settler) claimAll(ctx context.Context, proposals []*proposal) ([]*state.Claim, uint64, error) {
	now, began := s.Now(), time.Now()
	claims := make([]*state.Claim, len(proposals))
	for i, p := range proposals {
		claims[i] = newClaim(p, now)
	}
	bySegment := func(yield func(*observe.Segment, *state.Claim) bool) {
		for i, c := range claims {
			if !yield(proposals[i].Origin.observed, c) {
				return
			}
		}
	}
	var position uint64
	err := s.observed.RecordClaims(ctx, began, now, bySegment, func() (err error) {
		position, err = s.Store.Claim(ctx, s.project, state.ClaimOptions{
			Epoch: s.epoch, Now: now, Deadline: now.Add(s.Settings.Claim), Expiry: now.Add(s.Readable),
			ApprovalDeadline: now.Add(s.Settings.Approval),
		}, claims)
		return err
	})
	return claims, position, err
}

// handOn sends claimed matches to the allocators, and notifies those who wait for tickets that were assigned at once.
func (s *settler) handOn(ctx context.Context, claims []*state.Claim) {
	matches := map[string][]string{} // by the span of their claim
	var assigned []string
	for _, c := range claims {
		switch {
		case c.Refusal == "config":
			s.inbox.poke(&pb.Poke{Configs: true})
		case c.Refusal != "":
			// A ticket was deleted, another match had it first, or the backfill ticket changed: the others are proposed again.
			s.inbox.poke(&pb.Poke{})
		case c.Match.GetProposal().GetFilling().GetBackfill() != "":
			// Its server assigns the tickets when it approves. Until then other tickets may join as well.
		case c.Assignments == nil:
			span := string(c.Match.GetTrace())
			matches[span] = append(matches[span], c.Match.GetId())
		default:
			assigned = append(assigned, c.Tickets...)
		}
	}
	for span, ids := range matches {
		s.outbox.start(ctx, []byte(span), ids)
	}
	s.Bus.NotifyAssigned(ctx, s.project, assigned)
}

// newClaim returns the claim of a proposal.
func newClaim(p *proposal, now time.Time) *state.Claim {
	config := p.Origin.config
	c := &state.Claim{
		Match: &pb.Match{
			Id:       uuid.Must(uuid.NewV7()).String(),
			Config:   config.GetId(),
			Revision: config.GetRevision(),
			Created:  now.UnixMilli(),
			Proposal: p.Proposal,
			Hosting:  config.GetHosting(),
		},
		Tickets: p.Tickets,
	}
	hosted := config.GetHosting() != nil && p.GetError() == ""
	switch f := p.GetFilling(); {
	case f == nil:
	case f.GetBackfill() != "" && p.GetError() == "":
		hosted = false // its server runs already
	case hosted:
		c.Match.Backfill = uuid.Must(uuid.NewV7()).String()
	default:
		// An error concerns the tickets alone. A match without a server has no backfill ticket.
		p.Filling = nil
	}
	if !hosted {
		c.Assignments = make([]*pb.Assignment, len(p.Tickets))
		for i, id := range p.Tickets {
			if i > 0 && len(p.GetTicketProperties()) == 0 {
				c.Assignments[i] = c.Assignments[0] // the same for all
				continue
			}
			c.Assignments[i] = assignment.Of(p.Proposal, id, p.GetConnection(), p.GetError())
		}
	}
	return c
}

// records are those of the segments that proposals come from, one for each proposal.
func records(proposals []*proposal) iter.Seq[*observe.Segment] {
	return func(yield func(*observe.Segment) bool) {
		for _, p := range proposals {
			if !yield(p.Origin.observed) {
				return
			}
		}
	}
}
