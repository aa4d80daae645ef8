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

	"matchmaker.dev/services/internal/platform/catalog"
)

// manner is how players play.
type manner struct {
	// hosted tells that each match gets a server.
	hosted bool
	// one tells that a player sends one request, a create that waits; others create, and then wait with a GET.
	one bool
	// streams tells that players follow their tickets by streams, and do not wait with a GET.
	streams bool
	// pairs tells that two come at a time, so that no player waits for an opponent.
	pairs bool
	// queue is the queue of the tickets; "" for none.
	queue string
}

// String is how the name of a reading says it.
func (m manner) String() string {
	text := "no server"
	if m.hosted {
		text = "a server each"
	}
	if m.one {
		text += ", one request"
	}
	if m.streams {
		text += ", streams"
	}
	return text
}

// arrive makes independent players: the gaps between them, or between their pairs, are exponential.
func (p *project) arrive(m manner, rate int, over time.Duration, seed uint64) *arrivals {
	a := &arrivals{host: p.Address(catalog.Ticket), project: p.name, tokens: p.tokens, manner: m, warmRate: rate,
		warm: warming, mostBusy: mostBusy, patience: time.Minute}
	a.tickets = schedule(rate, over, m.pairs, rand.New(rand.NewPCG(seed, 0))) //nolint:gosec // a simulation
	return a
}

// schedule is an even number of players, so that none is left over, at random times with so many a second on average.
func schedule(rate int, over time.Duration, pairs bool, random *rand.Rand) []arrival {
	all := make([]arrival, int(float64(rate)*over.Seconds())/2*2)
	gap := float64(time.Second) / float64(rate)
	var at time.Duration
	for i := range all {
		switch {
		case !pairs:
			at += time.Duration(random.ExpFloat64() * gap)
		case i%2 == 0:
			at += time.Duration(random.ExpFloat64() * gap * 2)
		}
		all[i] = arrival{at: at, player: i, skill: min(max(1500+300*random.NormFloat64(), 0), 2999)}
	}
	return all
}

// arrivals are players that arrive at their times, however many others still wait.
type arrivals struct {
	host, project string
	tokens        []string
	manner

	// Other players come before the measured ones for a while, at a rate that grows to warmRate. They start instances,
	// open connections and fill caches.
	warm            time.Duration
	warmRate        int // a second
	before, tickets []arrival
	// mostBusy is how many players may wait at the same time. Others leave at once: each needs a connection, and a rate
	// with such a queue is not sustained.
	mostBusy int
	// patience is how long a player waits.
	patience time.Duration
	// began is when the measured players began to come.
	began time.Time

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
	until                   time.Time // the player waits
}

// warming is for how long players come before the measured ones.
const warming = 2 * time.Second

// begin lets the players that are not measured arrive.
func (a *arrivals) begin(ctx context.Context) {
	n := int(float64(a.warmRate)*a.warm.Seconds()/2) / 2 * 2
	a.before = make([]arrival, n)
	for i := range a.before {
		at := time.Duration(math.Sqrt(float64(i)/float64(n)) * float64(a.warm))
		a.before[i] = arrival{at: at, player: i, skill: 1500}
	}
	a.play(ctx, a.before)
}

func (a *arrivals) play(ctx context.Context, tickets []arrival) {
	var all sync.WaitGroup
	defer all.Wait()
	start := time.Now()
	a.began = start
	for i := range tickets {
		p := &tickets[i]
		if wait := time.Until(start.Add(p.at)); wait > 0 && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
		if p.err = context.Cause(ctx); p.err == nil && a.pool.busy() >= a.mostBusy {
			p.err = errBusy
		}
		if p.err != nil {
			continue
		}
		all.Add(1)
		a.pool.take(func(w *wire) *wire {
			defer all.Done()
			p.late, p.until = time.Since(start)-p.at, time.Now().Add(a.patience)
			w, p.err = a.player(ctx, w, p)
			return w
		})
	}
}

// leave deletes the tickets of players that gave up. One that waits on would take an opponent from the next load.
func (a *arrivals) leave(ctx context.Context) {
	w, err := dial(ctx, a.host)
	if err != nil {
		return
	}
	defer w.close()
	w.patience(time.Now().Add(a.patience))
	for _, p := range slices.Concat(a.before, a.tickets) {
		if p.err == nil || p.id == "" {
			continue
		}
		if _, _, err := w.do(remove(a.host, a.project, a.tokens[p.player%len(a.tokens)], p.id)); err != nil {
			return
		}
	}
}

// player is what one player does on a connection; a new one when nil. It returns the connection if another player can
// use it.
func (a *arrivals) player(ctx context.Context, w *wire, p *arrival) (*wire, error) {
	w, err := w.orDial(ctx, a.host)
	if err != nil {
		return nil, err
	}
	if err := a.match(w, p); err != nil {
		w.close()
		return nil, err
	}
	if a.streams {
		w.close()       // it has a stream
		return nil, nil //nolint:nilnil // the next player connects
	}
	return w, nil
}

// match creates a ticket and waits for its assignment.
func (a *arrivals) match(w *wire, p *arrival) error {
	w.patience(p.until)
	if a.one {
		return a.matchAtOnce(w, p)
	}
	token := a.tokens[p.player%len(a.tokens)]
	began := time.Now()
	create := creation(a.host, a.project, token, "", a.queue, p.skill)
	status, body, err := w.do(create)
	for err == nil && status == http.StatusTooManyRequests && time.Now().Add(w.again).Before(p.until) {
		<-time.After(w.again) // it comes again when it is told to
		status, body, err = w.do(create)
	}
	if err != nil {
		return err
	}
	answered := time.Now()
	p.creating = answered.Sub(began)
	if p.id, err = idOf(status, body); err != nil {
		return err
	}
	if a.streams {
		err = w.follow(get(a.host, "/"+a.project+"/matchmaking/api/v1/tickets/events?id="+p.id, token, streamed))
		p.seen = time.Now()
		p.waiting = p.seen.Sub(answered)
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
	status, length, err := w.begin(creation(a.host, a.project, a.tokens[p.player%len(a.tokens)], held, a.queue, p.skill))
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

// mostBusy is how many players of a steady rate wait at the same time.
const mostBusy = 8000

var errBusy = errors.New("too many players wait already")

// errLeft says that players got no assignment, since the rate was too high.
var errLeft = errors.New("tickets were left without an assignment")

// err is errLeft when a ticket got no assignment.
func (a *arrivals) err() error {
	var errs []error
	all := slices.Concat(a.before, a.tickets)
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

// waits are the times from the 201 to the assignment.
func (a *arrivals) waits() (all times) {
	for i := range a.tickets {
		all = append(all, a.tickets[i].waiting)
	}
	return all
}

// whole are the times from when a player should have come to the assignment.
func (a *arrivals) whole() (all times) {
	for i := range a.tickets {
		p := &a.tickets[i]
		all = append(all, p.late+p.creating+p.waiting)
	}
	return all
}

// ends are the times from the beginning to the assignments.
func (a *arrivals) ends() (all times) {
	for i := range a.tickets {
		all = append(all, a.tickets[i].seen.Sub(a.began))
	}
	return all
}
