// Package trial plays a world with an engine in virtual time, and measures what players get.
package trial

import (
	"fmt"
	"io"
	"time"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/test/quality/engine"
	"matchmaker.dev/services/test/quality/world"
)

// Play plays the tickets of a world, and returns the measures.
func Play(w *world.World, tickets []world.Ticket, name engine.Name, seed uint64) (m *Measures, err error) {
	e, err := engine.New(name, &w.Game, seed)
	if err != nil {
		return nil, err
	}
	if c, ok := e.(io.Closer); ok {
		defer func() {
			if failed := c.Close(); err == nil {
				err = failed
			}
		}()
	}
	return play(w, tickets, name, e, seed)
}

// play plays them with an engine of a name.
func play(
	w *world.World, tickets []world.Ticket, name engine.Name, e engine.Engine, seed uint64,
) (*Measures, error) {
	r, err := dialects.Read([]byte(name.Rules().Settings(&w.Game)))
	if err != nil {
		return nil, err
	}
	p := &playing{game: &w.Game, rules: r, seen: map[*world.Ticket][]judge.Player{}}
	m := newMeasures(&w.Game)
	left := 0
	for i := range tickets {
		if tickets[i].Measured {
			left++
		}
	}
	told := newEstimates(seed)
	next := 0
	var waiting []*world.Ticket
	for now := w.Every; left > 0; now += w.Every {
		for ; next < len(tickets) && tickets[next].Arrives <= now; next++ {
			waiting = append(waiting, &tickets[next])
			told.come(&tickets[next])
		}
		kept := waiting[:0]
		for _, t := range waiting {
			if t.Leaves > now {
				kept = append(kept, t)
				continue
			}
			delete(p.seen, t)
			told.leave(now, t)
			if t.Measured {
				left--
				m.leave(t)
			}
		}
		clear(waiting[len(kept):])
		waiting = kept
		if len(waiting) < 2 {
			told.advance(now)
			continue
		}
		begin := time.Now()
		matches, err := e.Match(now, waiting)
		m.ran(time.Since(begin), len(waiting))
		if err != nil {
			return nil, fmt.Errorf("after %g seconds, with %d tickets: %w", now, len(waiting), err)
		}
		gone := make([]bool, len(waiting))
		for _, match := range matches {
			for _, team := range match.Teams {
				for _, t := range team {
					if gone[t] {
						return nil, fmt.Errorf("after %g seconds: a ticket is in two matches", now)
					}
					gone[t] = true
					if waiting[t].Measured {
						left--
					}
				}
			}
			why := p.check(now, waiting, match)
			m.match(now, waiting, match, why)
			m.told(told.match(now, match.Tickets(waiting)))
		}
		told.advance(now)
		kept = waiting[:0]
		for i, t := range waiting {
			if gone[i] {
				delete(p.seen, t)
			} else {
				kept = append(kept, t)
			}
		}
		clear(waiting[len(kept):])
		waiting = kept
	}
	m.finish()
	return m, nil
}

type playing struct {
	game  *world.Game
	rules *rules.Rules
	seen  map[*world.Ticket][]judge.Player
}

// check returns why the rules do not allow a match.
func (p *playing) check(now float64, waiting []*world.Ticket, m engine.Match) error {
	var pool []judge.Ticket
	judged := judge.Match{}
	if m.Region >= 0 {
		judged.Region = population.RegionNames()[m.Region]
	}
	for i, team := range m.Teams {
		t := judge.Team{}
		if m.Shapes != nil {
			t.Shape, t.Roles = m.Shapes[i], m.Roles[i]
		} else if len(p.rules.Teams) > 1 {
			t.Shape = i
		}
		withRoles := len(p.rules.Teams[t.Shape].Roles) > 0
		for _, at := range team {
			ticket := waiting[at]
			if p.seen[ticket] == nil {
				p.seen[ticket] = p.players(ticket)
			}
			if m.Shapes == nil && withRoles {
				for i := range ticket.Players {
					t.Roles = append(t.Roles, p.game.Roles[ticket.Players[i].Role].Name)
				}
			}
			t.Tickets = append(t.Tickets, len(pool))
			pool = append(pool, judge.Ticket{Age: world.Age(now, ticket), Players: p.seen[ticket]})
		}
		judged.Teams = append(judged.Teams, t)
	}
	return judge.Check(p.rules, pool, judged)
}

// players are a ticket's for the rulestest.
func (p *playing) players(t *world.Ticket) (all []judge.Player) {
	for i := range t.Players {
		pings := map[string]float64{}
		for region, name := range population.RegionNames() {
			pings[name] = t.Players[i].Ping[region]
		}
		of := judge.Player{"skill": t.Players[i].Skill, "latency": pings}
		for role := range p.game.Roles {
			of[p.game.Roles[role].Name] = 0.0
			if role == t.Players[i].Role {
				of[p.game.Roles[role].Name] = 1.0
				of["role"] = []string{p.game.Roles[role].Name}
			}
		}
		all = append(all, of)
	}
	return all
}
