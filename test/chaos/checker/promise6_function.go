package checker

import (
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
)

// checkUpload checks that the run that matched a ticket was of an upload that was there, and that the match names it.
func (all *changes) checkUpload(m *model, p *Promise, t *ticket, made history.Properties) {
	function := config{t.project, lane.FunctionOf(made.Settings.Config)}
	uploads := all.uploads[function]
	if len(uploads) == 0 {
		return
	}
	// A run has the time of its request. A runner runs the upload that it has when the request arrives, and a match is
	// claimed when the run has ended.
	claimed, one := t.result().To.Millis(), m.matchOf(t)
	if m.isShakenTicket(t.id) {
		one = nil // it may be another match than the result's, which a failover undid
	}
	if one != nil && one.first != nil {
		claimed = one.first.Time + clockError.Milliseconds()
	}
	var put *history.Change // what let the edition run at last
	moved := false          // to an edition that is not known
	for _, c := range uploads {
		switch {
		case c.Op == history.Remove || c.Op == history.Shadow || c.Op != history.Upload && c.Status/100 == 4:
		case c.Op != history.Upload && c.Edition == 0:
			moved = true
		case c.Edition == made.Edition && c.From.Millis() <= claimed:
			put = c
		}
	}
	began := clock(history.Moment(made.Now * 1000))
	if put == nil {
		p.fail("%s: ticket %s was matched by a run of %s at %s of edition %d, which was not uploaded before", t.project, t.id,
			function.name, began, made.Edition)
		return
	}
	if put.Version != 0 && one != nil && one.first != nil && !m.isShakenMatch(one.id) &&
		one.first.Config == made.Settings.Config && one.first.Upload != put.Version {
		p.fail("%s: match %s is of upload %d of %s, and its function was upload %d", t.project, one.id, one.first.Upload,
			function.name, put.Version)
	}
	if moved || put.Status/100 != 2 || m.lost(t.project, put.Span) {
		return
	}
	if put.Op == history.Canary {
		if over := m.takenOver(put) + history.Moment(put.Lasts.Microseconds()); over.Millis() < made.Now {
			p.fail("%s: ticket %s was matched by a run of %s at %s of edition %d, a canary until %s", t.project, t.id,
				function.name, began, made.Edition, clock(put.To+history.Moment(put.Lasts.Microseconds())))
		}
	}
	for _, c := range uploads {
		if c.Op == history.Canary || c.Op == history.Shadow {
			continue // the other upload runs too
		}
		if c.From > put.To && c.Status/100 == 2 && !m.lost(t.project, c.Span) && m.takenOver(c).Millis() < made.Now {
			p.fail("%s: ticket %s was matched by a run of %s at %s of edition %d, after its %s was answered at %s", t.project,
				t.id, function.name, began, made.Edition, c.Op, clock(c.To))
			return
		}
	}
}

// takenOver is until when runners have an upload, or have none of a function that was deleted.
func (m *model) takenOver(c *history.Change) history.Moment {
	at := c.To + history.Moment(m.h.Terms.Recovery.Microseconds())
	if soon := m.h.Terms.Takeover; soon > 0 && m.h.Calm > 0 {
		at = min(at, max(c.To, m.h.Calm)+history.Moment(soon.Microseconds()))
	}
	return at
}
