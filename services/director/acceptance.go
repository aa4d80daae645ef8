package director

import (
	"context"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/assignment"
	"matchmaker.dev/services/internal/state"
)

// acceptanceBatch is how many acceptances end at a time.
const acceptanceBatch = 32

// endAcceptances ends the acceptances of matches that all of their players accepted, or one declined, and those whose
// time is over. Who answers last pokes the leader. A leader that missed it finds them when it looks for overdue claims.
func (m *maintenance) endAcceptances(ctx context.Context) {
	ended, err := m.Store.EndAcceptances(ctx, m.project, state.AcceptanceTerms{
		Claim: m.Settings.Claim, Readable: m.Readable, Watched: m.watched(), Limit: acceptanceBatch,
	})
	m.observed.Check(ctx, "ending acceptances", err)
	var hosted, unhosted, filling []*pb.Match
	for _, match := range ended.Accepted {
		switch {
		case match.GetProposal().GetFilling().GetBackfill() != "":
			filling = append(filling, match)
		case match.GetHosting() == nil:
			unhosted = append(unhosted, match)
		default:
			hosted = append(hosted, match)
		}
	}
	m.outbox.start(ctx, hosted)
	m.assign(ctx, unhosted)
	m.propose(ctx, filling)
	if len(ended.Failed) > 0 {
		m.log.DebugContext(ctx, "matches were not accepted", "matches", len(ended.Failed), "declined",
			len(ended.Declined), "silent", len(ended.Silent))
		m.Bus.NotifyEnded(ctx, m.project, ended.Declined, "declined")
		m.Bus.NotifyEnded(ctx, m.project, ended.Silent, "silent")
	}
	if ended.Position > 0 || ended.More {
		m.inbox.poke(&pb.Poke{Position: ended.Position, Answered: ended.More && err == nil})
	}
}

// propose proposes the tickets of accepted matches to the running games that they asked for.
func (m *maintenance) propose(ctx context.Context, matches []*pb.Match) {
	if len(matches) == 0 {
		return
	}
	claims := make([]*state.Claim, len(matches))
	for i, match := range matches {
		tickets := state.TicketsOf(match.GetProposal())
		claims[i] = &state.Claim{Match: match, Tickets: tickets, Assignments: assignments(match, tickets)}
		for _, a := range claims[i].Assignments {
			a.Trace = match.GetTrace()
		}
	}
	position, err := m.Store.ProposeAccepted(ctx, m.project, m.Settings.Approval, claims)
	m.observed.Check(ctx, "proposing accepted matches", err)
	for _, c := range claims {
		if c.Refusal == "game" {
			m.log.DebugContext(ctx, "a running game changed while players were asked", "match", c.Match.GetId())
		}
	}
	if position > 0 {
		m.inbox.poke(&pb.Poke{Position: position})
	}
}

// assign writes the results of accepted matches that need no server.
func (m *maintenance) assign(ctx context.Context, matches []*pb.Match) {
	if len(matches) == 0 {
		return
	}
	endings := make([]state.Ending, len(matches))
	for i, match := range matches {
		p := match.GetProposal()
		e := state.Ending{Match: match, Tickets: state.TicketsOf(p), Outcome: state.Outcome{Readable: m.Readable}}
		e.Results = assignment.All(match, e.Tickets, p.GetConnection(), "")
		endings[i] = e
	}
	ended, err := m.Store.EndMatches(ctx, m.project, endings)
	m.observed.Check(ctx, "assigning accepted matches", err)
	for i, e := range ended {
		m.observed.RecordAccepted(ctx, m.Store.Now(), matches[i], e.Assigned)
		m.Bus.NotifyResults(ctx, m.project, e.Assigned, e.Results)
	}
}
