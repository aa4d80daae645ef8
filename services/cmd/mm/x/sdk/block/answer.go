package block

import (
	"math"
	"slices"
)

// Answer is a function's answer, completely checked. It is a view of the block that it was read from, and valid as long
// as that does not change.
type Answer struct {
	// Failure is why the function failed the run. There are no proposals then.
	Failure string

	teams     []uint32 // ends
	proposals []uint32 // ends; nil: every team is a proposal
	tickets   []uint32
	scores    []float64 // nil: all zero
	parts     []part
	data      []byte

	explanations []explanation
	reasons      []byte // the texts of the explanations
	columns      []byte // what Columns returns, not checked
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

// Tickets returns the numbers of all tickets of proposal p, team by team. There is at least one, no duplicate, and each
// is a ticket of the request.
func (a *Answer) Tickets(p int) []uint32 {
	return a.span(a.teamsOf(p))
}

// AllTickets returns the numbers of the tickets of all proposals in order.
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

// span returns the tickets of teams first to last-1.
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

// Extras are the parts of a proposal besides its tickets and its score. Texts are valid UTF-8, empty if absent. JSON is
// a valid object, nil if absent, and a view of the answer.
type Extras struct {
	// TeamNames has an element for each team if any team has a name.
	TeamNames            []string
	Connection           string
	Error                string
	AssignmentProperties []byte
	MatchProperties      []byte
	// TicketProperties is sorted by ticket.
	TicketProperties       []TicketProperties
	Region, Fleet, Profile string
	// Backfill is nil if the proposal neither creates nor changes a backfill ticket.
	Backfill *Backfill
	// Measures are sorted by name, and finite.
	Measures []Measure
}

// Measure is a number that says how good a match is.
type Measure struct {
	Name  string
	Value float64
}

// TicketProperties is a JSON object for one ticket of a proposal.
type TicketProperties struct {
	Ticket uint32
	JSON   []byte
}

// Backfill creates or changes a backfill ticket. What it does not name stays the same.
type Backfill struct {
	// Create creates a backfill ticket for the match's server. Otherwise the tickets go to backfill ticket Number of the
	// request, if that still has the version of the request.
	Create bool
	Number uint32
	// Attributes to set, sorted by name. NaN removes one.
	Attributes []BackfillAttribute
	// Properties to set, sorted by name. They are views of the answer.
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

// Extras returns what proposal p has besides tickets and score. If it has nothing, Extras returns nil and does not
// allocate.
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
	case FieldMeasure:
		e.Measures = append(e.Measures, Measure{name, math.Float64frombits(le.Uint64(value))})
	}
}

// text returns the name and the value of a part that was checked.
func (q part) text(data []byte) (name, value []byte) {
	all := data[q.start : q.start+q.size : q.start+q.size]
	return all[:q.name:q.name], all[q.name:]
}
