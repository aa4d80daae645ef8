package schedule

import (
	"math"
	"time"
)

// absent is how long a segment rests when no runner hosts its function, when the message bus does not take its run, or
// when its project has as many matches as it may have, or hosting as many as it has servers for.
const absent = 250 * time.Millisecond

// takeTimeout is how long a run may wait for a runner to answer it, or to say that it has it. Runners do so within a
// tenth of that: otherwise the request is lost, or it went to a runner that is dead or frozen. The timeout grows up to
// eightfold while no runner answers.
const takeTimeout = 250 * time.Millisecond

// answerTime is how much later than the end of its run an answer may arrive.
const answerTime = time.Second

// A segment whose runs fail one after the other rests: from the run number patientRuns on for firstRest, then for twice
// as long each time, up to maxRest.
const (
	patientRuns = 3
	firstRest   = 250 * time.Millisecond
	maxRest     = 5 * time.Second
)

// pace is how many times its cost a segment waits from the start of a run to the next: none uses more than half a core.
const pace = 2

// spared is how many runs an idle segment may start at once. Where few tickets come, each gets a run when it comes;
// where many come, a run is for all tickets of the interval. Two are enough for a pair of players.
const spared = 2

// Outcome is how a run ended.
type Outcome string

// The outcomes, which are values of the metric's label outcome. Failed: the function or its runner reported an error.
// Absent: no runner hosts the function. Late: no runner took the run or answered in time, or the runner is lost. Bus:
// the message bus did not take the run.
const (
	OK     Outcome = "ok"
	Failed Outcome = "failed"
	Absent Outcome = "absent"
	Late   Outcome = "late"
	Bus    Outcome = "bus"
)

// Segment is the schedule of one segment of a config's pools. It has at most one run at a time, and the next one starts
// when all proposals of the last one are settled: an earlier run would only propose the same tickets.
type Segment struct {
	// wanted is the feed position that the next run is to see, 0 if nothing changed since the last start. seen is the
	// position that the last run saw, 0 until it ended well.
	wanted, seen uint64
	// held: no run starts until Hold(false).
	held bool
	// started is when the last run started. None starts before notBefore.
	started, notBefore time.Time
	// paced is when all runs so far were to have started, with an interval between them that depends on how many segments
	// have the same pools. interval is the interval of the last run.
	paced    time.Time
	interval time.Duration
	pools    Pools
	// paused is the time of notBefore if Rest set it.
	paused time.Time
	// unsettled is the number of proposals that are not settled.
	unsettled int
	// failures is how many runs in a row failed, or were taken and not answered.
	failures int

	// account pays for the runs; nil for none. cost is the cost of the last run, and reserved what was charged for it when
	// it started.
	account        *Account
	cost, reserved time.Duration
	// lasted is how long the last two runs took that a runner had, 0 where there was none.
	lasted [2]time.Duration
	// delayed is the time since which the budget has delayed the next run; zero if it does not. delay is the delay of the
	// last run.
	delayed time.Time
	delay   time.Duration

	running bool
	// runner has taken the run. It is empty until then.
	runner string
	// deadline is when a runner must have taken the run, or answered it.
	deadline time.Time
	// untaken is how many runs in a row no runner took.
	untaken int
}

// First returns the schedule of a new segment of the account's config. It is due at once, unless the config was
// changed, or deleted and made again, so often that its runs have to wait for their pace.
func (a *Account) First() Segment { return Segment{wanted: anyway, account: a, paced: a.paced} }

// Next returns the schedule of a segment that replaces this one and others like it.
func (s *Segment) Next() Segment {
	return Segment{
		wanted: anyway, started: s.started, paced: s.paced, interval: s.interval, notBefore: s.notBefore,
		account: s.account, cost: s.cost, failures: s.failures,
	}
}

// Account pays for the runs.
func (s *Segment) Account() *Account { return s.account }

// Delay is how long the budget kept the last run from starting.
func (s *Segment) Delay() time.Duration { return s.delay }

// Started is when the last run started.
func (s *Segment) Started() time.Time { return s.started }

// Idle reports whether no run is under way and all proposals are settled.
func (s *Segment) Idle() bool { return !s.running && s.unsettled == 0 }

// anyway is wanted for what happens beside the feed.
const anyway = math.MaxUint64

// Touch notes a change that the next run should see.
func (s *Segment) Touch() { s.wanted = anyway }

// TouchAt notes a change at a position of the feed, unless the last run saw it.
func (s *Segment) TouchAt(position uint64) {
	if position > s.seen {
		s.wanted = max(s.wanted, position)
	}
}

// Saw notes up to where in the feed the last run saw: changes before that need no other run.
func (s *Segment) Saw(position uint64) {
	if s.seen = position; s.wanted <= position {
		s.wanted = 0
	}
}

// EndRest lets a segment run that rests because no runner hosted its function, or because its runs failed: the function
// may be another one now.
func (s *Segment) EndRest(now time.Time) {
	s.notBefore, s.failures, s.cost, s.lasted = time.Time{}, 0, 0, [2]time.Duration{}
	s.account.EndDebt(now)
}

// Rest lets the next run start a little later, even without a change.
func (s *Segment) Rest(now time.Time) {
	s.wanted, s.paused = anyway, now.Add(absent)
	s.notBefore = later(s.notBefore, s.paused)
}

// EndPause lets a segment run that rests because of Rest.
func (s *Segment) EndPause() {
	if s.notBefore.Equal(s.paused) {
		s.notBefore = time.Time{}
	}
}

// Hold keeps new runs from starting, or lets them start again.
func (s *Segment) Hold(held bool) { s.held = held }

// Start notes that a run starts.
func (s *Segment) Start(now time.Time) {
	s.running, s.runner, s.wanted, s.seen, s.delay = true, "", 0, 0, 0
	if !s.delayed.IsZero() {
		s.delay, s.delayed = now.Sub(s.delayed), time.Time{}
	}
	s.started, s.deadline = now, s.takeBy(now)
}

// slow reports whether the run is not expected to end within the window: both runs before it took longer, and it has
// proposed nothing yet.
func (s *Segment) slow(window time.Duration) bool {
	return s.unsettled == 0 && min(s.lasted[0], s.lasted[1]) > window
}

// Take notes that a runner took the run.
func (s *Segment) Take(runner string, t Times) {
	s.runner, s.untaken, s.deadline = runner, 0, s.started.Add(t.Run+answerTime)
}

// End notes how the run ended, and what it cost.
func (s *Segment) End(outcome Outcome, cost time.Duration, now time.Time) {
	s.account.settle(s.reserved, cost)
	s.cost, s.reserved = cost, 0
	if outcome == OK || outcome == Failed || s.runner != "" {
		s.lasted = [2]time.Duration{s.lasted[1], now.Sub(s.started)}
	}
	switch {
	case outcome == Late && s.runner == "":
		s.untaken++
	case outcome == OK, outcome == Failed:
		s.untaken = 0
	}
	switch {
	case outcome == OK:
		s.failures = 0
	case outcome == Failed, outcome == Late && s.runner != "":
		if s.failures++; s.failures >= patientRuns {
			s.notBefore = now.Add(min(maxRest, firstRest<<min(s.failures-patientRuns, 8)))
		}
	}
	if outcome == Absent || outcome == Bus {
		s.notBefore = now.Add(absent)
	}
	if outcome == Absent || outcome == Late {
		s.Touch()
	}
	s.running = false
}

// Propose notes that the run made n proposals.
func (s *Segment) Propose(n int) { s.unsettled += n }

// Settle notes that n of a run's proposals are settled.
func (s *Segment) Settle(n int) { s.unsettled -= n }

// Abandon notes that the leader no longer waits for the run. The runner goes on with it, so it costs no less than what
// was reserved for it.
func (s *Segment) Abandon(cost time.Duration, now time.Time) { s.End(OK, max(cost, s.reserved), now) }

// Lost returns how long a runner has worked on a run that it did not answer; 0 for other outcomes. The cost of that
// work is unknown.
func (s *Segment) Lost(outcome Outcome, now time.Time) time.Duration {
	if outcome != Late || s.runner == "" {
		return 0
	}
	return max(0, now.Sub(s.started))
}

// Overdue returns why the run must be given up, or "".
func (s *Segment) Overdue(now time.Time, lost func(runner string) bool) string {
	switch {
	case !s.running:
		return ""
	case s.runner != "" && lost(s.runner):
		return "the runner is lost"
	case now.Before(s.deadline):
		return ""
	case s.runner != "":
		return "the runner did not answer in time"
	}
	return "no runner took the run in time"
}

// due is when the next run may start.
func (s *Segment) due(t Times) time.Time {
	at := s.started.Add(t.MaxInterval)
	if s.wanted > 0 {
		at = s.paced.Add(-(spared - 1) * max(t.MinInterval, s.interval))
	}
	return later(later(at, s.started.Add(pace*s.cost)), s.notBefore)
}

// takeBy is when a runner must have taken a run that starts now.
func (s *Segment) takeBy(now time.Time) time.Time { return now.Add(takeTimeout << min(s.untaken, 3)) }

// schedule makes types Scheduled that embed a Segment.
func (s *Segment) schedule() *Segment { return s }
