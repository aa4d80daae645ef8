package block

import (
	"math"
	"slices"
)

// Answer is what a function proposed, checked completely. It views the block
// that it was read from and is valid for as long as that is unchanged.
type Answer struct {
	// Failure is why the function failed the run; there are no proposals then.
	Failure string

	teams     []uint32 // ends
	proposals []uint32 // ends; nil: every team is a proposal
	tickets   []uint32
	scores    []float64 // nil: all zero
	parts     []part
	data      []byte
}

// Len returns the number of proposals.
func (a *Answer) Len() int {
	if a.proposals == nil {
		return len(a.teams)
	}
	return len(a.proposals)
}

// Score returns the score of proposal p; it is finite.
func (a *Answer) Score(p int) float64 {
	if a.scores == nil {
		return 0
	}
	return a.scores[p]
}

// Teams returns the number of teams of proposal p, at least one.
func (a *Answer) Teams(p int) int {
	first, last := a.teamsOf(p)
	return last - first
}

// Team returns the numbers of the tickets of a team of proposal p; it may be empty.
func (a *Answer) Team(p, team int) []uint32 {
	first, _ := a.teamsOf(p)
	return a.span(first+team, first+team+1)
}

// Tickets returns the numbers of all tickets of proposal p, team by team: at
// least one, each once, each a ticket of the request.
func (a *Answer) Tickets(p int) []uint32 {
	return a.span(a.teamsOf(p))
}

// AllTickets returns the numbers of the tickets of all proposals, one proposal behind the other.
func (a *Answer) AllTickets() []uint32 { return a.tickets }

func (a *Answer) teamsOf(p int) (first, last int) {
	if a.proposals == nil {
		return p, p + 1
	}
	if p > 0 {
		first = int(a.proposals[p-1])
	}
	return first, int(a.proposals[p])
}

// end is where the tickets of proposal p end.
func (a *Answer) end(p int) uint32 {
	if a.proposals == nil {
		return a.teams[p]
	}
	if last := a.proposals[p]; last > 0 {
		return a.teams[last-1]
	}
	return 0
}

// span returns the tickets of the teams from first up to but without last.
func (a *Answer) span(first, last int) []uint32 {
	start, end := uint32(0), uint32(0)
	if first > 0 {
		start = a.teams[first-1]
	}
	if last > 0 {
		end = a.teams[last-1]
	}
	return a.tickets[start:end:end]
}

// Extras is what few proposals have. Texts are valid UTF-8 and empty when not
// said; JSON is a valid object, nil when not said, and views the answer.
type Extras struct {
	// TeamNames has a name for each team when any team has one.
	TeamNames            []string
	Connection           string
	Error                string
	AssignmentProperties []byte
	MatchProperties      []byte
	// TicketProperties is ordered by ticket.
	TicketProperties       []TicketProperties
	Region, Fleet, Profile string
	// Backfill is nil when the proposal touches no backfill ticket.
	Backfill *Backfill
}

// TicketProperties is a JSON object for one ticket of a proposal.
type TicketProperties struct {
	Ticket uint32
	JSON   []byte
}

// Backfill is a backfill ticket to create, or changes to one. What is not
// named stays as it is.
type Backfill struct {
	// Create asks for a new backfill ticket for the match's server. Otherwise
	// the tickets go to backfill ticket Number of the request, which must
	// still have the version that the request gave.
	Create bool
	Number uint32
	// Attributes to set, ordered by name; NaN removes one.
	Attributes []BackfillAttribute
	// Properties to set, ordered by name; they view the answer.
	Properties []BackfillProperty
	// Remove names the properties to remove.
	Remove []string
}

// BackfillAttribute is an attribute of a backfill ticket.
type BackfillAttribute struct {
	Name  string
	Value float64
}

// BackfillProperty is a property of a backfill ticket.
type BackfillProperty struct {
	Name  string
	Value []byte
}

// Extras returns what proposal p has besides tickets and score; nil, and
// without allocating, when it has nothing.
func (a *Answer) Extras(p int) *Extras {
	if len(a.parts) == 0 {
		return nil
	}
	return a.extras(p)
}

func (a *Answer) extras(p int) *Extras {
	first, _ := slices.BinarySearchFunc(a.parts, uint32(p), func(q part, p uint32) int {
		return int(int64(q.proposal) - int64(p))
	})
	var e *Extras
	for _, q := range a.parts[first:] {
		if q.proposal != uint32(p) {
			break
		}
		if e == nil {
			e = &Extras{}
		}
		name, value := q.text(a.data)
		e.set(q, string(name), value, a.Teams(p))
	}
	return e
}

func (e *Extras) set(q part, name string, value []byte, teams int) {
	switch q.field {
	case FieldTeamName:
		if e.TeamNames == nil {
			e.TeamNames = make([]string, teams)
		}
		e.TeamNames[q.subject] = string(value)
	case FieldConnection:
		e.Connection = string(value)
	case FieldError:
		e.Error = string(value)
	case FieldAssignmentProperties:
		e.AssignmentProperties = value
	case FieldMatchProperties:
		e.MatchProperties = value
	case FieldTicketProperties:
		e.TicketProperties = append(e.TicketProperties, TicketProperties{q.subject, value})
	case FieldRegion:
		e.Region = string(value)
	case FieldFleet:
		e.Fleet = string(value)
	case FieldProfile:
		e.Profile = string(value)
	case FieldBackfillCreate:
		e.Backfill = &Backfill{Create: true}
	case FieldBackfillUpdate:
		e.Backfill = &Backfill{Number: q.subject}
	case FieldBackfillAttribute:
		e.Backfill.Attributes = append(e.Backfill.Attributes, BackfillAttribute{name, math.Float64frombits(le.Uint64(value))})
	case FieldBackfillProperty:
		e.Backfill.Properties = append(e.Backfill.Properties, BackfillProperty{name, value})
	case FieldBackfillRemove:
		e.Backfill.Remove = append(e.Backfill.Remove, name)
	}
}

// text returns the name and the value of a part, which must have been checked.
func (q part) text(data []byte) (name, value []byte) {
	all := data[q.start : q.start+q.size : q.start+q.size]
	return all[:q.name:q.name], all[q.name:]
}
