package state

import (
	"context"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Expired counts what Expire deleted.
type Expired struct {
	// Abandoned counts tickets that waited too long; Told are the abandoned tickets whose end is told. Read counts tickets
	// whose results became unreadable, and Matches matches that ended long ago.
	Abandoned, Read, Matches int
	Told                     []string
	// More is true when there may be more of them.
	More bool
	// Position is the feed's position when waiting tickets were deleted, else 0.
	Position uint64
}

// Expire ends up to about limit tickets each that have waited for longer than waiting and withSlack, or whose result
// became unreadable, and forgets as many matches that ended long ago. Ends that are told can be read for as long.
func (s *Store) Expire(
	ctx context.Context, project string, waiting, readable time.Duration, limit int,
) (e Expired, err error) {
	k, now := keysOf(project), millis(s.Now())
	if err = s.expireWaiting(ctx, k, waiting, readable, limit, &e); err != nil {
		return e, err
	}
	if e.Matches, err = s.expireMatches(ctx, k, now, limit); err != nil {
		return e, err
	}
	var results, outcomes bool
	if e.Read, results, err = s.expireResults(ctx, k, now, limit); err == nil {
		outcomes, err = s.expireOutcomes(ctx, k, now, limit)
	}
	e.More = max(e.Abandoned, e.Matches) == limit || results || outcomes
	return e, err
}

// expireWaiting ends tickets that were created long ago and still wait.
func (s *Store) expireWaiting(
	ctx context.Context, k keys, patience, readable time.Duration, limit int, e *Expired,
) error {
	tickets, err := s.due(ctx, k.waiting(), millis(s.Now().Add(-withSlack(patience))), limit)
	if err != nil || len(tickets) == 0 {
		return err
	}
	c := s.call("expire_waiting", k, ids{},
		"patience", patience.Milliseconds(),
		"told_time", readable.Milliseconds(),
		"reason", "abandoned",
		"event", s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_EXPIRED, Reason: "abandoned"}))
	c.addEach(k.ticket, tickets)
	return s.eval(ctx, c, &e.Abandoned, &e.Position, &e.Told)
}

// expireMatches deletes matches that ended long ago.
func (s *Store) expireMatches(ctx context.Context, k keys, latest int64, limit int) (n int, err error) {
	matches, err := s.due(ctx, k.ended(), latest, limit)
	if err != nil || len(matches) == 0 {
		return 0, err
	}
	c := s.call("expire_matches", k, ids{})
	c.addEach(k.match, matches)
	c.addKeys(k.result, matches)
	err = s.eval(ctx, c, &n)
	return n, err
}

// expireResults deletes tickets whose results became unreadable. Tickets whose results were written by one script are
// deleted by one script. more is true when some are left.
func (s *Store) expireResults(ctx context.Context, k keys, latest int64, limit int) (n int, more bool, err error) {
	groups, err := s.due(ctx, k.resolved(), latest, limit)
	if err != nil || len(groups) == 0 {
		return 0, false, err
	}
	more = len(groups) == limit
	c := s.call("expire_results", k, ids{},
		"event", s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_EXPIRED, Reason: "read"}))
	for i, group := range groups {
		for id := range strings.SplitSeq(group, " ") {
			c.keys = append(c.keys, k.ticket(id))
		}
		c.args = append(c.args, group)
		if len(c.keys) >= limit && i+1 < len(groups) {
			more = true
			break
		}
	}
	err = s.eval(ctx, c, &n)
	return n, more, err
}
