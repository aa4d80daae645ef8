package main

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
	lane.Hosted, lane.Hosted, lane.Hosted, lane.Hosted, lane.Free, lane.Free, lane.Free, lane.Both, lane.Both, lane.Games,
}

// crowd is the players of one project.
type crowd struct {
	project string
	tickets api
	journal *history.Journal
	random  *rand.Rand

	present sync.WaitGroup
	mu      sync.Mutex
	number  int64
	// waiting counts the players who wait for a match, by lane, without stand-ins.
	waiting map[lane.Lane]int
	all     []*member
}

// member is a player of a crowd with a ticket.
type member struct {
	*crowd
	number int64
	lane   lane.Lane
	id     string
}

func newCrowd(s *system, project string, journal *history.Journal, random *rand.Rand) (*crowd, error) {
	tickets, err := s.api(project, "ticket", playerClaims)
	return &crowd{project: project, tickets: tickets, journal: journal, random: random, waiting: map[lane.Lane]int{}}, err
}

// behaviour is what a player does.
type behaviour struct {
	lane lane.Lane
	// leaves tells that the player deletes the ticket, a time after it was created.
	leaves bool
	after  time.Duration
	// standIn tells that the player waits only so that others are matched.
	standIn bool
	// atOnce tells that the player creates its ticket and waits in one request.
	atOnce bool
	// rereads tells that the player reads the result again, deletes that it deletes the ticket then.
	rereads, deletes bool
}

// leaveTimes are the times after which players leave.
var leaveTimes = []time.Duration{
	0, 0, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second,
}

// behaviour draws the behaviour of a new player.
func (c *crowd) behaviour() behaviour {
	b := behaviour{
		lane: lanes[c.random.IntN(len(lanes))], leaves: c.random.IntN(4) == 0,
		rereads: c.random.IntN(3) == 0, deletes: c.random.IntN(5) == 0,
	}
	if c.random.IntN(50) == 0 {
		b = behaviour{lane: lane.Prey}
	}
	b.atOnce = !b.leaves && b.lane != lane.Prey && c.random.IntN(3) == 0
	b.after = leaveTimes[c.random.IntN(len(leaveTimes))]
	return b
}

// arrive starts so many players a second until ctx ends. They stop when lives ends.
func (c *crowd) arrive(ctx, lives context.Context, rate float64) {
	for {
		gap := time.Duration((0.2 + 1.6*c.random.Float64()) / rate * float64(time.Second))
		if !pause(ctx, gap) {
			return
		}
		b := c.behaviour()
		c.present.Go(func() { c.play(lives, b) })
	}
}

// play does what a player does.
func (c *crowd) play(ctx context.Context, b behaviour) {
	c.mu.Lock()
	c.number++
	m := &member{crowd: c, number: c.number, lane: b.lane}
	c.mu.Unlock()
	if b.atOnce {
		m.playAtOnce(ctx, b)
		return
	}
	if !m.create(ctx) {
		return // the ticket may exist, but its id is unknown
	}
	switch {
	case b.leaves:
		var waits sync.WaitGroup
		stay, leave := context.WithCancel(ctx)
		waits.Go(func() { m.await(stay) })
		pause(ctx, b.after)
		m.delete(context.WithoutCancel(ctx))
		leave()
		waits.Wait()
		m.get(ctx)
		return
	case b.lane == lane.Prey:
		<-ctx.Done()
		return
	case b.standIn:
		if !m.await(ctx) {
			m.delete(context.WithoutCancel(ctx))
		}
		return
	}
	c.count(b.lane, 1)
	m.settle(ctx, b, m.await(ctx))
}

// settle ends what a counted player does once it is matched, or leaves.
func (m *member) settle(ctx context.Context, b behaviour, matched bool) {
	m.count(b.lane, -1)
	if matched && b.rereads && pause(ctx, time.Second) {
		m.get(ctx)
	}
	if matched && b.deletes {
		m.delete(ctx)
	}
}

// playAtOnce creates a ticket and waits for its match in one request, and further ones when that fails.
func (m *member) playAtOnce(ctx context.Context, b behaviour) {
	once, cancel := context.WithTimeout(context.WithoutCancel(withHold(ctx)), requestTime)
	defer cancel()
	created := m.creation()
	t, err := m.tickets.any().CreateAndWait(once, m.request(), func(id string) {
		m.journalCreate(&created, id, nil)
		m.count(b.lane, 1)
		context.AfterFunc(ctx, cancel)
	})
	if m.id == "" {
		m.journalCreate(&created, "", err)
		return
	}
	// A request that failed, or waited in vain, says nothing about the ticket.
	if t != nil {
		c := history.Call{Op: history.Get, Project: m.project, Number: m.number, Ticket: m.id}
		c.From = created.To
		m.journalRead(&c, t, nil)
	}
	m.settle(ctx, b, t != nil || m.await(ctx))
}

func (c *crowd) count(l lane.Lane, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[l] += n
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

// standIn starts a player for one who is left alone in a lane.
func (c *crowd) standIn(ctx context.Context, l lane.Lane) {
	c.present.Go(func() { c.play(ctx, behaviour{lane: l, standIn: true}) })
}

func (m *member) player() string { return fmt.Sprintf("player-%d", m.number) }

func (m *member) request() client.TicketRequest {
	return client.TicketRequest{Player: m.player(), Attributes: m.lane.Attributes(m.number)}
}

func (m *member) create(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
	defer cancel()
	c := m.creation()
	id, err := m.tickets.any().CreateTicket(ctx, m.request())
	m.journalCreate(&c, id, err)
	return err == nil
}

// creation is a call that begins now.
func (m *member) creation() history.Call {
	c := history.Call{Op: history.Create, Project: m.project, Number: m.number, Configs: m.lane.Pairs()}
	c.From = history.Now()
	return c
}

// journalCreate ends a create.
func (m *member) journalCreate(c *history.Call, id string, err error) {
	c.To = history.Now()
	c.Status, c.Error = answer(err, http.StatusCreated)
	c.Ticket, m.id = id, id
	m.journal.Call(*c)
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, m)
}

// get reads the ticket once.
func (m *member) get(ctx context.Context) history.Call {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c := history.Call{Op: history.Get, Project: m.project, Number: m.number, Ticket: m.id}
	c.From = history.Now()
	t, err := m.tickets.any().GetTicket(ctx, m.id)
	m.journalRead(&c, t, err)
	return c
}

// journalRead ends a read of the ticket.
func (m *member) journalRead(c *history.Call, t *client.Ticket, err error) {
	c.To = history.Now()
	c.Status, c.Error = answer(err, http.StatusOK)
	if t != nil {
		c.Created = t.Created
		if a := t.Assignment; a != nil {
			c.Assignment = &history.Assignment{Connection: a.Connection, Error: a.Error, Match: []byte(a.MatchProperties),
				Own: []byte(a.Properties)}
		}
	}
	m.journal.Call(*c)
}

// await reads the ticket until it has a result. It returns false when ctx ends or the ticket is gone before.
func (m *member) await(ctx context.Context) bool {
	for ctx.Err() == nil {
		c := m.get(withHold(ctx))
		switch {
		case c.Assignment != nil:
			return true
		case c.Status == http.StatusNotFound:
			return false
		case c.Status != http.StatusOK:
			pause(ctx, retryAfter())
		}
	}
	return false
}

// delete deletes the ticket. It repeats the request until it is answered.
func (m *member) delete(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		c := history.Call{Op: history.Delete, Project: m.project, Number: m.number, Ticket: m.id}
		one, cancel := context.WithTimeout(ctx, requestTime)
		c.From = history.Now()
		err := m.tickets.any().DeleteTicket(one, m.id, m.player())
		c.To = history.Now()
		cancel()
		c.Status, c.Error = answer(err, http.StatusOK)
		m.journal.Call(c)
		if c.Status == http.StatusOK || c.Status == http.StatusNotFound {
			return
		}
		pause(ctx, retryAfter())
	}
}

// retryAfter is the time between a failure and the next try.
func retryAfter() time.Duration {
	return 50*time.Millisecond + rand.N(200*time.Millisecond) //nolint:gosec // how long does not matter
}

// last reads every ticket once more, and deletes those that no config matches.
func (c *crowd) last(ctx context.Context) {
	c.mu.Lock()
	all := c.all
	c.mu.Unlock()
	each(all, func(m *member) {
		for s := m.get(ctx).Status; ctx.Err() == nil && (s == 0 || s >= 500); s = m.get(ctx).Status {
			pause(ctx, retryAfter())
		}
		if m.lane == lane.Prey {
			m.delete(ctx)
		}
	})
}

// each calls do for all members, for some at a time.
func each(all []*member, do func(*member)) {
	next := make(chan *member)
	var under sync.WaitGroup
	for range 16 {
		under.Go(func() {
			for m := range next {
				do(m)
			}
		})
	}
	for _, m := range all {
		next <- m
	}
	close(next)
	under.Wait()
}
