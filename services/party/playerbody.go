package party

import (
	"math"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/fields"
	"matchmaker.dev/services/internal/response"
	"matchmaker.dev/services/internal/state"
)

// playerData is what is stored of a player. It has nothing of other players.
type playerData struct {
	Player  string            `json:"player"`
	Tickets []response.Ticket `json:"tickets"`
	// Party is null for a player who is in none.
	Party       *playerParty   `json:"party"`
	KickedFrom  []string       `json:"kickedFrom"`
	Acceptances []playerAnswer `json:"acceptances"`
	Games       []playerGame   `json:"games"`
	// Pause and Rate are null when nothing is known.
	Pause *playerPause `json:"pause"`
	Rate  *playerRate  `json:"rate"`
	// Complete is false when there are more tickets than an export has.
	Complete bool `json:"complete"`
}

// playerParty is the party that a player is in.
type playerParty struct {
	ID     string `json:"id"`
	Leader bool   `json:"leader"`
	member
}

type playerAnswer struct {
	Match    string `json:"match"`
	Accepted bool   `json:"accepted"`
}

// playerGame is a running game with the player in it. Team, role and attributes are what its server said.
type playerGame struct {
	Backfill   string             `json:"backfill"`
	Team       string             `json:"team,omitempty"`
	Role       string             `json:"role,omitempty"`
	Attributes map[string]float64 `json:"attributes,omitempty"`
}

// playerPause is how many pauses there were one after the other, and for how many seconds the last goes on.
type playerPause struct {
	Count   int `json:"count"`
	Seconds int `json:"seconds"`
	// Kept is for how many seconds that is known at most.
	Kept int `json:"keptSeconds"`
}

type playerRate struct {
	Kept int `json:"keptSeconds"`
}

func newPlayerData(player string) *playerData {
	return &playerData{Player: player, Tickets: []response.Ticket{}, KickedFrom: []string{}, Acceptances: []playerAnswer{},
		Games: []playerGame{}, Complete: true}
}

// addTicket adds a ticket without what others of its players have.
func (d *playerData) addTicket(t *state.Ticket) {
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

func (d *playerData) addMentions(m state.Mentions) {
	d.KickedFrom = append(d.KickedFrom, m.KickedFrom...)
	for _, a := range m.Answers {
		d.Acceptances = append(d.Acceptances, playerAnswer{a.Match, a.Accepted})
	}
	for _, g := range m.Games {
		d.Games = append(d.Games, playerGame{Backfill: g.Backfill, Team: g.Player.GetTeam(), Role: g.Player.GetRole(),
			Attributes: fields.Attributes(g.Player.GetAttributeNames(), g.Player.GetAttributeValues())})
	}
}

func (d *playerData) addParty(p *pb.Party) {
	for _, m := range bodyFor(p, d.Player).Members {
		if m.ID == d.Player {
			d.Party = &playerParty{p.GetId(), p.GetLeader() == d.Player, m}
		}
	}
}

// erasure is what became of what was stored of a player.
type erasure struct {
	Player string `json:"player"`
	// Tickets are those that ended, or that the player was taken out of. Party tells whether the player left one.
	Tickets int  `json:"tickets"`
	Party   bool `json:"party"`
	// Remains are what is still stored.
	Remains []remainder `json:"remains"`
}

// remainder is something that names the player and is stored on.
type remainder struct {
	Kind string `json:"kind"`
	// ID is the id of the match, the party or the backfill ticket.
	ID string `json:"id,omitempty"`
	// Seconds is until it goes, at most; absent when that depends on others.
	Seconds int `json:"seconds,omitempty"`
}

func newErasure(player string) *erasure {
	return &erasure{Player: player, Remains: []remainder{}}
}

func (e *erasure) addMentions(m state.Mentions) {
	for _, a := range m.Answers {
		e.Remains = append(e.Remains, remainder{Kind: "acceptance", ID: a.Match, Seconds: max(1, seconds(a.Left))})
	}
	for _, id := range m.KickedFrom {
		e.Remains = append(e.Remains, remainder{Kind: "kicked", ID: id})
	}
	for _, g := range m.Games {
		e.Remains = append(e.Remains, remainder{Kind: "game", ID: g.Backfill})
	}
}

func (e *erasure) addPenalties(d *playerData) {
	if d.Pause != nil {
		e.Remains = append(e.Remains, remainder{Kind: "pause", Seconds: d.Pause.Kept})
	}
	if d.Rate != nil {
		e.Remains = append(e.Remains, remainder{Kind: "rate", Seconds: d.Rate.Kept})
	}
	if e.Tickets > 0 {
		e.Remains = append(e.Remains, remainder{Kind: "feed", Seconds: seconds(state.FeedKept)})
	}
}

// seconds rounds up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
