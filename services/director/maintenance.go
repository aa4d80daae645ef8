package director

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// lookAgain is the time until the next look after the state store did not answer.
const lookAgain = 250 * time.Millisecond

// longestGap is the longest time between two looks of which nothing is missed.
const longestGap = 5 * time.Second

// Every fourth look is full: what is not urgent is found a few seconds later.
const urgentLooks = 4

// How many items are released one by one, or deleted, at a time. If there are more, the next look follows at once,
// after the loop's other work.
const (
	releaseBatch = 100
	expireBatch  = 128
)

// maintenance looks, once a second, for what a crash left behind, and every fourth time for what has expired. Every
// step may be done twice, by any director. It also finds out whether the state store answers. A quiet project is looked
// at less often.
type maintenance struct {
	scope
	outbox    *outbox
	listeners *listeners

	// next is when to look next, and full when a look is full: only then it finds more to trim, or a quiet project.
	next, full time.Time
	// looked is the beginning of the last look that the state store answered, and watching the time since which none
	// failed, or was late by longestGap.
	looked, watching time.Time
	// idle: no match had claimed tickets at the last look.
	idle bool
	// unreachable: the state store did not answer, and no run makes sense until it does.
	unreachable bool
	// empty: no ticket waited at the last look, and nothing happened since. A function would have nothing to propose.
	empty bool
	// quiet is the position of the feed of a quiet project, and one more; 0 when the project is not quiet.
	quiet atomic.Uint64
	// search is for tickets in queues that no config serves.
	search search
	// forget is when to forget old changes of configs next.
	forget time.Time
}

// findings are what a look found.
type findings struct {
	state.DueWork
	// expired is the position of the feed behind what was deleted.
	expired uint64
	full    bool
}

// suspend notes that the state store failed. The next look, at once, finds out whether it answers again.
func (m *maintenance) suspend() {
	m.unreachable = true
	m.lookNow()
}

// changed notes that something happened in the project.
func (m *maintenance) changed() { m.empty = false }

// rouse notes that a project that was quiet may not be quiet any more.
func (m *maintenance) rouse(now time.Time) {
	if m.quiet.Swap(0) > 0 {
		m.lookSoon(now)
	}
}

// watched returns how long players could answer: the state store and a ticket service are known to be there.
func (m *maintenance) watched() time.Duration {
	if m.watching.IsZero() {
		return 0
	}
	now := m.Now()
	return min(now.Sub(m.watching), m.listeners.listening(now))
}

func (m *maintenance) lookNow()               { m.next, m.full = time.Time{}, time.Time{} }
func (m *maintenance) lookSoon(now time.Time) { m.next, m.full = now.Add(lookAgain), time.Time{} }

// look looks if it is time, and reports whether it did. What it releases is in the inbox afterwards.
func (m *maintenance) look(ctx context.Context, now time.Time) (found findings, ok bool) {
	if now.Before(m.next) {
		return found, false
	}
	m.outbox.clear(ctx)
	var err error
	found.full = !now.Before(m.full)
	found.DueWork, err = m.Store.DueWork(ctx, m.project, state.Ages{
		Outbox: outboxAge, Waiting: m.Settings.Waiting, Silence: m.Settings.Silence, Unserved: m.Settings.Unserved,
		Claim: m.Settings.Claim, Approval: m.Settings.Approval, Urgent: !found.full, Idle: m.idle && !found.full,
	})
	if m.unreachable = !m.observed.Check(ctx, "reading the state", err); m.unreachable {
		m.watching = time.Time{}
		m.lookSoon(now)
		return found, false
	}
	if m.watching.IsZero() || now.Sub(m.looked) > longestGap {
		m.watching = now
	}
	m.looked, m.idle = now, found.Idle
	m.next, m.empty = now.Add(m.Timing.Look), found.Waiting == 0
	if found.full {
		soon := min(m.Settings.Waiting, m.Settings.Silence, m.Settings.Unserved, m.Readable) / urgentLooks
		m.full = now.Add(min(urgentLooks*m.Timing.Look, soon))
	}
	m.quiet.Store(0)
	if found.Quiet {
		m.quiet.Store(found.Position + 1)
		m.next = now.Add(quietLook)
	}
	_, err = m.Store.CapDue(ctx, m.project, found.DueWork)
	m.observed.Check(ctx, "capping what is due too late", err)
	if found.Outbox {
		m.outbox.resend(ctx)
	}
	if found.Claims {
		m.endAcceptances(ctx)
		m.releaseMatches(ctx)
	}
	if found.Backfills {
		m.expireBackfills(ctx)
	}
	if found.Tickets {
		found.expired = m.expireTickets(ctx)
	}
	if found.Results {
		m.sweepResults(ctx)
	}
	if found.full {
		found.expired = max(found.expired, m.endUnserved(ctx, now, found.Unserved))
	}
	if found.Feed {
		m.trimFeed(ctx, now)
	}
	m.forgetChanges(ctx, now)
	return found, true
}

// releaseMatches makes the tickets of overdue matches wait again.
func (m *maintenance) releaseMatches(ctx context.Context) {
	released, position, err := m.Store.ReleaseOverdueMatches(ctx, m.project, releaseBatch)
	m.finishRelease(ctx, "releasing overdue matches", "overdue", len(released), position, err)
	if len(released) > 0 {
		m.log.WarnContext(ctx, "tickets of overdue matches wait again", "matches", len(released))
	}
}

// expireBackfills ends matches that go to running games whose servers did not approve in time, and deletes backfill
// tickets whose servers are silent for too long.
func (m *maintenance) expireBackfills(ctx context.Context) {
	overdue, err := m.Store.EndOverdueJoins(ctx, m.project, m.Readable, releaseBatch)
	m.finishRelease(ctx, "ending matches that were not approved", "lapsed", overdue.Games, overdue.Position, err)
	m.finishBatch(ctx, "served", len(overdue.Joined), overdue.More)
	for _, one := range overdue.Joined {
		m.Bus.NotifyResults(ctx, m.project, one.Assigned, one.Results)
	}
	if overdue.Games > 0 {
		m.log.WarnContext(ctx, "backfill approvals timed out: the tickets wait again", "servers", overdue.Games,
			"waited", m.Settings.Approval)
	}
	deleted, position, err := m.Store.DeleteSilentBackfills(ctx, m.project, m.Settings.Silence, releaseBatch)
	m.finishRelease(ctx, "deleting abandoned backfill tickets", "silent", len(deleted), position, err)
	if len(deleted) > 0 {
		m.log.InfoContext(ctx, "abandoned backfill tickets were deleted",
			"backfills", len(deleted), "silent", m.Settings.Silence)
	}
}

// finishRelease notes that n items of a batch were released, and the feed's position after that: every config runs
// again, with the tickets that wait again.
func (m *maintenance) finishRelease(ctx context.Context, doing, what string, n int, position uint64, err error) {
	m.observed.Check(ctx, doing, err)
	m.finishBatch(ctx, what, n, n == releaseBatch)
	if position > 0 {
		m.inbox.poke(&pb.Poke{Position: position})
	}
}

// expireTickets ends tickets that have waited for too long, and deletes results and matches that have expired. It
// returns the feed's position after that.
func (m *maintenance) expireTickets(ctx context.Context) uint64 {
	e, err := m.Store.Expire(ctx, m.project, m.Settings.Waiting, m.Readable, expireBatch)
	m.observed.Check(ctx, "deleting expired tickets", err)
	m.finishBatch(ctx, "abandoned", e.Abandoned, e.More)
	if e.Abandoned > 0 {
		m.log.InfoContext(ctx, "abandoned tickets were ended", "tickets", e.Abandoned, "waited", m.Settings.Waiting)
	}
	m.Bus.NotifyResults(ctx, m.project, e.Told, nil) // requests that wait for them read the reason
	return e.Position
}

// sweepResults notes results that did not come in time, and forgets matches that were over long ago.
func (m *maintenance) sweepResults(ctx context.Context) {
	missing, more, err := m.Store.SweepResults(ctx, m.project, expireBatch)
	m.observed.Check(ctx, "looking for missing results", err)
	m.finishBatch(ctx, "missing", missing, more)
	if missing > 0 {
		m.log.WarnContext(ctx, "matches had no result in time", "matches", missing)
	}
}

// forgetChanges deletes old changes of configs, if it is time. A leader begins at a random time: one that takes over
// many projects has other work.
func (m *maintenance) forgetChanges(ctx context.Context, now time.Time) {
	if m.forget.IsZero() {
		m.forget = now.Add(rand.N(m.Timing.Forget)) //nolint:gosec // no secret
		return
	}
	if now.Before(m.forget) {
		return
	}
	m.forget = now.Add(m.Timing.Forget)
	err := m.Store.ForgetConfigChanges(ctx, m.project, m.Settings.ConfigHistory)
	m.observed.Check(ctx, "forgetting old changes of configs", err)
}

// trimFeed removes entries that no runner needs from the feed.
func (m *maintenance) trimFeed(ctx context.Context, now time.Time) {
	more, err := m.Store.TrimFeed(ctx, m.project)
	m.observed.Check(ctx, "trimming the feed", err)
	if more {
		m.lookSoon(now)
	}
}

// finishBatch counts the items of a batch. If there may be more, the next look follows at once.
func (m *maintenance) finishBatch(ctx context.Context, what string, n int, more bool) {
	m.observed.CountRepairs(ctx, what, n)
	if more {
		m.lookNow()
	}
}
