package checker

import (
	"slices"

	"matchmaker.dev/services/test/chaos/history"
)

// serversAreUsed checks promise 7: a match has one server, which its players are sent to or which is given back.
func serversAreUsed(m *model, p *Promise, s *Sums) {
	var allocated, repeated, returned, used, shaken int
	for _, one := range m.matchesByID() {
		if m.isShakenMatch(one.id) {
			shaken++
			continue
		}
		var running, started int
		keys := map[string]struct{}{}
		for _, a := range one.hostings {
			if a.Op == history.Allocate {
				keys[a.Key] = struct{}{}
			}
			if a.Fleet != "" && one.first != nil && a.Fleet != one.first.Config {
				p.fail("%s: match %s of config %s has a server of the fleet %s", one.project, one.id, one.first.Config, a.Fleet)
			}
			switch {
			case a.Op == history.Allocate && a.Fresh:
				started++
				running++
				if running > 1 {
					p.fail("%s: match %s has two servers, the second at %s", one.project, one.id, a.Connection)
				}
			case a.Op == history.Allocate:
				repeated++
			case a.Op == history.Release && a.Fresh:
				returned++
				running--
				if one.assigned() {
					p.fail("%s: match %s: the server that its tickets are assigned to was given back at %s", one.project, one.id,
						clock(a.At))
				}
			}
		}
		allocated += started
		if len(keys) > 1 {
			p.fail("%s: match %s was allocated under %d different keys", one.project, one.id, len(keys))
		}
		switch {
		case running > 0 && one.assigned():
			used++
		case running > 0:
			s.Leaked++
			p.fail("%s: match %s has a server that no ticket uses and that was not given back; the match is %s",
				one.project, one.id, one.state())
		case running == 0 && one.assigned() && started == 0 && one.first.Kind == history.Claimed && !one.joins():
			p.fail("%s: match %s is assigned to a server that was never allocated", one.project, one.id)
		}
	}
	for _, t := range m.ticketsByID() {
		c := t.result()
		if c == nil || c.Assignment.Connection == "" || m.isShakenTicket(t.id) {
			continue
		}
		one := m.matchOf(t)
		if one != nil && one.first.Kind == history.Claimed && !one.joins() && one.server() != c.Assignment.Connection {
			p.fail("%s: ticket %s was told %s, but the server of match %s is at %s",
				t.project, t.id, c.Assignment.Connection, one.id, one.server())
		}
	}
	p.count("servers allocated", allocated)
	p.count("allocations asked for again", repeated)
	p.count("servers given back", returned)
	p.count("matches that a failover may have undone in part", shaken)
	p.count("servers that their match uses", used)
}

// assigned reports whether tickets were assigned to the match's server.
func (one *match) assigned() bool {
	return one.ended != nil && one.ended.Kind == history.Assigned && len(one.ended.Tickets) > 0
}

// state is the match's state in words.
func (one *match) state() string {
	switch {
	case one.first == nil:
		return "not in the event log"
	case one.ended == nil:
		return "not over"
	default:
		return string(one.ended.Kind) + " " + one.ended.Reason
	}
}

// server is the connection of the last server that was started for the match.
func (one *match) server() string {
	for _, a := range slices.Backward(one.hostings) {
		if a.Op == history.Allocate && a.Connection != "" {
			return a.Connection
		}
	}
	return ""
}
