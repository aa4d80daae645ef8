package checker

import (
	"cmp"
	"slices"
	"time"

	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
)

// cycleTime is how often a leader looks for what is due. A cycle is a taking of tickets by a leader, at least that long
// after another one by the same leader.
const cycleTime = time.Second

// patience is how many cycles of a leader may go by before something is done. A leader that takes tickets reaches Redis
// and has its turn, so no fault excuses it for long. Faults cost some cycles: the call that ends a claim is lost, and
// those that take tickets are not. The simulation prints how many it was at the most.
type patience struct {
	// late is for claims and proposals whose time is over.
	late int
	// idle is for a config with two tickets that wait, while only other configs take tickets. A leader waits six seconds
	// for the answer to a run that was lost.
	idle int
	// passed is for a ticket that waits while its config takes only tickets that came later.
	passed int
}

// How patient the check is while there are faults, and after them.
var (
	rough = patience{late: 4, idle: 16, passed: 8}
	calm  = patience{late: 3, idle: 10, passed: 4}
)

// progress follows a project's event log for promise 5. It judges by what a leader did, not by how long it took.
type progress struct {
	*model
	p       *Promise
	project string

	// leader is the epoch of the leader that took tickets last, and looked when the cycle began that is under way.
	leader uint64
	looked int64
	// due are claims and proposals, by what the event log calls them.
	due map[string]*due
	// cycles counts the cycles of all leaders.
	cycles int
	// waits are the tickets that wait, by age. A ticket that waits again has its old age.
	waits []*wait
	// ages are when tickets were created, in milliseconds.
	ages map[string]int64
	// idle counts the cycles in which a config took nothing.
	idle map[string]int
	// limit is how patient the check is now, and most are the highest counts since then.
	limit *patience
	most  map[*patience]patience
}

// due is a claim or proposal.
type due struct {
	at     int64
	match  string
	cycles int
}

// wait is a ticket that waits.
type wait struct {
	id      string
	configs []string
	// since is when it began, in milliseconds, and age when the ticket was created.
	since, age int64
	passed     int
}

// leadersWork checks that a leader that is at work leaves nothing undone.
func (m *model) leadersWork(p *Promise) {
	cycles, most := 0, map[*patience]patience{}
	for _, project := range m.projects() {
		r := &progress{
			model: m, p: p, project: project, due: map[string]*due{}, idle: map[string]int{}, limit: &rough, most: most,
			ages: map[string]int64{},
		}
		for _, e := range m.logs[project] {
			r.step(e)
		}
		cycles += r.cycles
	}
	p.count("cycles of leaders at work", cycles)
	for _, limit := range []*patience{&rough, &calm} {
		when := " with faults"
		if limit == &calm {
			when = " after the faults"
		}
		p.most("cycles until a claim that was due had ended,"+when, most[limit].late)
		p.most("cycles in which a config took none of its tickets,"+when, most[limit].idle)
		p.most("cycles in which a ticket's config took only younger ones,"+when, most[limit].passed)
	}
}

// relax counts again from the moment when the faults are over.
func (r *progress) relax() {
	r.limit, r.idle = &calm, map[string]int{}
	for _, d := range r.due {
		d.cycles = 0
	}
	for _, w := range r.waits {
		w.passed = 0
	}
}

// isCalm reports whether the faults are over by a time in milliseconds.
func (r *progress) isCalm(millis int64) bool { return r.h.Calm > 0 && millis > r.h.Calm.Millis() }

func (r *progress) step(e *history.Event) {
	if r.limit == &rough && r.isCalm(e.Time) {
		r.relax()
	}
	if r.takes(e) {
		r.work(e)
	}
	switch e.Kind {
	case history.Claimed:
		if r.isShakenMatch(e.Match) {
			break
		}
		r.due[e.Match] = &due{at: e.Time + cmp.Or(e.Acceptance, r.matchPatience(e).Milliseconds()), match: e.Match}
	case history.Accepted: // by the last of them, it has the time of every claim
		if d := r.due[e.Match]; d != nil {
			d.at = max(d.at, e.Time+r.matchPatience(r.matches[e.Match].first).Milliseconds())
		}
	case history.Declined:
		if d := r.due[e.Match]; d != nil {
			d.at = e.Time
		}
	case history.Allocating:
		if d := r.due[e.Match]; d != nil {
			d.at = e.Time + r.h.Terms.Allocation.Milliseconds()
		}
	case history.Full, history.Function, history.Unserved: // the match goes on
	default:
		delete(r.due, e.Match)
		for _, id := range e.Tickets {
			delete(r.due, id)
		}
	}
	switch e.Kind {
	case history.Created, history.Released:
		for _, id := range e.Tickets {
			if t := r.tickets[id]; t != nil && len(t.configs) > 0 && !r.isShakenTicket(id) {
				r.wait(&wait{id: id, configs: t.configs, since: e.Time}, e)
			}
		}
	default:
		r.waits = slices.DeleteFunc(r.waits, func(w *wait) bool { return slices.Contains(e.Tickets, w.id) })
	}
}

// wait adds a ticket that waits from an event on.
func (r *progress) wait(w *wait, e *history.Event) {
	if _, again := r.ages[w.id]; !again {
		r.ages[w.id] = e.Time
	}
	w.age = r.ages[w.id]
	n, _ := slices.BinarySearchFunc(r.waits, w.age+1, func(w *wait, age int64) int { return cmp.Compare(w.age, age) })
	r.waits = slices.Insert(r.waits, n, w)
}

// work notes that a leader takes tickets. Whatever waited and was due before its cycle began, it could have seen to.
func (r *progress) work(e *history.Event) {
	if e.Epoch != r.leader {
		r.leader, r.looked = e.Epoch, e.Time
	}
	r.idle[e.Config] = 0
	if e.Time-r.looked < cycleTime.Milliseconds() {
		return
	}
	r.cycles++
	most := r.most[r.limit]
	most.late = max(most.late, r.countLate(e))
	most.passed = max(most.passed, r.countPassed(e))
	most.idle = max(most.idle, r.countIdle(e))
	r.most[r.limit], r.looked = most, e.Time
}

// countLate counts a cycle for what was due when it began. It returns the highest count, as the others do.
func (r *progress) countLate(e *history.Event) (most int) {
	for what, d := range r.due {
		if d.at > r.looked {
			continue
		}
		d.cycles++
		most = max(most, d.cycles)
		if d.cycles == r.limit.late {
			r.p.fail("%s: %s %q was due at %s, and the leader of epoch %d took tickets in %d cycles without ending it",
				r.project, d.kind(), what, clock(history.Moment(d.at*1000)), e.Epoch, d.cycles)
		}
	}
	return most
}

func (d *due) kind() string {
	if d.match != "" {
		return "match"
	}
	return "the proposal of ticket"
}

// countPassed counts a cycle for the tickets that are older than all those that a match takes.
func (r *progress) countPassed(e *history.Event) (most int) {
	first := slices.IndexFunc(r.waits, func(w *wait) bool { return slices.Contains(e.Tickets, w.id) })
	for _, w := range r.waits[:max(0, first)] {
		if !slices.Contains(w.configs, e.Config) {
			continue
		}
		w.passed++
		most = max(most, w.passed)
		if w.passed == r.limit.passed {
			r.p.fail("%s: ticket %s waited while config %q took only younger tickets in %d cycles", r.project, w.id, e.Config,
				w.passed)
		}
	}
	return most
}

// countIdle counts a cycle for the configs that could have had a match.
func (r *progress) countIdle(e *history.Event) (most int) {
	could := map[string]int{}
	for _, w := range r.waits {
		for _, c := range w.configs {
			if w.since <= r.looked {
				could[c]++
			}
		}
	}
	for config, tickets := range could {
		if config == e.Config {
			continue
		}
		if tickets < 2 || r.changes(config, e.Time) {
			r.idle[config] = 0
			continue
		}
		r.idle[config]++
		most = max(most, r.idle[config])
		if r.idle[config] == r.limit.idle {
			r.p.fail("%s: %d tickets of config %q waited while the leader of epoch %d took others in %d cycles",
				r.project, tickets, config, e.Epoch, r.limit.idle)
		}
	}
	return most
}

// changes reports whether a config or its function is being changed, or may not exist, by a time in milliseconds.
func (r *progress) changes(config string, millis int64) bool {
	return r.mayBeAway(config, millis, history.Put, history.Delete, false) ||
		r.mayBeAway(lane.FunctionOf(config), millis, history.Upload, history.Remove, true)
}

// mayBeAway reports whether what is put and deleted is being changed, or may not exist. A DELETE without an answer may
// take effect after a PUT that came later, until the faults are over.
func (r *progress) mayBeAway(name string, millis int64, put, deletion history.Op, there bool) bool {
	unsure := false
	for i := range r.h.Changes {
		c := &r.h.Changes[i]
		if c.Project != r.project || c.Name != name || c.Op != put && c.Op != deletion ||
			c.From.Millis()-cycleTime.Milliseconds() > millis {
			continue
		}
		if c.To.Millis()+cycleTime.Milliseconds() > millis {
			return true
		}
		switch {
		case c.Status == 200:
			there = c.Op == put && !r.lost(r.project, c.Span)
			unsure = unsure && !r.isCalm(c.From.Millis())
		case c.Op == deletion:
			unsure = true
		}
	}
	return !there || unsure
}
