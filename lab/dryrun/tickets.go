package dryrun

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/settings"
)

// Result codes in addition to package definition's. Only their messages are printed.
const (
	badTicketID = "badTicketId"
	badCreated  = "badCreated"
	badName     = "badName"
	badVersion  = "badVersion"
	badProperty = "badProperty"
	badPlayer   = "badPlayer"
)

// ReadTickets reads an array of tickets. The text must be valid JSON:
//
//	[{"id": "a", "attributes": {"skill": 1200}, "properties": {"party": "cmVk"}, "queues": ["ranked"], "wait": 12.5}, …]
//
// "players" is a list of {"id": "ada", "attributes": {…}, "properties": {…}}. Each member is optional. The default id
// is the ticket's position, from 1. Properties are in Base64. "wait" is the number of seconds that the ticket has
// waited at the time now. "created", in Unix milliseconds, may be used instead.
// The error is a *definition.FieldErrors whose messages begin with the place, as in [3].attributes.skill.
func ReadTickets(text json.RawMessage, now time.Time) ([]*pb.Ticket, error) {
	r := newReader(text, now)
	var tickets []*pb.Ticket
	r.Array("", func(at definition.Path) { tickets = append(tickets, r.ticket(at, fmt.Sprint(len(tickets)+1))) })
	return tickets, r.Err()
}

// ReadBackfills reads an array of backfill tickets. They have the members of tickets, and more:
//
//	[{"id": "a", "attributes": {"open": 1}, "connection": "10.0.0.1:7777", "version": 3, "queue": "ranked"}, …]
//
// "players" are the game's players, as POST /backfill takes them. The server of one without a connection is still being
// allocated. The default version is 1. The default id is the position, from 1, after a b.
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
	ids map[string]definition.Path // where each id was given
}

func newReader(text json.RawMessage, now time.Time) *reader {
	limits := settings.Default[definition.Limits]()
	return &reader{Reader: definition.NewReader([]byte(text), limits), now: now, ids: map[string]definition.Path{}}
}

func (r *reader) backfill(at definition.Path, id string) *pb.Backfill {
	b := &pb.Backfill{Version: 1}
	t := r.ticket(at, id,
		definition.Member{Name: "queue", Read: func(at definition.Path) { b.Queue = new(r.Queue(at)) }},
		definition.Member{Name: "connection", Read: func(at definition.Path) { b.Connection, _ = r.Text(at) }},
		definition.Member{Name: "version", Read: func(at definition.Path) {
			var ok bool
			if b.Version, ok = r.Integer(at); ok && b.Version < 1 {
				r.Add(badVersion, at, "%d is below 1", b.Version)
			}
		}},
		definition.Member{Name: "players", Read: func(at definition.Path) { b.Roster = r.roster(at) }},
	)
	b.Id, b.Created, b.Properties = t.GetId(), t.GetCreated(), t.GetProperties()
	b.AttributeNames, b.AttributeValues = t.GetAttributeNames(), t.GetAttributeValues()
	return b
}

// ticket reads a ticket, with id as its default id. It may have the extra members too.
func (r *reader) ticket(at definition.Path, id string, extra ...definition.Member) *pb.Ticket {
	t := &pb.Ticket{Id: id, Created: r.now.UnixMilli()}
	if len(extra) == 0 { // a backfill ticket has one queue
		extra = append(extra,
			definition.Member{Name: "queues", Read: func(at definition.Path) { r.queues(at, t) }},
			definition.Member{Name: "players", Read: func(at definition.Path) { r.players(at, t) }})
	}
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
	}, extra...)...)
	if !ok {
		return t
	}
	if given["wait"] && given["created"] {
		r.Add(badCreated, at.Member("created"), "cannot be used with wait")
	}
	if t.Id == "" {
		r.Add(badTicketID, at.Member("id"), "empty")
	} else if other, ok := r.ids[t.Id]; ok {
		r.Add(badTicketID, at.Member("id"), "%q is the id of %s too", t.Id, other)
	}
	r.ids[t.Id] = at
	return t
}

func (r *reader) queues(at definition.Path, t *pb.Ticket) {
	var queues []string
	r.Array(at, func(at definition.Path) {
		if name, ok := r.Text(at); ok {
			queues = append(queues, name)
		}
	})
	var err error
	if t.Queues, err = fields.CheckQueues(queues); err != nil {
		r.Add(badName, at, "%s", err)
	}
}

func (r *reader) attributes(at definition.Path, t *pb.Ticket) {
	values := map[string]float64{}
	r.Keys(at, func(name string, at definition.Path) {
		if name == fields.Created {
			r.Add(badName, at, "the service sets this attribute itself: use the ticket's member \"wait\" or \"created\"")
		}
		r.checkName(name, at)
		if value, ok := r.Number(at); ok {
			values[name] = value
		}
	})
	setAttributes(t, values)
}

// players reads the players of a ticket, as POST /tickets takes them.
func (r *reader) players(at definition.Path, t *pb.Ticket) {
	r.each(at, func(one *pb.Ticket) []definition.Member {
		return []definition.Member{
			{Name: "properties", Read: func(at definition.Path) { r.properties(at, one) }},
		}
	}, func(one *pb.Ticket) {
		t.Players = append(t.Players, &pb.Player{Id: one.GetId(), AttributeNames: one.GetAttributeNames(),
			AttributeValues: one.GetAttributeValues(), Properties: one.GetProperties()})
	})
}

// roster reads the players in a game, as POST /backfill takes them.
func (r *reader) roster(at definition.Path) *pb.Roster {
	roster := &pb.Roster{}
	var team, role string
	r.each(at, func(*pb.Ticket) []definition.Member {
		team, role = "", ""
		return []definition.Member{
			{Name: "team", Read: func(at definition.Path) { team, _ = r.Text(at) }},
			{Name: "role", Read: func(at definition.Path) { role, _ = r.Text(at) }},
		}
	}, func(one *pb.Ticket) {
		roster.Players = append(roster.Players, &pb.RosterPlayer{Id: one.GetId(), Team: team, Role: role,
			AttributeNames: one.GetAttributeNames(), AttributeValues: one.GetAttributeValues()})
	})
	return roster
}

// each reads a list of players with ids and attributes, and with more members.
func (r *reader) each(at definition.Path, more func(*pb.Ticket) []definition.Member, add func(*pb.Ticket)) {
	first := map[string]definition.Path{}
	r.Array(at, func(at definition.Path) {
		one := new(pb.Ticket) // a player has attributes and properties as a ticket has
		given, ok := r.Object(at, append([]definition.Member{
			{Name: "id", Read: func(at definition.Path) { one.Id, _ = r.Text(at) }},
			{Name: "attributes", Read: func(at definition.Path) { r.attributes(at, one) }},
		}, more(one)...)...)
		if other, twice := first[one.GetId()]; twice {
			r.Add(badPlayer, at.Member("id"), "the same player as %s", other)
		} else if ok && (!given["id"] || one.GetId() == "") {
			r.Add(badPlayer, at.Member("id"), "required, and not empty")
		}
		first[one.GetId()] = at
		add(one)
	})
}

// setAttributes sets a ticket's attributes in the order of their names, as the service does.
func setAttributes(t *pb.Ticket, values map[string]float64) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t.AttributeNames = append(t.AttributeNames, name)
		t.AttributeValues = append(t.AttributeValues, values[name])
	}
}

func (r *reader) properties(at definition.Path, t *pb.Ticket) {
	t.Properties = map[string][]byte{}
	r.Keys(at, func(name string, at definition.Path) {
		r.checkName(name, at)
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

func (r *reader) checkName(name string, at definition.Path) {
	if name == "" {
		r.Add(badName, at, "the name is empty")
	}
}

// wait reads how many seconds the ticket has waited and returns when it was created.
func (r *reader) wait(at definition.Path) int64 {
	seconds, ok := r.Number(at)
	if ok && seconds < 0 {
		r.Add(badCreated, at, "%v is below 0", seconds)
	}
	return createdAt(r.now, seconds)
}

// createdAt is when a ticket was created that has waited this long, in Unix milliseconds, never negative.
func createdAt(now time.Time, waitSeconds float64) int64 {
	return int64(max(0, float64(now.UnixMilli())-waitSeconds*1000))
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
