package director

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/state"
)

// settler turns proposals into matches. It evaluates proposals that came at about the same time, claims the tickets of
// the selected ones, and sends their matches on.
type settler struct {
	scope
	outbox   *outbox
	reporter *reporter
	pending  pending
	// evaluation has proposals that are to be claimed; nil if there are none. The next one starts when its proposals are
	// settled: then it is known which tickets are left.
	evaluation *evaluation
	matched    matched
	// crossing is how many tickets waited in several queues, as the last run saw them.
	crossing int64
	// claimed is how many matches were claimed since there were none, at the most; unsure if one may come later.
	claimed int
	unsure  bool
	// refused is when claims were last refused, by reason.
	refused map[string]time.Time
}

// add adds proposals of a segment's run.
func (s *settler) add(now time.Time, from *segment, proposals []*proposal) {
	if len(proposals) == 0 {
		return
	}
	for _, p := range proposals {
		p.Origin.round = s.matched.round
	}
	s.pending.add(now, now.Sub(from.Started()), from.config.GetId(), proposals)
	from.Propose(len(proposals))
}

// since is when the first proposal came that can be evaluated now; zero if there is none.
func (s *settler) since() time.Time {
	if s.claiming() {
		return time.Time{}
	}
	return s.pending.since
}

// evaluate evaluates pending proposals.
func (s *settler) evaluate(ctx context.Context, now time.Time) {
	began, since := time.Now(), s.pending.since
	e := newEvaluation(s.pending.take(evaluateStep), &s.matched)
	s.observed.RecordEvaluation(ctx, now.Sub(since), began, records(e.candidates), records(e.selected))
	s.evaluation = e
}

// claiming reports whether there is something to claim.
func (s *settler) claiming() bool { return s.evaluation != nil }

// claim claims the tickets of some selected proposals, and returns the feed's position after that. Errors:
// state.ErrLeaseLost when another director leads the project.
func (s *settler) claim(ctx context.Context) (position uint64, err error) {
	e := s.evaluation
	if e == nil {
		return 0, nil
	}
	if proposals := e.next(); len(proposals) > 0 {
		var claims []*state.Claim
		claims, position, err = s.claimAll(ctx, proposals)
		if !s.observed.Check(ctx, "claiming matches", err) {
			// Claims that succeeded are in the outbox, or were assigned. Functions propose the others again.
			s.observed.CountUnclaimed(ctx, records(e.unclaimed()))
			s.end(ctx, nil)
			return position, err
		}
		e.claims = append(e.claims, claims...)
		s.handOn(ctx, claims)
		s.restIfRefused(ctx, proposals, claims)
	}
	if len(e.claims) == len(e.selected) {
		s.end(ctx, e.retries())
	}
	return position, nil
}

// end ends the evaluation. Its proposals are settled, except for those that are evaluated again.
func (s *settler) end(ctx context.Context, again []*proposal) {
	e := s.evaluation
	if len(e.candidates) > len(e.selected) {
		s.observed.CountOutbid(ctx, records(e.candidates), records(e.selected), records(again))
		s.touchLosers()
	}
	for _, p := range again {
		p.Origin.Propose(1)
		s.memory.Give(p.Config, -p.Origin.size)
	}
	if s.pending.since.IsZero() {
		s.matched = matched{round: s.matched.round}
	} else {
		for i, c := range e.claims {
			if c.Refusal == "" {
				s.matched.add(e.selected[i].Tickets)
			}
		}
	}
	s.matched.round++
	s.evaluation = nil
	if len(again) > 0 {
		s.evaluation = newEvaluation(again, &s.matched)
	}
	for _, p := range e.candidates {
		s.settle(p)
	}
}

// touchLosers lets the segments run again whose proposals lost tickets to a match: nothing else may happen for those
// that are left. Where nothing was matched, they would propose the same again.
func (s *settler) touchLosers() {
	e, selected := s.evaluation, map[*proposal]bool{}
	matched := slices.ContainsFunc(e.claims, func(c *state.Claim) bool { return c.Refusal == "" })
	for _, p := range e.selected {
		selected[p] = true
	}
	for _, p := range e.candidates {
		if !selected[p] && (matched || s.matched.has(p)) {
			p.Origin.Touch()
		}
	}
}

// settle notes that a proposal is done.
func (s *settler) settle(p *proposal) {
	s.memory.Give(p.Config, p.Origin.size)
	p.Origin.Settle(1)
	p.Origin.closeIfIdle()
}

// stop gives up all proposals that are not settled.
func (s *settler) stop() {
	unsettled := s.pending.all()
	if s.evaluation != nil {
		unsettled = append(unsettled, s.evaluation.candidates...)
	}
	for _, p := range unsettled {
		p.Origin.observed.EndCycle()
	}
}

// claimAll claims the tickets of proposals, each one's or none of them.
func (s *settler) claimAll(ctx context.Context, proposals []*proposal) ([]*state.Claim, uint64, error) {
	now, began := s.Store.Now(), time.Now()
	claims := make([]*state.Claim, len(proposals))
	for i, p := range proposals {
		claims[i] = newClaim(p, now)
		p.Origin.Account().Charge(schedule.ClaimCost)
	}
	s.observed.RecordCost(ctx, schedule.Cost{Director: schedule.ClaimCost * time.Duration(len(proposals))})
	bySegment := func(yield func(*observe.Segment, *state.Claim) bool) {
		for i, c := range claims {
			if !yield(proposals[i].Origin.observed, c) {
				return
			}
		}
	}
	var position uint64
	most := s.Settings.Matches
	if s.claimed += len(claims); s.claimed <= most {
		most = 0 // they are not counted, since there is room for all of them
	}
	err := s.observed.RecordClaims(ctx, began, now, bySegment, func() (err error) {
		position, err = s.Store.Claim(ctx, s.project, state.ClaimOptions{
			Epoch: s.epoch, Claim: s.Settings.Claim, Readable: s.Readable, Approval: s.Settings.Approval,
			Matches: most,
		}, claims)
		return err
	})
	s.unsure = s.unsure || err != nil
	for i, c := range claims {
		if err == nil && c.Refusal == "" {
			proposals[i].Origin.Account().Found(now)
			s.reporter.add(now, c)
		}
	}
	return claims, position, err
}

// handOn sends claimed matches to the allocators, and notifies requests that wait for tickets that were assigned at
// once.
func (s *settler) handOn(ctx context.Context, claims []*state.Claim) {
	var matches []*pb.Match
	var assigned []string
	var results []*pb.Assignment
	for _, c := range claims {
		switch {
		case c.Refusal == "config":
			s.inbox.poke(&pb.Poke{Configs: true})
		case refusals[c.Refusal].err != nil: // see restIfRefused
		case c.Refusal != "":
			// A ticket was deleted, another match had it first, or the backfill ticket changed: the others are proposed again.
			s.inbox.poke(&pb.Poke{})
		case c.Match.GetAcceptance() > 0:
			// Its players are asked first. Requests that wait for their tickets learn of it.
			assigned, results = append(assigned, c.Tickets...), append(results, make([]*pb.Assignment, len(c.Tickets))...)
		case c.Match.GetPlace() == state.PlaceHosting:
			matches = append(matches, c.Match)
		case c.Assignments != nil:
			assigned, results = append(assigned, c.Tickets...), append(results, c.Assignments...)
		}
	}
	s.outbox.start(ctx, matches)
	s.Bus.NotifyResults(ctx, s.project, assigned, results)
}

// refusals are why claims are refused for now, by the reason of state.Claim.Refusal: doing is what fails then, err is
// why, and what to do about it.
var refusals = map[string]struct {
	doing string
	err   error
}{
	"full": {"claiming all matches", errors.New("as many matches of the project wait for servers as may " +
		"(--max-matches), or as many games are being filled (--max-backfills, --max-backfill-memory), or too many " +
		"tickets go to one: the tickets wait until there is room")},
	"hosting": {"claiming matches for all servers", errors.New("hosting has no servers for more matches, or allocators " +
		"do not take them: the tickets wait until it has")},
	"target": {"claiming matches for new targets", errors.New("hosting has given no server yet for the profile, fleet " +
		"or region of a match, and has none for others like it: the tickets wait; see that functions name none that " +
		"does not exist")},
	"players": {"claiming matches of different players", errors.New("a match has a player twice, or sends one to a " +
		"running game that has the player: its function does not check the game's roster")},
}

// calm is how long no claim was refused for a reason before the log says that this works again. Other matches are
// claimed meanwhile.
const calm = 10 * time.Second

// restIfRefused lets the segments whose claims were refused for now try again a little later, and logs why, once.
func (s *settler) restIfRefused(ctx context.Context, proposals []*proposal, claims []*state.Claim) {
	now, claimed, refused := s.Now(), false, map[string]bool{}
	for i, c := range claims {
		if _, waits := refusals[c.Refusal]; waits {
			proposals[i].Origin.Rest(now)
			refused[c.Refusal] = true
		}
		claimed = claimed || c.Refusal == "" && c.Assignments == nil
	}
	for reason, r := range refusals {
		switch {
		case refused[reason]:
			s.refused[reason] = now
			s.observed.Check(ctx, r.doing, r.err)
		case claimed && now.Sub(s.refused[reason]) >= calm:
			s.observed.Check(ctx, r.doing, nil)
		}
	}
}

// newClaim returns the claim of a proposal.
func newClaim(p *proposal, now time.Time) *state.Claim {
	config := p.Origin.config
	c := &state.Claim{
		Match: &pb.Match{
			Id:       state.NewID(now),
			Config:   config.GetId(),
			Revision: config.GetRevision(),
			Created:  now.UnixMilli(),
			Proposal: p.Proposal,
			Hosting:  config.GetHosting(),
			Seats:    config.GetSeats(),
		},
		Tickets: p.Tickets, Function: config.GetFunction(), Upload: p.Origin.upload, Queue: config.GetQueue(),
		Canary: p.Origin.canary,
	}
	attachMeasures(c, config.GetReport())
	f := p.GetFilling()
	switch {
	case p.GetError() != "":
		p.Filling = nil // an error concerns the tickets alone
	case f.GetBackfill() != "":
		c.Match.Place = state.PlaceGame + f.GetBackfill()
	case config.GetHosting() == nil:
		p.Filling = nil // a match without a server has no backfill ticket
	default:
		c.Match.Place = state.PlaceHosting
		if f != nil {
			c.Match.Backfill = state.NewID(now)
			f.GetContents().Queue = new(config.GetQueue())
		}
	}
	if p.GetError() == "" {
		c.Match.Acceptance = config.GetAcceptance()
		if config.GetResultTime() > 0 {
			c.Match.Awaited = &pb.Awaited{Time: config.GetResultTime(), Match: c.Match.GetId(), Config: config.GetId(),
				Queue: config.GetQueue(), Region: p.GetHosting().GetRegion(), Seats: config.GetSeats(),
				Revision: c.Match.GetRevision(), Function: c.Function, Upload: c.Upload, Canary: c.Canary,
				Party: int32(largestParty(c))}
		}
	}
	if c.Match.GetPlace() == "" && c.Match.GetAcceptance() == 0 {
		c.Assignments = assignments(c.Match, p.Tickets)
	}
	return c
}

// assignments are the results of a match's tickets, one for each, before a server is known.
func assignments(m *pb.Match, tickets []string) []*pb.Assignment {
	p := m.GetProposal()
	results := assignment.All(m, tickets, p.GetConnection(), p.GetError())
	all := make([]*pb.Assignment, len(tickets))
	for i := range all {
		all[i] = results[min(i, len(results)-1)]
	}
	return all
}

// records yields the record of each proposal's segment.
func records(proposals []*proposal) iter.Seq[*observe.Segment] {
	return func(yield func(*observe.Segment) bool) {
		for _, p := range proposals {
			if !yield(p.Origin.observed) {
				return
			}
		}
	}
}
