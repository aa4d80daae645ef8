package invocation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/sandbox"
)

// maxColumns is how many attributes, and how many properties, a function gets that asks for all: those that most
// tickets have. Players may put any names into a ticket, and each name is a column for all tickets. A function that
// names what it reads has no such limit.
const maxColumns = 64

// Needs is which attributes and properties of tickets a function reads.
type Needs struct {
	allAttributes, allProperties bool
	attributes, properties       []string // in order, each once
}

// NeedsOf is the needs that a manifest declares.
func NeedsOf(m sandbox.Manifest) Needs {
	return Needs{
		allAttributes: m.Attributes == nil, attributes: slices.Compact(slices.Sorted(slices.Values(m.Attributes))),
		allProperties: m.Properties == nil, properties: slices.Compact(slices.Sorted(slices.Values(m.Properties))),
	}
}

// encode writes the request for the tickets selected in v, into the buffer if it is large enough. Names are sorted, so
// that the same state makes the same bytes.
func (inv *Invoker) encode(v pool.View, r *pb.RunRequest, budget time.Duration, n Needs, buffer []byte) {
	b, s := &inv.request, &inv.selection
	b.StartIn(buffer, block.Meta{
		Now: r.GetNow(), Seed: r.GetSeed(), Budget: uint32(budget.Milliseconds()),
		Tickets: s.N(), Backfills: len(inv.backfills.list),
	})
	b.Config(r.GetSettings())
	inv.created = slices.Grow(inv.created[:0], s.N())[:s.N()]
	v.Column(s, pool.Created, inv.created)
	copy(b.Created(), inv.created)
	inv.encodeColumns(v, s, r, n, b.Attribute, b.Property, b.Pool)
}

// encodeColumns writes what a function reads of a selection: attributes, properties and the numbers of each pool. The
// last three arguments say where in the request.
func (inv *Invoker) encodeColumns(
	v pool.View, s *pool.Selection, r *pb.RunRequest, n Needs, attribute func(name string) []float64,
	property func(name string, of func(i int) ([]byte, bool)), members func(name string, n int) []uint32,
) {
	attributes := n.attributes
	if n.allAttributes {
		attributes = v.Attributes(maxColumns)
	}
	for _, name := range attributes {
		v.Column(s, name, attribute(name))
	}
	properties := n.properties
	if n.allProperties {
		properties = propertiesOf(s)
	}
	for _, name := range properties {
		property(name, func(i int) ([]byte, bool) {
			value, ok := s.Property(i, name)
			inv.scratch = append(inv.scratch[:0], value...)
			return inv.scratch, ok
		})
	}
	for _, name := range slices.Sorted(maps.Keys(r.GetPools())) {
		numbers := s.Pool(name)
		copy(members(name, len(numbers)), numbers)
	}
}

// propertiesOf is the sorted names of the selection's properties, at most the maxColumns that most tickets have.
func propertiesOf(s *pool.Selection) []string {
	uses := map[string]int{}
	for i := range s.N() {
		for _, p := range s.Properties(i) {
			uses[p.Name]++
		}
	}
	names := slices.SortedFunc(maps.Keys(uses), func(a, b string) int {
		return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b))
	})
	names = names[:min(len(names), maxColumns)]
	slices.Sort(names)
	return names
}
