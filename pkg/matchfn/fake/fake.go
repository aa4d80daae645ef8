// Package fake runs match functions in Go tests without WebAssembly. It builds a request, runs the function on it, and
// checks the answer as a runner does. Requests and answers have the real format.
package fake

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Request is the input of a function. All fields are optional.
type Request struct {
	// Now is the time of the run. The default is the first of January 2030.
	Now time.Time
	// Seed is the seed of Run.Rand.
	Seed uint64
	// Budget is what the function may take, which Run.Budget says. The default is 5 seconds.
	Budget time.Duration
	// Settings is the config's settings, a JSON object.
	Settings string
	// Tickets are numbered by their position.
	Tickets []Ticket
	// Pools lists the tickets of each pool by number. A request has no pools by default.
	Pools map[string][]uint32
	// Backfills are numbered by their position.
	Backfills []Backfill
	// BackfillPools lists the backfill tickets of each pool by number.
	BackfillPools map[string][]uint32
	// Asked are the numbers of the tickets that the function is asked about, ascending: see [Explain].
	Asked []uint32

	base *block.Base
	gone []uint32
}

// Ticket is a waiting ticket.
type Ticket struct {
	// Wait is how long it has waited, to the millisecond.
	Wait       time.Duration
	Attributes map[string]float64
	Properties map[string][]byte
	// Players are the ticket's players. Without any it has one, which is in no other ticket and has no id.
	Players []Player
}

// Player is a player of a ticket.
type Player struct {
	ID         string
	Attributes map[string]float64
	Properties map[string][]byte
}

// Backfill is a backfill ticket.
type Backfill struct {
	Ticket
	Version int64
	// Connection is empty while the server is being allocated.
	Connection string
	// Roster has the players in the game. The players of the Ticket are not used.
	Roster []RosterPlayer
}

// RosterPlayer is a player in a running game.
type RosterPlayer struct {
	ID, Team, Role string
	Attributes     map[string]float64
}

// Proposal is one proposal of the answer.
type Proposal struct {
	Score float64
	Teams [][]uint32
	// Extras is nil if the proposal has nothing else.
	Extras *block.Extras
}

// Tickets returns the tickets of all teams.
func (p Proposal) Tickets() []uint32 { return slices.Concat(p.Teams...) }

// Run runs a function and returns its proposals in their order. The error is the function's own, or says why a runner
// would refuse the answer. As in a runner, the function gets only what its manifest and [matchfn.ColumnsOf] name.
func Run(f *matchfn.Function, r Request) ([]Proposal, error) {
	a, err := answer(f, r)
	if err != nil {
		return nil, err
	}
	proposals := make([]Proposal, a.Len())
	for p := range proposals {
		proposals[p] = Proposal{Score: a.Score(p), Extras: a.Extras(p)}
		for t := range a.Teams(p) {
			proposals[p].Teams = append(proposals[p].Teams, a.Team(p, t))
		}
	}
	return proposals, nil
}

// Explain runs a function and returns what it says of the tickets that the request asks about.
func Explain(f *matchfn.Function, r Request) ([]block.Explanation, error) {
	a, err := answer(f, r)
	if err != nil {
		return nil, err
	}
	return a.Explanations(), nil
}

// answer is the answer to a request.
func answer(f *matchfn.Function, r Request) (*block.Answer, error) {
	named, err := f.Columns([]byte(r.Settings))
	if err != nil {
		return nil, err
	}
	request, err := Encode(r, f.Manifest().With(named))
	if err != nil {
		return nil, err
	}
	first := cmp.Or(r.base, new(block.Base)).First
	a, err := block.ParseAnswer(slices.Clone(f.Answer(request)), first+len(r.Tickets), len(r.Backfills))
	if err != nil {
		return nil, err
	}
	if a.Failure != "" {
		return nil, errors.New(a.Failure)
	}
	return a, nil
}

// Encode writes the request in the format of package block, with the columns that the manifest names. It fails on
// requests that no runner would send.
func Encode(r Request, m block.Manifest) ([]byte, error) {
	if r.Now.IsZero() {
		r.Now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	r.Budget = cmp.Or(r.Budget, 5*time.Second)
	var b block.RequestBuilder
	b.Start(block.Meta{
		Now: r.Now.UnixMilli(), Seed: r.Seed, Budget: uint32(r.Budget.Milliseconds()), Tickets: len(r.Tickets),
		Backfills: len(r.Backfills),
	})
	b.Config([]byte(r.Settings))
	settings, _ := document.Parse([]byte(r.Settings)) // what cannot be parsed names nothing
	if r.base != nil {
		b.Base(*r.base, r.gone)
	}
	copy(b.Created(), created(r.Now, r.Tickets))
	if !m.EveryAttribute() {
		m.Attributes = named(settings, m.Attributes, m.AttributeSettings)
	}
	if !m.EveryProperty() {
		m.Properties = named(settings, m.Properties, m.PropertySettings)
	}
	columns(&b, r.Tickets, m, block.KindAttribute, block.KindProperty)
	if m.Players != nil {
		players(&b, r, settings, m.Players)
	}
	pools(&b, r.Pools, block.KindPool)
	if len(r.Backfills) > 0 {
		tickets := make([]Ticket, len(r.Backfills))
		for i, backfill := range r.Backfills {
			tickets[i] = backfill.Ticket
		}
		copy(b.Numbers(block.KindBackfillCreated, ""), created(r.Now, tickets))
		versions := b.BackfillVersion()
		for i, backfill := range r.Backfills {
			versions[i] = backfill.Version
		}
		b.Values(block.KindBackfillConnection, "", func(i int) ([]byte, bool) {
			return []byte(r.Backfills[i].Connection), r.Backfills[i].Connection != ""
		})
		columns(&b, tickets, m, block.KindBackfillAttribute, block.KindBackfillProperty)
		if m.Players != nil && m.Players.Backfills {
			roster(&b, r, settings, m.Players)
		}
	}
	pools(&b, r.BackfillPools, block.KindBackfillPool)
	if len(r.Asked) > 0 {
		copy(b.Asked(len(r.Asked)), r.Asked)
	}
	request, err := b.Finish()
	if err != nil {
		return nil, err
	}
	parsed, err := block.ParseRequest(request)
	if err != nil {
		return nil, err
	}
	if err := parsed.Check(); err != nil {
		return nil, fmt.Errorf("fake request: %w", err)
	}
	return request, nil
}

// named returns names and those that settings name.
func named(settings *document.Node, names, paths []string) []string {
	return append(append([]string{}, names...), block.Named(settings, paths)...)
}

// players writes the players of tickets.
func players(b *block.RequestBuilder, r Request, settings *document.Node, m *block.PlayerManifest) {
	first := cmp.Or(r.base, new(block.Base)).First
	var all []Ticket // one for each player, to write its columns
	var handles []uint64
	var starts []uint32
	idBytes, some := 0, false
	for i, t := range r.Tickets {
		starts = append(starts, uint32(len(all)))
		if len(t.Players) == 0 {
			all, handles = append(all, Ticket{}), append(handles, uint64(first+i))
			continue
		}
		some = true
		for k, p := range t.Players {
			handle := handleOf(p.ID)
			if p.ID == "" {
				handle = uint64(first+i)<<32 + uint64(k+1)
			}
			handles = append(handles, handle)
			all = append(all, Ticket{Attributes: p.Attributes, Properties: p.Properties})
			idBytes += len(p.ID)
		}
	}
	if len(all) > len(r.Tickets) {
		copy(b.Players(len(all)), append(starts, uint32(len(all))))
	}
	if m.Handles {
		copy(b.Handles(block.KindPlayerHandle), handles)
	}
	if m.IDs || block.Has(settings, m.IDSettings) {
		ids := b.Texts(block.KindPlayerID, idBytes)
		for i, t := range r.Tickets {
			for k, p := range t.Players {
				ids.Set(int(starts[i])+k, p.ID)
			}
		}
	}
	if !some {
		return
	}
	columns(b, all, block.Manifest{
		Attributes: named(settings, m.Attributes, m.AttributeSettings),
		Properties: named(settings, m.Properties, m.PropertySettings),
	}, block.KindPlayerAttribute, block.KindPlayerProperty)
}

// roster writes the players in running games.
func roster(b *block.RequestBuilder, r Request, settings *document.Node, m *block.PlayerManifest) {
	var all []RosterPlayer
	var starts []uint32
	for _, backfill := range r.Backfills {
		starts = append(starts, uint32(len(all)))
		all = append(all, backfill.Roster...)
	}
	if len(all) == 0 {
		return
	}
	copy(b.BackfillPlayers(len(all)), append(starts, uint32(len(all))))
	values := func(kind uint32, of func(*RosterPlayer) string) {
		b.Values(kind, "", func(i int) ([]byte, bool) { return []byte(of(&all[i])), of(&all[i]) != "" })
	}
	values(block.KindBackfillPlayerTeam, func(p *RosterPlayer) string { return p.Team })
	values(block.KindBackfillPlayerRole, func(p *RosterPlayer) string { return p.Role })
	if pairs := barred(r); len(pairs) > 0 {
		copy(b.BackfillBarred(len(pairs)/2), pairs)
	}
	if m.Handles {
		handles := b.Handles(block.KindBackfillPlayerHandle)
		for i, p := range all {
			handles[i] = handleOf(p.ID)
		}
	}
	if m.IDs || block.Has(settings, m.IDSettings) {
		values(block.KindBackfillPlayerID, func(p *RosterPlayer) string { return p.ID })
	}
	tickets := make([]Ticket, len(all))
	for i, p := range all {
		tickets[i].Attributes = p.Attributes
	}
	columns(b, tickets, block.Manifest{
		Attributes: named(settings, m.Attributes, m.AttributeSettings),
	}, block.KindBackfillPlayerAttribute, 0)
}

// barred are the tickets that must not join games, as pairs. In a crowd they are the new ones.
func barred(r Request) (pairs []uint32) {
	first := cmp.Or(r.base, new(block.Base)).First
	for game, backfill := range r.Backfills {
		for ticket, t := range r.Tickets {
			if slices.ContainsFunc(t.Players, func(p Player) bool {
				return p.ID != "" && slices.ContainsFunc(backfill.Roster, func(in RosterPlayer) bool { return in.ID == p.ID })
			}) {
				pairs = append(pairs, uint32(game), uint32(first+ticket))
			}
		}
	}
	return pairs
}

// handleOf is the handle of a player with an id.
func handleOf(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

func created(now time.Time, tickets []Ticket) []float64 {
	at := make([]float64, len(tickets))
	for i, t := range tickets {
		at[i] = float64(now.Add(-t.Wait).UnixMilli())
	}
	return at
}

// columns writes the attributes and properties that a ticket has and the manifest names, sorted by name.
func columns(b *block.RequestBuilder, tickets []Ticket, m block.Manifest, attribute, property uint32) {
	attributes, properties := map[string]bool{}, map[string]bool{}
	for _, t := range tickets {
		for name := range t.Attributes {
			if m.EveryAttribute() || slices.Contains(m.Attributes, name) {
				attributes[name] = true
			}
		}
		for name := range t.Properties {
			if m.EveryProperty() || slices.Contains(m.Properties, name) {
				properties[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		values := b.Numbers(attribute, name)
		for i, t := range tickets {
			values[i] = math.NaN()
			if v, ok := t.Attributes[name]; ok {
				values[i] = v
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		b.Values(property, name, func(i int) ([]byte, bool) {
			value, ok := tickets[i].Properties[name]
			return value, ok
		})
	}
}

func pools(b *block.RequestBuilder, pools map[string][]uint32, kind uint32) {
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		numbers := b.Members(kind, name, len(pools[name]))
		copy(numbers, pools[name])
		slices.Sort(numbers)
	}
}
