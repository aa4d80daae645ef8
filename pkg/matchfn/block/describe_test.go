package block_test

import (
	"math"
	"strconv"

	"matchmaker.dev/pkg/matchfn/block"
)

// The descriptions of vectors. null is a missing value, bytes are Base64, and 64-bit integers are strings, because many
// JSON readers round them.

type requestDescription struct {
	Refused   string              `json:"refused,omitempty"`
	Now       string              `json:"now,omitempty"`
	Seed      string              `json:"seed,omitempty"`
	Budget    uint32              `json:"budget,omitempty"`
	Config    string              `json:"config,omitempty"`
	Created   []*float64          `json:"created,omitempty"`
	Wait      []*float64          `json:"wait,omitempty"`
	Columns   *columnsDescription `json:"tickets,omitempty"`
	Backfills *columnsDescription `json:"backfills,omitempty"`

	// Players is there if the request has a section about players.
	Players *playersDescription `json:"players,omitempty"`

	// Roster is there if the request has a section about players in games.
	Roster *rosterDescription `json:"backfillPlayers,omitempty"`

	// Asked are the numbers of the tickets that the function is asked about.
	Asked []uint32 `json:"asked,omitempty"`

	LeftOutAttributes int `json:"leftOutAttributes,omitempty"`
	LeftOutProperties int `json:"leftOutProperties,omitempty"`
}

type columnsDescription struct {
	Count      int                     `json:"count"`
	Created    []*float64              `json:"created,omitempty"`
	Version    []string                `json:"version,omitempty"`
	Connection [][]byte                `json:"connection,omitempty"`
	Attributes []namedColumn[*float64] `json:"attributes,omitempty"`
	Properties []namedColumn[[]byte]   `json:"properties,omitempty"`
	Pools      []namedColumn[uint32]   `json:"pools,omitempty"`
}

// playersDescription is the players of all tickets. Starts has the first player of each ticket and then their number.
type playersDescription struct {
	Starts     []uint32                `json:"starts"`
	Handles    []string                `json:"handles,omitempty"`
	IDs        [][]byte                `json:"ids,omitempty"`
	Attributes []namedColumn[*float64] `json:"attributes,omitempty"`
	Properties []namedColumn[[]byte]   `json:"properties,omitempty"`
}

// rosterDescription is the players in all games. Starts has the first player of each and then their number. Barred are
// pairs of a backfill ticket and a ticket.
type rosterDescription struct {
	Starts     []uint32                `json:"starts"`
	Handles    []string                `json:"handles,omitempty"`
	IDs        [][]byte                `json:"ids,omitempty"`
	Teams      [][]byte                `json:"teams,omitempty"`
	Roles      [][]byte                `json:"roles,omitempty"`
	Attributes []namedColumn[*float64] `json:"attributes,omitempty"`
	Barred     []uint32                `json:"barred,omitempty"`
}

type namedColumn[T any] struct {
	Name   string `json:"name"`
	Values []T    `json:"values"`
}

func describeRequest(b []byte) requestDescription {
	r, err := block.ParseRequest(b)
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return requestDescription{Refused: err.Error()}
	}
	d := requestDescription{
		Now: strconv.FormatInt(r.Now, 10), Seed: strconv.FormatUint(r.Seed, 10), Budget: r.Budget,
		Config: string(r.Config), Created: nullable(r.Created), Wait: nullable(r.Wait),
		Columns: &columnsDescription{
			Count:      r.Tickets,
			Attributes: attributes(r, block.KindAttribute),
			Properties: properties(r, block.KindProperty),
			Pools:      pools(r, block.KindPool),
		},
		LeftOutAttributes: r.LeftOutAttributes, LeftOutProperties: r.LeftOutProperties,
	}
	d.Players, d.Roster, d.Asked = describePlayers(r), describeRoster(r), r.Asked
	if r.Backfills > 0 {
		d.Backfills = &columnsDescription{
			Count:      r.Backfills,
			Created:    nullable(r.BackfillCreated),
			Connection: connections(r),
			Attributes: attributes(r, block.KindBackfillAttribute),
			Properties: properties(r, block.KindBackfillProperty),
			Pools:      pools(r, block.KindBackfillPool),
		}
		for _, v := range r.BackfillVersion {
			d.Backfills.Version = append(d.Backfills.Version, strconv.FormatInt(v, 10))
		}
	}
	return d
}

func describePlayers(r *block.Request) *playersDescription {
	ids, hasIDs := r.Values(block.KindPlayerID, "")
	d := &playersDescription{
		Starts: r.PlayerStarts, IDs: present(ids),
		Attributes: attributes(r, block.KindPlayerAttribute),
		Properties: properties(r, block.KindPlayerProperty),
	}
	for _, h := range r.PlayerHandles {
		d.Handles = append(d.Handles, strconv.FormatUint(h, 10))
	}
	if len(d.Starts) == 0 && len(d.Handles) == 0 && !hasIDs && len(d.Attributes)+len(d.Properties) == 0 {
		return nil
	}
	for ticket := len(d.Starts); ticket <= r.Tickets; ticket++ {
		d.Starts = append(d.Starts, uint32(ticket)) // each has one
	}
	return d
}

func describeRoster(r *block.Request) *rosterDescription {
	if r.BackfillPlayerStarts == nil {
		return nil
	}
	ids, _ := r.Values(block.KindBackfillPlayerID, "")
	teams, _ := r.Values(block.KindBackfillPlayerTeam, "")
	roles, _ := r.Values(block.KindBackfillPlayerRole, "")
	d := &rosterDescription{
		Starts: r.BackfillPlayerStarts, IDs: present(ids), Teams: present(teams), Roles: present(roles),
		Attributes: attributes(r, block.KindBackfillPlayerAttribute), Barred: r.BackfillBarred,
	}
	for _, h := range r.BackfillPlayerHandles {
		d.Handles = append(d.Handles, strconv.FormatUint(h, 10))
	}
	return d
}

func attributes(r *block.Request, kind uint32) (out []namedColumn[*float64]) {
	for name := range r.Names(kind) {
		values, _ := r.Numbers(kind, name)
		out = append(out, namedColumn[*float64]{name, nullable(values)})
	}
	return out
}

func properties(r *block.Request, kind uint32) (out []namedColumn[[]byte]) {
	for name := range r.Names(kind) {
		values, _ := r.Values(kind, name)
		out = append(out, namedColumn[[]byte]{name, present(values)})
	}
	return out
}

func pools(r *block.Request, kind uint32) (out []namedColumn[uint32]) {
	for name := range r.Names(kind) {
		values, _ := r.Members(kind, name)
		out = append(out, namedColumn[uint32]{name, values})
	}
	return out
}

func connections(r *block.Request) [][]byte {
	values, _ := r.Values(block.KindBackfillConnection, "")
	return present(values)
}

func nullable(values []float64) []*float64 {
	var out []*float64
	for _, v := range values {
		if math.IsNaN(v) {
			out = append(out, nil)
		} else {
			out = append(out, &v)
		}
	}
	return out
}

func present(values block.Values) [][]byte {
	var out [][]byte
	for i := range values.Len() {
		v, ok := values.At(i)
		if ok && v == nil {
			v = []byte{}
		}
		out = append(out, v)
	}
	return out
}

type answerDescription struct {
	// Tickets and Backfills come from the request.
	Tickets   int                   `json:"tickets"`
	Backfills int                   `json:"backfills"`
	Refused   string                `json:"refused,omitempty"`
	Failure   string                `json:"failure,omitempty"`
	Proposals []proposalDescription `json:"proposals,omitempty"`
	// Explanations say why tickets are in no match.
	Explanations []explanationDescription `json:"explanations,omitempty"`
}

// explanationDescription is an explanation; Candidates is -1 if it names none.
type explanationDescription struct {
	Ticket     uint32 `json:"ticket"`
	Reason     string `json:"reason"`
	Candidates int    `json:"candidates"`
}

type proposalDescription struct {
	Score                float64           `json:"score"`
	Teams                [][]uint32        `json:"teams"`
	TeamNames            []string          `json:"teamNames,omitempty"`
	Connection           string            `json:"connection,omitempty"`
	Error                string            `json:"error,omitempty"`
	AssignmentProperties string            `json:"assignmentProperties,omitempty"`
	MatchProperties      string            `json:"matchProperties,omitempty"`
	TicketProperties     map[uint32]string `json:"ticketProperties,omitempty"`
	Region               string            `json:"region,omitempty"`
	Fleet                string            `json:"fleet,omitempty"`
	Profile              string            `json:"profile,omitempty"`
	Backfill             *backfill         `json:"backfill,omitempty"`

	Measures map[string]float64 `json:"measures,omitempty"`
}

type backfill struct {
	Create     bool                `json:"create"`
	Number     uint32              `json:"number"`
	Attributes map[string]*float64 `json:"attributes,omitempty"`
	Properties map[string][]byte   `json:"properties,omitempty"`
	Remove     []string            `json:"remove,omitempty"`
}

func describeAnswer(b []byte, tickets, backfills int) answerDescription {
	d := answerDescription{Tickets: tickets, Backfills: backfills}
	a, err := block.ParseAnswer(b, tickets, backfills)
	if err != nil {
		d.Refused = err.Error()
		return d
	}
	d.Failure = a.Failure
	for _, e := range a.Explanations() {
		d.Explanations = append(d.Explanations, explanationDescription{e.Ticket, e.Reason, e.Candidates})
	}
	for p := range a.Len() {
		out := proposalDescription{Score: a.Score(p)}
		for team := range a.Teams(p) {
			out.Teams = append(out.Teams, append([]uint32{}, a.Team(p, team)...))
		}
		if e := a.Extras(p); e != nil {
			out.extras(e)
		}
		d.Proposals = append(d.Proposals, out)
	}
	return d
}

func (d *proposalDescription) extras(e *block.Extras) {
	d.TeamNames, d.Connection, d.Error = e.TeamNames, e.Connection, e.Error
	d.AssignmentProperties, d.MatchProperties = string(e.AssignmentProperties), string(e.MatchProperties)
	d.Region, d.Fleet, d.Profile = e.Region, e.Fleet, e.Profile
	if len(e.TicketProperties) > 0 {
		d.TicketProperties = map[uint32]string{}
	}
	for _, p := range e.TicketProperties {
		d.TicketProperties[p.Ticket] = string(p.JSON)
	}
	if len(e.Measures) > 0 {
		d.Measures = map[string]float64{}
	}
	for _, m := range e.Measures {
		d.Measures[m.Name] = m.Value
	}
	if e.Backfill == nil {
		return
	}
	d.Backfill = &backfill{
		Create:     e.Backfill.Create,
		Number:     e.Backfill.Number,
		Attributes: map[string]*float64{},
		Properties: map[string][]byte{},
		Remove:     e.Backfill.Remove,
	}
	for _, a := range e.Backfill.Attributes {
		d.Backfill.Attributes[a.Name] = nullable([]float64{a.Value})[0]
	}
	for _, p := range e.Backfill.Properties {
		d.Backfill.Properties[p.Name] = append([]byte{}, p.Value...)
	}
}

func connectionOf(r *block.Request, backfill int) ([]byte, bool) {
	values, _ := r.Values(block.KindBackfillConnection, "")
	return values.At(backfill)
}
