package ticket

import (
	"cmp"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/match/evaluator"
	"matchmaker.dev/services/internal/state"
)

// mostCompared is how many proposals of all runs of an explanation are compared: they are all in memory.
const mostCompared = 20_000

// comparison is the proposals of the runs of an explanation, to be compared as the director does. It does not prefer
// running games, as an installation may (--backfill-first).
type comparison struct {
	all     []*evaluator.Candidate[*configExplanation]
	crowded bool // there are too many
}

// add adds the proposals of a run.
func (c *comparison) add(of *configExplanation, proposals []*pb.Proposal) {
	if c.crowded = c.crowded || len(c.all)+len(proposals) > mostCompared; c.crowded {
		c.all = nil
		return
	}
	for _, p := range proposals {
		c.all = append(c.all, &evaluator.Candidate[*configExplanation]{
			Proposal: p, Tickets: state.TicketsOf(p), Config: of.Config, Origin: of,
		})
	}
}

// mostWith is how many proposals of a config with a ticket are told of.
const mostWith = 5

// judge says of each config how the best of its proposals with a ticket do beside all others.
func (c *comparison) judge(id string) {
	winners := evaluator.Select(c.all) // and sorts them, the best first
	for _, p := range c.all {
		run := p.Origin.Run
		if !slices.Contains(p.Tickets, id) {
			continue
		}
		if run.Holding++; run.Holding > mostWith {
			continue
		}
		one := response.BestProposal{Score: p.GetScore(), Tickets: len(p.Tickets)}
		at := slices.IndexFunc(winners, func(w *evaluator.Candidate[*configExplanation]) bool { return excludes(w, p) })
		if w := winners[max(at, 0)]; at >= 0 && w != p {
			one.LosesTo = &response.BetterProposal{Config: w.Config, Score: w.GetScore(), By: w.GetScore() - p.GetScore()}
		}
		run.With = append(run.With, one)
		run.Best = cmp.Or(run.Best, &one)
	}
}

// excludes reports whether two proposals cannot both become matches.
func excludes(a, b *evaluator.Candidate[*configExplanation]) bool {
	game := a.GetFilling().GetBackfill()
	return game != "" && game == b.GetFilling().GetBackfill() ||
		slices.ContainsFunc(a.Tickets, func(id string) bool { return slices.Contains(b.Tickets, id) })
}
