package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/test/chaos/lane"
)

// Crowd is the players of one project.
type Crowd struct {
	Options
	present sync.WaitGroup
	mu      sync.Mutex
	number  int64
	// waiting counts the players that wait for a match, by lane, without stand-ins.
	waiting map[lane.Lane]int
	all     []*player
	// searches are the searches of parties that friends have seen, by their tickets. codes are of their parties.
	searches map[string]*player
	codes    []partyCode
}

// New makes a crowd without players.
func New(o Options) *Crowd {
	return &Crowd{Options: o, waiting: map[lane.Lane]int{}, searches: map[string]*player{}}
}

// join makes a player.
func (c *Crowd) join(l lane.Lane) *player {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	return &player{
		Crowd: c, number: c.number, lane: l,
		random: rand.New(rand.NewPCG(uint64(c.number), c.Random.Uint64())), //nolint:gosec // it must be the same every time
	}
}

// Arrive lets players come until ctx ends. They stop when lives ends.
func (c *Crowd) Arrive(ctx, lives context.Context) {
	c.befriend(ctx)
	for wait.For(ctx, time.Duration((0.2+1.6*c.Random.Float64())*float64(c.Pace))) == nil {
		l := c.Lanes[c.Random.IntN(len(c.Lanes))]
		if c.Random.IntN(50) == 0 {
			l = lane.Prey
		}
		p := c.join(l)
		if p.random.Float64() < c.Large {
			p.bytes = 1 + p.random.IntN(mostBytes)
		}
		c.present.Go(func() { p.play(lives) })
	}
}

// enter notes that a player has a ticket.
func (c *Crowd) enter(p *player) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, p)
}

func (c *Crowd) count(l lane.Lane, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[l] += n
}

// unmatched lists the lanes in which players wait for a match, and counts these players.
func (c *Crowd) unmatched() (in []lane.Lane, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range []lane.Lane{lane.Hosted, lane.Free, lane.Both, lane.Games, lane.Asked, lane.Queued} {
		if c.waiting[l] > 0 {
			in, all = append(in, l), all+c.waiting[l]
		}
	}
	return in, all
}

// settle waits until all waiting players of some crowds are matched, or ctx ends. It adds a stand-in for a player that
// is left alone. waiting is told how many players wait.
func settle(ctx context.Context, crowds []*Crowd, waiting func(players int)) {
	for before := -1; ; {
		left := 0
		for _, c := range crowds {
			_, all := c.unmatched()
			left += all
		}
		if left == 0 {
			return
		}
		waiting(left)
		if left == before { // no match since: a player may be alone
			for _, c := range crowds {
				in, _ := c.unmatched()
				for _, l := range in {
					p := c.join(l)
					c.present.Go(func() { p.standIn(ctx) })
				}
			}
		}
		before = left
		if wait.For(ctx, 2*time.Second) != nil {
			return
		}
	}
}

// last reads every ticket once more, and deletes the tickets that no config matches. parallel is how many requests it
// makes at a time.
func (c *Crowd) last(ctx context.Context, parallel int) {
	c.mu.Lock()
	all := c.all
	c.mu.Unlock()
	next := make(chan *player)
	var under sync.WaitGroup
	for range parallel {
		under.Go(func() {
			for p := range next {
				p.last(ctx)
			}
		})
	}
	for _, p := range all {
		next <- p
	}
	close(next)
	under.Wait()
}

func (p *player) last(ctx context.Context) {
	for s := p.get(ctx).Status; ctx.Err() == nil && (s == 0 || s >= 500); s = p.get(ctx).Status {
		_ = wait.For(ctx, retryPause)
	}
	if p.lane == lane.Prey {
		p.erases = false
		p.delete(ctx)
	}
}

// CreateAndDelete creates a ticket, deletes it, and returns its id.
func (c *Crowd) CreateAndDelete(ctx context.Context) (id string, err error) {
	p := &player{Crowd: c, number: -1, lane: lane.Prey}
	for !p.create(ctx) {
		if wait.For(ctx, retryPause) != nil {
			return "", fmt.Errorf("no ticket could be created: %w", context.Cause(ctx))
		}
	}
	p.get(ctx)
	p.delete(ctx)
	return p.id, nil
}
