package simulation

import (
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// game is a running game whose function created a backfill ticket for it. Its server says how many players it lacks as
// the functions arena and duel read it: by one attribute.
type game struct {
	*world
	// backfill is its backfill ticket, which is replaced and never changed: the index keeps it.
	backfill *pb.Backfill
	// allocated is set when it has its server. ends is when it is over then.
	allocated bool
	ends      time.Time
	over      bool
	proposed  []*ticket // they wait for the server's approval
	lacks     int       // players who left, which the server has not said yet
}

// open makes the game of a match that wants to be filled later; nil if it does not.
func (w *world) open(m *match) *game {
	filling := m.GetFilling()
	if filling == nil || !m.hosted {
		return nil
	}
	w.opened++
	w.result.Games = w.opened
	backfill := &pb.Backfill{}
	if contents := filling.GetContents(); contents != nil {
		backfill = proto.CloneOf(contents)
	}
	backfill.Id, backfill.Created = "g"+strconv.Itoa(w.opened), w.now.UnixMilli()
	backfill.Version, backfill.Generation = 1, 1
	backfill.Queue = new(m.Origin.config.GetQueue())
	g := &game{world: w, backfill: backfill}
	w.games[backfill.GetId()] = g
	g.show()
	return g
}

// show shows the game to functions. The backfill ticket was made here, so the index takes it.
func (g *game) show() { _ = g.backfills.Put(g.backfill) }

// fillable tells whether a proposal may give its tickets to a game: it must be as the function saw it.
func (w *world) fillable(c *candidate) bool {
	filling := c.GetFilling()
	if filling.GetBackfill() == "" {
		return true
	}
	g := w.games[filling.GetBackfill()]
	return g != nil && g.backfill.GetGeneration() == filling.GetGeneration()
}

// change replaces the backfill ticket.
func (g *game) change(change func(b *pb.Backfill)) {
	g.backfill = proto.CloneOf(g.backfill)
	g.backfill.Generation++
	change(g.backfill)
}

// propose proposes tickets to the game. Its server approves them after a while. If the function changed nothing, no
// function sees the game until then.
func (g *game) propose(tickets []*ticket, contents *pb.Backfill) {
	g.change(func(b *pb.Backfill) {
		if contents != nil {
			b.AttributeNames, b.AttributeValues = contents.GetAttributeNames(), contents.GetAttributeValues()
			b.Properties = contents.GetProperties()
		}
	})
	if contents == nil {
		g.backfills.Drop(g.backfill.GetId())
	} else {
		g.show()
	}
	first := len(g.proposed) == 0
	if g.proposed = append(g.proposed, tickets...); first && g.allocated {
		g.expect()
	}
}

// expect lets the server approve the proposed tickets.
func (g *game) expect() {
	g.agenda.plan(g.now.Add(seconds(g.Fleet.Approval, g.fleet.random)), g.approve)
}

// begin begins the game, whose first players have their connection now.
func (g *game) begin(tickets []*ticket, ends time.Time) {
	g.allocated, g.ends = true, ends
	g.agenda.plan(ends, g.end)
	g.stay(tickets)
	if len(g.proposed) > 0 {
		g.expect()
	}
}

// stay lets players stay in the game for a while.
func (g *game) stay(tickets []*ticket) {
	if g.Fleet.Stay.IsZero() {
		return
	}
	for _, t := range tickets {
		for range t.players() {
			if leaves := g.now.Add(seconds(g.Fleet.Stay, g.fleet.random)); leaves.Before(g.ends) {
				g.agenda.plan(leaves, g.lose)
			}
		}
	}
}

// lose loses a player. The server says so when it has approved what was proposed.
func (g *game) lose() {
	if g.lacks++; len(g.proposed) == 0 && !g.over {
		g.update()
	}
}

// update lets the server say how many players the game lacks.
func (g *game) update() {
	g.change(func(b *pb.Backfill) {
		b.Version++
		name, more := g.Fleet.Open, float64(g.lacks)
		b.AttributeValues = slices.Clone(b.GetAttributeValues())
		if i := slices.Index(b.GetAttributeNames(), name); i >= 0 {
			b.AttributeValues[i] += more
			return
		}
		b.AttributeNames = append(slices.Clone(b.GetAttributeNames()), name)
		b.AttributeValues = append(b.AttributeValues, more)
	})
	g.lacks = 0
	g.show()
	g.touch()
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
		g.world.end(t, Matched)
	}
	g.stay(joined)
	if g.lacks > 0 {
		g.update()
		return
	}
	g.change(func(*pb.Backfill) {})
	g.show()
	g.touch()
}

// end ends the game. Who was proposed to it waits again.
func (g *game) end() {
	g.over = true
	delete(g.games, g.backfill.GetId())
	g.backfills.Drop(g.backfill.GetId())
	for _, t := range g.proposed {
		g.wait(t)
	}
	if len(g.proposed) > 0 {
		g.touch()
	}
}
