package director

import (
	"context"
	"maps"
	"time"

	"matchmaker.dev/services/internal/state"
)

// How often a leader looks for what time has brought, and how soon again when the state store did not answer; how old a
// match in the outbox must be to count as left behind, and how long sending may take.
const (
	repairEvery = time.Second
	repairAgain = 250 * time.Millisecond
	outboxAge   = 2 * time.Second
	sendTime    = 5 * time.Second
)

// How many are handled at a time: matches that are sent, what is released one by one, and what is deleted. When there are more, the
// next look follows at once, behind what else the loop has to do.
const (
	sendBatch    = 1000
	releaseBatch = 100
	expireBatch  = 256
)

// send puts claimed matches into the work queue, and tells whether it has all of them. What fails stays in the outbox.
func (l *leader) send(ctx context.Context, matches []string) bool {
	// A leader that is being stopped still sends what it claimed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer cancel()
	began := time.Now()
	sent, err := l.Bus.EnqueueMatches(ctx, l.project, matches)
	l.metrics.took(ctx, "publish", time.Since(began))
	all := l.trouble.note(ctx, "sending matches to the allocators", err)
	if len(sent) == 0 {
		return all
	}
	return l.trouble.note(ctx, "clearing the outbox", l.Store.RemoveFromOutbox(ctx, l.project, sent)) && all
}

// mend looks, once a second, what time has brought: what a crash or a loss left behind, and what has expired. Every step
// may be done twice, by anyone. It also finds out whether the state store answers, without which no run makes sense.
func (l *leader) mend(ctx context.Context) {
	now := l.Now()
	if now.Before(l.repair) {
		return
	}
	l.repair = now.Add(repairEvery)
	due, err := l.Store.DueWork(ctx, l.project, state.Cutoffs{
		Now: now, Outbox: now.Add(-outboxAge), Waiting: now.Add(-l.Times.Waiting), Silence: now.Add(-l.Times.Silence),
	})
	if l.blind = !l.trouble.note(ctx, "reading the state", err); l.blind {
		l.repair = now.Add(repairAgain)
		return
	}
	l.catchUp(ctx, due.Position)
	l.empty = due.Waiting == 0
	l.measure(ctx, now)
	if !maps.Equal(due.Revisions, l.revisions()) { // a poke was lost
		l.reload(ctx)
	}
	if due.Outbox {
		l.resend(ctx, now)
	}
	if due.Claims {
		l.release(ctx, now)
	}
	if due.Backfills {
		l.lapse(ctx, now)
	}
	if due.Tickets {
		l.expire(ctx, now)
	}
}

// catchUp notes the feed's position, which the next runs must have seen: after a claim whose answer was lost
// it is the only one who tells. When it went back, as with a Redis that came back with less than it had, no runner will ever
// reach the positions that the leader has seen.
func (l *leader) catchUp(ctx context.Context, position uint64) {
	if position < l.position {
		l.log.ErrorContext(ctx, "the state store lost changes", "position", l.position, "now", position)
	}
	l.position = position
}

// resend sends the matches that lie in the outbox for too long, beside the loop.
func (l *leader) resend(ctx context.Context, now time.Time) {
	if !l.resending.CompareAndSwap(false, true) {
		return
	}
	l.sends.Go(func() {
		defer l.resending.Store(false)
		for ctx.Err() == nil {
			matches, err := l.Store.Outbox(ctx, l.project, now.Add(-outboxAge), sendBatch)
			if !l.trouble.note(ctx, "reading the outbox", err) || len(matches) == 0 {
				return
			}
			l.metrics.mended(ctx, "outbox", len(matches))
			l.log.InfoContext(ctx, "sending matches that were left in the outbox", "matches", len(matches))
			if !l.send(ctx, matches) {
				return
			}
		}
	})
}

// release makes the tickets of overdue matches wait again.
func (l *leader) release(ctx context.Context, now time.Time) {
	released, position, err := l.Store.ReleaseOverdueMatches(ctx, l.project, now, releaseBatch)
	l.freed(ctx, "releasing overdue matches", len(released), position, err)
	if len(released) > 0 {
		l.metrics.mended(ctx, "overdue", len(released))
		l.log.WarnContext(ctx, "tickets of overdue matches wait again", "matches", len(released))
	}
}

// lapse ends proposals that their servers did not approve in time, and backfill tickets whose servers are silent for too long.
func (l *leader) lapse(ctx context.Context, now time.Time) {
	lapsed, position, err := l.Store.ExpireProposals(ctx, l.project, now, releaseBatch)
	l.freed(ctx, "ending proposals that were not approved", len(lapsed), position, err)
	if len(lapsed) > 0 {
		l.metrics.mended(ctx, "lapsed", len(lapsed))
		l.log.WarnContext(ctx, "game servers did not approve in time: their tickets wait again, and nobody is sent to them until they speak",
			"servers", len(lapsed), "waited", l.Times.Approval)
	}
	forgotten, position, err := l.Store.DeleteSilentBackfills(ctx, l.project, now.Add(-l.Times.Silence), now, releaseBatch)
	l.freed(ctx, "deleting abandoned backfill tickets", len(forgotten), position, err)
	if len(forgotten) > 0 {
		l.metrics.mended(ctx, "silent", len(forgotten))
		l.log.InfoContext(ctx, "abandoned backfill tickets were deleted", "backfills", len(forgotten), "silent", l.Times.Silence)
	}
}

// expire deletes tickets that wait for too long, and results and matches whose time is over.
func (l *leader) expire(ctx context.Context, now time.Time) {
	e, err := l.Store.Expire(ctx, l.project, now.Add(-l.Times.Waiting), now, expireBatch)
	l.again(e.More)
	l.position = max(l.position, e.Position)
	l.trouble.note(ctx, "deleting expired tickets", err)
	if e.Abandoned > 0 {
		l.metrics.mended(ctx, "abandoned", e.Abandoned)
		l.log.InfoContext(ctx, "abandoned tickets were deleted", "tickets", e.Abandoned, "waited", l.Times.Waiting)
	}
}

// freed takes in what a batch of a look did: when the batch was full there may be more.
func (l *leader) freed(ctx context.Context, doing string, n int, position uint64, err error) {
	l.again(n == releaseBatch)
	l.released(position)
	l.trouble.note(ctx, doing, err)
}

// again makes the next look follow at once, when there is more to do.
func (l *leader) again(more bool) {
	if more {
		l.repair = time.Time{}
	}
}

// released makes every config run again, over tickets that wait again.
func (l *leader) released(position uint64) {
	if position == 0 {
		return
	}
	l.position, l.empty = max(l.position, position), false
	for c := range l.all() {
		c.dirty = true
	}
}
