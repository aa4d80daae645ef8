package trial

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/fields"
	"matchmaker.dev/services/internal/settings"
)

// Result codes besides those of package definition. Nobody sees them: the messages
// that come with them are printed.
const (
	badTicketID = "badTicketId"
	badCreated  = "badCreated"
	badName     = "badName"
	badVersion  = "badVersion"
	badProperty = "badProperty"
)

// Read reads an array of tickets that is known to be JSON:
//
//	[{"id": "a", "attributes": {"skill": 1200}, "properties": {"party": "cmVk"}, "wait": 12.5}, …]
//
// Each member may be left out. An id is then the ticket's place. Properties are in Base64. A ticket
// waits for so many seconds at the time now, or was created at a time in Unix milliseconds ("created").
// The error is a *definition.Faults whose messages begin with the place, as in [3].attributes.skill.
func Read(text json.RawMessage, now time.Time) ([]*pb.Ticket, error) {
	r := newReader(text, now)
	var tickets []*pb.Ticket
	r.Array("", func(at definition.Path) { tickets = append(tickets, r.ticket(at, fmt.Sprint(len(tickets)+1))) })
	return tickets, r.Err()
}

// ReadBackfills reads an array of backfill tickets, which have what tickets have, and two members more:
//
//	[{"id": "a", "attributes": {"open": 1}, "connection": "10.0.0.1:7777", "version": 3}, …]
//
// One without a connection is that of a server which is still being allocated. The version is 1 where it is left out,
// and the id the place behind a b.
func ReadBackfills(text json.RawMessage, now time.Time) ([]*pb.Backfill, error) {
	r := newReader(text, now)
	var backfills []*pb.Backfill
	r.Array("", func(at definition.Path) {
		backfills = append(backfills, r.backfill(at, fmt.Sprint("b", len(backfills)+1)))
	})
	return backfills, r.Err()
}

type reader struct {
	*definition.Reader
	now time.Time
	ids map[string]definition.Path
}

func newReader(text json.RawMessage, now time.Time) *reader {
	limits := settings.Default[definition.Limits]()
	return &reader{Reader: definition.NewReader([]byte(text), limits), now: now, ids: map[string]definition.Path{}}
}

func (r *reader) backfill(at definition.Path, id string) *pb.Backfill {
	b := &pb.Backfill{Version: 1}
	t := r.ticket(at, id,
		definition.Member{Name: "connection", Read: func(at definition.Path) { b.Connection, _ = r.Text(at) }},
		definition.Member{Name: "version", Read: func(at definition.Path) {
			var ok bool
			if b.Version, ok = r.Integer(at); ok && b.Version < 1 {
				r.Add(badVersion, at, "%d is below 1", b.Version)
			}
		}},
	)
	b.Id, b.Created, b.AttributeNames, b.AttributeValues, b.Properties = t.GetId(), t.GetCreated(), t.GetAttributeNames(), t.GetAttributeValues(), t.GetProperties()
	return b
}

// ticket reads a ticket, whose id is the given one where it does not say another, and what more it may have.
func (r *reader) ticket(at definition.Path, id string, more ...definition.Member) *pb.Ticket {
	t := &pb.Ticket{Id: id, Created: r.now.UnixMilli()}
	given, ok := r.Object(at, append([]definition.Member{
		{Name: "id", Read: func(at definition.Path) {
			if id, ok := r.Text(at); ok {
				t.Id = id
			}
		}},
		{Name: "attributes", Read: func(at definition.Path) { r.attributes(at, t) }},
		{Name: "properties", Read: func(at definition.Path) { r.properties(at, t) }},
		{Name: "wait", Read: func(at definition.Path) { t.Created = r.wait(at) }},
		{Name: "created", Read: func(at definition.Path) { t.Created = r.created(at) }},
	}, more...)...)
	if !ok {
		return t
	}
	if given["wait"] && given["created"] {
		r.Add(badCreated, at.Member("created"), "given beside wait: one of the two says how long the ticket has waited")
	}
	if t.Id == "" {
		r.Add(badTicketID, at.Member("id"), "empty")
	} else if other, taken := r.ids[t.Id]; taken {
		r.Add(badTicketID, at.Member("id"), "%q is the id of %s too", t.Id, other)
	}
	r.ids[t.Id] = at
	return t
}

func (r *reader) attributes(at definition.Path, t *pb.Ticket) {
	values := map[string]float64{}
	r.Keys(at, func(name string, at definition.Path) {
		if name == fields.Created {
			r.Add(badName, at, "the service sets this attribute itself: say it as \"wait\" or \"created\" of the ticket")
		}
		r.named(name, at)
		if value, ok := r.Number(at); ok {
			values[name] = value
		}
	})
	set(t, values)
}

// set gives a ticket its attributes, in the order of their names as the service does.
func set(t *pb.Ticket, values map[string]float64) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t.AttributeNames = append(t.AttributeNames, name)
		t.AttributeValues = append(t.AttributeValues, values[name])
	}
}

func (r *reader) properties(at definition.Path, t *pb.Ticket) {
	t.Properties = map[string][]byte{}
	r.Keys(at, func(name string, at definition.Path) {
		r.named(name, at)
		text, ok := r.Text(at)
		if !ok {
			return
		}
		value, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			r.Add(badProperty, at, "not Base64 (standard alphabet, with padding)")
		}
		t.Properties[name] = value
	})
}

// named notes a name that the service takes of nobody.
func (r *reader) named(name string, at definition.Path) {
	if name == "" {
		r.Add(badName, at, "the name is empty")
	}
}

// wait reads seconds and returns when they began.
func (r *reader) wait(at definition.Path) int64 {
	seconds, ok := r.Number(at)
	if ok && seconds < 0 {
		r.Add(badCreated, at, "%v is below 0", seconds)
	}
	return since(r.now, seconds)
}

// since is when a wait of so many seconds began, in Unix milliseconds; not before there were any.
func since(now time.Time, seconds float64) int64 {
	return int64(max(0, float64(now.UnixMilli())-seconds*1000))
}

func (r *reader) created(at definition.Path) int64 {
	ms, ok := r.Integer(at)
	switch {
	case ok && ms < 0:
		r.Add(badCreated, at, "%d is below 0: Unix milliseconds are expected", ms)
	case ok && ms > r.now.UnixMilli():
		r.Add(badCreated, at, "%d is in the future: Unix milliseconds are expected", ms)
	}
	return ms
}
