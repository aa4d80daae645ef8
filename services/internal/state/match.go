package state

import (
	"context"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// matchMemory is how long a match is remembered whose server was deallocated, or whose tickets use one of two servers.
// It is longer than any outage of the allocators: the one that works on the match may have to deallocate a server.
const matchMemory = 24 * time.Hour

// MatchStatus is the state in which BeginAllocations, Assign and GameServer found a match.
type MatchStatus string

// The statuses of a match.
const (
	// MatchActive: its allocation goes on. BeginAllocations and Assign succeeded.
	MatchActive MatchStatus = "ok"
	// MatchAssigned: the match was assigned before.
	MatchAssigned MatchStatus = "done"
	// MatchReleased: the match ended without a server, or with one that is given back; its tickets wait again or have an
	// error.
	MatchReleased MatchStatus = "released"
	// MatchForgotten: the match is not stored any more: it ended long ago, or never had a server.
	MatchForgotten MatchStatus = "gone"
	// MatchDropped: a ticket had left, the others wait again.
	MatchDropped MatchStatus = "dropped"
	// MatchLeased: another holder has the lease.
	MatchLeased MatchStatus = "busy"
)

// Outcome is how a match ends.
type Outcome struct {
	// Holder must have the lease of the match.
	Holder string
	// Readable is how long the results stay readable.
	Readable time.Duration
	// Connection is the address of the match's server, for its backfill ticket; empty when there is none.
	Connection string
	// Error is what players read instead of a connection, and Reason the reason in events. Both are empty when the match
	// has a server. Detail explains in events why there is no server.
	Error, Reason, Detail string
	// MayHaveServer is true when the hosting system may have, or may still get, a server for the match that no ticket
	// uses. A call whose answer was lost may still arrive. Such a match is deallocated twice, a minute apart.
	MayHaveServer bool
	// Server is stored for KeepServer when the match is assigned; nil when none is to be stored.
	Server     *pb.GameServer
	KeepServer time.Duration
	// Never is true when hosting will never give the match a server: others do not wait for that.
	Never bool
}

// answer returns hosting's answer, for scripts.
func (o *Outcome) answer() string { return flag(o.Connection != "" || o.Never) }

// Match reads a claimed match. Errors: NotFound when it was assigned, or ended long ago.
func (s *Store) Match(ctx context.Context, project, id string) (*pb.Match, error) {
	m, err := readMessage[pb.Match](ctx, s, project, keysOf(project).match(id), "b", "match")
	if m == nil && err == nil {
		err = problem.New(problem.NotFound, "match %q was not found", id)
	}
	return m, err
}

// ReleaseOverdueMatches makes the tickets of up to limit matches whose claim deadline has passed wait
// again, at their old age. It returns the matches and the feed's position after it, 0 when there were none.
func (s *Store) ReleaseOverdueMatches(
	ctx context.Context, project string, limit int,
) (released []string, position uint64, err error) {
	k := keysOf(project)
	due, err := s.due(ctx, k.claims(), millis(s.Now()), limit)
	if err != nil || len(due) == 0 {
		return nil, 0, err
	}
	matches, err := s.matches(ctx, k, due, false) // EndAcceptances is for the others
	if err != nil {
		return nil, 0, err
	}
	overdue, position, err := s.releaseAll(ctx, project, matches, "deadline")
	for _, m := range overdue {
		released = append(released, m.GetId())
	}
	return released, position, err
}

// ReleaseMatch makes the tickets of a match that gets no server wait again, at their old age. With mayHaveServer, its
// server is deallocated. It returns the feed's position after the change, 0 when the match had ended before, or another
// holder has the lease.
func (s *Store) ReleaseMatch(
	ctx context.Context, project string, m *pb.Match, holder string, mayHaveServer bool, reason string,
) (position uint64, err error) {
	_, position, err = s.releaseMatch(ctx, project, m, release{reason: reason, holder: holder,
		mayHaveServer: &mayHaveServer})
	return position, err
}

// release is the reason of a release, and its conditions.
type release struct {
	reason string
	// holder must have the lease; "" when the match's deadline must have passed.
	holder string
	// mayHaveServer is nil when it follows from whether a server was asked for.
	mayHaveServer *bool
}

func (s *Store) releaseMatch(
	ctx context.Context, project string, m *pb.Match, how release,
) (done bool, position uint64, err error) {
	k, id := keysOf(project), m.GetId()
	event := matchEvent(m, pb.Event_KIND_RELEASED)
	event.Reason = how.reason
	mayHaveServer := ""
	if how.mayHaveServer != nil {
		mayHaveServer = flag(*how.mayHaveServer)
	}
	c := s.call("match_release", k, ids{ofMatch: id, ofBackfill: backfillOf(m)},
		"match_id", id,
		"holder", how.holder,
		"event", s.encodeEvent(event),
		"place", placeOf(m),
		"may_have_server", mayHaveServer)
	c.addEach(k.ticket, TicketsOf(m.GetProposal()))
	var others []string
	if err := s.eval(ctx, c, &done, &position, &others); err != nil {
		return false, 0, err
	}
	reason := "unallocated"
	if gameOf(m) != "" {
		reason = how.reason
	}
	at, err := s.releaseOthers(ctx, project, others, reason)
	return done, max(position, at), err
}

// Outbox lists up to limit matches that were claimed longer ago and are not known to be in the work queue.
func (s *Store) Outbox(ctx context.Context, project string, age time.Duration, limit int) ([]string, error) {
	return s.due(ctx, keysOf(project).outbox(), millis(s.Now().Add(-age)), limit)
}

// RemoveFromOutbox removes matches that the work queue has.
func (s *Store) RemoveFromOutbox(ctx context.Context, project string, matches []string) error {
	if len(matches) == 0 {
		return nil
	}
	return unavailable(s.redis.ZRem(ctx, keysOf(project).outbox(), matches).Err())
}

// CountTickets counts the tickets of a proposal.
func CountTickets(p *pb.Proposal) (n int) {
	for _, team := range p.GetTeams() {
		n += len(team.GetTickets())
	}
	return n
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
