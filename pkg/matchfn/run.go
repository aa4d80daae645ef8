package matchfn

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/internal/message"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Run is one run of a function: its tickets and its proposals. It is for one goroutine and must not be used after the
// function has returned.
type Run struct {
	in       *block.Request
	out      *block.AnswerBuilder
	manifest *block.Manifest
	naming   *naming
	rand     *rand.Rand
	missing  []float64
	// named are the attributes and the properties that settings name; nil until they are needed.
	named map[string][]string
	// explained is how many reasons tickets have; nil until one has.
	explained map[uint32]int
	err       error
}

// Tickets returns the number of tickets. If the config has pools, each ticket is in at least one.
func (r *Run) Tickets() int { return r.in.Tickets }

// Created returns the tickets' creation times in Unix milliseconds.
func (r *Run) Created() []float64 { return r.in.Created }

// Wait returns how long the tickets have waited, in seconds, never negative.
func (r *Run) Wait() []float64 { return r.in.Wait }

// Attribute returns the column of an attribute, with NaN for tickets without it. It is all NaN if no ticket has the
// attribute. "created" is an attribute.
func (r *Run) Attribute(name string) []float64 {
	if name == "created" {
		return r.in.Created
	}
	r.declaredAttribute(name)
	return r.numbers(block.KindAttribute, name, r.in.Tickets)
}

// Attributes returns the names of the attributes in the request, without "created".
func (r *Run) Attributes() []string { return slices.Collect(r.in.Names(block.KindAttribute)) }

// LeftOut returns how many attributes and how many properties the tickets and backfill tickets have that are not in the
// request, at least. It is 0 for a function that declares what it reads.
func (r *Run) LeftOut() (attributes, properties int) {
	return r.in.LeftOutAttributes, r.in.LeftOutProperties
}

// Properties returns the names of the properties in the request.
func (r *Run) Properties() []string { return slices.Collect(r.in.Names(block.KindProperty)) }

// Property returns the column of an opaque property.
func (r *Run) Property(name string) Property {
	r.declaredProperty(name)
	return r.values(block.KindProperty, name)
}

// Property is a column of opaque values.
type Property struct{ values block.Values }

// Of returns the value of a ticket or backfill ticket, and whether it has one. The value is a view of the request.
func (p Property) Of(number uint32) ([]byte, bool) { return p.values.At(int(number)) }

// Any reports whether there may be values: false says that there is none.
func (p Property) Any() bool { return p.values.Len() > 0 }

// Pools returns the names of the config's pools, ascending.
func (r *Run) Pools() []string { return slices.Sorted(r.in.Names(block.KindPool)) }

// Pool returns the numbers of a pool's tickets, ascending. A ticket may be in several pools. A name that the config
// does not have fails the run; the result is empty.
func (r *Run) Pool(name string) []uint32 {
	tickets, ok := r.in.Members(block.KindPool, name)
	if !ok {
		r.fail(message.Errorf("the config has no pool %q, only %s", name, list(r.Pools())))
	}
	return tickets
}

// Config returns the config's settings as JSON, empty if it has none. See [Run.Settings], and package settings to
// decode them into a struct.
func (r *Run) Config() []byte { return r.in.Config }

// Settings reads single settings.
func (r *Run) Settings() *Settings { return NewSettings(r.in.Config) }

// Now returns the time of the run.
func (r *Run) Now() time.Time { return time.UnixMilli(r.in.Now).UTC() }

// Budget returns how long the run may take. After that it is killed and its proposals are lost.
func (r *Run) Budget() time.Duration { return time.Duration(r.in.Budget) * time.Millisecond }

// Rand returns the run's source of random numbers, always the same one. The request has its seed, so that a run can be
// repeated.
func (r *Run) Rand() *rand.Rand {
	if r.rand == nil {
		r.rand = rand.New(rand.NewPCG(r.in.Seed, 0)) //nolint:gosec // reproducible, no secret
	}
	return r.rand
}

// Log writes a line to the function's log, natively to standard output: the arguments, separated by spaces. It prints
// strings, []byte as text, errors, booleans, numbers, []uint32, []float64, []string, and types with a String method.
// Package fmt can print more, but makes the module half as large again.
func (r *Run) Log(args ...any) { output(message.Sprint(args...) + "\n") }

// Backfills returns the number of backfill tickets: servers whose games need more players. They are numbered from 0, as
// tickets are.
func (r *Run) Backfills() int { return r.in.Backfills }

// BackfillCreated is Created for the backfill tickets.
func (r *Run) BackfillCreated() []float64 { return r.in.BackfillCreated }

// BackfillVersion returns the backfill tickets' record versions. A proposal counts only if its backfill ticket still
// has this version.
func (r *Run) BackfillVersion() []int64 { return r.in.BackfillVersion }

// BackfillConnection returns the address of a backfill ticket's server, or false while the server is being allocated.
func (r *Run) BackfillConnection(number uint32) (string, bool) {
	connection, ok := r.values(block.KindBackfillConnection, "").Of(number)
	return string(connection), ok
}

// BackfillAttribute is Attribute for the backfill tickets.
func (r *Run) BackfillAttribute(name string) []float64 {
	if name == "created" {
		return r.in.BackfillCreated
	}
	r.declaredAttribute(name)
	return r.numbers(block.KindBackfillAttribute, name, r.in.Backfills)
}

// BackfillAttributes is Attributes for the backfill tickets.
func (r *Run) BackfillAttributes() []string {
	return slices.Collect(r.in.Names(block.KindBackfillAttribute))
}

// BackfillProperties is Properties for the backfill tickets.
func (r *Run) BackfillProperties() []string {
	return slices.Collect(r.in.Names(block.KindBackfillProperty))
}

// BackfillProperty is Property for the backfill tickets.
func (r *Run) BackfillProperty(name string) Property {
	r.declaredProperty(name)
	return r.values(block.KindBackfillProperty, name)
}

// BackfillPools is Pools for the backfill tickets.
func (r *Run) BackfillPools() []string { return slices.Sorted(r.in.Names(block.KindBackfillPool)) }

// BackfillPool is Pool for the backfill tickets, but an unknown name does not fail the run: configs without backfill
// have no such pools.
func (r *Run) BackfillPool(name string) []uint32 {
	numbers, _ := r.in.Members(block.KindBackfillPool, name)
	return numbers
}

// values returns a column of values.
func (r *Run) values(kind uint32, name string) Property {
	values, _ := r.in.Values(kind, name)
	return Property{values}
}

// numbers returns a column of n numbers. One of NaN is shared: callers must not write to columns.
func (r *Run) numbers(kind uint32, name string, n int) []float64 {
	if values, ok := r.in.Numbers(kind, name); ok {
		return values
	}
	for len(r.missing) < n {
		r.missing = append(r.missing, math.NaN())
	}
	return r.missing[:n:n]
}

func (r *Run) declaredAttribute(name string) {
	if m := r.manifest; !m.EveryAttribute() {
		r.declared("attribute", name, m.Attributes, m.AttributeSettings)
	}
}

func (r *Run) declaredProperty(name string) {
	if m := r.manifest; !m.EveryProperty() {
		r.declared("property", name, m.Properties, m.PropertySettings)
	}
}

// declared fails the run if the manifest does not name what the function reads. Except in careless tests, no ticket
// would have it.
func (r *Run) declared(what, name string, names, settings []string) {
	if slices.Contains(names, name) {
		return
	}
	named, known := r.named[what]
	if !known && len(settings) > 0 {
		if r.named == nil {
			r.named = map[string][]string{}
		}
		config, _ := document.Parse(r.in.Config)
		named = block.Named(config, settings)
		r.named[what] = named
	}
	if !slices.Contains(named, name) && !slices.Contains(r.naming.names(what, r.in.Config), name) {
		r.fail(message.Errorf("the %s %q is read but was not declared: name it in Register", what, name))
	}
}

// fail keeps the first error.
func (r *Run) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Asked returns the numbers of the tickets for which the caller asks why they are in no match, ascending; usually
// none. A function need not look at it. One that does calls [Run.Explain] for the tickets that it proposes in no match.
func (r *Run) Asked() []uint32 { return r.in.Asked }

// Explain says why a ticket of [Run.Asked] is in no match: a reason for people, such as the name of a rule, and how
// many other tickets could be with it if it were not for that; a negative number if that is unknown. A reason may have
// 1,024 bytes, a ticket 16 reasons. What is more is left out, and so are other tickets.
func (r *Run) Explain(ticket uint32, reason string, candidates int) {
	if _, asked := slices.BinarySearch(r.in.Asked, ticket); !asked || reason == "" {
		return
	}
	if r.explained == nil {
		r.explained = map[uint32]int{}
	}
	if r.explained[ticket]++; r.explained[ticket] > block.MaxReasons {
		return
	}
	r.out.Explain(block.Explanation{Ticket: ticket, Reason: cut(reason, block.MaxReason), Candidates: candidates})
}

// cut cuts a text to so many bytes, between two characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xC0 == 0x80 {
		most--
	}
	return text[:most]
}
