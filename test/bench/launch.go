package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"matchmaker.dev/pkg/client"
)

// A launch takes so many times --for: the climb from no player to --peak a second, and the time without a quarter of
// the servers. Beside the storms a sixteenth of --peak comes, and a quarter while servers are missing.
const (
	launchClimb    = 100
	launchShortage = 10
	stormRest      = 16
	shortageRest   = 4
)

// A service has at most otherFiles open that are not of players, and players beside a storm have a connection for at
// most stormWait seconds.
const (
	otherFiles = 1000
	stormWait  = 10
)

// Aims for admitted players: the p99 of their waits as a multiple of the usual one, seconds until the last of a
// storm is assigned, on connections that exist and on new ones, and seconds until all is as usual again.
const (
	launchAim   = 2.0
	stormAim    = 3.0
	freshAim    = 6.0
	recoveryAim = 5.0
)

// launch measures a launch: more and more players, two login storms, and too few servers.
func (r *round) launch(ctx context.Context) error {
	f, err := openFleet(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	with := *r.options
	if most := max(2, openFiles()-otherFiles-stormWait*r.Peak/stormRest); with.Burst > most {
		r.report("storms of %d: no more connections can be open (see ulimit -n)", most)
		with.Burst = most
	}
	with.With = slices.Concat(r.With, []string{"allocator=--hosting=" + f.hosting(), "config=--hosting=" + f.hosting()})
	r.options = &with
	return r.with(ctx, func(i *installation) error {
		for _, m := range r.manners() {
			if err := r.evening(ctx, i, m); err != nil {
				return err
			}
		}
		return r.shortage(ctx, i, f)
	})
}

// evening measures the climb and the storms.
func (r *round) evening(ctx context.Context, i *installation, m manner) error {
	p, err := r.ready(ctx, i, fmt.Sprintf("launch-%t-%t", m.hosted, m.one), m.hosted)
	if err != nil {
		return err
	}
	guests, err := p.mint("guest", 2*r.Burst)
	if err != nil {
		return err
	}
	e := newEvening(p, m, r.seed())
	climb := launchClimb * r.For
	r.report("%s: up to %d/s in %s", m, r.Peak, climb)
	e.come(ctx, 0, 0, float64(r.Peak), climb)
	top := e.now()
	e.usual = e.usualP99(0, top)
	r.add(m.String()+": the usual p99", millis, in(millis, e.usual))
	r.letIn(e, m.String()+", the last tenth of the climb", top*9/10, top)
	stop := e.rest(ctx, max(2, r.Peak/stormRest))
	defer stop()
	r.report("%s: login storms of %d", m, r.Burst)
	e.connect(ctx, guests[:r.Burst])
	for _, s := range []*storm{
		{name: "on connections that exist", tokens: guests[:r.Burst], aim: stormAim},
		{name: "on new connections", tokens: guests[r.Burst:], aim: freshAim, fresh: true},
	} {
		if err := pause(ctx, r.Settle); err != nil {
			return err
		}
		e.rush(ctx, s)
		e.pool.shrink() // the next storm needs as many connections
		if err := pause(ctx, 2*r.Settle); err != nil {
			return err
		}
		load := fmt.Sprintf("%s, %s in a second %s", m, count(r.Burst), s.name)
		if s.seen.IsZero() {
			return errors.New(load + ": no player got a match")
		}
		from, to := e.second(s.began), e.second(s.letIn)+1
		r.letIn(e, load, from, to)
		r.add(load+": until the last is assigned", seconds, s.seen.Sub(s.began).Seconds()).than("the aim", s.aim).atMost(1)
		r.recovers(e, load, from+1)
	}
	stop()
	return r.over(ctx, e, m.String())
}

// shortage measures a time in which a quarter of the servers is missing. There are half more than the players need.
func (r *round) shortage(ctx context.Context, i *installation, f *fleet) error {
	p, err := r.newProject(ctx, i, "shortage")
	if err != nil {
		return err
	}
	config := anybody(true)
	config.Hosting = &client.Hosting{Profile: "bench", FleetID: fleetID}
	if err := p.put(ctx, duel, config); err != nil {
		return err
	}
	const load = "a quarter of the servers is missing"
	rate, missing := max(2, r.Peak/shortageRest), launchShortage*r.For
	servers := max(4, int64(float64(rate)/2*gameTime.Seconds()*3/2))
	e := newEvening(p, manner{hosted: true}, r.seed())
	f.servers.Store(servers)
	stop := e.rest(ctx, rate)
	defer stop()
	if err := pause(ctx, max(missing/2, r.Settle)); err != nil {
		return err
	}
	r.report("%s of %d for %s", load, servers, missing)
	from := e.now()
	e.usual = e.usualP99(0, from)
	f.servers.Store(servers - servers/4)
	if err := pause(ctx, missing); err != nil {
		return err
	}
	to := e.now()
	r.letIn(e, load, from, to)
	f.servers.Store(servers)
	if err := pause(ctx, 2*r.Settle); err != nil {
		return err
	}
	r.recovers(e, load, to)
	stop()
	return r.over(ctx, e, load)
}

// letIn adds how players fared that were admitted from one second on until another one, and how many were refused.
func (r *round) letIn(e *evening, load string, from, to int) {
	waits, refused := e.between(from, to)
	r.add(load+": p99", millis, in(millis, waits.quantile(0.99))).than("the usual", in(millis, e.usual)).atMost(launchAim)
	r.add(load+": refused", "", float64(refused))
}

// recovers adds how long it took after a second until all was as usual.
func (r *round) recovers(e *evening, load string, from int) {
	r.add(load+": as usual after", seconds, float64(e.recovery(from))).than("the aim", recoveryAim).atMost(1)
}

// over waits for the last players, adds how many were lost, and draws the curves until now.
func (r *round) over(ctx context.Context, e *evening, load string) error {
	if err := e.end(ctx); err != nil {
		return err
	}
	if e.failed != nil {
		r.report("%s: %v", load, e.failed)
	}
	r.checkLate(growth{late: e.late.quantile(0.99)})
	r.add(load+": assigned", "", float64(e.assigned)).than("let in", float64(e.entered)).atLeast(1)
	r.add(load+": never let in", "", float64(e.outside))
	r.curves = append(r.curves, e.curves(load)...)
	if r.Curve == "" {
		return nil
	}
	return os.WriteFile(r.Curve, []byte(stacked(r.curves)), 0o600)
}
