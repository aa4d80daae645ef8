package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// manner is how players play.
type manner struct {
	// hosted tells that each match gets a server.
	hosted bool
	// one tells that a player sends one request, a create that waits; others create, and then wait with a GET.
	one bool
}

// newArrivals are independent players: the gaps between them are exponential.
func newArrivals(host, project string, tokens []string, m manner, rate int, over time.Duration,
	seed uint64) *arrivals {
	n := int(float64(rate)*over.Seconds()) / 2 * 2 // an even number, so that no player is left over
	random := rand.New(rand.NewPCG(seed, 0))       //nolint:gosec // a simulation
	a := &arrivals{host: host, project: project, tokens: tokens, manner: m, rate: rate, tickets: make([]arrival, n)}
	var at time.Duration
	for i := range a.tickets {
		at += time.Duration(random.ExpFloat64() * float64(time.Second) / float64(rate))
		a.tickets[i] = arrival{at: at, player: i % players, skill: min(max(1500+300*random.NormFloat64(), 0), 2999)}
	}
	return a
}

// arrivals are players who arrive at their times, however many others still wait.
type arrivals struct {
	host, project string
	tokens        []string
	manner
	rate          int // a second
	warm, tickets []arrival
	// observer records where the time goes.
	where table.Row

	// used is the cost of the measured players.
	used usage

	pool workerPool
}

// arrival is one player and its measurements.
type arrival struct {
	at     time.Duration // after the start
	player int
	skill  float64

	id                      string
	late, creating, waiting time.Duration
	seen                    time.Time
	err                     error
	// patience is how long a player waits.
	patience time.Time
}

// Other players come before the measured ones, at a rate that grows to theirs within warming. They start instances,
// open connections and fill caches.
const warming = 3 * time.Second

// open lets all players arrive at their times, and returns when the last has its assignment. server is the server's
// process.
func (a *arrivals) open(ctx context.Context, server int) {
	a.begin(ctx)
	before := usedBy(server)
	a.play(ctx, a.tickets)
	a.used = usedBy(server).since(before)
	a.pool.stop()
}

// begin lets the players arrive who are not measured.
func (a *arrivals) begin(ctx context.Context) {
	n := int(float64(a.rate)*warming.Seconds()/2) / 2 * 2
	a.warm = make([]arrival, n)
	for i := range a.warm {
		at := time.Duration(math.Sqrt(float64(i)/float64(n)) * float64(warming))
		a.warm[i] = arrival{at: at, player: i % players, skill: 1500}
	}
	a.play(ctx, a.warm)
}

func (a *arrivals) play(ctx context.Context, tickets []arrival) {
	var all sync.WaitGroup
	defer all.Wait()
	start := time.Now()
	for i := range tickets {
		p := &tickets[i]
		if wait := time.Until(start.Add(p.at)); wait > 0 && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
		if p.err = context.Cause(ctx); p.err == nil && a.pool.busy() >= mostBusy {
			p.err = errBusy
		}
		if p.err != nil {
			continue
		}
		all.Add(1)
		a.pool.take(func(w *wire) *wire {
			defer all.Done()
			p.late, p.patience = time.Since(start)-p.at, time.Now().Add(time.Minute)
			w, p.err = a.player(ctx, w, p)
			return w
		})
	}
}

// player is what one player does on a connection; a new one when nil. It returns the connection if another player can
// use it.
func (a *arrivals) player(ctx context.Context, w *wire, p *arrival) (*wire, error) {
	if w == nil {
		var err error
		if w, err = dial(ctx, a.host); err != nil {
			return nil, err
		}
	}
	if err := a.match(w, p); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// match creates a ticket and waits for its assignment.
func (a *arrivals) match(w *wire, p *arrival) error {
	w.patience(p.patience)
	if a.one {
		return a.matchAtOnce(w, p)
	}
	token := a.tokens[p.player]
	began := time.Now()
	status, body, err := w.do(creation(a.host, a.project, token, "", p.skill))
	if err != nil {
		return err
	}
	answered := time.Now()
	p.creating = answered.Sub(began)
	if p.id, err = idOf(status, body); err != nil {
		return err
	}
	if status, body, err = w.do(awaiting(a.host, a.project, token, p.id)); err != nil {
		return err
	}
	p.seen = time.Now()
	p.waiting = p.seen.Sub(answered)
	return checkAssigned(status, body, a.hosted)
}

// matchAtOnce does both in one request.
func (a *arrivals) matchAtOnce(w *wire, p *arrival) error {
	began := time.Now()
	status, length, err := w.begin(creation(a.host, a.project, a.tokens[p.player], held, p.skill))
	if err != nil {
		return err
	}
	answered := time.Now()
	p.creating = answered.Sub(began)
	body, err := w.rest(length)
	if err != nil {
		return err
	}
	p.seen = time.Now()
	p.waiting = p.seen.Sub(answered)
	if p.id, err = idOf(status, body); err != nil {
		return err
	}
	return checkAssigned(http.StatusOK, body, a.hosted)
}

// mostBusy is how many players wait at the same time. Others leave at once: each needs a connection, and a rate with
// such a queue is not sustained.
const mostBusy = 8000

var errBusy = fmt.Errorf("%d players wait already", mostBusy)

// errLeft says that players got no assignment, since the rate was too high.
var errLeft = errors.New("tickets were left without an assignment")

// err is errLeft when a ticket got no assignment.
func (a *arrivals) err() error {
	var errs []error
	all := slices.Concat(a.warm, a.tickets)
	for _, p := range all {
		if p.err != nil {
			errs = append(errs, p.err)
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%w: %d of %d, the first: %w", errLeft, len(errs), len(all), errs[0])
	}
	return nil
}
