package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/chaos/player"
)

// workload is all clients of a system.
type workload struct {
	crowds  []*player.Crowd
	studios []*studio
	games   []*gameServers

	// faults ends with the last fault, arrivals when no new player comes and nothing is changed any more, lives when all
	// clients stop.
	faults, arrivals, lives          context.Context
	endFaults, endArrivals, endLives context.CancelFunc
	arriving, playing                sync.WaitGroup

	mu     sync.Mutex
	failed error
}

// changePace is the time from one change of a studio to the next, on average.
const changePace = time.Second

// lanes has each lane as often as players choose it: more would not find a place in the running games.
var lanes = []lane.Lane{
	lane.Hosted, lane.Hosted, lane.Hosted, lane.Hosted, lane.Free, lane.Free, lane.Free, lane.Both, lane.Both, lane.Games,
	lane.Asked,
}

// newWorkload creates the projects with their configs and functions.
func newWorkload(ctx context.Context, o options, s *system, journal *history.Journal) (*workload, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	w := new(workload)
	streams := uint64(0)
	random := func() *rand.Rand {
		streams++
		return rand.New(rand.NewPCG(o.Seed, streams)) //nolint:gosec // it must be the same every time
	}
	for n := range o.Projects {
		project := fmt.Sprintf("game-%d", n+1)
		tickets, err := s.api(project, "ticket", playerClaims)
		if err != nil {
			return nil, err
		}
		parties, err := s.api(project, "party", playerClaims)
		if err != nil {
			return nil, err
		}
		c := player.New(player.Options{
			Project: project, Tickets: tickets, Journal: journal, Random: random(), Large: o.Large, AtOnce: true,
			Lanes: lanes, Parties: parties.any, Silence: silenceTime,
			Pace: time.Duration(float64(o.Projects) / o.Rate * float64(time.Second)),
		})
		st, err := newStudio(s, project, journal, random())
		if err != nil {
			return nil, err
		}
		a, err := newGameServers(s, project, journal, random())
		if err != nil {
			return nil, err
		}
		if err := st.open(ctx); err != nil {
			return nil, err
		}
		w.crowds, w.studios, w.games = append(w.crowds, c), append(w.studios, st), append(w.games, a)
	}
	return w, nil
}

// begin starts all clients. They stop with close and end.
func (w *workload) begin(ctx context.Context) {
	w.lives, w.endLives = context.WithCancel(ctx)
	w.arrivals, w.endArrivals = context.WithCancel(w.lives)
	w.faults, w.endFaults = context.WithCancel(w.lives)
	for n := range w.crowds {
		w.arriving.Go(func() { w.crowds[n].Arrive(w.arrivals, w.lives) })
		w.arriving.Go(func() {
			err := w.studios[n].work(w.arrivals, w.lives, w.faults)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.failed = errors.Join(w.failed, err)
		})
		w.playing.Go(func() { w.games[n].run(w.arrivals, w.lives) })
	}
}

// close ends the arrivals. It returns when all configs are in place.
func (w *workload) close(ctx context.Context) error {
	w.endArrivals()
	w.arriving.Wait()
	for _, s := range w.studios {
		w.failed = errors.Join(w.failed, s.renew(ctx))
	}
	return w.failed
}

// end stops all clients, whatever they wait for, and returns when they have stopped. It may be called twice.
func (w *workload) end() {
	w.endLives()
	w.arriving.Wait()
	w.playing.Wait()
	for _, c := range w.crowds {
		c.Wait()
	}
}

// settle waits until all waiting players are matched.
func (w *workload) settle(ctx context.Context, patience time.Duration, log logFunc) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	player.Settle(ctx, w.crowds, func(players int) { log("%d players wait", players) })
}

// last reads every ticket once more, and deletes those that still wait.
func (w *workload) last(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, c := range w.crowds {
		c.Last(ctx, 16)
	}
}
