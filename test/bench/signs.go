package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
)

// signsAim is for the system's processor time where tickets end for which no request asks, beside that where none does.
const signsAim = 1.03

// A crowd without silent players: each asks once in signsEvery, and a ticket ends after silence. A turn lasts
// signsTurn times --for.
const (
	silence    = time.Minute
	signsEvery = silence / 2
	signsTurn  = 10
)

// signs measures players that come while many that ask for their tickets now and then stand by: with the sign of life,
// and without, in turns on one system.
func (r *round) signs(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "signs", false)
	if err != nil {
		return err
	}
	c := newCrowd(p, 0)
	if err := r.standBy(ctx, c, r.Crowd[0]); err != nil {
		return err
	}
	studio, err := p.studio(catalog.Config)
	if err != nil {
		return err
	}
	var costs [2]time.Duration
	for _, on := range []int{0, 1, 1, 0} {
		var rules client.TicketRules
		if on == 1 {
			rules.Silence = &client.Silence{Seconds: int(silence.Seconds())}
		}
		if _, err := studio.PutSettings(ctx, client.ProjectSettings{Tickets: &rules}, ""); err != nil {
			return err
		}
		if err := pause(ctx, r.Settle); err != nil {
			return err
		}
		r.report("%d/s, and %d ask; the sign of life: %t", r.Live, len(c.ids), on == 1)
		cost, err := r.whileAsking(ctx, c)
		if err != nil {
			return err
		}
		costs[on] += cost
	}
	tickets := float64(2 * r.Live * signsTurn * int(r.For.Milliseconds()) / 1000)
	r.add(fmt.Sprintf("%s/s among %s who ask: processor time a ticket", count(r.Live), count(len(c.ids))), micros,
		in(micros, costs[1])/tickets).than("no sign of life", in(micros, costs[0])/tickets).atMost(signsAim)
	return nil
}

// whileAsking is what the system spends on a turn.
func (r *round) whileAsking(ctx context.Context, c *crowd) (time.Duration, error) {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	var done sync.WaitGroup
	var failed error
	done.Go(func() { failed = c.ask(asking) })
	a := r.arrive(c.project, manner{}, r.Live, signsTurn*r.For)
	used, err := c.together(ctx, a)
	if err == nil {
		r.checkLate(a.growth())
	}
	stop()
	done.Wait()
	return used.system(), first([]error{err, failed})
}

// ask asks for each ticket once in signsEvery, until ctx ends.
func (c *crowd) ask(ctx context.Context) error {
	for begin := time.Now(); ctx.Err() == nil; begin = begin.Add(signsEvery) {
		err := c.each(ctx, 0, func(w *wire, i int) error {
			at := begin.Add(time.Duration(i) * signsEvery / time.Duration(len(c.ids)))
			if err := pause(ctx, time.Until(at)); err != nil {
				return err
			}
			path := "/" + c.name + "/matchmaking/api/v1/tickets?id=" + c.ids[i]
			status, body, err := w.do(get(c.host, path, c.lobby, ""))
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("a ticket for which somebody asks was answered %d: %s", status, body)
			}
			return err
		})
		if err == nil {
			err = pause(ctx, time.Until(begin.Add(signsEvery)))
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
