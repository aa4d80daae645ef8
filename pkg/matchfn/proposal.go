package matchfn

import (
	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/internal/message"
)

// Proposal is a proposed match. Several proposals may use the same ticket: the one with the highest score wins, then
// the one with the oldest ticket. The others are dropped. A proposal needs at least one ticket.
//
// Its methods return it, so that calls can be chained.
type Proposal struct {
	run    *Run
	number int
}

// Propose proposes a match. Its score is compared with the scores of all configs of the project; it must be finite, and
// higher is better. The tickets are one team. For several teams, pass no tickets and call Team.
func (r *Run) Propose(score float64, tickets ...uint32) Proposal {
	return Proposal{r, r.out.Propose(score, tickets...)}
}

// Team adds a team; the name may be empty, and so may the team. Only the latest proposal can get teams.
func (p Proposal) Team(name string, tickets ...uint32) Proposal {
	if p.number != p.run.out.Len()-1 {
		p.run.fail(
			message.Errorf("team %q is added to proposal %d, but proposal %d is the latest", name, p.number, p.run.out.Len()-1))
		return p
	}
	team := p.run.out.Team(tickets...)
	if name != "" {
		p.set(block.FieldTeamName, uint32(team), "", []byte(name))
	}
	return p
}

// Connection is the address that the players connect to, instead of an allocated server's; at most 256 bytes.
func (p Proposal) Connection(address string) Proposal {
	return p.set(block.FieldConnection, 0, "", []byte(address))
}

// Error resolves the tickets with this assignment error, for example "PoolTimeout"; at most 4096 bytes.
func (p Proposal) Error(text string) Proposal {
	return p.set(block.FieldError, 0, "", []byte(text))
}

// MatchProperties is a JSON object for all players and the game server; at most 64 KiB.
func (p Proposal) MatchProperties(json []byte) Proposal {
	return p.set(block.FieldMatchProperties, 0, "", json)
}

// TicketProperties is a JSON object for one ticket of the proposal; at most 64 KiB.
func (p Proposal) TicketProperties(ticket uint32, json []byte) Proposal {
	return p.set(block.FieldTicketProperties, ticket, "", json)
}

// AssignmentProperties is the older form of MatchProperties: a JSON object that each ticket gets as its own.
func (p Proposal) AssignmentProperties(json []byte) Proposal {
	return p.set(block.FieldAssignmentProperties, 0, "", json)
}

// Region requests a game server in a region.
func (p Proposal) Region(region string) Proposal {
	return p.set(block.FieldRegion, 0, "", []byte(region))
}

// Fleet requests a game server of another fleet than the config's.
func (p Proposal) Fleet(fleet string) Proposal {
	return p.set(block.FieldFleet, 0, "", []byte(fleet))
}

// Profile requests a game server with another profile than the config's.
func (p Proposal) Profile(profile string) Proposal {
	return p.set(block.FieldProfile, 0, "", []byte(profile))
}

// Measure says how good the match is, for people: the gap between its teams, or how probably the better one wins.
// Events, metrics and "mm report" tell it of matches that were made. A proposal has up to 8 measures; a name has 1 to
// 64 bytes, and the value is finite.
func (p Proposal) Measure(name string, value float64) Proposal {
	p.run.out.SetNumber(p.number, block.FieldMeasure, 0, name, value)
	return p
}

// CreateBackfill creates a backfill ticket for the match's server, so that it gets more players from the start.
func (p Proposal) CreateBackfill() Backfill {
	p.set(block.FieldBackfillCreate, 0, "", nil)
	return Backfill{p}
}

// UpdateBackfill gives the tickets to a backfill ticket: they join its server instead of an allocated one.
func (p Proposal) UpdateBackfill(number uint32) Backfill {
	p.set(block.FieldBackfillUpdate, number, "", nil)
	return Backfill{p}
}

// Backfill changes the backfill ticket that a proposal creates or updates. What it does not change stays the same.
type Backfill struct{ proposal Proposal }

// Attribute sets an attribute; NaN removes it.
func (b Backfill) Attribute(name string, value float64) Backfill {
	b.proposal.run.out.SetNumber(b.proposal.number, block.FieldBackfillAttribute, 0, name, value)
	return b
}

// Property sets a property; at most 64 KiB.
func (b Backfill) Property(name string, value []byte) Backfill {
	b.proposal.set(block.FieldBackfillProperty, 0, name, value)
	return b
}

// Remove removes a property.
func (b Backfill) Remove(name string) Backfill {
	b.proposal.set(block.FieldBackfillRemove, 0, name, nil)
	return b
}

func (p Proposal) set(field block.Field, subject uint32, name string, value []byte) Proposal {
	p.run.out.Set(p.number, field, subject, name, value)
	return p
}
