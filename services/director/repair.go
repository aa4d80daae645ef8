package director

import (
	"context"
	"time"
)

// How often a leader looks for what a crash left behind, how old a match in the outbox must be
// to count as such, how long sending may take, and how many are handled at a time.
const (
	repairEvery = time.Second
	outboxAge   = 2 * time.Second
	sendTime    = 5 * time.Second
	repairBatch = 1000
)

// send puts claimed matches into the work queue. What fails stays in the outbox.
func (l *leader) send(ctx context.Context, matches []string) {
	// A leader that is being stopped still sends what it claimed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer cancel()
	sent, err := l.Bus.Send(ctx, l.project, matches)
	if err != nil {
		l.log.WarnContext(ctx, "sending matches to the allocators: the outbox keeps them", "matches", len(matches)-len(sent), "error", err)
	}
	if len(sent) == 0 {
		return
	}
	if err := l.Store.Sent(ctx, l.project, sent); err != nil {
		l.log.WarnContext(ctx, "clearing the outbox", "error", err)
	}
}

// mend repairs, once a second, what a crash or a loss left behind. Each step may be done twice, by anyone.
func (l *leader) mend(ctx context.Context) {
	now := l.Now()
	if now.Before(l.repair) {
		return
	}
	l.repair = now.Add(repairEvery)
	l.inbox.again() // the configs, should a poke have been lost

	l.rewind(ctx)

	if matches, err := l.Store.Outbox(ctx, l.project, now.Add(-outboxAge), repairBatch); err != nil {
		l.failedMend(ctx, "outbox", err)
	} else if len(matches) > 0 {
		l.log.InfoContext(ctx, "sending matches that were left in the outbox", "matches", len(matches))
		l.sends.Go(func() { l.send(ctx, matches) })
	}

	released, position, err := l.Store.Release(ctx, l.project, now, repairBatch)
	l.released(position)
	if err != nil {
		l.failedMend(ctx, "overdue claims", err)
	}
	if len(released) > 0 {
		l.log.WarnContext(ctx, "tickets of overdue matches wait again", "matches", len(released))
	}

	l.lapse(ctx, now)

	abandoned, _, position, err := l.Store.Expire(ctx, l.project, now.Add(-l.Times.Waiting), now, repairBatch)
	l.position = max(l.position, position)
	if err != nil {
		l.failedMend(ctx, "expired tickets", err)
	}
	if abandoned > 0 {
		l.log.InfoContext(ctx, "abandoned tickets were deleted", "tickets", abandoned, "waited", l.Times.Waiting)
	}
}

// lapse ends proposals that their servers did not approve in time, and backfill tickets whose servers are silent for too long.
func (l *leader) lapse(ctx context.Context, now time.Time) {
	lapsed, position, err := l.Store.LapseBackfills(ctx, l.project, now, repairBatch)
	l.released(position)
	if err != nil {
		l.failedMend(ctx, "proposals that were not approved", err)
	}
	if len(lapsed) > 0 {
		l.log.WarnContext(ctx, "game servers did not approve in time: their tickets wait again, and nobody is sent to them until they speak",
			"servers", len(lapsed), "waited", l.Times.Approval)
	}
	forgotten, position, err := l.Store.ForgetBackfills(ctx, l.project, now.Add(-l.Times.Silence), now, repairBatch)
	l.released(position)
	if err != nil {
		l.failedMend(ctx, "abandoned backfill tickets", err)
	}
	if len(forgotten) > 0 {
		l.log.InfoContext(ctx, "abandoned backfill tickets were deleted", "backfills", len(forgotten), "silent", l.Times.Silence)
	}
}

// rewind notices a Redis that came back with less than it had, as from a copy that
// lagged: no runner will ever reach the positions that the leader has seen.
func (l *leader) rewind(ctx context.Context) {
	now, err := l.Store.Position(ctx, l.project)
	switch {
	case err != nil:
		l.failedMend(ctx, "position", err)
	case now < l.position:
		l.log.ErrorContext(ctx, "the state store lost changes", "position", l.position, "now", now)
		l.position = now
	}
}

// released makes every config run again, over tickets that wait again.
func (l *leader) released(position uint64) {
	if position == 0 {
		return
	}
	l.position = max(l.position, position)
	for c := range l.all() {
		c.dirty = true
	}
}

func (l *leader) failedMend(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		l.log.WarnContext(ctx, "repairing", "what", what, "error", err)
	}
}
