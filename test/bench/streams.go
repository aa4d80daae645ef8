package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/catalog"
)

// Aims for a stream: the memory of the ticket service, and from a result to the client that is told of it.
const (
	streamMemoryAim = 32.0 // KiB
	streamTimeAim   = 100.0
)

// streamLimits are those, as --with has them, under which a thousand players may follow ten thousand tickets.
var streamLimits = []string{"ticket=--max-streams=100000", "ticket=--max-streams-player=1000"}

// streams measures players that follow their tickets, each by a stream: what a stream takes, and how soon
// matched players are told.
func (r *round) streams(ctx context.Context) error {
	limited := *r.options
	limited.With = slices.Concat(r.With, streamLimits)
	r.options = &limited
	return on((*round).follow)(r, ctx)
}

func (r *round) follow(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "streams", false)
	if err != nil {
		return err
	}
	o, err := observe(ctx, i.NATS(), p.name)
	if err != nil {
		return err
	}
	// Tickets that do not fit each other, and for each one that fits.
	c := newCrowd(p, r.Streams)
	skill := func(n int) float64 { return far(n) }
	r.report("%d come to stand by", r.Streams)
	if err := c.come(ctx, 0, skill); err != nil {
		return err
	}
	if err := pause(ctx, r.Settle); err != nil {
		return err
	}
	before := familyMemory(i.PID(catalog.Ticket))
	f := &followers{crowd: c, told: make([]time.Time, r.Streams)}
	defer f.close()
	r.report("they follow their tickets")
	if err := c.each(ctx, 0, func(_ *wire, n int) error { return f.follow(ctx, n) }); err != nil {
		return err
	}
	if err := pause(ctx, r.Settle); err != nil {
		return err
	}
	took := familyMemory(i.PID(catalog.Ticket)) - before
	r.report("somebody comes for some of them")
	matched := min(r.Streams, int(r.For.Seconds()*float64(r.Live)))
	used := i.used()
	if err := r.partners(ctx, c, matched, skill); err != nil {
		return err
	}
	if err := f.await(ctx, matched); err != nil {
		return err
	}
	rest := i.used().since(used)
	if err := o.all(ctx, c.ids[matched-1]); err != nil {
		return err
	}
	var waits times
	for n := range matched {
		if at := o.assigned(c.ids[n]); at > 0 {
			waits = append(waits, f.at(n).Sub(time.UnixMilli(at)))
		}
	}
	load := count(r.Streams) + " streams"
	r.add(load+": memory of the ticket service for each", kib, took*1024/float64(r.Streams)).
		than("the aim", streamMemoryAim).atMost(1)
	r.add(fmt.Sprintf("%s, %s told a second: p50", load, count(r.Live)), millis, in(millis, waits.quantile(0.5)))
	r.add(fmt.Sprintf("%s, %s told a second: p99", load, count(r.Live)), millis, in(millis, waits.quantile(0.99))).
		than("the aim", streamTimeAim).atMost(1)
	r.add(load+": processor time of the ticket service for each that is told", micros,
		in(micros, rest[catalog.Ticket])/float64(matched))
	return nil
}

// partners creates a ticket for each of the first n at an even rate.
func (r *round) partners(ctx context.Context, c *crowd, n int, skill func(int) float64) error {
	begin, partner := time.Now(), newCrowd(c.project, n)
	return partner.each(ctx, 0, func(w *wire, k int) error {
		if err := pause(ctx, time.Until(begin.Add(time.Duration(k)*time.Second/time.Duration(r.Live)))); err != nil {
			return err
		}
		status, body, err := w.do(c.create("partner", k, skill(k)))
		if err != nil {
			return err
		}
		_, err = idOf(status, body)
		return err
	})
}

// assigned is when a ticket got its result, in Unix milliseconds.
func (w *observer) assigned(id string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at[id][pb.Event_KIND_ASSIGNED]
}

// followers have a stream each.
type followers struct {
	*crowd
	mu    sync.Mutex
	told  []time.Time
	conns []net.Conn
}

// follow opens the stream of a ticket, and returns when the service has told of it.
func (f *followers) follow(ctx context.Context, n int) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", f.host)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.conns = append(f.conns, conn)
	f.mu.Unlock()
	path := fmt.Sprintf("/%s/matchmaking/api/v1/tickets/events?id=%s", f.name, f.ids[n])
	if _, err := conn.Write(get(f.host, path, f.lobby, streamed)); err != nil {
		return err
	}
	began := make(chan error, 1)
	go func() {
		// An event comes in one piece: the generator has ten thousand of them to look at.
		text := make([]byte, 1<<10)
		waits := false
		for {
			read, err := conn.Read(text)
			switch {
			case err != nil:
				if !waits {
					began <- err
				}
				return
			case bytes.Contains(text[:read], []byte("event: assigned")):
				f.mu.Lock()
				f.told[n] = time.Now()
				f.mu.Unlock()
				return
			case bytes.Contains(text[:read], []byte("event: waiting")):
				waits = true
				began <- nil
			case bytes.HasPrefix(text[:read], []byte("HTTP/1.1 ")) && !bytes.HasPrefix(text[:read], []byte("HTTP/1.1 200")):
				began <- fmt.Errorf("a stream is answered %.200q", text[:read])
				return
			}
		}
	}()
	return <-began
}

func (f *followers) at(n int) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.told[n]
}

// await waits until the first n were told.
func (f *followers) await(ctx context.Context, n int) error {
	for k := range n {
		for f.at(k).IsZero() {
			if err := pause(ctx, 10*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *followers) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.conns {
		_ = conn.Close()
	}
}
