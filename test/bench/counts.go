package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/services/internal/bus"
)

// Counters of a ticket. With --parts there are also the counters that begin with one of them and a colon.
const (
	redisTrips    = "trips to Redis"
	redisScripts  = "scripts"
	redisCommands = "commands inside Redis"
	messages      = "messages"
	switches      = "context switches"
)

// counts counts what a ticket takes as one of a pair at rest, and where many projects or queues are busy. What an idle
// system does is left out.
func (r *round) counts(ctx context.Context, i *installation) error {
	c, err := newCounter(ctx, i)
	if err != nil {
		return err
	}
	defer c.close()
	for k, m := range []manner{{}, {streams: true}, {one: true}, {hosted: true}} {
		m.pairs = true
		p, err := r.ready(ctx, i, fmt.Sprintf("counts-%d", k), m.hosted)
		if err != nil {
			return err
		}
		if err := r.count(ctx, c, fmt.Sprintf("%d pairs/s, %s", pairRate/2, m), r.share(p, m, pairRate, k)); err != nil {
			return err
		}
	}
	projects, queues := make([]*arrivals, r.Projects), make([]*arrivals, r.Configs)
	for k := range projects {
		p, err := r.ready(ctx, i, fmt.Sprintf("counts-project-%d", k), false)
		if err != nil {
			return err
		}
		projects[k] = r.share(p, manner{}, r.Each, k)
	}
	load := fmt.Sprintf("%d projects with %d/s each", r.Projects, r.Each)
	if err := r.count(ctx, c, load, projects...); err != nil {
		return err
	}
	p, err := r.newProject(ctx, i, "counts-queues")
	if err != nil {
		return err
	}
	rate := max(2, r.Each/2)
	for k := range queues {
		queue, err := p.open(ctx, k)
		if err != nil {
			return err
		}
		queues[k] = r.share(p, manner{queue: queue}, rate, k)
	}
	return r.count(ctx, c, fmt.Sprintf("%d queues with %d/s each", r.Configs, rate), queues...)
}

// count counts while players come.
func (r *round) count(ctx context.Context, c *counter, load string, loads ...*arrivals) error {
	r.report("%s", load)
	if err := pause(ctx, r.Settle); err != nil {
		return err
	}
	idle, rest, err := c.during(func() error { return pause(ctx, r.For) })
	if err != nil {
		return err
	}
	tickets := 0
	busy, took, err := c.during(func() error {
		_, err := c.system.together(ctx, loads...)
		return err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, a := range loads {
		tickets += len(a.before) + len(a.tickets)
	}
	for _, name := range slices.Sorted(maps.Keys(busy)) {
		value := (busy[name] - idle[name]*took.Seconds()/rest.Seconds()) / float64(tickets)
		if err != nil {
			value = grew
		}
		if r.Parts || !strings.Contains(name, ":") {
			r.add(load+": "+name+" a ticket", "", value)
		}
	}
	return nil
}

// counter reads the counters of an installation's processes.
type counter struct {
	system *installation
	redis  *redis
	bus    *bus.Bus

	mu   sync.Mutex
	sent map[string]float64 // messages by the first words of their subject
}

func newCounter(ctx context.Context, i *installation) (*counter, error) {
	c := &counter{system: i, sent: map[string]float64{}}
	var err error
	if c.redis, err = dialRedis(ctx, i.Redis()); err != nil {
		return nil, err
	}
	c.bus, err = bus.Connect(ctx, bus.Options{Server: bus.Server{URL: i.NATS()}, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = c.bus.Prepare(ctx)
	}
	if err == nil {
		_, err = c.bus.OnMessages(func(subject string) {
			words := strings.SplitN(subject, ".", 3)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.sent[messages]++
			c.sent[messages+": "+strings.Join(words[:min(2, len(words))], ".")]++
		})
	}
	return c, err
}

func (c *counter) close() {
	c.redis.close()
	_ = c.bus.Close(context.Background())
}

// during counts what happens while do runs.
func (c *counter) during(do func() error) (counts map[string]float64, took time.Duration, err error) {
	before, err := c.read()
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	failed := do()
	took = time.Since(began)
	after, err := c.read()
	for name := range after {
		after[name] -= before[name]
	}
	return after, took, first([]error{err, failed})
}

func (c *counter) read() (map[string]float64, error) {
	c.mu.Lock()
	counts := maps.Clone(c.sent)
	c.mu.Unlock()
	for _, part := range c.system.Parts() {
		n := familySwitches(c.system.PID(part))
		counts[switches] += n
		counts[switches+": "+part] = n
	}
	for _, section := range []string{"stats", "commandstats"} {
		got, err := c.redis.do([]string{"INFO", section})
		if err != nil {
			return nil, err
		}
		text, _ := got[0].(string)
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(line, ":")
			value, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(value), "calls="), ",")
			n, err := strconv.ParseFloat(value, 64)
			command, is := strings.CutPrefix(name, "cmdstat_")
			switch {
			case err != nil:
			case name == "total_reads_processed":
				counts[redisTrips] = n
			case is && command != "info":
				counts[redisCommands] += n
				counts[redisCommands+": "+command] = n
				if command == "evalsha" {
					counts[redisScripts] = n
				}
			}
		}
	}
	return counts, nil
}
