package director

import (
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/evaluator"
	"matchmaker.dev/services/internal/state"
)

// evaluateStep is how many proposals are evaluated at a time: no config waits long for the many of another. claimStep
// is how many matches are claimed at a time, and claimTickets how many tickets: the loop goes on between them.
const (
	evaluateStep = 2048
	claimStep    = 1024
	claimTickets = 8192
)

// proposal is a proposal and where it came from.
type proposal = evaluator.Candidate[origin]

// origin is the segment whose run made a proposal.
type origin struct {
	*segment
	// size is about how much memory the proposal takes.
	size int64
	// round is the number of evaluations that were over when it came.
	round int
	// upload is the function's upload that made it; 0 if unknown.
	upload int64
	// canary is RunPart.canary.
	canary int64
}

// newProposals converts a run's proposals, the preferred one first.
func newProposals(from *segment, all []*pb.Proposal, size int64, backfillFirst bool) []*proposal {
	made, pointers := make([]proposal, len(all)), make([]*proposal, len(all))
	for i, p := range all {
		made[i] = proposal{
			Proposal: p, Tickets: state.TicketsOf(p), Config: from.config.GetId(),
			First: backfillFirst && p.GetFilling().GetBackfill() != "", Origin: origin{segment: from, size: size},
		}
		pointers[i] = &made[i]
	}
	evaluator.Sort(pointers)
	return pointers
}

// evaluation is an evaluation of candidates, and of the selected ones' claims.
type evaluation struct {
	candidates []*proposal
	selected   []*proposal
	// claims[i] is the claim of selected[i]; selected may be longer.
	claims []*state.Claim
}

// newEvaluation evaluates candidates. Candidates that came before one of their tickets was matched have lost already.
func newEvaluation(candidates []*proposal, matched *matched) *evaluation {
	able := candidates
	if slices.ContainsFunc(candidates, matched.has) {
		able = slices.DeleteFunc(slices.Clone(candidates), matched.has)
	}
	return &evaluation{candidates: candidates, selected: evaluator.Select(able)}
}

// unclaimed are the selected proposals that are not claimed yet.
func (e *evaluation) unclaimed() []*proposal { return e.selected[len(e.claims):] }

// next returns the proposals to claim next.
func (e *evaluation) next() []*proposal {
	rest := e.unclaimed()
	n, tickets := 0, 0
	for n < min(len(rest), claimStep) && (n == 0 || tickets+len(rest[n].Tickets) <= claimTickets) {
		tickets += len(rest[n].Tickets)
		n++
	}
	return rest[:n]
}

// matched are tickets that were matched while other proposals waited for an evaluation, by the round in which that was.
// A ticket may wait again later: proposals that came since then are not affected.
type matched struct {
	round   int
	tickets map[string]int
}

// maxMatched is how many tickets are remembered. None has to be, since the claim of a matched ticket is refused.
const maxMatched = 1 << 18

func (m *matched) add(tickets []string) {
	if m.tickets == nil || len(m.tickets) > maxMatched {
		m.tickets = map[string]int{}
	}
	for _, id := range tickets {
		m.tickets[id] = m.round
	}
}

// has reports whether one of a proposal's tickets was matched after it came.
func (m *matched) has(p *proposal) bool {
	return len(m.tickets) > 0 && slices.ContainsFunc(p.Tickets, func(id string) bool {
		round, is := m.tickets[id]
		return is && p.Origin.round <= round
	})
}

// retries are the candidates that lost to a proposal whose claim was refused, and whose tickets may still wait: they
// are evaluated again.
func (e *evaluation) retries() []*proposal {
	if !slices.ContainsFunc(e.claims, func(c *state.Claim) bool { return c.Refusal != "" }) {
		return nil
	}
	settled, tickets, outdated := map[*proposal]bool{}, map[string]bool{}, map[*segment]bool{}
	for i, c := range e.claims {
		settled[e.selected[i]] = true
		switch {
		case c.Refusal == "":
			for _, id := range c.Tickets {
				tickets[id] = true
			}
		case c.Refusal == "config", refusals[c.Refusal].err != nil:
			outdated[e.selected[i].Origin.segment] = true
		default:
			tickets[c.Refusal] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(e.candidates), func(p *proposal) bool {
		return settled[p] || outdated[p.Origin.segment] || len(p.Tickets) == 0 ||
			slices.ContainsFunc(p.Tickets, func(id string) bool { return tickets[id] })
	})
}
