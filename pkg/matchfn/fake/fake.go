// Package fake runs match functions in Go tests without WebAssembly. It builds a request, runs the function on it, and
// checks the answer as a runner does. Requests and answers have the real format.
package fake

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
)

// Request is the input of a function. All fields are optional.
type Request struct {
	// Now is the time of the run. The default is the first of January 2030.
	Now time.Time
	// Seed is the seed of Run.Rand.
	Seed uint64
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

	base *block.Base
	gone []uint32
}

// Ticket is a waiting ticket.
type Ticket struct {
	// Wait is how long it has waited, to the millisecond.
	Wait       time.Duration
	Attributes map[string]float64
	Properties map[string][]byte
}

// Backfill is a backfill ticket.
type Backfill struct {
	Ticket
	Version int64
	// Connection is empty while the server is being allocated.
	Connection string
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
// would refuse the answer. As in a runner, the function gets only what its manifest names.
func Run(f *matchfn.Function, r Request) ([]Proposal, error) {
	request, err := Encode(r, f.Manifest())
	if err != nil {
		return nil, err
	}
	first := 0
	if r.base != nil {
		first = r.base.First
	}
	a, err := block.ParseAnswer(slices.Clone(f.Answer(request)), first+len(r.Tickets), len(r.Backfills))
	if err != nil {
		return nil, err
	}
	if a.Failure != "" {
		return nil, errors.New(a.Failure)
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

// Encode writes the request in the format of package block, with the columns that the manifest names. It fails on
// requests that no runner would send.
func Encode(r Request, m block.Manifest) ([]byte, error) {
	if r.Now.IsZero() {
		r.Now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	var b block.RequestBuilder
	b.Start(
		block.Meta{Now: r.Now.UnixMilli(), Seed: r.Seed, Budget: 5000, Tickets: len(r.Tickets), Backfills: len(r.Backfills)})
	b.Config([]byte(r.Settings))
	if r.base != nil {
		b.Base(*r.base, r.gone)
	}
	copy(b.Created(), created(r.Now, r.Tickets))
	m.Attributes = slices.Concat(m.Attributes, block.Named([]byte(r.Settings), m.AttributeSettings))
	m.Properties = slices.Concat(m.Properties, block.Named([]byte(r.Settings), m.PropertySettings))
	columns(r.Tickets, m, b.Attribute, b.Property)
	pools(r.Pools, b.Pool)
	if len(r.Backfills) > 0 {
		tickets := make([]Ticket, len(r.Backfills))
		for i, backfill := range r.Backfills {
			tickets[i] = backfill.Ticket
		}
		copy(b.BackfillCreated(), created(r.Now, tickets))
		versions := b.BackfillVersion()
		for i, backfill := range r.Backfills {
			versions[i] = backfill.Version
		}
		b.BackfillConnection(func(i int) ([]byte, bool) {
			return []byte(r.Backfills[i].Connection), r.Backfills[i].Connection != ""
		})
		columns(tickets, m, b.BackfillAttribute, b.BackfillProperty)
	}
	pools(r.BackfillPools, b.BackfillPool)
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

func created(now time.Time, tickets []Ticket) []float64 {
	at := make([]float64, len(tickets))
	for i, t := range tickets {
		at[i] = float64(now.Add(-t.Wait).UnixMilli())
	}
	return at
}

// columns writes the attributes and properties that a ticket has and the manifest names, sorted by name.
func columns(tickets []Ticket, m block.Manifest, attribute func(string) []float64,
	property func(string, func(int) ([]byte, bool))) {
	attributes, properties := map[string]bool{}, map[string]bool{}
	for _, t := range tickets {
		for name := range t.Attributes {
			if m.EveryAttribute || slices.Contains(m.Attributes, name) {
				attributes[name] = true
			}
		}
		for name := range t.Properties {
			if m.EveryProperty || slices.Contains(m.Properties, name) {
				properties[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		values := attribute(name)
		for i, t := range tickets {
			values[i] = math.NaN()
			if v, ok := t.Attributes[name]; ok {
				values[i] = v
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property(name, func(i int) ([]byte, bool) {
			value, ok := tickets[i].Properties[name]
			return value, ok
		})
	}
}

func pools(pools map[string][]uint32, pool func(string, int) []uint32) {
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		numbers := pool(name, len(pools[name]))
		copy(numbers, pools[name])
		slices.Sort(numbers)
	}
}
