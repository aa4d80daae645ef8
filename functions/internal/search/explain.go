package search

import (
	"matchmaker.dev/pkg/matchfn/rules"
)

// Reason is why a ticket is in no match.
type Reason struct {
	Ticket uint32
	Kind   Kind
	// Name is the name of the rule or of the value.
	Name string
	// Candidates is how many other tickets fit with it one by one, if it were not for the rule.
	Candidates int
	// Match is a match that there would be with the ticket if it were not for the rule, Join a running game that it would
	// join. They are nil if none was found; a reason has one of them at most.
	Match, Join *Match
	Of          rules.Kind
	// Looked is of how many other tickets Candidates are, where the work did not suffice to look at all; else 0.
	Looked int
	// Players is the number of players of a ticket that is too large; for TooFew, how many more are needed at least.
	Players int
	// Roles are the roles that too few players take: for any match with the ticket, and where players are too few of all.
	Roles []Lack
	// Soon is within how many seconds a nearer match is expected, for a ticket that waits.
	Soon float64
}

// Lack is a role that too few players take for a match.
type Lack struct {
	Name          string
	Takers, Needs int
}

// Kind is a kind of reason.
type Kind int

const (
	// RuleStops is a rule without which more tickets would fit, or a match or a game would be found. Roles have the name
	// roles, what the rules say of running games the names backfill.open and backfill.active.
	RuleStops Kind = iota
	// ValueMissing is a value that a player lacks.
	ValueMissing
	// OtherKind is a value that a player lacks, since what is said of it is of another kind. Of says of which it must be.
	OtherKind
	// Unreadable is a ticket whose players cannot be read.
	Unreadable
	// NoneAlone says that no rule alone keeps the ticket from a match or a game. Candidates are with all rules.
	NoneAlone
	// TooMuch says that a player of the ticket has a set or a map with more than MaxElements.
	TooMuch
	// Waits says that there is a match, and that the ticket waits for a nearer one.
	Waits
	// WorkEnded says that there is a match or a game, but the search ended before it.
	WorkEnded
	// Widens says that there is a match, or that a game takes the ticket, once bounds are as wide as they get with the
	// time. The name is size, copies or players.
	Widens
	// TooLarge is a ticket of more players than any team takes, or any match. The name says which: team or match.
	TooLarge
	// TooFew says that there are too few players for any match, whatever the rules. Candidates are with all rules.
	TooFew
	// RoleLacks says that too few players take some roles for any match with the ticket, of all tickets that could be
	// together with it.
	RoleLacks
	// Undecided says that no match was found with the ticket, and that the work did not suffice to say why. Candidates
	// are with all rules, -1 if unknown.
	Undecided
)

const (
	// mostReasons is how many reasons a ticket has.
	mostReasons = 16
	// olderAnchors is how many older tickets are tried as the anchor of a match with a ticket.
	olderAnchors = 16
	// mostGames is how many running games are tried, the oldest first.
	mostGames = 64
)

// Explain says of tickets why they are in none of the matches that were found, and join none of the running games
// without a new player. It leaves out one rule after the other, looks how many tickets fit with each one by one, and
// tries whether there is a match or a game. It does about so many steps of work, evenly for all: where these are too
// few, it looks at a sample of the other tickets, and says less.
func Explain(
	r *rules.Rules, source Source, games *Games, found []Match, asked []uint32, work int,
) (reasons []Reason) {
	p := read(r, source)
	if games == nil {
		games = &Games{}
	}
	if len(games.Running) > 0 {
		p.addMembers(games)
	}
	p.findRegions(games)
	e := &explainer{
		pool: p, games: games, filled: make([]bool, len(games.Running)), taken: make([]bool, p.tickets()), work: work,
	}
	for _, m := range found {
		if m.Game >= 0 {
			e.filled[m.Game] = true
		}
		for _, team := range m.Teams {
			for _, t := range team.Tickets {
				e.taken[t] = true
			}
		}
	}
	var open []uint32
	for _, t := range asked {
		if p.refused[t] {
			reasons = append(reasons, p.refusals(source, t)...)
		} else if e.taken[t] {
			continue
		} else if reason, large := tooLarge(r, t, p.size(t)); large {
			reasons = append(reasons, reason)
		} else {
			open = append(open, t)
		}
	}
	if len(open) == 0 {
		return reasons
	}
	all := variants(r, len(games.Running) > 0)
	e.sample(len(all) * len(open))
	examinations := make([][]examination, len(all))
	for i := range all {
		// With all rules it must look, and one rule that it looks at is more than all that it does not.
		share := max(e.work/(len(all)-i), min(e.work, 2*e.compiles()))
		examinations[i] = e.examineVariant(&all[i], open, share)
	}
	for i, t := range open {
		of := func(variant int) *examination { return &examinations[variant][i] }
		reasons = append(reasons, e.reasonsOf(t, all, of)...)
	}
	return reasons
}

// refusals are why no match can ever have a ticket.
func (p *pool) refusals(source Source, t uint32) (reasons []Reason) {
	switch p.unread[t] {
	case noList:
		return []Reason{{Ticket: t, Kind: Unreadable}}
	case large:
		return []Reason{{Ticket: t, Kind: TooMuch}}
	}
	for i := range p.columns {
		if c := &p.columns[i]; c.must && p.lacks(i, t) {
			reason := Reason{Ticket: t, Kind: ValueMissing, Name: c.value.From}
			if isOfOtherKind(source, t, c.value) {
				reason.Kind, reason.Of = OtherKind, c.value.Kind
			}
			reasons = append(reasons, reason)
		}
	}
	return reasons[:min(len(reasons), mostReasons)]
}

// lacks reports whether a player of a ticket lacks the value of a column, whatever the others of the party have.
func (p *pool) lacks(i int, t uint32) bool {
	c := p.originalColumn(i)
	for player := p.first[t]; player < p.first[t+1]; player++ {
		if c.missing(player) {
			return true
		}
	}
	return false
}
