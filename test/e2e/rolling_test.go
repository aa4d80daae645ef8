package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// How often a player comes, and how often the studio and the game server work. The rate limits of a project are much
// higher.
const (
	playerPace = 50 * time.Millisecond
	workPace   = 400 * time.Millisecond
)

// rolling: all processes are stopped and started again. The first replicas of the services are replaced one after the
// other, the second ones all at once, as an upgrade of all Deployments does it.
func rolling(t *testing.T, p *project) {
	p.whileReplaced(t, func(first, second []string) {
		for _, name := range first {
			p.s.stop(t, name)
			p.s.start(t, name)
		}
		p.s.stop(t, second...)
		p.s.start(t, second...)
	})
}

// whileReplaced calls replace with the names of the first and the second replicas of the services. Meanwhile players
// come, and a studio and a game server work. No request fails, though none is repeated. Each player is matched once,
// also players that wait all the time with a GET that is held.
func (p *project) whileReplaced(t *testing.T, replace func(first, second []string)) {
	t.Helper()
	p.actor(t)
	quiet := &project{s: p.s, name: p.name + "-quiet"}
	patient := make(crowd, 8)

	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var work sync.WaitGroup
	defer work.Wait()
	var enough atomic.Bool
	defer enough.Store(true)
	var done [2]atomic.Int64
	work.Go(func() { done[0].Store(again(ctx, t, &enough, p.studio)) })
	work.Go(func() { done[1].Store(again(ctx, t, &enough, p.gameServer)) })
	arrived := make(chan crowd, 1)
	work.Go(func() { arrived <- p.stream(ctx, &enough) })
	for number := range patient {
		work.Go(func() { patient[number] = quiet.come(ctx, number) })
	}

	var first, second []string
	for _, name := range p.s.names() {
		if strings.HasSuffix(name, "-1") {
			first = append(first, name)
		} else {
			second = append(second, name)
		}
	}
	replace(first, second)
	enough.Store(true)
	all := <-arrived
	quiet.actor(t)
	work.Wait()

	for _, m := range slices.Concat(all, patient) {
		if m.err != nil {
			t.Error(m.err)
		}
	}
	if t.Failed() {
		return
	}
	all.paired(t)
	patient.paired(t)
	t.Logf("%d players came, the studio worked %d times and the game server %d times", len(all), done[0].Load(),
		done[1].Load())
	if len(all) < 2*len(first) || done[0].Load() == 0 || done[1].Load() == 0 {
		t.Error("hardly any request was made while the services were replaced")
	}
}

// stream creates tickets at a steady pace until enough is set. It returns when an even number of players has results.
func (p *project) stream(ctx context.Context, enough *atomic.Bool) crowd {
	var all []*member
	var present sync.WaitGroup
	next := time.NewTicker(playerPace)
	defer next.Stop()
	room := make(chan struct{}, maxWaiting)
	for !enough.Load() || len(all)%2 == 1 {
		m := new(member)
		number := len(all)
		all = append(all, m)
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			m.err = fmt.Errorf("player-%d was not created: %w", number, ctx.Err())
			present.Wait()
			return crowdOf(all)
		}
		present.Go(func() {
			defer func() { <-room }()
			*m = p.come(ctx, number)
		})
		<-next.C
	}
	present.Wait()
	return crowdOf(all)
}

// crowdOf makes a crowd of members.
func crowdOf(all []*member) crowd {
	c := make(crowd, len(all))
	for i, m := range all {
		c[i] = *m
	}
	return c
}

// again repeats do until enough is set, and returns how often.
func again(ctx context.Context, t *testing.T, enough *atomic.Bool, do func(ctx context.Context) error) (times int64) {
	next := time.NewTicker(workPace)
	defer next.Stop()
	for !enough.Load() {
		if err := do(ctx); err != nil {
			t.Error(err)
			return times
		}
		times++
		<-next.C
	}
	return times
}

// studio does the work of a studio: it puts and reads a config, and reads a function.
func (p *project) studio(ctx context.Context) error {
	api, _, err := p.client(issuer.Claims{Kind: auth.Developer, Subject: "developer", Role: "Owner"})
	if err != nil {
		return err
	}
	side := 2.0
	c := client.Config{
		Matchmaking: client.Matchmaking{TargetFunction: client.FunctionTarget{Name: "actor", Version: "1"}},
		Pools:       map[string][]client.PoolFilter{"nobody": {{Attribute: "side", Min: &side, Max: &side}}},
	}
	if _, err := api.PutConfig(ctx, "changing", c, ""); err != nil {
		return fmt.Errorf("put a config: %w", err)
	}
	if _, err := api.GetConfig(ctx, "changing"); err != nil {
		return fmt.Errorf("read a config: %w", err)
	}
	if _, err := api.GetFunction(ctx, "actor"); err != nil {
		return fmt.Errorf("read a function: %w", err)
	}
	return nil
}

// gameServer does the work of a game server: it creates, approves, changes and deletes a backfill ticket.
func (p *project) gameServer(ctx context.Context) error {
	api, _, err := p.client(issuer.Claims{Kind: auth.Server, Subject: "server"})
	if err != nil {
		return err
	}
	id, err := api.CreateBackfill(ctx, client.BackfillRequest{Connection: "203.0.113.7:7777",
		Attributes: attributes{"side": 3}})
	if err != nil {
		return fmt.Errorf("create a backfill ticket: %w", err)
	}
	got, err := api.ApproveBackfill(ctx, id)
	if err != nil {
		return fmt.Errorf("approve a backfill ticket: %w", err)
	}
	if err := api.UpdateBackfill(ctx, *got); err != nil {
		return fmt.Errorf("change a backfill ticket: %w", err)
	}
	if err := api.DeleteBackfill(ctx, id); err != nil {
		return fmt.Errorf("delete a backfill ticket: %w", err)
	}
	return nil
}
