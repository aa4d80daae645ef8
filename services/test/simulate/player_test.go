package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
)

// lanes has each lane as often as players choose it.
var lanes = []lane.Lane{
	lane.Hosted, lane.Hosted, lane.Hosted, lane.Hosted, lane.Free, lane.Free, lane.Both, lane.Both, lane.Games, lane.Games,
}

// crowd is the players of one project.
type crowd struct {
	project string
	tickets *client.Client
	journal *history.Journal
	random  *rand.Rand

	present sync.WaitGroup
	mu      sync.Mutex
	number  int64
	waiting map[lane.Lane]int // players who wait for a match, without stand-ins
	all     []*player
}

// player is a player with a ticket.
type player struct {
	*crowd
	random *rand.Rand
	number int64
	lane   lane.Lane
	id     string
}

// leaveTimes are the times after which players leave.
var leaveTimes = []time.Duration{
	0, 0, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second,
}

// join makes a player. Only one goroutine at a time calls it.
func (c *crowd) join(l lane.Lane) *player {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	return &player{
		crowd: c, number: c.number, lane: l,
		random: rand.New(rand.NewPCG(uint64(c.number), c.random.Uint64())),
	}
}

// arrive lets players come until ctx ends. They stop when lives ends.
func (c *crowd) arrive(ctx, lives context.Context) {
	for pause(ctx, time.Duration((0.2+1.6*c.random.Float64())*float64(arrivalPace))) {
		l := lanes[c.random.IntN(len(lanes))]
		if c.random.IntN(50) == 0 {
			l = lane.Prey
		}
		p := c.join(l)
		c.present.Go(func() { p.play(lives) })
	}
}

// standIn adds a player for one who is left alone in a lane.
func (c *crowd) standIn(ctx context.Context, l lane.Lane) {
	p := c.join(l)
	c.present.Go(func() {
		if p.create(ctx) && !p.await(ctx) {
			p.delete(context.WithoutCancel(ctx))
		}
	})
}

// play does what a player does.
func (p *player) play(ctx context.Context) {
	leaves, after := p.random.IntN(4) == 0, leaveTimes[p.random.IntN(len(leaveTimes))]
	if !p.create(ctx) {
		return // the ticket may exist, but its id is unknown
	}
	switch {
	case leaves:
		var waits sync.WaitGroup
		stay, leave := context.WithCancel(ctx)
		waits.Go(func() { p.await(stay) })
		pause(ctx, after)
		p.delete(context.WithoutCancel(ctx))
		leave()
		waits.Wait()
		p.get(ctx)
		return
	case p.lane == lane.Prey:
		<-ctx.Done()
		return
	}
	p.count(1)
	matched := p.await(ctx)
	p.count(-1)
	if matched && p.random.IntN(3) == 0 && pause(ctx, time.Second) {
		p.get(ctx)
	}
	if matched && p.random.IntN(5) == 0 {
		p.delete(ctx)
	}
}

func (p *player) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[p.lane] += n
}

// unmatched lists the lanes in which players wait for a match, and counts these players.
func (c *crowd) unmatched() (in []lane.Lane, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range []lane.Lane{lane.Hosted, lane.Free, lane.Both, lane.Games} {
		if c.waiting[l] > 0 {
			in, all = append(in, l), all+c.waiting[l]
		}
	}
	return in, all
}

func (p *player) name() string { return fmt.Sprintf("player-%d", p.number) }

func (p *player) create(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(as(context.WithoutCancel(ctx), "%s", p.name()), requestTime)
	defer cancel()
	c := history.Call{Op: history.Create, Project: p.project, Number: p.number, Configs: p.lane.Pairs()}
	c.From = history.Now()
	id, err := p.tickets.CreateTicket(ctx, client.TicketRequest{Player: p.name(), Attributes: p.lane.Attributes(p.number)})
	c.To = history.Now()
	c.Status, c.Error = answer(err, http.StatusCreated)
	c.Ticket, p.id = id, id
	p.journal.Call(c)
	if err == nil {
		p.mu.Lock()
		p.all = append(p.all, p)
		p.mu.Unlock()
	}
	return err == nil
}

// get reads the ticket once.
func (p *player) get(ctx context.Context) history.Call {
	ctx, cancel := context.WithTimeout(as(ctx, "%s", p.name()), requestTime)
	defer cancel()
	c := history.Call{Op: history.Get, Project: p.project, Number: p.number, Ticket: p.id}
	c.From = history.Now()
	t, err := p.tickets.GetTicket(ctx, p.id)
	c.To = history.Now()
	c.Status, c.Error = answer(err, http.StatusOK)
	if t != nil {
		c.Created = t.Created
		if a := t.Assignment; a != nil {
			c.Assignment = &history.Assignment{
				Connection: a.Connection, Error: a.Error, Match: []byte(a.MatchProperties), Own: []byte(a.Properties),
			}
		}
	}
	p.journal.Call(c)
	return c
}

// await reads the ticket until it has a result. It returns false when ctx ends or the ticket is gone before.
func (p *player) await(ctx context.Context) bool {
	for ctx.Err() == nil {
		c := p.get(withHold(ctx))
		switch {
		case c.Assignment != nil:
			return true
		case c.Status == http.StatusNotFound:
			return false
		case c.Status != http.StatusOK:
			pause(ctx, 150*time.Millisecond)
		}
	}
	return false
}

// delete deletes the ticket. It repeats the request until it is answered.
func (p *player) delete(ctx context.Context) {
	ctx, cancel := context.WithTimeout(as(ctx, "%s", p.name()), restTime)
	defer cancel()
	for ctx.Err() == nil {
		c := history.Call{Op: history.Delete, Project: p.project, Number: p.number, Ticket: p.id}
		one, cancel := context.WithTimeout(ctx, requestTime)
		c.From = history.Now()
		err := p.tickets.DeleteTicket(one, p.id, p.name())
		c.To = history.Now()
		cancel()
		c.Status, c.Error = answer(err, http.StatusOK)
		p.journal.Call(c)
		if c.Status == http.StatusOK || c.Status == http.StatusNotFound {
			return
		}
		pause(ctx, 150*time.Millisecond)
	}
}

// last reads every ticket once more, and deletes those that no config matches.
func (c *crowd) last(ctx context.Context) {
	c.mu.Lock()
	all := c.all
	c.mu.Unlock()
	for _, p := range all {
		for s := p.get(ctx).Status; ctx.Err() == nil && (s == 0 || s >= 500); s = p.get(ctx).Status {
			pause(ctx, retryAfter(p.random))
		}
		if p.lane == lane.Prey {
			p.delete(ctx)
		}
	}
}
