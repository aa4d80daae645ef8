package party

import (
	"math"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/state"
)

// addTicket adds a ticket without what others of its players have.
func addTicket(d *response.PlayerExport, t *state.Ticket) {
	b := t.Body
	shown := &pb.Ticket{Id: b.GetId(), Created: b.GetCreated(), Queues: b.GetQueues()}
	if b.GetOwner() == d.Player {
		shown.AttributeNames, shown.AttributeValues = b.GetAttributeNames(), b.GetAttributeValues()
		shown.Properties = b.GetProperties()
	}
	for _, p := range b.GetPlayers() {
		if p.GetId() == d.Player {
			shown.Players = append(shown.Players, p)
		}
	}
	d.Tickets = append(d.Tickets, response.NewTicket(&state.Ticket{Body: shown, Assignment: t.Assignment}))
}

// within returns a list of an export with as many more as it has room for.
func within[T any](d *response.PlayerExport, list []T, more ...T) []T {
	room := min(exportedEach-len(list), len(more))
	d.Complete = d.Complete && room == len(more)
	return append(list, more[:room]...)
}

// exportMentions adds what matches, games and parties know of the player.
func exportMentions(d *response.PlayerExport, m state.Mentions) {
	d.KickedFrom, d.Matches = within(d, d.KickedFrom, m.KickedFrom...), within(d, d.Matches, m.Played...)
	for _, a := range m.Answers {
		d.Acceptances = within(d, d.Acceptances, response.PlayerAcceptance{Match: a.Match, Accepted: a.Accepted})
	}
	for _, g := range m.Games {
		one := response.PlayerGame{Backfill: g.Backfill, Team: g.Player.GetTeam(), Role: g.Player.GetRole()}
		if len(g.Player.GetAttributeNames()) > 0 {
			one.Attributes = fields.Attributes(g.Player.GetAttributeNames(), g.Player.GetAttributeValues())
		}
		d.Games = within(d, d.Games, one)
	}
}

// addParty adds the party that the player is in.
func addParty(d *response.PlayerExport, p *pb.Party) {
	for _, m := range bodyFor(p, d.Player).Members {
		if m.ID == d.Player {
			d.Party = &response.PlayerParty{ID: p.GetId(), Leader: p.GetLeader() == d.Player, Joined: m.Joined,
				Ready: m.Ready, Attributes: m.Attributes, Properties: m.Properties}
		}
	}
}

// remainMentions adds what names the player, while there is room for it.
func remainMentions(e *response.ErasedPlayer, m state.Mentions) {
	for _, a := range m.Answers {
		e.Remains = append(e.Remains, response.PlayerRemains{Kind: "acceptance", ID: a.Match,
			Seconds: max(1, seconds(a.Left))})
	}
	for _, id := range m.KickedFrom {
		e.Remains = append(e.Remains, response.PlayerRemains{Kind: "kicked", ID: id})
	}
	for _, g := range m.Games {
		e.Remains = append(e.Remains, response.PlayerRemains{Kind: "game", ID: g.Backfill})
	}
	e.Remains = e.Remains[:min(len(e.Remains), exportedEach)]
}

// remainPenalties adds what is kept of a player for some time.
func remainPenalties(e *response.ErasedPlayer, d *response.PlayerExport) {
	if d.Pause != nil {
		e.Remains = append(e.Remains, response.PlayerRemains{Kind: "pause", Seconds: d.Pause.KeptSeconds})
	}
	if d.Rate != nil {
		e.Remains = append(e.Remains, response.PlayerRemains{Kind: "rate", Seconds: d.Rate.KeptSeconds})
	}
	if e.Tickets > 0 {
		e.Remains = append(e.Remains, response.PlayerRemains{Kind: "feed", Seconds: seconds(state.FeedKept)})
	}
}

// seconds rounds up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
