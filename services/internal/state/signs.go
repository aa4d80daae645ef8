package state

import (
	"cmp"
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

// Where nobody looks for silent tickets any more, it is known for signsKept at most when somebody asked for tickets: it
// is longer than the longest silence. It is known of twice as many tickets as wait, and of spareSigns more.
const (
	signsKept  = time.Hour
	spareSigns = 100_000
)

// Hear notes that somebody asked for tickets.
func (s *Store) Hear(ctx context.Context, project string, tickets []string) error {
	for some := range slices.Chunk(tickets, heardBatch) {
		c := s.call(ticketHearScript, keysOf(project), ids{},
			"kept", signsKept.Milliseconds(),
			"spare", spareSigns)
		for _, id := range some {
			c.args = append(c.args, id)
		}
		if _, err := s.run(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// Unheard are tickets that ended because nobody asked for them any more.
type Unheard struct {
	// Known is of how many tickets it is known when somebody asked for them last.
	Known int64
	Ended int
	// Told are those of them whose end is told.
	Told []string
	// Position is the feed's position behind that; 0 when none ended.
	Position uint64
	// More is true when there may be more of them.
	More bool
}

// EndUnheard ends tickets that wait and that nobody asked for during silence. It must be called more often than gap:
// after a longer pause none ends for as long as silence. Ends that are told can be read for as long as readable.
func (s *Store) EndUnheard(
	ctx context.Context, project string, silence, gap, readable time.Duration,
) (found Unheard, err error) {
	k := keysOf(project)
	silent, err := s.due(ctx, k.signs(), millis(s.Now().Add(-silence)), unheardBatch)
	if err != nil {
		return found, err
	}
	c := s.call(expireUnheardScript, k, ids{},
		"silence", silence.Milliseconds(),
		"gap", gap.Milliseconds(),
		"kept", signsKept.Milliseconds(),
		"told_time", readable.Milliseconds(),
		"reason", "unheard",
		"event", s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_EXPIRED, Reason: "unheard"}))
	c.tickets(k, silent)
	reply, err := s.run(ctx, c)
	if err != nil {
		return found, err
	}
	r, err := listOf(reply, 2)
	if err != nil {
		return found, err
	}
	var in replied
	found.Known = in.number(r[0])
	forgotten := in.number(r[1])
	found.Ended, found.Position, found.Told, err = parseEnds(r[2:])
	err = cmp.Or(in.err, err)
	found.More = len(silent) == unheardBatch && found.Ended+int(forgotten) > 0
	return found, err
}

// FindSigns lists the projects of whose tickets it is known when somebody asked for them.
func (s *Store) FindSigns(ctx context.Context) ([]string, error) { return s.having(ctx, keys.signs) }

// SilenceOf is for how long nobody may ask for a ticket of a project with these settings; 0 when that ends none.
func SilenceOf(p *pb.ProjectSettings) time.Duration {
	return time.Duration(p.GetTickets().GetSilence()) * time.Millisecond
}
