package director

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/assignment"
	"matchmaker.dev/services/internal/evaluator"
	"matchmaker.dev/services/internal/state"
)

// round is a contest, and what becomes of its winners.
type round struct {
	entries []*proposal
	// won are the winners; the first of them have been claimed.
	won    []*proposal
	claims []*state.Claim
}

func newRound(entries []*proposal) *round {
	return &round{entries: entries, won: evaluator.Select(entries)}
}

func (r *round) done() bool { return len(r.claims) == len(r.won) }

// next is the winners that are to be claimed next.
func (r *round) next() []*proposal {
	rest := r.won[len(r.claims):]
	return rest[:min(len(rest), claimStep)]
}

// losers are the proposals that lost to a winner which then was refused, and whose tickets still wait for all one knows:
// they take part once more.
func (r *round) losers() []*proposal {
	if !slices.ContainsFunc(r.claims, func(c *state.Claim) bool { return c.Refusal != "" }) {
		return nil
	}
	over, taken, void := map[*proposal]bool{}, map[string]bool{}, map[*course]bool{}
	for i, c := range r.claims {
		over[r.won[i]] = true
		switch c.Refusal {
		case "":
			for _, id := range c.Tickets {
				taken[id] = true
			}
		case "config":
			void[r.won[i].Origin] = true
		default:
			taken[c.Refusal] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(r.entries), func(p *proposal) bool {
		return over[p] || void[p.Origin] || len(p.Tickets) == 0 || slices.ContainsFunc(p.Tickets, func(id string) bool { return taken[id] })
	})
}

// ripe is when the proposals at hand can be evaluated: when they have waited for the window, or no run that
// started within it may still add to them.
func (l *leader) ripe() time.Time {
	var at time.Time
	for c := range l.all() {
		if c.flight != nil {
			at = later(at, c.flight.started.Add(l.Times.Window))
		}
	}
	return earlier(at, l.since.Add(l.Times.Window))
}

// evaluate holds the contest of the proposals at hand, if it is time.
func (l *leader) evaluate(now time.Time) {
	if len(l.pending) > 0 && !now.Before(l.ripe()) {
		ctx, began := context.Background(), time.Now()
		l.metrics.took(ctx, "window", now.Sub(l.since))
		r := newRound(l.pending)
		l.rounds = append(l.rounds, r)
		l.metrics.took(ctx, "contest", time.Since(began))
		l.held(r, began)
		l.pending = nil
	}
}

// claimStep is how many matches are claimed at a time: the first need not wait for the last, nor other
// configs for the matches of one.
const claimStep = 1024

// settle claims the tickets of some winners and hands their matches on. The error is state.ErrLeaseLost when the lease has passed
// to another director.
func (l *leader) settle(ctx context.Context) error {
	if len(l.rounds) == 0 || l.blind {
		return nil
	}
	r := l.rounds[0]
	if winners := r.next(); len(winners) > 0 {
		claims, err := l.claim(ctx, winners)
		if !l.trouble.note(ctx, "claiming matches", err) {
			// What was claimed all the same is found in the outbox, or was assigned. The rest is proposed again, when
			// mending has found out how far the feed is.
			l.unclaimed(ctx, r, winners)
			l.end(r, nil)
			l.blind, l.repair = true, time.Time{}
			return err
		}
		r.claims = append(r.claims, claims...)
		l.handOn(ctx, claims)
	}
	if r.done() {
		l.end(r, r.losers())
	}
	return nil
}

// end ends the first round; another one follows of those who take part once more.
func (l *leader) end(r *round, again []*proposal) {
	l.outbid(context.Background(), r, again)
	for _, p := range r.entries {
		p.Origin.unsettled--
	}
	for _, p := range again {
		p.Origin.unsettled++
	}
	if len(again) > 0 {
		l.rounds[0] = newRound(again)
	} else {
		l.rounds = l.rounds[1:]
	}
	for _, p := range r.entries {
		p.Origin.rest()
	}
}

// claim claims the winners' tickets.
func (l *leader) claim(ctx context.Context, winners []*proposal) ([]*state.Claim, error) {
	now, began := l.Now(), time.Now()
	claims, traced := make([]*state.Claim, len(winners)), l.claiming(winners)
	for i, p := range winners {
		claims[i] = claimOf(p, now)
		traced.mark(p, claims[i])
	}
	position, err := l.Store.Claim(ctx, l.project, state.ClaimOptions{
		Epoch: l.epoch, Now: now, Deadline: now.Add(l.Times.Claim), Expiry: now.Add(l.Times.Readable),
		ApprovalDeadline: now.Add(l.Times.Approval),
	}, claims)
	l.position = max(l.position, position)
	l.metrics.took(ctx, "claim", time.Since(began))
	traced.end(winners, claims, err)
	if err == nil {
		l.metrics.settled(ctx, now, winners, claims)
	}
	return claims, err
}

// handOn sends claimed matches to the allocators, and wakes those who wait for tickets that were assigned at once.
func (l *leader) handOn(ctx context.Context, claims []*state.Claim) {
	var matches, assigned []string
	traced := map[string][]string{} // by the mark of their claim
	for _, c := range claims {
		switch {
		case c.Refusal == "config":
			l.inbox.poke(&pb.Poke{Configs: true})
		case c.Refusal != "":
			// A ticket left, another match had it first, or the backfill ticket is not what it was: the others are proposed again.
			l.inbox.poke(&pb.Poke{})
		case c.Match.GetProposal().GetFilling().GetBackfill() != "":
			// Its server assigns the tickets when it approves. Until then others may come in as well.
		case c.Assignments == nil && len(c.Match.GetTrace()) > 0:
			traced[string(c.Match.GetTrace())] = append(traced[string(c.Match.GetTrace())], c.Match.GetId())
		case c.Assignments == nil:
			matches = append(matches, c.Match.GetId())
		default:
			assigned = append(assigned, c.Tickets...)
		}
	}
	if len(matches) > 0 {
		l.sends.Go(func() { l.send(ctx, matches) })
	}
	l.sendTraced(ctx, traced)
	l.Bus.NotifyAssigned(ctx, l.project, assigned)
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
			if i > 0 && len(p.GetTicketProperties()) == 0 {
				c.Assignments[i] = c.Assignments[0] // the same for all
				continue
			}
			c.Assignments[i] = assignment.Of(p.Proposal, id, p.GetConnection(), p.GetError())
		}
	}
	return c
}
