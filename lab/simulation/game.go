package simulation

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/cycle"
)

// game is a running game with a backfill ticket, which its function or its server created. Its server says how many
// players it lacks by one attribute, as the functions arena and duel read it, or who is in the game.
type game struct {
	*world
	at *fleet
	// backfill is its backfill ticket, which is replaced and never changed: the index keeps it.
	backfill *pb.Backfill
	// allocated is set when it has its server. ends is when it is over then.
	allocated bool
	ends      time.Time
	over      bool
	proposed  []joining // they wait for the server's approval
	asking    *match    // whose players are asked whether they join; functions do not see the game meanwhile
	lacks     int       // players who left, which the server has not said yet
	untold    bool      // the server has something to say
	members   []*pb.RosterPlayer
}

// joining is a ticket that joins a game, in a team.
type joining struct {
	*ticket
	team string
}

// open makes the game of a match that wants to be filled later; nil if it does not.
func (w *world) open(m *match) *game {
	filling := m.GetFilling()
	if filling == nil || !m.hosted {
		return nil
	}
	return w.newGame(m, filling.GetContents())
}

// openOwn makes the game of a match that has its server, which makes a backfill ticket of its own: its attributes are
// the means of the players', and its property region says where it runs. It is nil if the server makes none.
func (f *fleet) openOwn(m *match) *game {
	if !f.Backfill {
		return nil
	}
	contents := &pb.Backfill{}
	contents.AttributeNames, contents.AttributeValues = means(m.tickets)
	if region := m.GetHosting().GetRegion(); region != "" {
		if text, err := json.Marshal(region); err == nil { // a string can be written
			contents.Properties = map[string][]byte{"region": text}
		}
	}
	return f.newGame(m, contents)
}

// newGame makes a game with these contents of its backfill ticket.
func (w *world) newGame(m *match, contents *pb.Backfill) *game {
	w.opened++
	w.result.Games = w.opened
	backfill := &pb.Backfill{}
	if contents != nil {
		backfill = proto.CloneOf(contents)
	}
	backfill.Id, backfill.Created = "g"+strconv.Itoa(w.opened), w.Now.UnixMilli()
	backfill.Version, backfill.Generation = 1, 1
	backfill.Queue = new(m.Origin.Config.GetQueue())
	g := &game{world: w, at: w.fleetOf(m.Candidate), backfill: backfill}
	w.games[backfill.GetId()] = g
	g.show()
	return g
}

// means are the means of the attributes of players, in the order of their names.
func means(tickets []*ticket) (names []string, values []float64) {
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, t := range tickets {
		for _, p := range t.players() {
			for i, name := range p.GetAttributeNames() {
				sums[name] += p.GetAttributeValues()[i]
				counts[name]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		names, values = append(names, name), append(values, sums[name]/counts[name])
	}
	return names, values
}

// show shows the game to functions, unless players are asked for it. The backfill ticket was made here, so the index
// takes it.
func (g *game) show() {
	if g.asking == nil {
		_ = g.Backfills.Put(g.backfill)
	}
}

// hide hides the game from functions.
func (g *game) hide() { g.Backfills.Drop(g.backfill.GetId()) }

// fillable reports whether a proposal may give its tickets to a game: it must be as the function saw it, and none of
// the players may be there.
func (w *world) fillable(c *cycle.Candidate) bool {
	filling := c.GetFilling()
	if filling.GetBackfill() == "" {
		return true
	}
	g := w.games[filling.GetBackfill()]
	return g != nil && g.asking == nil && g.backfill.GetGeneration() == filling.GetGeneration() && !g.hasAny(c.Tickets)
}

// hasAny reports whether a player of the tickets is in the game, or is proposed to it.
func (g *game) hasAny(tickets []string) bool {
	if len(g.members) == 0 && len(g.proposed) == 0 {
		return false
	}
	there := make(map[string]bool, len(g.members))
	for _, one := range g.members {
		there[one.GetId()] = true
	}
	for _, t := range g.proposed {
		for _, p := range t.players() {
			there[p.GetId()] = true
		}
	}
	return slices.ContainsFunc(tickets, func(id string) bool {
		t := g.tickets[id]
		return t != nil && slices.ContainsFunc(t.players(), func(p *pb.Player) bool { return there[p.GetId()] })
	})
}

// change replaces the backfill ticket.
func (g *game) change(change func(b *pb.Backfill)) {
	g.backfill = proto.CloneOf(g.backfill)
	g.backfill.Generation++
	change(g.backfill)
}

// propose proposes tickets to the game. Its server approves them after a while. If the function changed nothing, no
// function sees the game until then.
func (g *game) propose(m *match) {
	contents := m.GetFilling().GetContents()
	g.change(func(b *pb.Backfill) {
		if contents != nil {
			b.AttributeNames, b.AttributeValues = contents.GetAttributeNames(), contents.GetAttributeValues()
			b.Properties = contents.GetProperties()
		}
	})
	if contents == nil {
		g.hide()
	} else {
		g.show()
	}
	first := len(g.proposed) == 0
	if g.proposed = append(g.proposed, m.joining()...); first && g.allocated {
		g.expect()
	}
}

// joining are the tickets of a match with their teams.
func (m *match) joining() (all []joining) {
	next := 0
	for _, team := range m.GetTeams() {
		for range team.GetTickets() {
			all = append(all, joining{m.tickets[next], team.GetName()})
			next++
		}
	}
	return all
}

// expect lets the server approve the proposed tickets.
func (g *game) expect() {
	g.Agenda.Plan(g.Now.Add(seconds(g.at.Approval, g.at.random)), g.approve)
}

// begin begins the game, whose first players have their connection now.
func (g *game) begin(m *match, ends time.Time) {
	g.allocated, g.ends = true, ends
	g.Agenda.Plan(ends, g.end)
	g.stay(m.joining())
	if g.at.Roster {
		g.say()
	}
	if len(g.proposed) > 0 {
		g.expect()
	}
}

// stay lets players stay in the game for a while.
func (g *game) stay(tickets []joining) {
	for _, t := range tickets {
		for _, p := range t.players() {
			if g.at.Roster {
				g.members = append(g.members, rosterPlayer(p, t.team))
			}
			if g.at.Stay.IsZero() {
				continue
			}
			if leaves := g.Now.Add(seconds(g.at.Stay, g.at.random)); leaves.Before(g.ends) {
				g.Agenda.Plan(leaves, func() { g.lose(p.GetId()) })
			}
		}
	}
}

// lose loses a player.
func (g *game) lose(player string) {
	g.lacks++
	g.members = slices.DeleteFunc(g.members, func(one *pb.RosterPlayer) bool { return one.GetId() == player })
	g.say()
}

// say lets the server say what changed. It has approved what was proposed before.
func (g *game) say() {
	if g.untold = true; len(g.proposed) == 0 && !g.over {
		g.update()
	}
}

// update lets the server say how many players the game lacks, or who is in it. Players who are asked whether they join
// wait again.
func (g *game) update() {
	g.change(func(b *pb.Backfill) {
		b.Version++
		if g.at.Roster {
			b.Roster = g.roster()
		}
		name, more := g.at.Open, float64(g.lacks)
		b.AttributeValues = slices.Clone(b.GetAttributeValues())
		if i := slices.Index(b.GetAttributeNames(), name); i >= 0 {
			b.AttributeValues[i] += more
		} else if !g.at.Roster {
			b.AttributeNames = append(slices.Clone(b.GetAttributeNames()), name)
			b.AttributeValues = append(b.AttributeValues, more)
		}
	})
	g.lacks, g.untold = 0, false
	g.release()
	g.show()
	g.Touch()
}

// rosterPlayer is a player in a game.
func rosterPlayer(p *pb.Player, team string) *pb.RosterPlayer {
	return &pb.RosterPlayer{
		Id: p.GetId(), Team: team, AttributeNames: p.GetAttributeNames(), AttributeValues: p.GetAttributeValues(),
	}
}

// roster is the players in the game, as its server says it. The function rules tells it in a property which team and
// role each player has.
func (g *game) roster() *pb.Roster {
	var told []struct{ ID, Team, Role string }
	if text := g.backfill.GetProperties()["players"]; text != nil {
		_ = json.Unmarshal(text, &told) // another function may mean something else by it
	}
	all := &pb.Roster{}
	for _, one := range g.members {
		for _, by := range told {
			if by.ID == one.GetId() {
				one.Team, one.Role = by.Team, by.Role
			}
		}
		all.Players = append(all.Players, one)
	}
	return proto.CloneOf(all)
}

// approve lets the proposed tickets join the game.
func (g *game) approve() {
	if g.over {
		return
	}
	joined := g.proposed
	g.proposed = nil
	for _, t := range joined {
		g.result.Joined++
		g.world.end(t.ticket, Matched)
	}
	g.stay(joined)
	if g.untold {
		g.update()
		return
	}
	g.change(func(b *pb.Backfill) { g.join(b, joined) })
	g.show()
	g.Touch()
}

// join adds players to the game, as the service does until the server names them anew.
func (g *game) join(b *pb.Backfill, joined []joining) {
	if b.GetRoster() == nil {
		return
	}
	for _, t := range joined {
		for _, p := range t.players() {
			b.Roster.Players = append(b.Roster.Players, rosterPlayer(p, ""))
		}
	}
}

// end ends the game. Players that were proposed to it, or are asked whether they join, wait again.
func (g *game) end() {
	g.over = true
	delete(g.games, g.backfill.GetId())
	g.hide()
	g.release()
	for _, t := range g.proposed {
		g.wait(t.ticket)
	}
	if len(g.proposed) > 0 {
		g.Touch()
	}
}

// ask asks the players of a match whether they join the game, of which functions see nothing meanwhile.
func (g *game) ask(m *match) {
	m.joins, g.asking = g, m
	g.hide()
	g.world.ask(m)
}

// endAsking notes that the players were asked.
func (g *game) endAsking() {
	g.asking = nil
	if !g.over {
		g.show()
	}
}

// release lets the players wait again who are asked whether they join.
func (g *game) release() {
	m := g.asking
	if m == nil {
		return
	}
	m.joins, g.asking = nil, nil
	m.ended = true
	for _, t := range m.tickets {
		g.wait(t)
	}
	g.Touch()
}
