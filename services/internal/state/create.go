package state

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/telemetry"
)

// groupSize is the most tickets that one script creates. It is large enough to make the round trip cheap, and small
// enough that Redis serves others in between.
const groupSize = 128

// groupBytes is the most bytes of tickets that one script creates, unless a single one has more: Redis takes about a
// millisecond for them.
const groupBytes = 1 << 20

// largeSize is the size of a ticket's body from which its bytes count. The number of tickets bounds smaller ones, so
// plain tickets cost nothing more.
const largeSize = 1 << 10

// drainDelay is when a client may try again after the project had too many waiting tickets.
const drainDelay = 5 * time.Second

// Creator writes tickets in groups. While one script runs, it collects the tickets that arrive. The next script writes
// them all.
type Creator struct {
	store   *Store
	created func(ctx context.Context, project string, position uint64)

	mu     sync.Mutex
	groups map[string]*group
}

// Creator returns a Creator. When a group is stored, it calls created, if not nil, with the feed's position. The
// callers of Create return after that.
func (s *Store) Creator(created func(ctx context.Context, project string, position uint64)) *Creator {
	return &Creator{store: s, created: created, groups: map[string]*group{}}
}

// group collects the tickets of one project. It exists while it has any.
type group struct {
	queue []*creation
}

type creation struct {
	id, owner string
	// players has the ids of the ticket's players with newlines between; "" if the owner is the only one.
	players string
	body    []byte
	// settings is the revision of the settings that it was decided by.
	settings int64
	// party is set when it is the search of a party, which is written with it.
	party partyWrite
	done  chan error
}

func newCreation(asked Creation, body []byte) *creation {
	t := asked.Ticket
	one := &creation{id: t.GetId(), owner: t.GetOwner(), body: body, settings: asked.Settings, done: make(chan error, 1)}
	if players := t.GetPlayers(); len(players) > 0 {
		ids := make([]string, len(players))
		for i, p := range players {
			ids[i] = p.GetId()
		}
		one.players = strings.Join(ids, "\n")
	}
	return one
}

// Creation is a ticket to be created.
type Creation struct {
	// Ticket has its id, owner and created.
	Ticket *pb.Ticket
	// Settings are the revision of the project's settings that the caller decided by, 0 for a project without settings.
	Settings int64
}

// ErrOtherSettings says that a ticket was not created, since the project has other settings than the caller decided by.
var ErrOtherSettings = errors.New("state: the project has other settings")

// Create stores a ticket of a project without settings, see CreateAs.
func (c *Creator) Create(ctx context.Context, project string, t *pb.Ticket) error {
	return c.CreateAs(ctx, project, Creation{Ticket: t})
}

// CreateAs stores a ticket, whose id, owner and created are set. Redis's clock says since when it waits; created is
// what functions and players are told. Errors: Limited when too many tickets of the project wait or have results, or
// when the project or the player creates too often; Invalid when the system has too many projects, and this is none
// of them; Unavailable when Redis is short of memory; ErrOtherSettings. When ctx ends first, the ticket may or may
// not be stored: read it by its id.
func (c *Creator) CreateAs(ctx context.Context, project string, asked Creation) error {
	t := asked.Ticket
	if err := c.store.HasMemory(ctx, project); err != nil {
		return err
	}
	body, err := proto.Marshal(t)
	if err != nil {
		return problem.Wrap(problem.Invalid, err, "the ticket holds text that is not UTF-8")
	}
	if err := c.store.keepListed(ctx, project); err != nil {
		return err
	}
	one := newCreation(asked, body)
	c.mu.Lock()
	g, busy := c.groups[project]
	if !busy {
		g = new(group)
		c.groups[project] = g
	}
	g.queue = append(g.queue, one)
	c.mu.Unlock()
	if !busy {
		// The first caller writes for all. The write must not end with one caller's request, since it has others' tickets.
		go c.flush(telemetry.Detach(ctx), project, g)
	}
	select {
	case err := <-one.done:
		return err
	case <-ctx.Done():
		return problem.Wrap(problem.Unavailable, context.Cause(ctx), "the ticket was not stored in time")
	}
}

// flush writes one group after another until the queue is empty.
func (c *Creator) flush(ctx context.Context, project string, g *group) {
	for {
		c.mu.Lock()
		n, bytes := 0, 0
		for n < min(len(g.queue), groupSize) {
			one := g.queue[n]
			if bytes += len(one.body); n > 0 && (bytes > groupBytes || one.settings != g.queue[0].settings) {
				break
			}
			n++
		}
		if n == 0 {
			delete(c.groups, project)
			c.mu.Unlock()
			return
		}
		batch := g.queue[:n:n]
		g.queue = g.queue[n:]
		c.mu.Unlock()
		c.write(ctx, project, batch)
	}
}

func (c *Creator) write(ctx context.Context, project string, batch []*creation) {
	position, refusals, err := c.store.create(ctx, project, batch)
	if position > 0 && c.created != nil {
		c.created(ctx, project, position)
	}
	for i, one := range batch {
		if err != nil {
			one.done <- err
			continue
		}
		one.done <- refusals[i]
	}
}

// create writes a group, which was decided by the same settings. refusals has the error of each ticket that met a
// limit, by its index in the group.
func (s *Store) create(
	ctx context.Context, project string, batch []*creation,
) (position uint64, refusals map[int]error, err error) {
	k := keysOf(project)
	playerInterval, playerBurst := s.limits.Player().bucket()
	projectInterval, projectBurst := s.limits.Project().bucket()
	party := batch[0].party
	c := s.call(ticketCreateScript, k, ids{ofParty: party.id},
		"waiting_limit", s.limits.Waiting,
		"results_limit", s.limits.Results,
		"player_interval", playerInterval,
		"player_burst", playerBurst,
		"project_interval", projectInterval,
		"project_burst", projectBurst,
		"large_size", largeSize,
		"bytes_limit", s.limits.TicketMemory<<20,
		"settings_revision", batch[0].settings,
		"party_read", party.read,
		"party_revision", party.revision,
		"party_body", party.body,
		"event", s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_CREATED}))
	c.keys = slices.Grow(c.keys, len(batch))
	c.args = slices.Grow(c.args, 4*len(batch))
	for _, one := range batch {
		c.keys = append(c.keys, k.ticket(one.id))
		c.args = append(c.args, one.id, one.owner, one.body, one.players)
	}
	reply, err := s.run(ctx, c)
	if err != nil {
		return 0, nil, err
	}
	r, err := listOf(reply, 1)
	if err != nil {
		return 0, nil, err
	}
	if r[0] == int64(-1) {
		return 0, nil, ErrOtherSettings
	}
	if r[0] == int64(-2) {
		return 0, nil, errOtherParty
	}
	if position, err = positionOf(r[0]); err != nil {
		return 0, nil, err
	}
	for rest := r[1:]; len(rest) >= 3; rest = rest[3:] {
		if refusals == nil {
			refusals = map[int]error{}
		}
		n, _ := rest[0].(int64)
		reason, _ := rest[1].(string)
		after, _ := rest[2].(int64)
		refusals[int(n)] = s.refusal(reason, time.Duration(after)*time.Microsecond)
	}
	return position, refusals, nil
}

func (s *Store) refusal(reason string, after time.Duration) error {
	switch reason {
	case "player":
		return s.limits.Player().LimitError("player", after,
			"this player creates tickets too often: %v a second are allowed, %d at once",
			s.limits.PlayerRate, s.limits.PlayerBurst)
	case "project":
		return s.limits.Project().LimitError("project", after,
			"this project creates tickets too often: %v a second are allowed", s.limits.ProjectRate)
	case "bytes":
		return s.limits.memoryError("the tickets of this project take too much memory, try again when some were matched, " +
			"or with a ticket of up to 1 KiB")
	case "results":
		return &problem.Error{
			Kind: problem.Limited, RetryAfter: drainDelay,
			Detail: "too many tickets of this project have results that can still be read, try again later",
			Limit:  &problem.Limit{Name: "results", Amount: s.limits.Results},
		}
	default:
		return &problem.Error{
			Kind: problem.Limited, RetryAfter: drainDelay,
			Detail: "too many tickets are waiting in this project, try again when some were matched",
			Limit:  &problem.Limit{Name: "waiting", Amount: s.limits.Waiting},
		}
	}
}

// memoryError says that tickets and their results take too much memory.
func (l *Limits) memoryError(detail string) error {
	return &problem.Error{
		Kind: problem.Limited, RetryAfter: drainDelay, Detail: detail,
		Limit: &problem.Limit{Name: "ticket-memory", Amount: l.TicketMemory},
	}
}
