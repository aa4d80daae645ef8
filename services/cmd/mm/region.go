package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
)

type regionCommands struct {
	List    regionList    `cmd:"" help:"List the regions whose latency can be measured."`
	Measure regionMeasure `cmd:"" help:"Measure how far this machine is from each region."`
}

type regionList struct{}

// Run prints the regions.
func (regionList) Run(ctx context.Context, s *session, api developerAPI) error {
	found, err := api.ListRegions(ctx)
	if err != nil {
		return err
	}
	if len(found.Regions) == 0 {
		s.note("there are no regions: the service has no --regions")
	}
	return s.show(found, tableOf(found.Regions, "region=name, protocol, udp, url"))
}

type regionMeasure struct {
	Probes int           `default:"5" help:"How often each region is asked, up to 20." bounds:"1..20"`
	Wait   time.Duration `default:"1s" help:"How long an answer may take, up to 2s." bounds:">0..2s"`
	HTTP   bool          `name:"http" help:"Measure by HTTP, as browsers do."`
}

// measured is a latency as it is printed.
type measured struct {
	Region   string   `json:"region"`
	RTT      float64  `json:"rtt,omitempty"` // milliseconds
	Sent     int      `json:"sent"`
	Lost     int      `json:"lost"`
	Believed bool     `json:"believed"`
	Receipts []string `json:"receipts,omitempty"`
	Error    string   `json:"error,omitempty"`
}

// Run measures and prints.
func (c regionMeasure) Run(ctx context.Context, s *session, api developerAPI) error {
	latencies, err := measureRegions(ctx, api.Client,
		client.MeasureOptions{Probes: c.Probes, Timeout: c.Wait, HTTP: c.HTTP})
	if err != nil {
		return err
	}
	g := grid{head: []any{"region", "rtt ms", "loss", "believed", "error"}}
	var all []measured
	for _, l := range latencies {
		one := measured{Region: l.Region, RTT: float64(l.RTT.Microseconds()) / 1000, Sent: l.Sent, Lost: l.Lost,
			Believed: len(l.Receipts) > 0, Receipts: l.Receipts}
		rtt, believed := any(""), "no"
		if l.RTT > 0 {
			rtt = fmt.Sprintf("%.1f", one.RTT)
		}
		if one.Believed {
			believed = "yes"
		}
		if l.Err != nil {
			one.Error = l.Err.Error()
		}
		all = append(all, one)
		g.add(l.Region, rtt, fmt.Sprintf("%d of %d", l.Lost, l.Sent), believed, one.Error)
	}
	err = s.show(all, g)
	if !slices.ContainsFunc(latencies, func(l client.Latency) bool { return l.RTT > 0 }) {
		err = errors.Join(err, errors.New("no region answered"))
	}
	return err
}

// measureRegions measures all regions of the service.
func measureRegions(ctx context.Context, api *client.Client, o client.MeasureOptions) ([]client.Latency, error) {
	found, err := api.ListRegions(ctx)
	if err != nil {
		return nil, err
	}
	if len(found.Regions) == 0 {
		return nil, errors.New("there are no regions to measure: the service has no --regions")
	}
	latencies := client.MeasureRegions(ctx, found.Regions, o)
	return latencies, context.Cause(ctx)
}

// measureFlag measures latencies for a ticket, or a member of a party.
type measureFlag struct {
	Measure bool `help:"Measure the latencies to the regions from this machine, and put their receipts in."`
}

// receipts are a player's receipts; nil without the flag.
func (m measureFlag) receipts(ctx context.Context, api *client.Client) ([]string, error) {
	if !m.Measure {
		return nil, nil
	}
	latencies, err := measureRegions(ctx, api, client.MeasureOptions{})
	if err != nil {
		return nil, err
	}
	receipts := client.Receipts(latencies)
	if len(receipts) == 0 {
		return nil, errors.New("--measure: no beacon answered")
	}
	return receipts, nil
}
