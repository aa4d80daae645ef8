package director

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/contest"
	"matchmaker.dev/services/internal/assignment"
	"matchmaker.dev/services/internal/state"
)

// ripe tells whether the proposals at hand can be settled: they have waited for the
// window, or no run that started within it may still add to them.
func (l *leader) ripe(now time.Time) bool {
	if len(l.pending) == 0 {
		return false
	}
	if !now.Before(l.since.Add(l.Times.Window)) {
		return true
	}
	for c := range l.all() {
		if c.flight != nil && now.Before(c.flight.started.Add(l.Times.Window)) {
			return false
		}
	}
	return true
}

// claimStep is how many matches are claimed before they are handed on: the first need not wait
// for the last, and Redis serves others in between.
const claimStep = 1024

// settle evaluates the proposals at hand, claims the winners' tickets and hands the matches
// on. It is false when the lease has passed to another director.
func (l *leader) settle(ctx context.Context) bool {
	proposals := l.pending
	l.pending = nil
	for _, p := range proposals {
		p.Origin.unsettled--
	}
	for winners := range slices.Chunk(contest.Winners(proposals), claimStep) {
		if err := l.claim(ctx, winners); err != nil {
			if errors.Is(err, state.ErrStale) {
				l.log.InfoContext(ctx, "another director leads the project now")
				return false
			}
			// What was claimed all the same is found in the outbox, or was assigned. The rest is proposed again.
			if ctx.Err() == nil {
				l.log.WarnContext(ctx, "claiming matches", "matches", len(winners), "error", err)
			}
			return true
		}
	}
	return true
}

// claim claims the winners' tickets and hands the matches on.
func (l *leader) claim(ctx context.Context, winners []*proposal) error {
	now := l.Now()
	claims := make([]*state.Claim, len(winners))
	for i, p := range winners {
		claims[i] = claimOf(p, now)
	}
	position, err := l.Store.Claim(ctx, l.project, state.Terms{
		Epoch: l.epoch, Now: now, Deadline: now.Add(l.Times.Claim), Expiry: now.Add(l.Times.Readable),
		Approval: now.Add(l.Times.Approval),
	}, claims)
	l.position = max(l.position, position)
	if err != nil {
		return err
	}
	l.handOn(ctx, claims)
	return nil
}

// handOn sends claimed matches to the allocators, and wakes those who wait for tickets that were assigned at once.
func (l *leader) handOn(ctx context.Context, claims []*state.Claim) {
	var matches, assigned []string
	for _, c := range claims {
		switch {
		case c.Refused == "config":
			l.inbox.poke(&pb.Poke{Configs: true})
		case c.Refused != "":
			// A ticket left, another match had it first, or the backfill ticket is not what it was: the others are proposed again.
			l.inbox.poke(&pb.Poke{})
		case c.Match.GetProposal().GetFilling().GetBackfill() != "":
			// Its server assigns the tickets when it approves. Until then others may come in as well.
		case c.Assignments == nil:
			matches = append(matches, c.Match.GetId())
		default:
			assigned = append(assigned, c.Tickets...)
		}
	}
	if len(matches) > 0 {
		l.sends.Go(func() { l.send(ctx, matches) })
	}
	if err := l.Bus.Assigned(ctx, l.project, assigned); err != nil {
		l.log.WarnContext(ctx, "waking the waiting", "error", err)
	}
}

// claimOf is the claim of a proposal that won.
func claimOf(p *proposal, now time.Time) *state.Claim {
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
		hosted = false // it goes to a server that runs
	case hosted:
		c.Match.Backfill = uuid.Must(uuid.NewV7()).String()
	default:
		// An error is for the tickets alone, and where no server is allocated there is none to be filled.
		p.Filling = nil
	}
	if !hosted {
		c.Assignments = make([]*pb.Assignment, len(p.Tickets))
		for i, id := range p.Tickets {
			c.Assignments[i] = assignment.Of(p.Proposal, id, p.GetConnection(), p.GetError())
		}
	}
	return c
}
