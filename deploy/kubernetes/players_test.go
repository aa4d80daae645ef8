package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// crowd are players that come, two at a time, and wait for a match.
type crowd struct {
	api           *client.Client
	all           sync.WaitGroup
	came, matched atomic.Int64
	failed        sync.Map
}

// newCrowd lets players ask at url. Connections are the client's to make again, and a lost answer is asked for again.
func newCrowd(t *testing.T, url, token string) *crowd {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	api, err := client.New(client.Options{
		URL: url, Project: "demo", Token: client.StaticToken(token), HTTP: &http.Client{Transport: transport},
		Retry: client.Retry{Attempts: 20, Reconnects: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &crowd{api: api}
}

// join is a player with one ticket. It is never asked for a second time.
func (c *crowd) join(ctx context.Context) {
	name := fmt.Sprintf("player-%d", c.came.Add(1))
	c.all.Go(func() {
		ticket, err := c.api.CreateAndWait(ctx, client.TicketRequest{
			Player: name, IdempotencyKey: name, Attributes: map[string]float64{"skill": 1500},
		}, nil)
		switch {
		case err != nil:
			c.failed.Store(name, err)
		case ticket.Assignment == nil || ticket.Assignment.Error != "" || ticket.Assignment.Connection == "":
			c.failed.Store(name, fmt.Errorf("%+v", ticket.Assignment))
		default:
			c.matched.Add(1)
		}
	})
}

// come lets two players come twice a second until done is closed.
func (c *crowd) come(ctx context.Context, done <-chan struct{}) {
	pace := time.NewTicker(500 * time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-done:
			return
		case <-pace.C:
		}
		c.join(ctx)
		c.join(ctx)
	}
}

// more waits until four more players are matched.
func (c *crowd) more(t *testing.T) {
	t.Helper()
	before := c.matched.Load()
	eventually(t, "players are matched", func(context.Context) error {
		if now := c.matched.Load(); now < before+4 {
			return fmt.Errorf("%d since", now-before)
		}
		return nil
	})
}

// rest waits for all players, each of which has a match.
func (c *crowd) rest(t *testing.T) {
	t.Helper()
	c.all.Wait()
	t.Logf("%d players came, %d were matched", c.came.Load(), c.matched.Load())
	c.failed.Range(func(name, err any) bool { t.Errorf("%s has no match: %v", name, err); return true })
}
