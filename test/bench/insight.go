package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
)

const (
	// insightAim is for the processor time of a ticket beside a ticket's that no studio asks about.
	insightAim = 1.03
	// askPause is how long a studio waits before it asks again why a ticket waits.
	askPause = time.Second
)

// insight measures what it costs that all is told of a project: a config that reports on its matches, a recording, and
// a studio that asks all the time why a ticket waits. The loads take turns: with, without, without, with.
func (r *round) insight(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "insight", false)
	if err != nil {
		return err
	}
	lonely := newCrowd(p, 1)
	if err := lonely.come(ctx, 0, far); err != nil {
		return err
	}
	told := anybody(false)
	told.Report = &client.ReportRule{Attributes: []string{"skill"}}
	with, without := []life{}, []life{}
	for _, asked := range []bool{true, false, false, true} {
		config := anybody(false)
		if asked {
			config = told
		}
		if err := p.put(ctx, duel, config); err != nil {
			return err
		}
		if err := pause(ctx, r.Settle); err != nil {
			return err
		}
		if !asked {
			one, err := r.live(ctx, p)
			if err != nil {
				return err
			}
			without = append(without, one)
			continue
		}
		one, err := r.whileAsked(ctx, p, lonely.ids[0])
		if err != nil {
			return err
		}
		with = append(with, one)
	}
	mean := func(of []life, value func(life) float64) float64 { return (value(of[0]) + value(of[1])) / 2 }
	load := count(r.Live) + "/s, measured, recorded and explained"
	for _, of := range []struct {
		name  string
		value func(life) float64
	}{
		{"p50", func(l life) float64 { return l.p50 }}, {"p99", func(l life) float64 { return l.p99 }},
	} {
		r.add(load+": "+of.name, millis, mean(with, of.value)).than("nobody asks", mean(without, of.value))
	}
	system := func(l life) float64 { return l.system }
	r.add(load+": processor time a ticket", micros, mean(with, system)).than("nobody asks", mean(without, system)).
		atMost(insightAim)
	return nil
}

// whileAsked measures --live players a second while a recorder gets all events, and a studio asks why a ticket waits.
func (r *round) whileAsked(ctx context.Context, p *project, ticket string) (life, error) {
	studio, err := p.studio(catalog.Ticket)
	if err != nil {
		return life{}, err
	}
	asking, enough := context.WithCancel(ctx)
	var all sync.WaitGroup
	var events, explanations atomic.Int64
	var followed, explained error
	all.Go(func() {
		followed = studio.FollowEvents(asking, client.EventQuery{Arrivals: true}, func(client.Event) error {
			events.Add(1)
			return nil
		})
	})
	all.Go(func() {
		for asking.Err() == nil {
			_, err := studio.ExplainTicket(asking, ticket)
			if err != nil && asking.Err() == nil && client.Status(err) != http.StatusTooManyRequests {
				explained = err
				return
			}
			if err == nil {
				explanations.Add(1)
			}
			_ = pause(asking, askPause)
		}
	})
	l, err := r.live(ctx, p)
	if err == nil {
		err = awaitOwn(asking, "somebody is told", func() (bool, error) {
			return events.Load() > 0 && explanations.Load() > 0, nil
		})
	}
	enough()
	all.Wait()
	if errors.Is(followed, context.Canceled) {
		followed = nil
	}
	return l, errors.Join(err, followed, explained)
}
