package insight

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// How many events an answer has, and how many it has at most.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// clockSlack is how far the clocks of the message bus and of the state store may differ: ids of tickets and matches
// have times of the latter, by which reading begins.
const clockSlack = time.Minute

// query is what a request for events asks for.
type query struct {
	project string
	filter  filter
	// at is where it goes on, if placed is set; begin is where reading begins.
	at     cursor
	placed bool
	begin  bus.EventStart
	since  time.Time
	limit  int
	owned  *owned // nil unless it asks for the events of a player
	// arrivals: created events have what the tickets are. properties: with their properties, too.
	arrivals, properties bool
}

// filter selects events. What is empty selects all.
type filter struct {
	ticket, match, config, backfill string
	kinds                           []pb.Event_Kind
}

// query reads the parameters of a request. A stream without a place begins with what is to come, an answer with the
// oldest.
func (s *service) query(c echo.Context, follow bool) (*query, error) {
	values, err := web.Query(c, "ticket", "player", "match", "config", "backfill", "kind", "since", "after", "limit",
		"arrivals", "properties")
	if err != nil {
		return nil, err
	}
	q := &query{project: c.Param("project")}
	if err := q.filter.read(values); err != nil {
		return nil, err
	}
	if err := q.readPlace(c, values); err != nil {
		return nil, err
	}
	if q.limit, err = web.Number(values, "limit", defaultLimit, 1, maxLimit); err != nil {
		return nil, err
	}
	if err := s.readArrivals(c, q, values); err != nil {
		return nil, err
	}
	q.narrow(follow)
	if player := values.Get("player"); values.Has("player") {
		if !auth.IsPlayer(player) {
			return nil, problem.New(problem.Invalid,
				"query parameter player: up to 256 bytes of printable UTF-8 are expected")
		}
		q.owned = &owned{store: s.Store, project: q.project, player: player}
		if err := q.owned.begin(c.Request().Context()); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// readArrivals reads what a query asks for of created tickets. Errors: Forbidden for a role that sees no properties.
func (s *service) readArrivals(c echo.Context, q *query, values url.Values) error {
	var err, other error
	q.arrivals, err = web.Flag(values, "arrivals")
	q.properties, other = web.Flag(values, "properties")
	if err = cmp.Or(err, other); err != nil {
		return err
	}
	switch {
	case !q.properties:
		return nil
	case !q.arrivals:
		return problem.New(problem.Invalid, "query parameter properties: arrivals=true is needed: only they have any")
	}
	return auth.MaySeeProperties(c, s.Store)
}

func (f *filter) read(values url.Values) error {
	f.ticket, f.match, f.config = values.Get("ticket"), values.Get("match"), values.Get("config")
	f.backfill = values.Get("backfill")
	for name, longest := range map[string]int{"ticket": 64, "match": 64, "backfill": 64, "config": 255} {
		if value := values.Get(name); values.Has(name) && (value == "" || len(value) > longest) {
			return problem.New(problem.Invalid, "query parameter %s: an identifier of 1 to %d bytes is expected",
				problem.Word(name), longest)
		}
	}
	if !values.Has("kind") {
		return nil
	}
	for name := range strings.SplitSeq(values.Get("kind"), ",") {
		kind, is := pb.Event_Kind_value["KIND_"+strings.ToUpper(name)]
		if !is || kind == 0 || strings.ToLower(name) != name {
			return problem.New(problem.Invalid, "query parameter kind: %s are expected, with commas between, such as "+
				"claimed,assigned", strings.Join(kindNames(), ", "))
		}
		f.kinds = append(f.kinds, pb.Event_Kind(kind))
	}
	return nil
}

// kindNames are the names of all kinds of events.
func kindNames() []string {
	var names []string
	for kind := range pb.Event_Kind_name {
		if kind != 0 {
			names = append(names, response.EventKind(pb.Event_Kind(kind)))
		}
	}
	slices.Sort(names)
	return names
}

// readPlace reads from where on events are asked for.
func (q *query) readPlace(c echo.Context, values url.Values) error {
	known, name := values.Get("after"), "query parameter after"
	if last := c.Request().Header.Get("Last-Event-ID"); last != "" {
		known, name = last, "Last-Event-ID"
	}
	if known != "" {
		at, ok := parseCursor(known)
		if !ok {
			return problem.New(problem.Invalid, "%s: the id of an event is expected, or next of an earlier answer",
				problem.Word(name))
		}
		q.at, q.placed, q.begin = at, true, bus.EventStart{After: at.message, Again: at.partial}
	}
	if values.Has("since") {
		var err error
		if q.since, err = timeOf(values, "since"); err != nil {
			return err
		}
		if !q.placed {
			q.begin.Since = q.since.Add(-clockSlack)
		}
	}
	return nil
}

// narrow begins as late as possible: no event of a ticket or a match is older than the time in its id.
func (q *query) narrow(follow bool) {
	if q.placed {
		return
	}
	for _, id := range []string{q.filter.ticket, q.filter.match, q.filter.backfill} {
		if made, is := state.CreationTime(id); is && made.Add(-clockSlack).After(q.begin.Since) &&
			(!follow || !q.since.IsZero()) {
			q.begin.Since = made.Add(-clockSlack)
		}
	}
	q.begin.New = follow && q.begin.Since.IsZero()
}

// selects reports whether an event is asked for. A gap always is.
func (q *query) selects(e *pb.Event) bool {
	f := &q.filter
	switch {
	case e.GetKind() == pb.Event_KIND_GAP:
		return true
	case len(f.kinds) > 0 && !slices.Contains(f.kinds, e.GetKind()),
		f.match != "" && e.GetMatch() != f.match,
		f.config != "" && e.GetConfig() != f.config,
		f.backfill != "" && e.GetBackfill() != f.backfill,
		f.ticket != "" && !slices.Contains(e.GetTickets(), f.ticket),
		q.owned != nil && !q.owned.hasAny(e.GetTickets()),
		!q.since.IsZero() && e.GetTime() < q.since.UnixMilli():
		return false
	}
	return true
}

// each hands the events of a message that are asked for to take, with the places behind them, until it wants no more.
func (q *query) each(
	ctx context.Context, m bus.EventMessage, take func(cursor, *pb.Event) (more bool, err error),
) error {
	if q.owned != nil {
		if err := q.owned.learn(ctx, m.GetEvents()); err != nil {
			return err
		}
	}
	known := q.at.eventsOf(m.Sequence)
	if m.Lost {
		q.at.partial, known = false, 0 // a stream that was begun anew has another message of that number
		more, err := take(cursor{message: m.Sequence, partial: true}, gapBefore(m))
		if err != nil || !more {
			return err
		}
	}
	for i, e := range m.GetEvents() {
		if i < known || !q.selects(e) {
			continue
		}
		at := cursor{message: m.Sequence, partial: true, events: i + 1}
		if i+1 == len(m.GetEvents()) {
			at = cursor{message: m.Sequence} // the message need not be kept
		}
		more, err := take(at, e)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// gapBefore is the event that tells that those before a message are not kept any more.
func gapBefore(m bus.EventMessage) *pb.Event {
	gap := &pb.Event{Kind: pb.Event_KIND_GAP, Reason: "removed"}
	if all := m.GetEvents(); len(all) > 0 {
		gap.Time, gap.Position = all[0].GetTime(), all[0].GetPosition()
	}
	return gap
}
