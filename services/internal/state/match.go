package state

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
)

// claimTickets is how many tickets one claim script handles at the most, unless
// a single match has more: a script of this size holds Redis for about 2 ms.
const claimTickets = 512

// ErrLeaseLost is the answer to a director whose lease has passed to another.
var ErrLeaseLost = errors.New("state: the lease has passed to another director")

// Claim asks for one match's tickets, all or nothing.
type Claim struct {
	Match *pb.Match
	// Tickets are the match's tickets.
	Tickets []string
	// Assignments is nil where a server is to be allocated; otherwise it holds the
	// result of each ticket, which is written at once, or, where the tickets are proposed to
	// a backfill ticket, when its server approves: those that name no connection get that of the server then.
	Assignments []*pb.Assignment
	// Refusal is set by Store.Claim: "" when the match was claimed, "config" when its config was changed or
	// deleted, "backfill" when its backfill ticket was, else the id of a ticket that does not wait any more.
	Refusal string
}

// event is what happens when the claim succeeds.
func (c *Claim) event(epoch uint64) *pb.Event {
	e := of(c.Match, pb.Event_KIND_CLAIMED)
	e.Epoch = epoch
	if c.Assignments != nil {
		e.Kind = pb.Event_KIND_ASSIGNED
		if failure := c.Match.GetProposal().GetError(); failure != "" {
			e.Kind, e.Error, e.Reason = pb.Event_KIND_FAILED, failure, "function"
		}
	}
	return e
}

// given are the results to write at once, marshalled: one when it is the same for all tickets.
func (c *Claim) given() ([][]byte, error) {
	results := c.Assignments
	if !slices.ContainsFunc(results, func(a *pb.Assignment) bool { return a != results[0] }) {
		results = results[:min(1, len(results))]
	}
	given := make([][]byte, len(results))
	for i, a := range results {
		var err error
		if given[i], err = proto.Marshal(a); err != nil {
			return nil, corrupt("assignment", err)
		}
	}
	return given, nil
}

// ClaimOptions are the conditions of a batch of claims.
type ClaimOptions struct {
	Epoch uint64
	Now   time.Time
	// Deadline is when claimed tickets wait again unless the allocation began.
	Deadline time.Time
	// Expiry is how long results that are written at once stay readable.
	Expiry time.Time
	// ApprovalDeadline is until when servers may approve tickets that are proposed to them.
	ApprovalDeadline time.Time
}

// Claim claims the matches, in order but those about backfill tickets last, and sets each one's Refusal. It returns the feed's position
// after the last change. ErrStale when the lease has passed on: the rest was not claimed.
func (s *Store) Claim(ctx context.Context, project string, terms ClaimOptions, claims []*Claim) (position uint64, err error) {
	var fillings []*Claim
	claims = slices.DeleteFunc(slices.Clone(claims), func(c *Claim) bool {
		if c.Match.GetProposal().GetFilling() == nil {
			return false
		}
		fillings = append(fillings, c)
		return true
	})
	if position, err = s.claimMatches(ctx, project, terms, claims); err == nil {
		var at uint64
		at, err = s.claimFillings(ctx, project, terms, fillings)
		position = max(position, at)
	}
	if stale(err) {
		return position, ErrLeaseLost
	}
	return position, err
}

// claimMatches claims matches that have nothing to do with backfill tickets.
func (s *Store) claimMatches(ctx context.Context, project string, terms ClaimOptions, claims []*Claim) (position uint64, err error) {
	var calls []call
	var batches [][]*Claim
	for len(claims) > 0 {
		n, tickets := 0, 0
		for n < len(claims) && (n == 0 || tickets+len(claims[n].Tickets) <= claimTickets) {
			tickets += len(claims[n].Tickets)
			n++
		}
		c, err := s.claimCall(project, terms, claims[:n])
		if err != nil {
			return 0, err
		}
		calls, batches = append(calls, c), append(batches, claims[:n])
		claims = claims[n:]
	}
	if len(calls) == 0 {
		return 0, nil
	}
	replies, err := s.runAll(ctx, calls)
	for i, reply := range replies {
		if reply == nil {
			break
		}
		r, err := listOf(reply, 1+len(batches[i]))
		if err != nil {
			return position, err
		}
		at, err := positionOf(r[0])
		if err != nil {
			return position, err
		}
		position = max(position, at)
		for j, c := range batches[i] {
			if verdict, _ := r[1+j].(string); verdict != "ok" {
				c.Refusal = verdict
			}
		}
	}
	return position, err
}

func (s *Store) claimCall(project string, terms ClaimOptions, claims []*Claim) (call, error) {
	k := keysOf(project)
	c := s.call(matchClaimScript, k, ids{},
		"epoch", terms.Epoch,
		"now", millis(terms.Now),
		"deadline", millis(terms.Deadline),
		"expiry", millis(terms.Expiry),
		"match_count", len(claims))
	for _, claim := range claims {
		var body []byte
		if claim.Assignments == nil {
			var err error
			if body, err = proto.Marshal(claim.Match); err != nil {
				return call{}, corrupt("match", err)
			}
		}
		m := claim.Match
		c.keys = append(c.keys, k.match(m.GetId()))
		for _, id := range claim.Tickets {
			c.keys = append(c.keys, k.ticket(id))
		}
		given, err := claim.given()
		if err != nil {
			return call{}, err
		}
		c.args = append(c.args, m.GetId(), m.GetConfig(), m.GetRevision(), len(claim.Tickets), strings.Join(claim.Tickets, " "),
			eventOf(claim.event(terms.Epoch), terms.Now), body, len(given))
		for _, assignment := range given {
			c.args = append(c.args, assignment)
		}
	}
	return c, nil
}

// ended is how long a released match is remembered: longer than all allocators
// may be away, since the one that has it in hand may have to give a server back.
const ended = 24 * time.Hour

// Match reads a match that was claimed; NotFound when it was assigned, or ended long ago.
func (s *Store) Match(ctx context.Context, project, id string) (*pb.Match, error) {
	fields, err := s.readShared(ctx, project, keysOf(project).match(id), "b")
	if err != nil {
		return nil, err
	}
	body, ok := fields[0].(string)
	if !ok {
		return nil, problem.New(problem.NotFound, "match %q was not found", id)
	}
	m := new(pb.Match)
	if err := proto.Unmarshal([]byte(body), m); err != nil {
		return nil, corrupt("match", err)
	}
	return m, nil
}

// MatchStatus is how BeginAllocation, Assign and GameServer found a match.
type MatchStatus string

// What a MatchStatus can be.
const (
	// MatchActive: its allocation goes on; BeginAllocation and Assign did what they were asked.
	MatchActive MatchStatus = "ok"
	// MatchAssigned: the match was assigned before.
	MatchAssigned MatchStatus = "done"
	// MatchReleased: the match ended without a server, its tickets wait again or have an error.
	MatchReleased MatchStatus = "released"
	// MatchForgotten: the match ended so long ago that nobody knows how.
	MatchForgotten MatchStatus = "gone"
	// MatchDropped: a ticket had left, the others wait again.
	MatchDropped MatchStatus = "dropped"
	// MatchLeased: another holder has the lease.
	MatchLeased MatchStatus = "busy"
)

// Outcome is how a match ends.
type Outcome struct {
	Now time.Time
	// Expiry is how long the results stay readable.
	Expiry time.Time
	// Connection is where the match's server is, for its backfill ticket; empty where there is none.
	Connection string
	// Error is what players read instead of a connection, and Reason what events say of it; both empty when all is well.
	Error, Reason string
	// MayHaveServer is whether the hosting system may give the match a server that no ticket uses: there is no connection,
	// or a call whose answer was lost may still arrive. Such a match is deallocated twice, a minute apart.
	MayHaveServer bool
	// Server is kept until KeepServer when the match is assigned; nil where nothing is.
	Server     *pb.GameServer
	KeepServer time.Time
}

// Assign writes the results of a match and ends it. assigned are the tickets that
// were still there, and those that were proposed to its backfill ticket meanwhile: they get the connection as well. Any
// verdict but Go means that the match had ended before, and nothing was written. A server that nobody goes to is among the
// returns then; but with Done the tickets have it.
func (s *Store) Assign(ctx context.Context, project string, m *pb.Match, o Outcome, results map[string]*pb.Assignment) (verdict MatchStatus, assigned []string, err error) {
	k, backfill := keysOf(project), m.GetBackfill()
	ended, joined := of(m, pb.Event_KIND_ASSIGNED), of(m, pb.Event_KIND_ASSIGNED)
	joined.Backfill = backfill
	if o.Error != "" {
		ended.Kind, ended.Error, ended.Reason = pb.Event_KIND_FAILED, o.Error, o.Reason
	}
	tickets, assignments := make([]string, 0, len(results)), make([]*pb.Assignment, 0, len(results))
	for _, id := range slices.Sorted(maps.Keys(results)) {
		tickets, assignments = append(tickets, id), append(assignments, results[id])
	}
	var body, server []byte
	if o.Connection != "" || o.MayHaveServer {
		if body, err = proto.Marshal(m); err != nil {
			return "", nil, corrupt("match", err)
		}
	}
	if o.Server != nil {
		if server, err = proto.Marshal(o.Server); err != nil {
			return "", nil, corrupt("game server", err)
		}
	}
	var proposed []string
	var r []any
	for range insistence {
		c := s.call(matchAssignScript, k, ids{ofMatch: m.GetId(), ofBackfill: backfill},
			"match_id", m.GetId(),
			"expiry", millis(o.Expiry),
			"event", eventOf(ended, o.Now),
			"backfill_id", backfill,
			"ticket_count", len(results),
			"now", millis(o.Now),
			"connection", o.Connection,
			"joined_event", eventOf(joined, o.Now),
			"rejected_event", eventOf(rejected(backfill, "unallocated"), o.Now),
			"body", body,
			"call_lost", flag(o.MayHaveServer),
			"server", server,
			"server_expiry", millis(o.KeepServer))
		if err := c.assignments(k, slices.Concat(tickets, proposed), assignments); err != nil {
			return "", nil, err
		}
		reply, err := s.runShared(ctx, project, c)
		if err != nil {
			return "", nil, err
		}
		if r, err = listOf(reply, 1); err != nil {
			return "", nil, err
		}
		if r[0] != "again" {
			break
		}
		var theirs []*pb.Assignment
		if proposed, theirs, err = resultsOf(r[1:], o.Connection); err != nil {
			return "", nil, err
		}
		assignments = append(assignments[:len(tickets)], theirs...)
	}
	switch verdict, _ := r[0].(string); MatchStatus(verdict) {
	case MatchActive:
	case "again":
		return "", nil, busyBackfill(backfill)
	default:
		return MatchStatus(verdict), nil, nil
	}
	for i, id := range slices.Concat(tickets, proposed) {
		if 1+i < len(r) && r[1+i] == int64(1) {
			assigned = append(assigned, id)
		}
	}
	return MatchActive, assigned, nil
}

// ReleaseOverdueMatches makes the tickets of up to limit matches whose claim deadline has passed wait
// again, at their old age. It returns the matches and the feed's position after it, 0 when there were none.
func (s *Store) ReleaseOverdueMatches(ctx context.Context, project string, now time.Time, limit int) (released []string, position uint64, err error) {
	k := keysOf(project)
	due, err := s.due(ctx, k.claims(), millis(now), limit)
	if err != nil {
		return nil, 0, err
	}
	for _, id := range due {
		m, err := s.Match(ctx, project, id)
		if problem.KindOf(err) == problem.NotFound {
			continue // it was assigned meanwhile
		}
		if err != nil {
			return released, position, err
		}
		done, at, err := s.release(ctx, project, m, releasing{reason: "deadline", latest: millis(now), now: now})
		if err != nil {
			return released, position, err
		}
		if done {
			released, position = append(released, id), max(position, at)
		}
	}
	return released, position, nil
}

// ReleaseMatch makes the tickets of a match that gets no server wait again, at their old age. held is whether it may have one all the same, which is
// to be given back then. The position is the feed's after it, 0 when the match had ended before.
func (s *Store) ReleaseMatch(ctx context.Context, project string, m *pb.Match, held bool, reason string, now time.Time) (position uint64, err error) {
	_, position, err = s.release(ctx, project, m, releasing{reason: reason, latest: math.MaxInt64, now: now, held: &held})
	return position, err
}

// releasing is why, and of which matches, tickets wait again.
type releasing struct {
	reason string
	latest int64 // the latest deadline that has passed
	now    time.Time
	held   *bool // nil: when a server was asked for
}

func (s *Store) release(ctx context.Context, project string, m *pb.Match, how releasing) (done bool, position uint64, err error) {
	k, id := keysOf(project), m.GetId()
	event := of(m, pb.Event_KIND_RELEASED)
	event.Reason = how.reason
	held := ""
	if how.held != nil {
		held = flag(*how.held)
	}
	backfill, tickets := m.GetBackfill(), TicketsOf(m.GetProposal())
	r, err := s.insist(func(proposed []string) (any, error) {
		c := s.call(matchReleaseScript, k, ids{ofMatch: id, ofBackfill: backfill},
			"match_id", id,
			"latest", how.latest,
			"expiry", millis(how.now.Add(ended)),
			"event", eventOf(event, how.now),
			"backfill_id", backfill,
			"rejected_event", eventOf(rejected(backfill, "unallocated"), how.now),
			"ticket_count", len(tickets),
			"may_have_server", held,
			"now", millis(how.now))
		c.tickets(k, tickets)
		c.tickets(k, proposed)
		return s.run(ctx, c)
	})
	if err != nil {
		return false, 0, err
	}
	if r, err = listOf(r, 2); err != nil {
		return false, 0, err
	}
	position, err = positionOf(r[1])
	return r[0] == int64(1), position, err
}

// tickets adds the keys and the ids of tickets.
func (c *call) tickets(k keys, ids []string) {
	for _, id := range ids {
		c.keys = append(c.keys, k.ticket(id))
		c.args = append(c.args, id)
	}
}

// Outbox lists up to limit matches that were claimed before and are not known to be in the work queue.
func (s *Store) Outbox(ctx context.Context, project string, before time.Time, limit int) ([]string, error) {
	return s.due(ctx, keysOf(project).outbox(), millis(before), limit)
}

// RemoveFromOutbox takes matches out of the outbox: the work queue has them.
func (s *Store) RemoveFromOutbox(ctx context.Context, project string, matches []string) error {
	members := make([]any, len(matches))
	for i, id := range matches {
		members[i] = id
	}
	return unavailable(s.redis.ZRem(ctx, keysOf(project).outbox(), members...).Err())
}

// TicketsOf lists the tickets of a proposal, team by team. The list must not be changed.
func TicketsOf(p *pb.Proposal) []string {
	if teams := p.GetTeams(); len(teams) == 1 {
		return teams[0].GetTickets()
	}
	var ids []string
	for _, team := range p.GetTeams() {
		ids = append(ids, team.GetTickets()...)
	}
	return ids
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}
