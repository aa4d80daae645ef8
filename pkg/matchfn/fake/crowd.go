package fake

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
)

// Crowd is tickets that wait while a function made by [matchfn.NewMatcher] runs again and again. It keeps the tickets
// between its runs, as in a runner. Tickets are known by the ids that Add returns.
type Crowd struct {
	// Backfills are the backfills of the next run.
	Backfills []Backfill
	// Budget is what a run may take: see [Request].
	Budget time.Duration

	function *matchfn.Function
	settings string
	tickets  []crowded
	begun    bool
	numbers  []int // the tickets' ids, by number
	gone     []uint32
	proposed map[int]bool // in the last run
}

// crowded is a ticket of a crowd.
type crowded struct {
	Ticket
	created time.Time
	number  int // -1 for one that the function does not have
	left    bool
}

// NewCrowd returns an empty crowd.
func NewCrowd(f *matchfn.Function, settings string) *Crowd {
	return &Crowd{function: f, settings: settings, proposed: map[int]bool{}}
}

// Add adds a ticket, whose Wait is that at a time, and returns its id.
func (c *Crowd) Add(now time.Time, t Ticket) (id int) {
	c.tickets = append(c.tickets, crowded{Ticket: t, created: now.Add(-t.Wait), number: -1})
	return len(c.tickets) - 1
}

// Remove removes a ticket, because it was matched or left.
func (c *Crowd) Remove(id int) {
	t := &c.tickets[id]
	if !t.left && t.number >= 0 && !c.proposed[id] {
		c.gone = append(c.gone, uint32(t.number))
	}
	t.left = true
}

// Run is a run at a time. Its proposals have ids instead of numbers. A ticket that was proposed in the last run and not
// removed since is new to the function, as in a runner.
func (c *Crowd) Run(now time.Time) ([]Proposal, error) {
	base := &block.Base{Number: 1, Continues: c.begun, First: len(c.numbers)}
	r := Request{
		Now: now, Budget: c.Budget, Settings: c.settings, Backfills: c.Backfills, base: base, gone: c.gone,
	}
	slices.Sort(r.gone)
	for _, id := range c.byAge() {
		t := &c.tickets[id]
		if t.left || t.number >= 0 && !c.proposed[id] {
			continue
		}
		t.number = len(c.numbers)
		c.numbers = append(c.numbers, id)
		t.Wait = now.Sub(t.created)
		r.Tickets = append(r.Tickets, t.Ticket)
	}
	c.begun, c.gone = true, nil
	clear(c.proposed)
	proposals, err := Run(c.function, r)
	if err != nil {
		return nil, err
	}
	for _, p := range proposals {
		for _, number := range slices.Concat(p.Teams...) {
			id := c.numbers[number]
			if t := c.tickets[id]; t.left || t.number != int(number) {
				return nil, fmt.Errorf("the function proposed the ticket number %d, which is gone", number)
			}
			c.proposed[id] = true
		}
		identify(p, func(number uint32) uint32 { return uint32(c.numbers[number]) })
	}
	return proposals, nil
}

// Anew is what the function would propose at a time if it got all tickets that wait at once. Before Run it is what Run
// should propose, or something as good.
func (c *Crowd) Anew(now time.Time) ([]Proposal, error) {
	return c.anew(now, c.Backfills, func(int) bool { return true })
}

// Overlooked is what the function would propose at a time if it got all tickets at once that wait and that the last run
// did not propose: nothing, right after a run at the same time, unless it is wrong. Backfill tickets do not count.
func (c *Crowd) Overlooked(now time.Time) ([]Proposal, error) {
	return c.anew(now, nil, func(id int) bool { return !c.proposed[id] })
}

func (c *Crowd) anew(now time.Time, backfills []Backfill, among func(id int) bool) ([]Proposal, error) {
	r := Request{Now: now, Budget: c.Budget, Settings: c.settings, Backfills: backfills}
	var ids []uint32
	for _, id := range c.byAge() {
		if t := c.tickets[id]; !t.left && among(id) {
			t.Wait = now.Sub(t.created)
			r.Tickets = append(r.Tickets, t.Ticket)
			ids = append(ids, uint32(id))
		}
	}
	proposals, err := Run(c.function, r)
	for _, p := range proposals {
		identify(p, func(number uint32) uint32 { return ids[number] })
	}
	return proposals, err
}

// identify gives teams and properties of tickets the ids instead of the numbers.
func identify(p Proposal, id func(number uint32) uint32) {
	for _, team := range p.Teams {
		for i, number := range team {
			team[i] = id(number)
		}
	}
	if p.Extras == nil {
		return
	}
	of := p.Extras.TicketProperties
	for i := range of {
		of[i].Ticket = id(of[i].Ticket)
	}
	slices.SortFunc(of, func(a, b block.TicketProperties) int { return cmp.Compare(a.Ticket, b.Ticket) })
}

// byAge returns the ids of all tickets, the oldest first: so are tickets numbered in a runner.
func (c *Crowd) byAge() []int {
	ids := make([]int, len(c.tickets))
	for id := range ids {
		ids[id] = id
	}
	slices.SortStableFunc(ids, func(a, b int) int { return c.tickets[a].created.Compare(c.tickets[b].created) })
	return ids
}
