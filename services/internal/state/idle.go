package state

import (
	"context"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// How many tickets one script notes as heard of, or ends.
const (
	heardBatch   = 512
	unheardBatch = 256
)

// Where no director looks for silent tickets any more, the times of the last requests are kept for signsKept at most,
// which is longer than the longest silence. They are kept of twice as many tickets as wait, and of spareSigns more.
const (
	signsKept  = time.Hour
	spareSigns = 100_000
)

// Hear notes a request for tickets.
func (s *Store) Hear(ctx context.Context, project string, tickets []string) error {
	for some := range slices.Chunk(tickets, heardBatch) {
		c := s.call("ticket_hear", keysOf(project), ids{},
			"kept", signsKept.Milliseconds(),
			"spare", spareSigns)
		c.addArgs(some)
		if err := s.eval(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// Unheard are tickets that ended because there were no requests for them any more.
type Unheard struct {
	// Known is the number of tickets whose last request is known.
	Known int64
	Ended int
	// Told are the ended tickets whose end is told.
	Told []string
	// Position is the feed's position after the change; 0 when none ended.
	Position uint64
	// More is true when there may be more of them.
	More bool
}

// EndUnheard ends tickets that wait and had no request during silence. It must be called more often than gap: after a
// longer pause none ends for as long as silence. Ends that are told can be read for as long as readable.
func (s *Store) EndUnheard(
	ctx context.Context, project string, silence, gap, readable time.Duration,
) (found Unheard, err error) {
	k := keysOf(project)
	silent, err := s.due(ctx, k.lastSeen(), millis(s.Now().Add(-silence)), unheardBatch)
	if err != nil {
		return found, err
	}
	c := s.call("expire_unheard", k, ids{},
		"silence", silence.Milliseconds(),
		"gap", gap.Milliseconds(),
		"kept", signsKept.Milliseconds(),
		"told_time", readable.Milliseconds(),
		"reason", "unheard",
		"event", s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_EXPIRED, Reason: "unheard"}))
	c.addEach(k.ticket, silent)
	var forgotten int
	err = s.eval(ctx, c, &found.Known, &forgotten, &found.Ended, &found.Position, &found.Told)
	found.More = len(silent) == unheardBatch && found.Ended+forgotten > 0
	return found, err
}

// FindSigns lists the projects in which requests for tickets are noted.
func (s *Store) FindSigns(ctx context.Context) ([]string, error) {
	return s.allHaving(ctx, keys.lastSeen)
}

// SilenceOf returns how long a ticket of a project with these settings may be without a request; 0 for any time.
func SilenceOf(p *pb.ProjectSettings) time.Duration {
	return time.Duration(p.GetTickets().GetSilence()) * time.Millisecond
}
