package checker

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// existence is promise 1.
func existence(m *model, p *Promise, s *Sums) {
	var asked, ended, after int
	for _, t := range m.ordered() {
		lost, seen := false, false
		for _, c := range t.calls {
			if c.Status == 200 || c.Status == 404 {
				asked++
				seen = seen || c.From >= m.h.Calm
			}
			if c.Status != 404 {
				continue
			}
			skip := c
			if c.Op == history.Get {
				skip = nil
			}
			if from, was := t.deleting(skip); was && from <= c.To {
				ended++
			} else if !lost {
				lost = true
				p.broken("%s: ticket %s (player %d) is gone at %s, and nobody had deleted it", t.project, t.id, t.number, clock(c.To))
			}
		}
		if lost {
			s.Lost++
		}
		if seen {
			after++
		} else if !lost {
			s.Lost++
			p.broken("%s: nobody could learn of ticket %s (player %d) after the faults", t.project, t.id, t.number)
		}
	}
	p.tried("tickets answered 201", len(m.tickets))
	p.tried("answers about them", asked)
	p.tried("answers that a deleted one is gone", ended)
	p.tried("tickets asked for after the faults", after)
}

// once is promise 2. The event log is replayed for it as well.
func once(m *model, p *Promise, s *Sums) {
	var matched, again int
	places := map[string]*match{} // by project and connection
	for _, t := range m.ordered() {
		told := t.told()
		if told == nil {
			continue
		}
		matched++
		for _, c := range t.of(history.Get) {
			if c.From < told.To || c.Status != 200 {
				continue
			}
			again++
			if c.Assignment == nil {
				p.broken("%s: ticket %s had a result at %s and none at %s", t.project, t.id, clock(told.To), clock(c.From))
			} else if !same(c.Assignment, told.Assignment) {
				m.doubled[t.id] = struct{}{}
				p.broken("%s: ticket %s was told %s at %s and %s at %s", t.project, t.id,
					told.Assignment.Connection, clock(told.To), c.Assignment.Connection, clock(c.To))
			}
		}
		if one := m.result(t); one != nil && told.Assignment.Connection != "" {
			place := t.project + " " + told.Assignment.Connection
			if other := places[place]; other != nil && other != one {
				p.broken("%s: matches %s and %s are both at %s", t.project, one.id, other.id, told.Assignment.Connection)
			}
			places[place] = one
		}
	}
	var claims, epochs int
	for _, log := range m.logs {
		seen := map[uint64]struct{}{}
		for _, e := range log {
			if m.takes(e) {
				claims += len(e.Tickets)
				seen[e.Epoch] = struct{}{}
			}
		}
		epochs += len(seen)
	}
	s.Doubled = len(m.doubled)
	p.tried("tickets with a result", matched)
	p.tried("results read again", again)
	p.tried("claims of a ticket", claims)
	p.tried("reigns of a director", epochs)
}

// together is promise 3. The event log is replayed for it as well.
func together(m *model, p *Promise, _ *Sums) {
	var whole, dropped, without int
	for _, one := range m.orderedMatches() {
		if one.ended == nil {
			continue
		}
		if one.ended.Kind == history.Released && one.ended.Reason == "left" {
			dropped++
		}
		if one.ended.Kind != history.Assigned {
			continue
		}
		whole++
		if len(one.ended.Tickets) < len(one.tickets) {
			without++
		}
		m.agree(p, one)
	}
	p.tried("matches assigned", whole)
	p.tried("of these, without a player who had left", without)
	p.tried("matches dropped because a player had left in time", dropped)
}

// agree looks at what the players of a match were told.
func (m *model) agree(p *Promise, one *match) {
	var first *history.Call // of those who were told, the one who was told first
	for _, id := range one.ended.Tickets {
		if t := m.tickets[id]; t != nil {
			if told := t.told(); told != nil && (first == nil || told.To < first.To) {
				first = told
			}
		}
	}
	if first == nil {
		return
	}
	for _, id := range one.ended.Tickets {
		t := m.tickets[id]
		if t == nil {
			continue // its creation was never answered
		}
		for _, c := range t.of(history.Get) {
			switch {
			case c.Status != 200:
			case c.Assignment == nil && c.From > first.To:
				p.broken("%s: match %s: ticket %s had no result at %s, but ticket %s had one at %s", t.project, one.id, t.id, clock(c.From), first.Ticket, clock(first.To))
			case c.Assignment != nil && (c.Assignment.Connection != first.Assignment.Connection || string(c.Assignment.Match) != string(first.Assignment.Match)):
				p.broken("%s: match %s: ticket %s was told %s %s, but ticket %s %s %s", t.project, one.id, t.id, c.Assignment.Connection, c.Assignment.Match,
					first.Ticket, first.Assignment.Connection, first.Assignment.Match)
			}
		}
		if made, ok := properties(first.Assignment); ok && !slices.Contains(made.Players, t.number) {
			p.broken("%s: match %s: ticket %s is player %d, but the match is said to be of %v", t.project, one.id, t.id, t.number, made.Players)
		}
	}
}

// truth is promise 4. The event log is replayed for it as well.
func truth(m *model, p *Promise, _ *Sums) {
	states := map[string]int{}
	var after int
	for _, t := range m.ordered() {
		d := t.deleted()
		if d == nil {
			continue
		}
		for _, c := range t.calls {
			if c.From <= d.To || c.Status == 0 || c.Status >= 500 {
				continue
			}
			after++
			if c.Status != 404 {
				p.broken("%s: ticket %s was deleted at %s; a %s at %s is answered %d", t.project, t.id, clock(d.To), c.Op, clock(c.From), c.Status)
			}
		}
		for _, e := range t.events {
			switch e.Kind {
			case history.Cancelled:
				states[e.Reason]++
			case history.Claimed, history.Proposed, history.Assigned, history.Failed:
				if e.Time > d.To.Millis() {
					p.broken("%s: ticket %s was deleted at %s, and %s by match %q after that", t.project, t.id, clock(d.To), e.Kind, e.Match)
				}
			}
		}
	}
	for _, state := range []string{waiting, claimed, proposed, resolved} {
		p.tried("deletions of a ticket that was "+state, states[state])
	}
	p.tried("requests about deleted tickets", after)
}

// release is promise 5. The event log is replayed for it as well.
func release(m *model, p *Promise, s *Sums) {
	reasons := map[string]int{}
	var claims int
	for _, one := range m.orderedMatches() {
		if one.first == nil || one.first.Kind != history.Claimed || one.ended == nil {
			continue
		}
		claims++
		if one.ended.Kind == history.Released {
			reasons[one.ended.Reason]++
		}
		taken, limit := m.took(one.first, one.ended), m.h.Terms.Claim+m.h.Terms.Allocation+m.h.Terms.Recovery
		if one.begun == nil {
			limit = m.h.Terms.Claim + m.h.Terms.Recovery
		}
		if taken > limit {
			p.broken("%s: match %s was %s only %v after it was claimed, faults left out; the limit is %v", one.project, one.id, one.ended.Kind, taken, limit)
		}
	}
	proposals := m.proposals(p)
	var again, created int
	for _, t := range m.ordered() {
		var at int64
		for _, c := range t.of(history.Get) {
			if c.Status != 200 {
				continue
			}
			if at != 0 && c.Created != at {
				p.broken("%s: ticket %s was created at %d, and later at %d", t.project, t.id, at, c.Created)
			}
			at = c.Created
			created++
		}
		for _, e := range t.events {
			if e.Kind == history.Released || e.Kind == history.Rejected {
				again++
			}
		}
		m.stranded(p, s, t)
	}
	p.tried("matches claimed", claims)
	p.tried("tickets proposed to running games", proposals)
	p.tried("released since a player had left", reasons["left"])
	p.tried("released since the claim's deadline was over", reasons["deadline"])
	p.tried("tickets that waited again", again)
	p.tried("readings of a ticket's age", created)
}

// stranded finds a ticket that waits in the end, though others waited with it, unless its player wanted to.
func (m *model) stranded(p *Promise, s *Sums, t *ticket) {
	if _, was := t.deleting(nil); was || t.told() != nil {
		return
	}
	if n := len(t.calls); n > 0 && t.calls[n-1].Status == 404 {
		return // lost, which promise 1 tells
	}
	s.Stranded++
	p.broken("%s: ticket %s (player %d) was never matched", t.project, t.id, t.number)
}

// took is the time between two events that no fault was under way in.
func (m *model) took(from, to *history.Event) time.Duration {
	a, b := history.Moment(from.Time*1000), history.Moment(to.Time*1000)
	taken := b - a
	faults := slices.Clone(m.h.Faults)
	slices.SortFunc(faults, func(x, y history.Fault) int { return cmp.Compare(x.From, y.From) })
	for _, f := range faults {
		start, end := max(f.From, a), min(f.To, b)
		if end > start {
			taken -= end - start
			a = end // what comes before has been taken off
		}
	}
	return time.Duration(taken) * time.Microsecond
}

// configs is promise 6.
func configs(m *model, p *Promise, _ *Sums) {
	type config struct{ project, name string }
	changes := map[config][]*history.Change{}
	var put, deleted int
	revisions := map[string]map[int64]*history.Change{}
	for i := range m.h.Changes {
		c := &m.h.Changes[i]
		if c.Op != history.Put && c.Op != history.Delete {
			continue
		}
		k := config{c.Project, c.Name}
		changes[k] = append(changes[k], c)
		if c.Status/100 != 2 {
			continue
		}
		if c.Op == history.Delete {
			deleted++
			continue
		}
		put++
		if revisions[c.Project] == nil {
			revisions[c.Project] = map[int64]*history.Change{}
		}
		revisions[c.Project][c.Revision] = c
	}
	// overtaken is the change that was answered before a moment and ended what a put had put. A put without an answer may
	// come into effect after one that was sent later.
	overtaken := func(by *history.Change, millis int64) *history.Change {
		if by.Status/100 != 2 {
			return nil
		}
		for _, c := range changes[config{by.Project, by.Name}] {
			if c.From > by.To && c.Status/100 == 2 && c.To.Millis() < millis {
				return c
			}
		}
		return nil
	}
	var claims, soon, runs int
	for _, project := range slices.Sorted(maps.Keys(m.logs)) {
		for _, e := range m.logs[project] {
			by := revisions[project][e.Revision]
			if !m.takes(e) || by == nil {
				continue // when the answer to its put was lost, what the players were told is looked at below
			}
			claims++
			if c := overtaken(by, e.Time); c != nil {
				p.broken("%s, event %d: tickets are %s at %s by revision %d of config %s, after its %s was answered at %s",
					project, e.Position, e.Kind, clock(history.Moment(e.Time*1000)), e.Revision, by.Name, c.Op, clock(c.To))
			}
		}
	}
	generations := map[config]map[int64]*history.Change{}
	for k, all := range changes {
		generations[k] = map[int64]*history.Change{}
		for _, c := range all {
			if c.Op == history.Put {
				generations[k][c.Generation] = c
			}
		}
	}
	for _, t := range m.ordered() {
		told := t.told()
		if told == nil {
			continue
		}
		made, ok := properties(told.Assignment)
		if !ok {
			continue
		}
		by := generations[config{t.project, made.Settings.Config}][made.Settings.Generation]
		if by == nil {
			p.broken("%s: ticket %s was matched by generation %d of config %s, which nobody ever put", t.project, t.id, made.Settings.Generation, made.Settings.Config)
			continue
		}
		runs++
		if c := overtaken(by, made.Now); c != nil {
			p.broken("%s: ticket %s was matched by a run of %s with generation %d of config %s, after its %s was answered at %s",
				t.project, t.id, clock(history.Moment(made.Now*1000)), made.Settings.Generation, made.Settings.Config, c.Op, clock(c.To))
		}
		if c := overtaken(by, made.Now+1000); c != nil {
			soon++
		}
	}
	p.tried("configs put", put)
	p.tried("configs deleted", deleted)
	p.tried("claims held against the config of their moment", claims)
	p.tried("tickets held against the settings of their run", runs)
	p.tried("of these, within a second before a change", soon)
}

// servers is promise 7.
func servers(m *model, p *Promise, s *Sums) {
	var allocated, repeated, returned, serving int
	for _, one := range m.orderedMatches() {
		var running, started int
		keys := map[string]struct{}{}
		for _, a := range one.hostings {
			if a.Op == history.Allocate {
				keys[a.Key] = struct{}{}
			}
			switch {
			case a.Op == history.Allocate && a.Fresh:
				started++
				running++
				if running > 1 {
					p.broken("%s: match %s has two servers, the second at %s", one.project, one.id, a.Connection)
				}
			case a.Op == history.Allocate:
				repeated++
			case a.Op == history.Release && a.Fresh:
				returned++
				running--
				if one.serves() {
					p.broken("%s: match %s: the server that its tickets are assigned to was given back at %s", one.project, one.id, clock(a.At))
				}
			}
		}
		allocated += started
		if len(keys) > 1 {
			p.broken("%s: match %s was allocated under %d different keys", one.project, one.id, len(keys))
		}
		switch {
		case running > 0 && one.serves():
			serving++
		case running > 0:
			s.Leaked++
			p.broken("%s: match %s has a server that serves nobody, and was not given back; the match is %s", one.project, one.id, one.state())
		case running == 0 && one.serves() && started == 0 && one.first.Kind == history.Claimed:
			p.broken("%s: match %s is assigned to a server that was never allocated", one.project, one.id)
		}
	}
	for _, t := range m.ordered() {
		told := t.told()
		if told == nil || told.Assignment.Connection == "" {
			continue
		}
		if one := m.result(t); one != nil && one.first.Kind == history.Claimed && one.place() != told.Assignment.Connection {
			p.broken("%s: ticket %s was told %s, but the server of match %s is at %s", t.project, t.id, told.Assignment.Connection, one.id, one.place())
		}
	}
	p.tried("servers allocated", allocated)
	p.tried("allocations asked for again", repeated)
	p.tried("servers given back", returned)
	p.tried("servers that serve their match", serving)
}

// serves tells whether tickets were assigned to the match's server.
func (one *match) serves() bool {
	return one.ended != nil && one.ended.Kind == history.Assigned && len(one.ended.Tickets) > 0
}

func (one *match) state() string {
	switch {
	case one.first == nil:
		return "unknown to the event log"
	case one.ended == nil:
		return "not over"
	default:
		return string(one.ended.Kind) + " " + one.ended.Reason
	}
}

// place is the connection of the last server that was started for the match.
func (one *match) place() string {
	for _, a := range slices.Backward(one.hostings) {
		if a.Op == history.Allocate && a.Connection != "" {
			return a.Connection
		}
	}
	return ""
}

// enemies is promise 9. What they do to others shows in promises 1 to 8, which are tried while they are at it.
func enemies(m *model, p *Promise, _ *Sums) {
	var beside, changes int
	for _, one := range m.orderedMatches() {
		switch {
		case one.first == nil:
		case slices.Contains(m.h.Terms.Enemies, one.first.Config):
			p.broken("%s: match %s was made by config %s, whose function never proposes anything sensible", one.project, one.id, one.first.Config)
		default:
			beside++
		}
	}
	for _, c := range m.h.Changes {
		if c.Op == history.Put && c.Status/100 == 2 && slices.Contains(m.h.Terms.Enemies, c.Name) {
			changes++
		}
	}
	p.tried("times that a function was told to misbehave", changes)
	p.tried("matches of others meanwhile", beside)
}

// events looks whether the event log and the players tell the same story.
func events(m *model, p *Promise, _ *Sums) {
	var count, agreed int
	for _, log := range m.logs {
		count += len(log)
	}
	for _, t := range m.ordered() {
		kinds := map[history.Kind]int{}
		for _, e := range t.events {
			kinds[e.Kind]++
		}
		told := t.told()
		switch {
		case kinds[history.Created] == 0:
			p.broken("%s: ticket %s was answered 201, but the log does not have it", t.project, t.id)
		case told != nil && told.Assignment.Error == "" && kinds[history.Assigned] == 0:
			p.broken("%s: ticket %s was told %s, but the log has no assignment", t.project, t.id, told.Assignment.Connection)
		case told != nil && told.Assignment.Error != "" && kinds[history.Failed] == 0:
			p.broken("%s: ticket %s was told %s, but the log has no failure", t.project, t.id, told.Assignment.Error)
		case t.deleted() != nil && kinds[history.Cancelled] == 0:
			p.broken("%s: ticket %s was deleted, but the log does not say so", t.project, t.id)
		default:
			agreed++
		}
	}
	p.tried("events", count)
	p.tried("tickets whose life the log and their player tell alike", agreed)
}

// answers looks for those that nobody should get.
func answers(m *model, p *Promise, _ *Sums) {
	counts := map[int]int{}
	look := func(status int, what history.Op, at history.Moment, text string) {
		counts[status]++
		if status == 500 || status == 400 || status == 401 || status == 403 {
			p.broken("a %s at %s was answered %d: %s", what, clock(at), status, text)
		}
	}
	for _, c := range m.h.Calls {
		look(c.Status, c.Op, c.From, c.Error)
	}
	for _, c := range m.h.Changes {
		look(c.Status, c.Op, c.From, c.Error)
	}
	for _, c := range m.h.Rounds {
		look(c.Status, c.Op, c.From, c.Error)
	}
	good, unavailable := 0, 0
	for status, n := range counts {
		switch {
		case status == 0:
		case status >= 500:
			unavailable += n
		default:
			good += n
		}
	}
	p.tried("requests answered", good)
	p.tried("requests answered 503", unavailable)
	p.tried("requests without an answer", counts[0])
}

// same tells whether two results are one.
func same(a, b *history.Assignment) bool {
	return a.Connection == b.Connection && a.Error == b.Error && string(a.Match) == string(b.Match) && string(a.Own) == string(b.Own)
}

// clock is a moment as one looks for it in a log.
func clock(m history.Moment) string { return m.Time().UTC().Format("15:04:05.000") }
