package director

import (
	"context"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/state"
)

// acceptanceBatch is how many acceptances end at a time.
const acceptanceBatch = 32

// endAcceptances ends the acceptances of matches that all of their players accepted, that one declined, or whose time
// is over. The ticket service that stores the last answer pokes the leader. A leader that missed the poke finds the
// match when it looks for overdue claims.
func (m *maintenance) endAcceptances(ctx context.Context) {
	ended, err := m.Store.EndAcceptances(ctx, m.project, state.AcceptanceTerms{
		Claim: m.Settings.Claim, Approval: m.Settings.Approval, Readable: m.Readable, Watched: m.watched(),
		Limit: acceptanceBatch,
	})
	m.observed.Check(ctx, "ending acceptances", err)
	var hosted, unhosted []*pb.Match
	for _, match := range ended.Accepted {
		switch match.GetPlace() {
		case state.PlaceHosting:
			hosted = append(hosted, match)
		case "":
			unhosted = append(unhosted, match)
		}
	}
	m.outbox.start(ctx, hosted)
	m.assign(ctx, unhosted)
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
