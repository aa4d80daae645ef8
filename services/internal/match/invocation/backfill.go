package invocation

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/match/pool"
)

// What a function may leave in a backfill ticket: as much as its server may send, so that the server can send it back.
// Base64 makes 64 KiB of MaxBackfillBytes. Its notes, which the server does not see, have so many bytes beside that:
// NOTES of script/include/names.lua.
const (
	MaxBackfillBytes      = 48 << 10
	MaxBackfillNotes      = 16 << 10
	MaxBackfillAttributes = 64
	MaxBackfillProperties = 64
)

// backfills are the backfill tickets of a run. Functions know them by number, as they know tickets.
type backfills struct {
	selection pool.Selection
	list      []*pb.Backfill
	columns   columns
	roster    roster
}

// choose selects the backfill tickets of pools.
func (b *backfills) choose(v pool.View, of func(id string) *pb.Backfill, pools map[string]*pb.Pool) {
	v.Select(pools, &b.selection)
	b.list = b.list[:0]
	for i := range b.selection.N() {
		b.list = append(b.list, of(b.selection.ID(i)))
	}
}

// add adds the backfill tickets to the size of a request.
func (b *backfills) add(size *block.RequestSize, pools map[string]*pb.Pool, p *players) {
	connections := 0
	for _, backfill := range b.list {
		connections += len(backfill.GetConnection())
	}
	size.Backfills(len(b.list), connections)
	b.roster.add(size, p, len(b.list))
	b.columns.add(size, &b.selection, pools)
}

// writeBackfills writes the part of the request that is about backfill tickets, which v has. tickets is the index of
// the tickets.
func (e *encoder) writeBackfills(v, tickets pool.View) {
	out, list, s := &e.request, e.backfills.list, &e.backfills.selection
	if len(list) == 0 {
		return
	}
	v.Column(s, pool.Created, out.Numbers(block.KindBackfillCreated, ""))
	versions := out.BackfillVersion()
	for i, backfill := range list {
		versions[i] = backfill.GetVersion()
	}
	out.Values(block.KindBackfillConnection, "", func(i int) ([]byte, bool) {
		connection := list[i].GetConnection()
		return []byte(connection), connection != ""
	})
	e.backfills.columns.writeAttributes(v, s, &e.work, out, block.KindBackfillAttribute)
	e.backfills.roster.write(tickets, &e.players, &e.work, out)
}

// filling is what a proposal does with a backfill ticket, nil when it has none. size is about how many bytes it takes.
func (b *backfills) filling(e *block.Extras) (filling *pb.Filling, size int, err error) {
	if e == nil || e.Backfill == nil {
		return nil, 0, nil
	}
	f := e.Backfill
	filling = &pb.Filling{}
	before := &pb.Backfill{}
	if !f.Create {
		before = b.list[f.Number] // the answer was checked
		filling.Backfill, filling.Generation = before.GetId(), before.GetGeneration()
	}
	size = len(filling.GetBackfill()) + 16
	if !f.Create && len(f.Attributes)+len(f.Properties)+len(f.Remove) == 0 {
		return filling, size, nil
	}
	filling.Contents = contents(before, f)
	n, count, notes := proto.Size(filling.Contents), len(filling.Contents.GetProperties()), 0
	for name, value := range filling.Contents.GetProperties() {
		if strings.HasPrefix(name, fields.Note) {
			count, notes = count-1, notes+len(name)+len(value)
		}
	}
	for _, limit := range []struct {
		n, most int
		what    string
	}{
		{len(filling.Contents.GetAttributeNames()), MaxBackfillAttributes, "attributes"},
		{count, MaxBackfillProperties, "properties"},
		{n - notes, MaxBackfillBytes, "bytes"},
		{notes, MaxBackfillNotes, "bytes of notes"},
	} {
		if limit.n > limit.most {
			return nil, 0, fmt.Errorf("leaves %d %s in a backfill ticket, at most %d are allowed", limit.n, limit.what,
				limit.most)
		}
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
