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
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
)

// While services are replaced a player comes every arriving; a studio and a game server work every
// working, which is well below what a project is allowed.
const (
	arriving = 50 * time.Millisecond
	working  = 400 * time.Millisecond
)

// rolling: every process is asked to stop and is started again, first those of one replica of each service one after the other, then
// those of the other replica all at once, as an upgrade of all Deployments does it. Meanwhile players come, a studio and a
// game server work, and none of them sees a failure: nobody tries anything twice. Nobody is lost, nobody is
// matched twice, and those who wait all the time, with a GET that is held, are matched at last.
func rolling(t *testing.T, p *project) {
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
	for _, name := range first {
		p.s.stop(t, name)
		p.s.start(t, name)
	}
	p.s.stop(t, second...)
	p.s.start(t, second...)
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
	t.Logf("%d players came, a studio worked %d times and a game server %d times", len(all), done[0].Load(), done[1].Load())
	if len(all) < 2*len(first) || done[0].Load() == 0 || done[1].Load() == 0 {
		t.Error("hardly anything happened while the services were replaced")
	}
}

// stream lets players come steadily until it is enough, and returns when an even number of them has a result each.
func (p *project) stream(ctx context.Context, enough *atomic.Bool) crowd {
	var all []*member
	var present sync.WaitGroup
	next := time.NewTicker(arriving)
	defer next.Stop()
	room := make(chan struct{}, maxWaiting)
	for !enough.Load() || len(all)%2 == 1 {
		m := new(member)
		number := len(all)
		all = append(all, m)
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			m.err = fmt.Errorf("player-%d could not come: %w", number, ctx.Err())
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

func crowdOf(all []*member) crowd {
	c := make(crowd, len(all))
	for i, m := range all {
		c[i] = *m
	}
	return c
}

// again does something again and again until it is enough, and says how often.
func again(ctx context.Context, t *testing.T, enough *atomic.Bool, do func(ctx context.Context) error) (times int64) {
	next := time.NewTicker(working)
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

// studio is what a studio does: it changes a config, and looks after its functions.
func (p *project) studio(ctx context.Context) error {
	api, _, err := p.client(issuer.Claims{Kind: auth.Developer, Subject: "developer", Role: "Owner"})
	if err != nil {
		return err
	}
	side := 2.0
	c := client.Config{
		Matchmaking: client.Matchmaking{TargetFunction: &client.FunctionTarget{Name: "actor", Version: "1"}},
		Pools:       map[string][]client.PoolFilter{"nobody": {{Attribute: "side", Min: &side, Max: &side}}},
	}
	if _, err := api.PutConfig(ctx, "changing", c, ""); err != nil {
		return fmt.Errorf("a config is put: %w", err)
	}
	if _, err := api.GetConfig(ctx, "changing"); err != nil {
		return fmt.Errorf("a config is read: %w", err)
	}
	if _, err := api.GetFunction(ctx, "actor"); err != nil {
		return fmt.Errorf("a function is read: %w", err)
	}
	return nil
}

// gameServer is what a game server does: it wants players, goes on wanting them, and ends.
func (p *project) gameServer(ctx context.Context) error {
	api, _, err := p.client(issuer.Claims{Kind: auth.Server, Subject: "server"})
	if err != nil {
		return err
	}
	id, err := api.CreateBackfill(ctx, client.BackfillRequest{Connection: "203.0.113.7:7777", Attributes: attributes{"side": 3}})
	if err != nil {
		return fmt.Errorf("a backfill ticket is created: %w", err)
	}
	got, err := api.ApproveBackfill(ctx, id)
	if err != nil {
		return fmt.Errorf("a backfill ticket is approved: %w", err)
	}
	if err := api.UpdateBackfill(ctx, *got); err != nil {
		return fmt.Errorf("a backfill ticket is changed: %w", err)
	}
	if err := api.DeleteBackfill(ctx, id); err != nil {
		return fmt.Errorf("a backfill ticket is deleted: %w", err)
	}
	return nil
}
