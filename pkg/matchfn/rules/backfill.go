package rules

import (
	"math"
	"strconv"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Backfill is how running games are filled. The tickets that join make, with the players in the game, a match that the
// rules allow, except that places may stay open.
type Backfill struct {
	// First is what is looked for first; FullFirst if it is empty.
	First First
	// Open is how many places of a game may stay open: players that its teams, their roles and the match lack. Nil, or
	// off, is any number.
	Open *Bound
	// Create says which new matches get a backfill ticket with their server; none if it is empty.
	Create Create
	// Active is nil if games are always filled. Otherwise a game is filled while the bound is neither off nor 0, at the
	// age of the game; its clock does not count.
	Active *Bound
}

// First is what is looked for first, running games or new matches.
type First string

const (
	// FullFirst looks for full matches first, then fills games, then looks for matches that are not full.
	FullFirst First = "full"
	// GamesFirst fills games first.
	GamesFirst First = "games"
	// MatchesFirst looks for all matches first.
	MatchesFirst First = "matches"
)

// Create says which new matches get a backfill ticket.
type Create string

const (
	// CreateShort is for matches that are not full.
	CreateShort Create = "short"
	// CreateAll is for all matches: players may leave.
	CreateAll Create = "all"
)

// Called returns the name of a copy of a team, from 1: the shape's name, with the number if there may be several.
func (t *Team) Called(number int) string {
	if _, most, off := t.Copies.Max.Over(0, math.Inf(1)); !off && most <= 1 {
		return t.Name
	}
	return t.Name + "_" + strconv.Itoa(number)
}

func (r *reader) backfill(n *document.Node, rules *Rules) {
	rules.Backfill.First = FullFirst
	if !r.is(n, document.Object) {
		return
	}
	r.only(n, "first", "open", "active", "create")
	rules.Backfill.First = First(r.word(n.Get("first"), string(FullFirst), string(FullFirst), string(GamesFirst),
		string(MatchesFirst)))
	const none = "none"
	if create := r.word(n.Get("create"), none, none, string(CreateShort), string(CreateAll)); create != none {
		rules.Backfill.Create = Create(create)
	}
	rules.Backfill.Open = r.bound(n.Get("open"), false)
	active := n.Get("active")
	if active != nil && active.Kind == document.Bool {
		rules.Backfill.Active = Fixed(truth(active.True))
		return
	}
	rules.Backfill.Active = r.bound(active, false)
	if active != nil && active.Kind == document.Object {
		if clock := active.Get("clock"); clock != nil {
			r.fail(clock, "there is none here: the time is the age of the game")
		}
	}
	if rules.Backfill.Active != nil {
		rules.Backfill.Active.Clock = Oldest
	}
}

func (c *checker) backfill() {
	if active := c.rules.Backfill.Active; active != nil && !active.isTruth() {
		c.add("backfill.active", "must be true or false, or that at any time, as {\"start\": true, \"steps\": [[9, false]]}")
	}
	open := c.rules.Backfill.Open
	if open == nil {
		return
	}
	c.count("backfill.open", Range{Max: open}, MaxPlayers)
	c.needed("backfill.open", Range{Max: open})
	if least, _, _ := open.Over(0, math.Inf(1)); least < 0 {
		c.add("backfill.open", "must not be negative")
	}
}

func backfillOf(b Backfill) object {
	o := object{}
	if b.First != FullFirst && b.First != "" {
		o.add("first", string(b.First))
	}
	o.bound("open", b.Open)
	if b.Active != nil {
		active := object{}
		if of, ok := boundOf(b.Active).(object); ok {
			for _, m := range of {
				if m.name != "clock" {
					active = append(active, m)
				}
			}
			o.add("active", active)
		} else {
			o.bound("active", b.Active)
		}
	}
	o.text("create", string(b.Create))
	return o
}
