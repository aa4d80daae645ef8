package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/bustest"
)

// observer records the events of a project's tickets and the duration of runs, to show where the time of a ticket goes.
type observer struct {
	bus *bus.Bus

	mu sync.Mutex
	// at is the time of each ticket's event of each kind, in Unix milliseconds.
	at map[string]map[pb.Event_Kind]int64
	// Runs count by the number of their proposals.
	index, function, proposals float64
}

// observe starts an observer at a NATS server. It stops when ctx ends.
func observe(ctx context.Context, url, project string) (*observer, error) {
	b, err := bus.Connect(ctx, bus.Options{Server: bus.Server{URL: url},
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	w := &observer{bus: b, at: map[string]map[pb.Event_Kind]int64{}}
	if err := b.Prepare(ctx); err != nil {
		return nil, err
	}
	if _, err := b.OnRunStats(w.addRun); err != nil {
		return nil, err
	}
	go func() {
		_ = bustest.FollowEvents(ctx, b, project, w.handle) // events that it misses are missing in the table
		_ = b.Close(context.WithoutCancel(ctx))
	}()
	return w, nil
}

func (w *observer) addRun(s *pb.RunStats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := float64(s.GetProposals())
	w.proposals += n
	w.index += n * float64(s.GetWaiting()+s.GetQuery()+s.GetEncode())
	w.function += n * float64(s.GetRun()+s.GetDecode())
}

func (w *observer) handle(batch *pb.Events) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range batch.GetEvents() {
		for _, id := range e.GetTickets() {
			if w.at[id] == nil {
				w.at[id] = map[pb.Event_Kind]int64{}
			}
			w.at[id][e.GetKind()] = e.GetTime()
		}
	}
	return nil
}

// all waits until the observer has the event of the last assignment.
func (w *observer) all(ctx context.Context, id string) error {
	for {
		w.mu.Lock()
		known := w.at[id][pb.Event_KIND_ASSIGNED] > 0
		w.mu.Unlock()
		if known {
			return nil
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// step is a part of a ticket's time, in milliseconds.
type step struct {
	name string
	mean float64
}

// steps are the steps of tickets.
func (w *observer) steps(tickets []arrival) []step {
	w.mu.Lock()
	defer w.mu.Unlock()
	var claim, queue, server, seen mean
	for i := range tickets {
		at := w.at[tickets[i].id]
		created, assigned := at[pb.Event_KIND_CREATED], at[pb.Event_KIND_ASSIGNED]
		if created == 0 || assigned == 0 {
			continue
		}
		taken, begun := at[pb.Event_KIND_CLAIMED], at[pb.Event_KIND_ALLOCATING]
		if taken == 0 { // without hosting the claim is the assignment
			taken = assigned
		} else {
			queue.add(begun - taken)
			server.add(assigned - begun)
		}
		claim.add(taken - created)
		seen.add(tickets[i].seen.UnixMilli() - assigned)
	}
	runs := max(w.proposals, 1) * 1000
	return []step{{"to the claim", claim.value()}, {"of it index", w.index / runs}, {"of it function", w.function / runs},
		{"claim and queue", queue.value()}, {"server", server.value()}, {"assign, until seen", seen.value()}}
}

// mean of milliseconds.
type mean struct{ sum, n int64 }

func (m *mean) add(ms int64) { m.sum, m.n = m.sum+ms, m.n+1 }

// value is 0 when there was nothing.
func (m *mean) value() float64 { return float64(m.sum) / float64(max(1, m.n)) }
