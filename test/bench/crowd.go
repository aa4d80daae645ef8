package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"matchmaker.dev/services/internal/platform/catalog"
)

// crowd measures players that come while many that cannot be matched stand by, beside players in an empty pool.
func (r *round) crowd(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "crowd", false)
	if err != nil {
		return err
	}
	empty, err := r.live(ctx, p)
	if err != nil {
		return err
	}
	c := newCrowd(p, 0)
	for _, n := range slices.Sorted(slices.Values(r.Crowd)) {
		if err := r.standBy(ctx, c, n); err != nil {
			return err
		}
		among, err := r.live(ctx, p)
		if err != nil {
			return err
		}
		load, aim := fmt.Sprintf("%s/s among %s", count(r.Live), count(n)), crowdAim
		if n > 100_000 {
			aim = largeCrowdAim
		}
		r.add(load+": p50", millis, among.p50).than("an empty pool", empty.p50).atMost(aim)
		r.add(load+": p99", millis, among.p99).than("an empty pool", empty.p99)
		r.add(load+": the runner's processor time a ticket", micros, among.runner).than("an empty pool", empty.runner)
	}
	return nil
}

// Aims for p50 beside an empty pool, with up to 100,000 tickets that stand by and with more.
const (
	crowdAim      = 1.3
	largeCrowdAim = 2.0
)

// life is how players fare, and the processor time that a ticket takes, of the runner and of all services.
type life struct{ p50, p99, runner, system float64 }

// live measures --live players a second.
func (r *round) live(ctx context.Context, projects ...*project) (life, error) {
	return r.liveAt(ctx, r.Live, manner{}, projects...)
}

// liveAt measures so many a second in each project.
func (r *round) liveAt(ctx context.Context, rate int, m manner, projects ...*project) (life, error) {
	r.report("%d/s in %d projects", rate, len(projects))
	loads := make([]*arrivals, len(projects))
	for k, p := range projects {
		loads[k] = r.share(p, m, rate, k)
	}
	return r.together(ctx, projects[0].installation, loads...)
}

// share makes the players of the k-th part of a load. The parts of a project have different players.
func (r *round) share(p *project, m manner, rate, k int) *arrivals {
	a := p.arrive(m, rate, r.For, r.seed()+uint64(1000*k))
	a.warm = r.Warm
	const most = 400 // players of a part, as far as parts share a project
	from := k * most % len(p.tokens)
	a.tokens = slices.Concat(p.tokens[from:], p.tokens[:from])
	return a
}

// together measures the parts of a load at the same time.
func (r *round) together(ctx context.Context, i *installation, loads ...*arrivals) (life, error) {
	used, err := i.together(ctx, loads...)
	if ctx.Err() != nil {
		return life{}, context.Cause(ctx)
	}
	l := life{grew, grew, grew, grew}
	if err != nil {
		r.report("%v", err)
		return l, nil
	}
	var waits times
	for _, a := range loads {
		g := a.growth()
		r.checkLate(g)
		if g.grows() {
			r.report("the queue grows: %s", g)
			return l, nil
		}
		waits = append(waits, a.waits()...)
	}
	each := func(d time.Duration) float64 { return in(micros, d) / float64(len(waits)) }
	return life{in(millis, waits.quantile(0.5)), in(millis, waits.quantile(0.99)), each(used[catalog.Runner]),
		each(used.system())}, nil
}

// standBy lets the crowd grow to n.
func (r *round) standBy(ctx context.Context, c *crowd, n int) error {
	r.report("%d come to stand by", n-len(c.ids))
	before := len(c.ids)
	c.ids = append(c.ids, make([]string, n-before)...)
	if err := c.come(ctx, before, far); err != nil {
		return err
	}
	return pause(ctx, r.Settle)
}

// crowd is many waiting players, for which a game service asks.
type crowd struct {
	*project
	host string
	ids  []string
}

func newCrowd(p *project, n int) *crowd {
	return &crowd{project: p, host: p.Address(catalog.Ticket), ids: make([]string, n)}
}

// come creates all tickets from one on.
func (c *crowd) come(ctx context.Context, from int, skill func(i int) float64) error {
	return c.each(ctx, from, func(w *wire, i int) error {
		status, body, err := w.do(c.create("member", i, skill(i)))
		if err != nil {
			return err
		}
		c.ids[i], err = idOf(status, body)
		return err
	})
}

// create is a request for the ticket of a new player.
func (c *crowd) create(role string, i int, skill float64) []byte {
	return creation(c.host, c.name, c.lobby, fmt.Sprintf("X-On-Behalf-Of: %s-%d\r\n", role, i), "", skill)
}

// look waits for a ticket's assignment.
func (c *crowd) look(w *wire, i int) error {
	w.patience(time.Now().Add(time.Minute))
	status, body, err := w.do(awaiting(c.host, c.name, c.lobby, c.ids[i]))
	if err != nil {
		return err
	}
	return checkAssigned(status, body, false)
}

// each calls do for every ticket from one on, on a few connections.
func (c *crowd) each(ctx context.Context, from int, do func(w *wire, i int) error) error {
	errs := make([]error, 64)
	var all sync.WaitGroup
	for first := range errs {
		all.Go(func() {
			w, err := dial(ctx, c.host)
			if err != nil {
				errs[first] = err
				return
			}
			defer w.close()
			for i := from + first; i < len(c.ids) && errs[first] == nil && ctx.Err() == nil; i += len(errs) {
				errs[first] = do(w, i)
			}
		})
	}
	all.Wait()
	return first(append(errs, context.Cause(ctx)))
}
