package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/test/workload"
)

// patience is how long a player waits. A player without a match by then leaves, and counts as having waited so long.
const patience = 10 * time.Second

// victim are players that come two by two, and want to play one against one.
type victim struct {
	name    string
	tickets *client.Client
	// attribute is the one that its config matches by.
	attribute string

	mu      sync.Mutex
	players []player
}

// player is one ticket, from its POST to its assignment.
type player struct {
	came   time.Time
	waited time.Duration
	lost   bool // it got no assignment in time, or an error
	fault  string
}

// play lets pairs come at a steady rate until ctx ends, and returns when the last has gone.
func (v *victim) play(ctx, after context.Context, pairs int) {
	var all sync.WaitGroup
	defer all.Wait()
	again := time.NewTicker(time.Second / time.Duration(pairs))
	defer again.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		for side := range 2 {
			all.Go(func() { v.add(v.one(after, fmt.Sprintf("%s-%d", v.name, 2*n+side))) })
		}
	}
}

func (v *victim) add(p player) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.players = append(v.players, p)
}

// one is what one player does.
func (v *victim) one(ctx context.Context, name string) player {
	p := player{came: time.Now()}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := workload.Play(limited, v.tickets, client.TicketRequest{Player: name,
		Attributes: map[string]float64{v.attribute: 1000}})
	p.waited = time.Since(p.came)
	if err != nil {
		p.lost, p.waited, p.fault = true, patience, err.Error()
	}
	return p
}

// phase is what the players that came in some time saw.
type phase struct {
	Players  int
	Lost     int
	P50, P95 time.Duration
	// Fault is what the first lost player saw.
	Fault string `json:",omitempty"`
}

// between is the phase from one time to another.
func (v *victim) between(from, to time.Time) (ph phase) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var waited []time.Duration
	for _, p := range v.players {
		if p.came.Before(from) || !p.came.Before(to) {
			continue
		}
		waited = append(waited, p.waited)
		if p.lost {
			if ph.Lost == 0 {
				ph.Fault = p.fault
			}
			ph.Lost++
		}
	}
	ph.Players, ph.P50, ph.P95 = len(waited), workload.Quantile(waited, 0.5), workload.Quantile(waited, 0.95)
	return ph
}

// Goals for the victims, as multiples of the baseline.
const (
	mostP50 = 2
	mostP95 = 3
)

// times are the ratios of a phase to the baseline.
func (ph phase) times(baseline phase) (p50, p95 float64) {
	ratio := func(a, b time.Duration) float64 {
		if b <= 0 {
			return math.NaN()
		}
		return float64(a) / float64(b)
	}
	return ratio(ph.P50, baseline.P50), ratio(ph.P95, baseline.P95)
}

// fine reports whether a phase keeps the goals.
func (ph phase) fine(baseline phase) bool {
	p50, p95 := ph.times(baseline)
	return ph.Players > 0 && ph.Lost == 0 && p50 <= mostP50 && p95 <= mostP95
}

// settled is how long the players must be as well off as before until this counts as recovered.
const settled = 2 * time.Second

// back is how long after a time players are as well off as before it, and stay so for a while. false: not by the end.
func (v *victim) back(from, to time.Time, baseline phase) (time.Duration, bool) {
	for at := from; !at.Add(settled).After(to); at = at.Add(250 * time.Millisecond) {
		if v.between(at, at.Add(settled)).fine(baseline) {
			return at.Sub(from), true
		}
	}
	return to.Sub(from), false
}
