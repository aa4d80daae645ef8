package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Latency is what was measured of a region.
type Latency struct {
	Region string
	// RTT is the median of the round trips, 0 when no probe was answered. Where a region answers by IPv4 and by IPv6, it
	// is the shorter one.
	RTT time.Duration
	// Sent is how many probes were sent, and Lost how many of them were not answered in time.
	Sent, Lost int
	// Receipts prove the round trips to the service: one for each family of addresses. A region that is no beacon gives
	// none: its latency is the client's own word.
	Receipts []string
	// Err says why nothing was measured.
	Err error
}

// MeasureOptions say how latencies are measured. The zero value is good for games.
type MeasureOptions struct {
	// Probes is how often each region is asked, up to 20; 0 stands for 5.
	Probes int
	// Timeout is how long an answer may take, up to two seconds, which is the longest that beacons measure; 0 stands for
	// one second.
	Timeout time.Duration
	// Parallel is how many regions are measured at the same time; 0 stands for 4. The probes of a region come one after
	// another.
	Parallel int
	// HTTP measures by HTTP alone. Otherwise that is for regions that do not answer by UDP.
	HTTP bool
}

const (
	mostProbes     = 20
	longestTimeout = 2 * time.Second
)

func (o MeasureOptions) orDefault() MeasureOptions {
	if o.Probes <= 0 {
		o.Probes = 5
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Second
	}
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	o.Probes, o.Timeout = min(o.Probes, mostProbes), min(o.Timeout, longestTimeout)
	return o
}

// MeasureRegions asks each region a few times how far it is ([Client.ListRegions] has them), and returns the latencies
// in the order of the regions. It ends early with ctx.
func MeasureRegions(ctx context.Context, regions []Region, o MeasureOptions) []Latency {
	o = o.orDefault()
	all := make([]Latency, len(regions))
	turns := make(chan struct{}, o.Parallel)
	var measuring sync.WaitGroup
	for i := range regions {
		turns <- struct{}{}
		measuring.Go(func() {
			defer func() { <-turns }()
			all[i] = measure(ctx, &regions[i], o)
		})
	}
	measuring.Wait()
	return all
}

// Receipts are the receipts of latencies, for [TicketRequest].
func Receipts(all []Latency) []string {
	var receipts []string
	for _, one := range all {
		receipts = append(receipts, one.Receipts...)
	}
	return receipts
}

// probe measures one round trip.
type probe interface {
	// trip returns how long it took, and its receipt, "" for none.
	trip(ctx context.Context, timeout time.Duration) (rtt time.Duration, receipt string, err error)
	close()
}

func measure(ctx context.Context, r *Region, o MeasureOptions) Latency {
	l := Latency{Region: r.Name}
	if r.UDP != "" && !o.HTTP {
		addresses, err := lookup(ctx, r.UDP)
		l.Err = err
		for _, address := range addresses {
			l.add(ctx, o, func() (probe, error) { return newUDPProbe(ctx, r.Protocol, address) })
		}
	}
	if l.RTT == 0 && r.URL != "" {
		l.add(ctx, o, func() (probe, error) { return newHTTPProbe(r.URL), nil })
	}
	if l.RTT == 0 && l.Err == nil {
		l.Err = errors.New("client: the region says no address")
	}
	return l
}

// lookup is the first IPv4 address and the first IPv6 address of a host, with its port.
func lookup(ctx context.Context, address string) ([]netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("client: region: %w", err)
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "udp", port)
	if err != nil {
		return nil, fmt.Errorf("client: region: %w", err)
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("client: region: %w", err)
	}
	var chosen []netip.AddrPort
	for _, four := range []bool{true, false} {
		i := slices.IndexFunc(found, func(a netip.Addr) bool { return a.Unmap().Is4() == four })
		if i >= 0 {
			chosen = append(chosen, netip.AddrPortFrom(found[i].Unmap(), uint16(number)))
		}
	}
	return chosen, nil
}

// trip is one round trip.
type trip struct {
	rtt     time.Duration
	receipt string
}

// add sends the probes of a source, and adds their median.
func (l *Latency) add(ctx context.Context, o MeasureOptions, open func() (probe, error)) {
	p, err := open()
	if err != nil {
		l.fail(err)
		return
	}
	defer p.close()
	var trips []trip
	for range o.Probes {
		if ctx.Err() != nil {
			l.fail(context.Cause(ctx))
			break
		}
		l.Sent++
		rtt, receipt, err := p.trip(ctx, o.Timeout)
		if err != nil {
			l.Lost++
			l.fail(err)
			continue
		}
		trips = append(trips, trip{rtt, receipt})
	}
	if len(trips) == 0 {
		return
	}
	slices.SortFunc(trips, func(a, b trip) int { return int(a.rtt - b.rtt) })
	median := trips[(len(trips)-1)/2]
	if l.RTT == 0 || median.rtt < l.RTT {
		l.RTT = max(median.rtt, 1)
	}
	if median.receipt != "" {
		l.Receipts = append(l.Receipts, median.receipt)
	}
	l.Err = nil
}

// fail notes why a probe failed, if nothing was measured.
func (l *Latency) fail(err error) {
	if l.RTT == 0 {
		l.Err = err
	}
}
