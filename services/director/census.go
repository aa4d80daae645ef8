package director

import (
	"context"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
)

// census is how many tickets a config's pools have, for those whose segments depend on it. The
// runners count them beside a run, now and then. Before the first count such a pool is in one piece. A config without such
// pools has none: a nil census asks for nothing and never changes.
type census struct {
	pools map[string]*pb.Pool // of the config
	// made is what the segments were made for, now what was counted last.
	made, now pool.Population
	asked     time.Time
	// outgrown: the segments no longer fit the tickets.
	outgrown bool
}

func newCensus(pools map[string]*pb.Pool) *census {
	if pool.Crowds(pools) == nil {
		return nil
	}
	return &census{pools: pools}
}

// ask is the pools that a run is to count, if it is time to count again.
func (c *census) ask(now time.Time, interval time.Duration) map[string]*pb.Pool {
	if c == nil || now.Before(c.asked.Add(interval)) {
		return nil
	}
	c.asked = now
	return pool.Crowds(c.pools)
}

// hear takes in what a run counted; nil when it did not.
func (c *census) hear(counted pool.Population) {
	if c != nil && counted != nil {
		c.now, c.outgrown = counted, !pool.Fits(c.pools, c.made, counted)
	}
}

// changed tells that the pools are to be divided anew.
func (c *census) changed() bool { return c != nil && c.outgrown }

// population is what new segments are to be made for.
func (c *census) population() pool.Population {
	if c == nil {
		return nil
	}
	c.made, c.outgrown = c.now, false
	return c.made
}

// divide cuts the pools anew of configs whose segments no longer fit the tickets. That waits until the runs
// under way are settled, and no new ones start meanwhile: a ticket is never in two segments at a time, and no run is in vain.
func (l *leader) divide(ctx context.Context) {
	for id, old := range l.courses {
		census := old[0].census
		if !census.changed() || slices.ContainsFunc(old, func(c *course) bool { return !c.idle() }) {
			continue
		}
		courses := l.coursesOf(ctx, old[0].config, census)
		last := slices.MaxFunc(old, func(a, b *course) int { return a.started.Compare(b.started) })
		for _, c := range courses {
			c.started, c.notBefore, c.failing = last.started, last.notBefore, last.failing
		}
		l.courses[id] = courses
		l.log.DebugContext(ctx, "the pools of a config are divided anew", "config", id, "tickets", census.made, "segments", len(courses))
	}
}
