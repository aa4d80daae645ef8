package main

import (
	"context"
	"time"

	"matchmaker.dev/pkg/client"
)

// measure says how far the regions are.
func (d *driver) measure(ctx context.Context, c command) error {
	d.mu.Lock()
	if d.latencies == nil {
		d.latencies = d.client.Latencies(client.MeasureOptions{
			Probes: c.Probes, Timeout: time.Duration(c.Timeout) * time.Millisecond,
		})
	}
	keeper := d.latencies
	d.mu.Unlock()
	all, err := keeper.Get(ctx, c.Network)
	if err != nil {
		return err
	}
	var regions []event
	for _, l := range all {
		of := event{"region": l.Region, "sent": l.Sent, "lost": l.Lost, "receipts": l.Receipts}
		if l.RTT > 0 {
			of["rtt"] = float64(l.RTT) / float64(time.Millisecond)
		}
		regions = append(regions, of)
	}
	d.mu.Lock()
	d.receipts = client.Receipts(all)
	d.mu.Unlock()
	d.emit(event{"event": "latencies", "regions": regions})
	return nil
}
