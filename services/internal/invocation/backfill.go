package invocation

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/fields"
	"matchmaker.dev/services/internal/pool"
)

// What a function may leave in a backfill ticket: as much as its server may send, so that the server can send it
// back. MaxBackfillBytes is in bytes; Base64 makes 64 KiB of it.
const (
	MaxBackfillBytes      = 48 << 10
	MaxBackfillAttributes = 64
	MaxBackfillProperties = 64
)

// games are the backfill tickets of a run. They have numbers, as tickets have.
type games struct {
	selection pool.Selection
	list      []*pb.Backfill
}

// choose selects the backfill tickets of pools.
func (g *games) choose(v pool.View, of func(id string) *pb.Backfill, pools map[string]*pb.Pool) {
	v.Select(pools, &g.selection)
	g.list = g.list[:0]
	for i := range g.selection.N() {
		g.list = append(g.list, of(g.selection.ID(i)))
	}
}

// encode writes the part of the request that is about backfill tickets, which v has.
func (inv *Invoker) encodeGames(v pool.View, r *pb.RunRequest, n Needs) {
	b, g := &inv.request, &inv.games
	if len(g.list) == 0 {
		return
	}
	s := &g.selection
	v.Column(s, pool.Created, b.BackfillCreated())
	versions := b.BackfillVersion()
	for i, one := range g.list {
		versions[i] = one.GetVersion()
	}
	b.BackfillConnection(func(i int) ([]byte, bool) {
		connection := g.list[i].GetConnection()
		return []byte(connection), connection != ""
	})
	inv.columns(v, s, r, n, b.BackfillAttribute, b.BackfillProperty, b.BackfillPool)
}

// filling is what a proposal does with a backfill ticket; nil when it touches none. size is about how many bytes it takes.
func (g *games) filling(e *block.Extras) (filling *pb.Filling, size int, err error) {
	if e == nil || e.Backfill == nil {
		return nil, 0, nil
	}
	f := e.Backfill
	filling = &pb.Filling{}
	before := &pb.Backfill{}
	if !f.Create {
		before = g.list[f.Number] // the answer was checked
		filling.Backfill, filling.Generation = before.GetId(), before.GetGeneration()
	}
	size = len(filling.GetBackfill()) + 16
	if !f.Create && len(f.Attributes)+len(f.Properties)+len(f.Remove) == 0 {
		return filling, size, nil
	}
	filling.Contents = contents(before, f)
	n := proto.Size(filling.Contents)
	switch {
	case len(filling.Contents.GetAttributeNames()) > MaxBackfillAttributes:
		return nil, 0, fmt.Errorf("leaves %d attributes in a backfill ticket, at most %d are allowed", len(filling.Contents.GetAttributeNames()), MaxBackfillAttributes)
	case len(filling.Contents.GetProperties()) > MaxBackfillProperties:
		return nil, 0, fmt.Errorf("leaves %d properties in a backfill ticket, at most %d are allowed", len(filling.Contents.GetProperties()), MaxBackfillProperties)
	case n > MaxBackfillBytes:
		return nil, 0, fmt.Errorf("leaves %d bytes in a backfill ticket, at most %d are allowed", n, MaxBackfillBytes)
	}
	return filling, size + n, nil
}

// contents are the attributes and properties of a backfill ticket after the changes.
func contents(before *pb.Backfill, f *block.Backfill) *pb.Backfill {
	after := fields.Values{
		Attributes: fields.Attributes(before.GetAttributeNames(), before.GetAttributeValues()),
		Properties: maps.Clone(before.GetProperties()),
	}
	for _, a := range f.Attributes {
		if math.IsNaN(a.Value) {
			delete(after.Attributes, a.Name)
		} else {
			after.Attributes[a.Name] = a.Value
		}
	}
	if after.Properties == nil {
		after.Properties = map[string][]byte{}
	}
	for _, p := range f.Properties {
		after.Properties[p.Name] = slices.Clone(p.Value)
	}
	for _, name := range f.Remove {
		delete(after.Properties, name)
	}
	out := &pb.Backfill{Properties: after.Properties}
	out.AttributeNames, out.AttributeValues = after.Columns()
	return out
}
