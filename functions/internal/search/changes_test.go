package search_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/functions/rules/function"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/pkg/matchfn/rules"
)

// history is what happens to a crowd.
type history struct {
	settings string
	budget   time.Duration
	moments  []moment
}

// moment is a run, and what happened before it and after it.
type moment struct {
	after time.Duration
	come  []fake.Ticket
	leave []int // tickets that leave, by their place among those that wait
	games []fake.Backfill
	lost  uint64 // of each proposal: whether another config was faster
}

// history makes a random history. No two tickets are of the same millisecond: of those the number decides, which is
// another one.
func (w world) history(r *rules.Rules, text []byte) history {
	budgets := []time.Duration{40 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second}
	h := history{settings: string(text), budget: budgets[w.IntN(len(budgets))]}
	tickets := 0
	for range 4 + w.IntN(12) {
		m := moment{after: time.Duration(w.IntN(1+w.IntN(12))) * time.Second, lost: w.Uint64() & w.Uint64()}
		most := 1 + w.IntN(6)
		if len(h.moments) == 0 {
			most = 1 + w.IntN(80)
		}
		for _, one := range w.pool(w.IntN(most)) {
			tickets++
			players, _ := json.Marshal(one.Players)
			m.come = append(m.come, fake.Ticket{
				Wait:       time.Duration(one.Age*float64(w.IntN(2)))*time.Second + time.Duration(tickets)*time.Millisecond,
				Properties: map[string][]byte{"players": players},
			})
		}
		for range w.IntN(3) {
			m.leave = append(m.leave, w.IntN(1000))
		}
		for range w.IntN(3) * w.IntN(2) {
			g := w.running(r, 0)
			b := backfillOf("", g)
			attributes, _ := b["attributes"].(map[string]float64)
			properties, _ := b["properties"].(map[string][]byte)
			m.games = append(m.games, fake.Backfill{Version: 1, Ticket: fake.Ticket{
				Wait: time.Duration(g.Age) * time.Second, Attributes: attributes, Properties: properties,
			}})
		}
		h.moments = append(h.moments, m)
	}
	return h
}

// shown are proposals in a form that can be compared.
func shown(proposals []fake.Proposal) (all []string) {
	for _, p := range proposals {
		var text strings.Builder
		fmt.Fprint(&text, p.Teams, p.Score)
		if e := p.Extras; e != nil {
			fmt.Fprintf(&text, " %v %v %s", e.TeamNames, e.Region, e.MatchProperties)
			for _, of := range e.TicketProperties {
				fmt.Fprintf(&text, " %d %s", of.Ticket, of.JSON)
			}
			if b := e.Backfill; b != nil {
				fmt.Fprintf(&text, " %+v", *b)
			}
		}
		all = append(all, text.String())
	}
	return all
}

// played is what becomes of a history.
type played struct {
	proposed, left int    // proposals, and runs that leave tickets over
	wrong          string // what is wrong with the proposals, if anything is
	overlooked     bool   // whether that is what a run left over
	repeated       bool   // whether only the work was too little for that
}

// play is plays. If a run overlooked something, its work may have ended: the history is played again with much more.
func (h history) play() played {
	got := h.plays()
	if got.overlooked {
		h.budget *= muchLonger
		if again := h.plays(); again.wrong == "" {
			again.repeated = true
			return again
		}
	}
	return got
}

// muchLonger is how many times as long the budget is when a history is played again.
const muchLonger = 100

// plays plays a history with a function that keeps its tickets.
func (h history) plays() (got played) {
	fails := func(format string, args ...any) played {
		got.wrong = fmt.Sprintf(format, args...)
		return got
	}
	crowd := fake.NewCrowd(matchfn.NewMatcher(function.Begin, function.Options()...), h.settings)
	crowd.Budget = h.budget
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var waiting []int
	for i, m := range h.moments {
		now = now.Add(m.after)
		for _, t := range m.come {
			waiting = append(waiting, crowd.Add(now, t))
		}
		for _, at := range m.leave {
			if len(waiting) > 0 {
				at %= len(waiting)
				crowd.Remove(waiting[at])
				waiting = slices.Delete(waiting, at, at+1)
			}
		}
		crowd.Backfills = m.games
		want, err := crowd.Anew(now)
		if err != nil {
			return fails("%v", err)
		}
		proposals, err := crowd.Run(now)
		if err != nil || !slices.Equal(shown(proposals), shown(want)) {
			return fails("run %d: %v\n%q, want\n%q", i, err, shown(proposals), shown(want))
		}
		if over, err := crowd.Overlooked(now); err != nil || len(over) > 0 && h.budget >= time.Second {
			got.overlooked = err == nil
			return fails("run %d overlooked %q, %v", i, shown(over), err)
		}
		taken := 0
		for k, p := range proposals {
			taken += len(p.Tickets())
			if m.lost>>(k%64)&1 == 1 {
				continue // it comes again
			}
			for _, id := range p.Tickets() {
				crowd.Remove(int(id))
				waiting = slices.DeleteFunc(waiting, func(other int) bool { return other == int(id) })
			}
		}
		if got.proposed += len(proposals); taken < len(waiting) {
			got.left++
		}
	}
	return got
}

// smaller returns the history without what it does not need to be wrong.
func (h history) smaller() history {
	fails := func(h history) bool { return h.play().wrong != "" }
	with := func(i int, m moment) history {
		less := h
		less.moments = slices.Clone(h.moments)
		less.moments[i] = m
		return less
	}
	for len(h.moments) > 1 {
		less := h
		if less.moments = h.moments[:len(h.moments)-1]; !fails(less) {
			break
		}
		h = less
	}
	for i := range h.moments {
		for k := 0; k < len(h.moments[i].come); {
			m := h.moments[i]
			if m.come = slices.Delete(slices.Clone(m.come), k, k+1); fails(with(i, m)) {
				h = with(i, m)
			} else {
				k++
			}
		}
		m := h.moments[i]
		if m.games = nil; fails(with(i, m)) {
			h = with(i, m)
		}
		m = h.moments[i]
		if m.leave = nil; fails(with(i, m)) {
			h = with(i, m)
		}
	}
	return h
}

func (h history) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\nbudget %v\n", h.settings, h.budget)
	for i, m := range h.moments {
		fmt.Fprintf(&text, "run %d after %v, %d leave, %d games, lost %b\n", i, m.after, len(m.leave), len(m.games), m.lost)
		for _, t := range m.come {
			fmt.Fprintf(&text, "  %v %s\n", t.Wait, t.Properties["players"])
		}
	}
	return text.String()
}

// A function that keeps its tickets and what it found out of them proposes, in every run, what one would propose that
// got all tickets at once: while tickets come and go, wait longer, are proposed and not matched, and games run. What it
// leaves over it would leave over if it came alone, unless its work ended.
func TestChangesFindWhatAllFind(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 6))
		text := ruleSet(random, *seed+uint64(i))
		oneVsOne := i%16 == 0 // are found in a way of their own
		if oneVsOne {
			text, _ = json.Marshal(world{random}.oneVsOne())
		}
		r, err := rules.Parse(text)
		if err != nil || i%4 > 0 { // one takes as long as many of other tests
			return o
		}
		if random.IntN(3) == 0 && !oneVsOne {
			world{random}.backfill(r)
			text = rules.Write(r)
		}
		if random.IntN(3) == 0 && !oneVsOne {
			near := &rules.Spread{Value: "skill", Max: rules.Fixed(8), Scope: rules.Scope{Of: rules.InMatch}}
			r.Rules = append(r.Rules, rules.Rule{Name: "near", Need: near})
			r.Patience = &rules.Patience{
				Until: float64(1 + random.IntN(60)), Worth: math.Pow(10, 2+4*random.Float64()), Enough: 0.1 * random.Float64(),
			}
			text = rules.Write(r)
		}
		h := world{random}.history(r, text)
		got := h.play()
		o.count = map[string]int{"proposals": got.proposed, "left": got.left}
		if got.repeated {
			o.count["repeated"]++
		}
		if got.wrong == "" {
			return o
		}
		o.failed = func(*testing.T) string {
			h := h.smaller()
			return fmt.Sprintf("seed %d: %s\n%v", *seed+uint64(i), h.play().wrong, h)
		}
		return o
	})
	t.Logf("%d proposals; %d runs left somebody over; the work of %d histories was too little", counts["proposals"],
		counts["left"], counts["repeated"])
	if repeated := counts["repeated"]; repeated > max(1, *cases/mostRepeated) {
		t.Errorf("in %d of %d histories the work was too little for what a run left over", repeated, *cases)
	}
	if *cases >= 200 && (counts["proposals"] < *cases/4 || counts["left"] < *cases/4) {
		t.Errorf("the cases say little: %v", counts)
	}
}
