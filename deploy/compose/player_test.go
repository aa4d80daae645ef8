package compose

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// crowd are players that come, two at a time, and wait for a match.
type crowd struct {
	api     *client.Client
	all     sync.WaitGroup
	came    atomic.Int64
	matched atomic.Int64
	failed  sync.Map
}

// join is one player, which asks until there is a ticket, waits for its match, and asks again for a lost one.
func (c *crowd) join(ctx context.Context, number int64) {
	name, tries := fmt.Sprintf("player-%d", number), 0
	var last error
	for ctx.Err() == nil {
		ticket, err := c.api.CreateAndWait(ctx, client.TicketRequest{
			Player: name, IdempotencyKey: fmt.Sprintf("%s-%d", name, tries),
			Attributes: map[string]float64{"skill": 1500},
		}, nil)
		if err == nil && ticket.Assignment != nil && ticket.Assignment.Error == "" {
			c.matched.Add(1)
			return
		}
		if last = err; client.Status(err) == http.StatusNotFound {
			tries++ // the ticket was lost with a write of the last second
		}
		if err == nil {
			last = fmt.Errorf("%+v", ticket.Assignment)
			tries++
		}
	}
	c.failed.Store(name, last)
}

// come lets players come until done is closed.
func (c *crowd) come(ctx context.Context, done <-chan struct{}) {
	pace := time.NewTicker(500 * time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-done:
			return
		case <-pace.C:
		}
		for range 2 {
			number := c.came.Add(1)
			c.all.Go(func() { c.join(ctx, number) })
		}
	}
}

// disturb restarts and kills each container in turn while players come. All of them are matched.
func (s *system) disturb(ctx context.Context, t *testing.T) {
	token, err := s.engine.run(ctx, s.source, "bin/mm", "token", "service", "--ttl", "3h")
	if err != nil {
		t.Fatal(err)
	}
	api, err := client.New(client.Options{
		URL: "http://127.0.0.1:8080", Project: "demo", Token: client.StaticToken(strings.TrimSpace(token)),
		HTTP:  s.engine.client(),
		Retry: client.Retry{Attempts: 100, Reconnects: 100, Sleep: briefly},
	})
	if err != nil {
		t.Fatal(err)
	}
	players, cancel := context.WithCancel(ctx)
	defer cancel()
	c, done, ended := &crowd{api: api}, make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); c.come(players, done) }()
	for _, how := range []struct {
		name string
		do   func(t *testing.T, service string)
	}{
		{"restart", func(t *testing.T, service string) { s.compose(ctx, t, "restart", service) }},
		{"kill", func(t *testing.T, service string) { s.kill(ctx, t, service) }},
	} {
		for _, service := range s.services {
			step(t, how.name+" "+service, func(t *testing.T) {
				how.do(t, service)
				s.engine.awaitHealthy(ctx, t, service)
				// Players that came meanwhile are matched.
				before := c.matched.Load()
				until(ctx, t, patience, "players are matched", func(context.Context) error {
					if now := c.matched.Load(); now < before+4 {
						return fmt.Errorf("%d since", now-before)
					}
					return nil
				})
			})
		}
	}
	close(done)
	<-ended
	s.rest(players, t, c)
	t.Logf("%d players came, %d were matched", c.came.Load(), c.matched.Load())
	c.failed.Range(func(name, err any) bool { t.Errorf("%s was not matched: %v", name, err); return true })
}

// rest waits until all players are matched. Where a ticket was made twice, because Redis lost the first, the last
// player needs one more.
func (s *system) rest(ctx context.Context, t *testing.T, c *crowd) {
	t.Helper()
	until(ctx, t, 4*time.Minute, "all but one are matched", func(context.Context) error {
		if left := c.came.Load() - c.matched.Load(); left > 1 {
			return fmt.Errorf("%d wait", left)
		}
		return nil
	})
	if c.came.Load() != c.matched.Load() {
		number := c.came.Add(1)
		c.all.Go(func() { c.join(ctx, number) })
	}
	c.all.Wait()
}

// kill kills the process of a container, which the engine starts again.
func (s *system) kill(ctx context.Context, t *testing.T, service string) {
	before, restarts, err := s.engine.inspect(ctx, service)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(before.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, 2*time.Minute, service+" is started again", func(ctx context.Context) error {
		now, again, err := s.engine.inspect(ctx, service)
		if err == nil && (now.Status != "running" || again <= restarts || now.Pid == before.Pid) {
			err = fmt.Errorf("%s, started %d times", now.Status, again)
		}
		return err
	})
}

// briefly waits for a second at most between two tries.
func briefly(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(min(d, time.Second))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
