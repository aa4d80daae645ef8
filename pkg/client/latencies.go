package client

import (
	"context"
	"sync"
	"time"
)

// mostNetworks is how many networks' latencies are kept, mostRegions how many regions a service has.
const mostNetworks, mostRegions = 8, 64

// Latencies measures the latencies of the network that a game is on, and keeps them for as long as the service believes
// their receipts, less a half, so that they are still good when the ticket is created. It is safe for use by many
// goroutines, which share a measurement. Make one with [Client.Latencies].
type Latencies struct {
	client  *Client
	options MeasureOptions

	mu   sync.Mutex
	kept map[string]*kept
}

// kept is the latencies of a network.
type kept struct {
	done    chan struct{}
	all     []Latency
	err     error
	expires time.Time // by the clock of this machine; zero while it is measured
}

// Latencies returns a keeper of latencies.
func (c *Client) Latencies(o MeasureOptions) *Latencies {
	return &Latencies{client: c, options: o, kept: map[string]*kept{}}
}

// Get returns the latencies from a network, and measures them when there are none or old ones. network is any text that
// changes with the network that the device is on, such as the name of its interface and its gateway's address: only the
// game's platform knows it. It asks the service for the regions each time that it measures.
func (l *Latencies) Get(ctx context.Context, network string) ([]Latency, error) {
	for {
		l.mu.Lock()
		one, now := l.kept[network], l.client.retry.Now()
		if one != nil && !one.expires.IsZero() && !now.Before(one.expires) {
			one = nil
		}
		mine := one == nil
		if mine {
			one = &kept{done: make(chan struct{})}
			l.keep(network, one)
		}
		l.mu.Unlock()
		if mine {
			l.measure(ctx, network, one)
			return one.all, one.err
		}
		select {
		case <-one.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if one.err == nil {
			return one.all, nil
		} // the call that measured had its own context: measure again
	}
}

// Forget forgets the latencies of a network: the service refused a receipt, or the device has roamed.
func (l *Latencies) Forget(network string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.kept, network)
}

// keep puts in a network, and the oldest out where there are too many.
func (l *Latencies) keep(network string, one *kept) {
	l.kept[network] = one
	for len(l.kept) > mostNetworks {
		oldest := ""
		for name, other := range l.kept {
			if other != one && (oldest == "" || other.expires.Before(l.kept[oldest].expires)) {
				oldest = name
			}
		}
		delete(l.kept, oldest)
	}
}

// measure measures for all calls that wait for it. A failure, or one that ctx cut short, is not kept.
func (l *Latencies) measure(ctx context.Context, network string, one *kept) {
	defer close(one.done)
	var regions *Regions
	if regions, one.err = l.client.ListRegions(ctx); one.err == nil {
		one.all = MeasureRegions(ctx, regions.Regions[:min(len(regions.Regions), mostRegions)], l.options)
		one.err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case one.err == nil:
		half := time.Duration(regions.ReceiptSeconds) * time.Second / 2
		one.expires = l.client.retry.Now().Add(half)
	case l.kept[network] == one:
		delete(l.kept, network)
	}
}
