package simulation

import (
	"math"
	"math/rand/v2"
	"time"

	"matchmaker.dev/services/internal/match/cycle"
	"matchmaker.dev/services/internal/match/schedule"
)

// Claimable reports whether all tickets of a proposal wait, no player is in two of them, and the game that they would
// join has not changed.
func (w *world) Claimable(c *cycle.Candidate) bool {
	if !w.fillable(c) {
		return false
	}
	for _, id := range c.Tickets {
		if t := w.tickets[id]; t == nil || !t.waits {
			return false
		}
	}
	return cycle.Apart(c, func(id string) (ids []string) {
		for _, p := range w.tickets[id].players() {
			ids = append(ids, p.GetId())
		}
		return ids
	})
}

// match is a match whose tickets are claimed.
type match struct {
	*cycle.Candidate
	tickets []*ticket
	at      time.Time
	hosted  bool
	game    *game // nil unless it can be filled later
	joins   *game // whose players are asked whether they join it
	ended   bool  // before its players answered
}

// Claim claims the tickets of a proposal. If hosting has no server for it, it is refused, and its segment rests, as in
// a director.
func (w *world) Claim(c *cycle.Candidate) (claimed bool) {
	account := c.Origin.Account()
	account.Charge(schedule.ClaimCost)
	joins := c.GetFilling().GetBackfill()
	m := &match{Candidate: c, at: w.Now,
		hosted: c.Origin.Config.GetHosting() != nil && c.GetError() == "" && joins == ""}
	if f := w.fleetOf(c); m.hosted && f.full() {
		w.result.Full++
		f.counts.Full++
		c.Origin.Rest(w.Now)
		return false
	}
	account.Found(w.Now)
	for _, id := range c.Tickets {
		t := w.tickets[id]
		w.withdraw(t)
		m.tickets = append(m.tickets, t)
	}
	m.game = w.open(m)
	switch {
	case c.GetError() != "":
		for _, t := range m.tickets {
			w.end(t, Failed)
		}
	case joins != "" && c.Origin.Config.GetAcceptance() > 0:
		w.games[joins].ask(m)
	case joins != "":
		w.games[joins].propose(m)
	case c.Origin.Config.GetAcceptance() > 0:
		w.ask(m)
	default:
		w.host(m)
	}
	return true
}

// host lets a match have its server, if it needs one.
func (w *world) host(m *match) {
	switch {
	case m.joins != nil:
		m.joins.propose(m)
	case m.hosted:
		w.fleetOf(m.Candidate).allocate(m)
	default:
		w.assign(m)
	}
}

// assign gives the tickets of a match their connection.
func (w *world) assign(m *match) {
	measured, wait := false, 0.0
	for _, t := range m.tickets {
		measured = measured || t.measured
		wait += w.Now.Sub(t.created).Seconds() / float64(len(m.tickets))
		w.end(t, Matched)
	}
	if measured {
		one := w.quality(m)
		one.Wait = wait
		w.result.Matches = append(w.result.Matches, one)
	}
}

// quality is how good a match is.
func (w *world) quality(m *match) Match {
	least, most, next := math.Inf(1), math.Inf(-1), 0
	leastMean, mostMean := math.Inf(1), math.Inf(-1)
	latency, region := 0.0, m.GetHosting().GetRegion()
	one := Match{At: m.at.Sub(w.began).Seconds()}
	for _, team := range m.GetTeams() {
		sum, n := 0.0, 0.0
		for range team.GetTickets() {
			t := m.tickets[next]
			next++
			for _, p := range t.players() {
				one.Players++
				v := attribute(p.GetAttributeNames(), p.GetAttributeValues(), w.Measure.Attribute)
				if !math.IsNaN(v) {
					sum, n = sum+v, n+1
					least, most = min(least, v), max(most, v)
				}
			}
			if of, known := t.Latency[region]; known {
				latency += of / float64(len(m.tickets))
			} else {
				latency = math.NaN()
			}
		}
		if n > 0 {
			leastMean, mostMean = min(leastMean, sum/n), max(mostMean, sum/n)
		}
	}
	one.Spread, one.Gap, one.Latency = most-least, mostMean-leastMean, latency
	if math.IsInf(one.Spread, 0) {
		one.Spread, one.Gap = math.NaN(), math.NaN()
	}
	if len(m.GetTeams()) < 2 {
		one.Gap = math.NaN()
	}
	return one
}

// never is later than everything.
const never = time.Duration(math.MaxInt64)

// ask asks the players of a match. It ends with the last player that accepts, the first that declines, or when the time
// is over.
func (w *world) ask(m *match) {
	w.result.Asked++
	over := time.Duration(m.Origin.Config.GetAcceptance()) * time.Millisecond
	accepted, declined := time.Duration(0), never // by all, and by the first
	declines := make([]time.Duration, len(m.tickets))
	silent := make([]bool, len(m.tickets))
	for i, t := range m.tickets {
		r := w.drawFor(t)
		declines[i] = never
		for range t.players() {
			accepts, after := w.Acceptance.answer(r)
			switch {
			case after >= over:
				silent[i], accepted = true, never
			case accepts:
				accepted = max(accepted, after)
			default:
				declines[i], accepted = min(declines[i], after), never
			}
		}
		declined = min(declined, declines[i])
	}
	w.Agenda.Plan(w.Now.Add(min(accepted, declined, over)), func() {
		if m.ended {
			return
		}
		if m.joins != nil {
			m.joins.endAsking()
		}
		if accepted != never {
			w.host(m)
			return
		}
		w.result.Declined++
		if m.game != nil {
			m.game.end()
		}
		for i, t := range m.tickets {
			// No player is silent before the time is over.
			if declines[i] == declined && declined != never || declined == never && silent[i] {
				w.end(t, Missed)
				continue
			}
			w.wait(t)
		}
		w.Touch()
	})
}

// answer draws whether a player accepts a match, and after which time.
func (a *Acceptance) answer(r *rand.Rand) (accepts bool, after time.Duration) {
	how, after := r.Float64(), seconds(a.Answer, r)
	switch {
	case how < a.Decline:
		return false, after
	case how < a.Decline+a.Silent:
		return false, never
	}
	return true, after
}
