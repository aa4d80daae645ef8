package director

import (
	"slices"

	"matchmaker.dev/services/internal/evaluator"
	"matchmaker.dev/services/internal/state"
)

// proposal is a proposal and the segment whose run made it.
type proposal = evaluator.Candidate[*segment]

// evaluation is an evaluation of candidates, and what becomes of those that are selected.
type evaluation struct {
	candidates []*proposal
	selected   []*proposal
	// claims are those of the first of the selected.
	claims []*state.Claim
}

func newEvaluation(candidates []*proposal) *evaluation {
	return &evaluation{candidates: candidates, selected: evaluator.Select(candidates)}
}

// unclaimed are the selected proposals that are to be claimed next, n of them at most.
func (e *evaluation) unclaimed(n int) []*proposal {
	rest := e.selected[len(e.claims):]
	return rest[:min(len(rest), n)]
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
		switch c.Refusal {
		case "":
			for _, id := range c.Tickets {
				tickets[id] = true
			}
		case "config":
			outdated[e.selected[i].Origin] = true
		default:
			tickets[c.Refusal] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(e.candidates), func(p *proposal) bool {
		return settled[p] || outdated[p.Origin] || len(p.Tickets) == 0 ||
			slices.ContainsFunc(p.Tickets, func(id string) bool { return tickets[id] })
	})
}
