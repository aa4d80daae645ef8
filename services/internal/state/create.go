package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// groupSize is the most tickets that one script creates. It is large enough to make the round trip cheap, and small
// enough that Redis serves others in between.
const groupSize = 128

// groupBytes is the most bytes of tickets that one script creates, unless a single one has more: Redis takes about a
// millisecond for them.
const groupBytes = 1 << 20

// groupPlayers is the most players that the tickets of one script name, unless a single ticket names more. All of them
// are arguments of one command, of which Lua passes about 8,000.
const groupPlayers = 1024

// largeSize is the size of a ticket's body from which its bytes count. The number of tickets bounds smaller ones, so
// plain tickets cost nothing more.
const largeSize = 1 << 10

// drainDelay is when the first client may try again after the project had too many waiting tickets.
const drainDelay = 5 * time.Second

// Spread adds up to drainDelay, where all callers of a project meet one limit: they do not come again together.
func Spread(d time.Duration) time.Duration { return d + rand.N(drainDelay) } //nolint:gosec // no secret

// Creator writes tickets in groups. While one script runs, it collects the tickets that arrive. The next script writes
// them all.
type Creator struct {
	store   *Store
	created func(ctx context.Context, project string, position uint64, queues ...string)

	mu     sync.Mutex
	groups map[string]*group
}

// Creator returns a Creator. When a group is stored, it calls created, if not nil, with the feed's position and the
// queues of the tickets, "" for tickets without one; without any, they are in any queues. The callers of Create return
// after that, unless another group follows at once: then one call tells of both, after the first callers returned.
func (s *Store) Creator(
	created func(ctx context.Context, project string, position uint64, queues ...string),
) *Creator {
	return &Creator{store: s, created: created, groups: map[string]*group{}}
}

// group collects the tickets of one project. It exists while it has any.
type group struct {
	queue []*creation
	// told has what the next call of created is about: it tells of two scripts at most, where one follows the other.
	told     []*creation
	position uint64
}

// creation is a Creation as it waits in a group.
type creation struct {
	Creation
	// players has the ids of the ticket's players with newlines between; "" if the owner is the only one. named is their
	// number.
	players string
	named   int
	body    []byte
	// party is set when it is the search of a party, which is written with it.
	party partyWrite
	// served has the ticket's queues with spaces between, if they must be served.
	served string
	// key and request are the digests of an Idempotency-Key and of its request; "" for none.
	key, request string
	// older are tickets of its players that the script has to read, as ids of pairs: a ticket, and the match that claimed
	// it. Of unread the match is not known. looks counts these reads.
	older  [][2]string
	unread []string
	looks  int
	// rated is what its players' ratings are, if it has any; the body has room for them.
	rated *ratedTicket
	done  chan answer
}

// answer is the result of a creation.
type answer struct {
	Created
	err error
}

func newCreation(asked Creation) (one *creation, err error) {
	t, standing := asked.Ticket, asked.Settings.GetStanding()
	rules := RatingsFor(asked.Settings, t.GetQueues()...)
	one = &creation{Creation: asked, done: make(chan answer, 1)}
	if len(rules) > 0 || standing != nil {
		one.body, one.rated, err = encodeRated(t, rules, standing)
	} else {
		one.body, err = proto.Marshal(t)
	}
	if err != nil {
		return nil, problem.Wrap(problem.Invalid, err, "the ticket holds text that is not UTF-8")
	}
	if asked.Settings.GetTickets().GetRefuseUnserved() {
		one.served = strings.Join(t.GetQueues(), " ")
	}
	if asked.Key != "" {
		// A key is its player's own. Only digests of the key and the request are kept, so no key is too long.
		one.key, one.request = keyDigest(t.GetOwner(), asked.Key), requestDigest(asked.Request)
	}
	if players := t.GetPlayers(); len(players) > 0 {
		one.players, one.named = strings.Join(PlayersOf(t), "\n"), len(players)
	}
	return one, nil
}

// Creation is a ticket to be created.
type Creation struct {
	// Ticket has its id, owner and created.
	Ticket *pb.Ticket
	// Settings are the settings of the project that the caller decided by; nil for a project without settings.
	Settings *pb.ProjectSettings
	// Readable is how long the results of replaced tickets can be read.
	Readable time.Duration
	// Key is an Idempotency-Key, "" for none, and Request what was asked with it.
	Key     string
	Request []byte
}

// Listed reports whether the tickets of each player of a project are listed.
func Listed(settings *pb.ProjectSettings) bool {
	t := settings.GetTickets()
	return t.GetListed() || t.GetPlayerLimit() > 0
}

// Created is the result of a Creation.
type Created struct {
	// ID is the ticket's id. It differs from the Creation's id when its key created a ticket before.
	ID string
	// Ended are tickets that were ended for the new one.
	Ended []string
	// Running is the match without a result that one of its players is in, if the project's settings say to tell it.
	Running string
}

// keyTime is the least time that an Idempotency-Key is remembered; the longest is twice as long.
const keyTime = 10 * time.Minute

// digestSize is the number of bytes of a digest: two requests of a project have the same one about never.
const digestSize = 16

// maxLooks limits the tries of a ticket whose players' other tickets change meanwhile.
const maxLooks = 16

// ErrOtherSettings says that a ticket was not created, since the project has other settings than the caller decided by.
var ErrOtherSettings = errors.New("state: the project has other settings")

// Create stores a ticket of a project without settings, see CreateAs.
func (c *Creator) Create(ctx context.Context, project string, t *pb.Ticket) error {
	_, err := c.CreateAs(ctx, project, Creation{Ticket: t})
	return err
}

// CreateAs stores a ticket, whose id, owner and created are set. Its waiting time counts by Redis's clock; functions
// and players see created. Errors: Limited when too many tickets of the project wait or have results, or when the
// project or the player creates too often; Invalid when the system has too many projects without this one, or a queue
// must be served and is not; Unavailable when Redis is short of memory; ErrOtherSettings. When ctx ends first, the
// ticket may or may not be stored: read it by its id.
func (c *Creator) CreateAs(ctx context.Context, project string, asked Creation) (Created, error) {
	if err := c.store.HasMemory(ctx, project); err != nil {
		return Created{}, err
	}
	one, err := newCreation(asked)
	if err != nil {
		return Created{}, err
	}
	if err := c.store.keepListed(ctx, project); err != nil {
		return Created{}, err
	}
	c.mu.Lock()
	g, busy := c.groups[project]
	if !busy {
		g = new(group)
		c.groups[project] = g
	}
	g.queue = append(g.queue, one)
	c.mu.Unlock()
	if !busy {
		// The first caller writes for all. The write must not end with one caller's request, since it has tickets of others.
		c.flush(telemetry.Detach(ctx), project, g)
	}
	// mistake early: return Created{ID: one.Ticket.GetId()}, nil
	select {
	case result := <-one.done:
		return result.Created, result.err
	case <-ctx.Done():
		return Created{}, problem.Wrap(problem.Unavailable, context.Cause(ctx), "the ticket was not stored in time")
	}
}

// flush writes one group. Another goroutine reads what it lacks, and writes what came meanwhile, so that this caller
// returns as soon as it has its answer.
func (c *Creator) flush(ctx context.Context, project string, g *group) {
	c.mu.Lock()
	n, bytes, named := 0, 0, 0
	for n < min(len(g.queue), groupSize) {
		one := g.queue[n]
		bytes, named = bytes+len(one.body), named+one.named
		isOther := one.Settings.GetRevision() != g.queue[0].Settings.GetRevision()
		if n > 0 && (bytes > groupBytes || named > groupPlayers || isOther) {
			break
		}
		n++
	}
	batch := g.queue[:n:n]
	g.queue = g.queue[n:]
	c.mu.Unlock()
	if again := c.write(ctx, project, g, batch); len(again) > 0 {
		go func() { c.goOn(ctx, project, g, c.store.lookAt(ctx, project, again)) }()
		return
	}
	c.goOn(ctx, project, g, nil)
}

// goOn lets another goroutine write what came meanwhile, behind creations to retry.
func (c *Creator) goOn(ctx context.Context, project string, g *group, again []*creation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g.queue = append(again, g.queue...); len(g.queue) == 0 {
		delete(c.groups, project)
		return
	}
	go c.flush(ctx, project, g)
}

// write writes a group, and returns the creations to retry.
func (c *Creator) write(ctx context.Context, project string, g *group, batch []*creation) (again []*creation) {
	position, verdicts, err := c.store.create(ctx, project, batch)
	holds := len(g.told) == 0
	for _, v := range verdicts {
		holds = holds && v.reason != "older" // what that reads comes before the next group
	}
	c.mu.Lock()
	holds = holds && len(g.queue) > 0
	c.mu.Unlock()
	if position > 0 && c.created != nil {
		g.told, g.position = append(g.told, batch...), position
	}
	if len(g.told) > 0 && !holds {
		c.created(ctx, project, g.position, queuesOf(g.told)...)
		g.told = nil
	}
	return c.store.answer(ctx, project, batch, verdicts, err)
}

// answer answers the creations of a group as its script said, and returns the creations to retry once their unread
// tickets were looked at.
func (s *Store) answer(
	ctx context.Context, project string, batch []*creation, verdicts map[int]verdict, err error,
) (again []*creation) {
	unserved := map[*creation][]string{}
	for i, one := range batch {
		v := verdicts[i]
		result := answer{Created{ID: one.Ticket.GetId(), Running: v.running}, err}
		switch {
		case err != nil, v.reason == "":
		case v.reason == "older":
			if result.err = one.mayLook(); result.err == nil {
				again, one.unread = append(again, one), strings.Fields(v.value)
				continue
			}
		case v.reason == "ended":
			result.Ended = strings.Fields(v.value)
		case v.reason == "again":
			result.ID = v.value
		case v.reason == "unserved":
			unserved[one] = strings.Fields(v.value)
			continue
		default:
			result.err = s.refusal(one, v)
		}
		one.done <- result
	}
	if len(unserved) > 0 {
		go s.answerUnserved(ctx, project, unserved) // which asks Redis, and delays no others
	}
	return again
}

// answerUnserved answers creations whose queues must be served and are not.
func (s *Store) answerUnserved(ctx context.Context, project string, all map[*creation][]string) {
	served, err := s.ServedQueues(ctx, project)
	for one, queues := range all {
		one.done <- answer{Created{ID: one.Ticket.GetId()}, cmp.Or(err, unservedError(queues, served))}
	}
}

// toldQueues is the most queues of a group that are told.
const toldQueues = 16

// queuesOf returns the queues of a group, "" for tickets without one; nil when they are too many.
func queuesOf(batch []*creation) (queues []string) {
	for _, one := range batch {
		for _, queue := range definition.QueuesOf(one.Ticket) {
			if !slices.Contains(queues, queue) {
				queues = append(queues, queue)
			}
		}
		if len(queues) > toldQueues {
			return nil
		}
	}
	return queues
}

// mayLook returns an error when a creation has read older tickets too often.
func (c *creation) mayLook() error {
	if c.looks++; c.looks > maxLooks {
		return problem.New(problem.Unavailable, "the tickets of this player change too fast, try again").After(answerDelay)
	}
	return nil
}

// lookAt gives creations the older tickets of their players that the script has to read, and returns the creations to
// retry: none if that failed, which they are told.
func (s *Store) lookAt(ctx context.Context, project string, all []*creation) []*creation {
	k := keysOf(project)
	var ids []string
	for _, one := range all {
		ids = append(ids, one.unread...)
	}
	rows, err := forEach(ctx, s.redis, ids, func(p redis.Pipeliner, id string) *redis.SliceCmd {
		return p.HMGet(ctx, k.ticket(id), "m")
	})
	in := replied{err: err}
	for _, one := range all {
		for _, id := range one.unread {
			if in.err != nil {
				break
			}
			match := in.text(in.row(rows[0])[0])
			rows, one.older = rows[1:], slices.DeleteFunc(one.older, func(pair [2]string) bool { return pair[0] == id })
			one.older = append(one.older, [2]string{id, match})
		}
	}
	if in.err == nil {
		return all
	}
	for _, one := range all {
		one.done <- answer{Created{ID: one.Ticket.GetId()}, in.err}
	}
	return nil
}

// verdict is the script's reply for a ticket.
type verdict struct {
	reason, value string
	after         time.Duration
	// running is the match that a player of the ticket is in. Without a reason the ticket was created.
	running string
}

// create writes a group, which was decided by the same settings. verdicts has the verdicts of tickets by their index in
// the group; a ticket that was just created has none.
func (s *Store) create(
	ctx context.Context, project string, batch []*creation,
) (position uint64, verdicts map[int]verdict, err error) {
	k := keysOf(project)
	playerInterval, playerBurst := s.limits.Player().bucket()
	projectInterval, projectBurst := s.limits.Project().bucket()
	first, older, free := batch[0], 0, s.space(project)
	rules, pauses := first.Settings.GetTickets(), PausesOf(first.Settings)
	for _, one := range batch {
		older += len(one.older)
	}
	var replaced []byte
	if older > 0 {
		replaced = s.cancelled("replaced")
	}
	c := s.call("ticket_create", k, ids{ofParty: first.party.id},
		"waiting_limit", s.limits.Waiting,
		"results_limit", s.limits.Results,
		"room_from", free.from,
		"room_until", free.until,
		"player_interval", playerInterval,
		"player_burst", playerBurst,
		"project_interval", projectInterval,
		"project_burst", projectBurst,
		"large_size", largeSize,
		"bytes_limit", s.limits.TicketMemory<<20,
		"player_share", s.limits.playerMemory(),
		"settings_revision", first.Settings.GetRevision(),
		"party_read", first.party.read,
		"party_revision", first.party.revision,
		"party_body", first.party.body,
		"heard_every", first.party.noted.Milliseconds(),
		"event", s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_CREATED}),
		"replaced_event", replaced,
		"listing", Listed(first.Settings),
		"player_limit", rules.GetPlayerLimit(),
		"replaces", flag(rules.GetWhenReached() == "replace"),
		"ends_told", flag(rules.GetEndsTold()),
		"told_time", first.Readable.Milliseconds(),
		"first_pause", pauses.First.Milliseconds(),
		"longest_pause", pauses.Longest.Milliseconds(),
		"key_period", keyTime.Microseconds(),
		"key_limit", s.limits.Keys,
		"rating_slots", ratingSlots(batch),
		"rated_limit", cmp.Or(s.limits.Rated, math.MaxInt32),
		"when_running", rules.GetRunning(),
		"count", len(batch),
		"older_count", older)
	c.keys = slices.Grow(c.keys, len(batch)+2*older)
	c.args = slices.Grow(c.args, 7*len(batch)+2*older)
	for _, one := range batch {
		id, owner := one.Ticket.GetId(), one.Ticket.GetOwner()
		c.keys = append(c.keys, k.ticket(id))
		c.args = append(c.args, id, owner, one.body, one.players, one.served, one.key, one.request)
	}
	for _, one := range batch {
		for _, pair := range one.older {
			c.keys = append(c.keys, k.ticket(pair[0]), k.match(pair[1]))
			c.args = append(c.args, pair[0], pair[1])
		}
	}
	var at int64
	var rest []any
	if err := s.evalShared(ctx, project, c, &at, &rest); err != nil {
		return 0, nil, err
	}
	switch at {
	case -1:
		return 0, nil, ErrOtherSettings
	case -2:
		return 0, nil, errOtherParty
	}
	position = uint64(at)
	var in replied
	for ; len(rest) >= 3; rest = rest[3:] {
		n, what := in.number(rest[0]), in.text(rest[1])
		said := verdicts[int(n)]
		switch after, is := rest[2].(int64); {
		case what == "room":
			s.spaces.Store(project, space{from: n, until: n + after, read: s.measured.host()})
			continue
		case what == "plays":
			said.running = in.text(rest[2])
		case is:
			said.reason, said.after = what, time.Duration(after)*time.Microsecond
		default:
			said.reason, said.value = what, in.text(rest[2])
		}
		if verdicts == nil {
			verdicts = map[int]verdict{}
		}
		verdicts[int(n)] = said
	}
	return position, verdicts, in.err
}

// space says that no ticket is refused for the project's limits of waiting tickets and results as long as the history's
// position is between from and until: it grows with each ticket that counts to one of them. So all services of a system
// must keep a history, or none.
type space struct {
	from, until int64
	read        time.Time
}

// spaceTime is how long a space counts. A Redis that comes back with less has earlier positions, so that the script
// looks; only one whose positions caught up within that time is not found.
const spaceTime = time.Second

// space returns what is known of a project's limits; the zero space if nothing is.
func (s *Store) space(project string) space {
	value, _ := s.spaces.Load(project)
	known, _ := value.(space)
	if passed := s.measured.host().Sub(known.read); passed < 0 || passed > spaceTime {
		return space{}
	}
	return known
}

// refusal is the error of a verdict.
func (s *Store) refusal(c *creation, v verdict) error {
	if strings.HasPrefix(v.reason, pausedMark) {
		return c.paused(v)
	}
	if number, is := strings.CutPrefix(v.reason, absentMark); is {
		return problem.New(problem.PlayerSilent, "player %q missed a match, and was not heard of since", c.playerAt(number))
	}
	switch v.reason {
	case "player":
		who := "this player creates tickets"
		if c.named > 1 {
			who = "tickets are created for a player of this ticket"
		}
		return s.limits.Player().LimitError(problem.PlayerLimited, "player", v.after, "%s too often: %v a second are "+
			"allowed, %d at once", problem.Word(who), s.limits.PlayerRate, s.limits.PlayerBurst)
	case "project":
		return s.limits.Project().LimitError(problem.ProjectLimited, "project", Spread(v.after), "this project creates "+
			"tickets too often: %v a second are allowed, one for each of their players", s.limits.ProjectRate)
	case "taken":
		return problem.New(problem.PlayerHasTicket, "a player of this ticket has the ticket %s already, and has no room for "+
			"another: delete that one, or wait for its result", v.value).Exceeds("tickets.perPlayer")
	case "playing":
		return problem.New(problem.PlayerInMatch, "a player of this ticket is in the match %s, which has no result yet",
			v.value).Exceeds("tickets.running")
	case "other":
		return problem.New(problem.IdempotencyKeyReused, "Idempotency-Key: another request was sent with this key: use a "+
			"new key for each ticket")
	case "keys":
		return full("max-keys", s.limits.Keys,
			"too many requests of this project had an Idempotency-Key lately, try again later or without one")
	case "bytes":
		return full("ticket-memory", s.limits.TicketMemory, "the tickets of this project take too much memory, try "+
			"again when some were matched, or with a ticket of up to 1 KiB")
	case "share":
		return full("player-ticket-memory", s.limits.playerMemory(), problem.Word(fmt.Sprintf("the tickets of this player "+
			"take too much memory: tickets of more than 1 KiB may take %d bytes together, try again when some were matched or "+
			"deleted", s.limits.playerMemory())))
	case "results":
		return full("results", s.limits.Results,
			"too many tickets of this project have results that can still be read, try again later")
	default:
		return full("waiting", s.limits.Waiting,
			"too many tickets are waiting in this project, try again when some were matched")
	}
}

// A player's large tickets may take a part of the project's limit, and two of the largest in any case.
const (
	memoryParts       = 64
	leastPlayerMemory = 128 << 10
)

// playerMemory is how many bytes the large tickets of one player may take, 0 for any number.
func (l *Limits) playerMemory() int {
	if l.TicketMemory == 0 {
		return 0
	}
	return max(leastPlayerMemory, l.TicketMemory<<20/memoryParts)
}

// full is the error of a limit of how much is stored at a time.
func full(limit string, amount int, detail problem.Word) *problem.Error {
	e := problem.New(problem.TooManyTickets, "%s", detail).After(Spread(drainDelay))
	e.Limit = &problem.Limit{Name: limit, Amount: amount}
	return e
}
