package main

import (
	"context"
	"time"

	"matchmaker.dev/services/beacon"
	"matchmaker.dev/services/internal/platform/app"
)

// beaconCmd runs a beacon. It is no service of the catalog: it runs beside a fleet, where there is no Redis, no NATS
// and no gateway.
type beaconCmd struct {
	Process common          `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Own     beacon.Settings `embed:""`
}

func (beaconCmd) Help() string {
	return `It answers by UDP (--udp-listen), and by HTTP at /probe (--listen) for browsers. docs/latency.md says how.

    matchmaker keys beacon eu-west.keys
    matchmaker beacon --region eu-west --beacon-keys eu-west.keys`
}

// Validate is called by kong.
func (c *beaconCmd) Validate() error {
	return validate(append(c.Process.checked(), &c.Own))
}

func (c *beaconCmd) Run(ctx context.Context, s streams) error {
	return c.Process.serveOne(ctx, s, nil, func(b *builder) (app.Part, error) {
		start := time.Now()
		one, err := beacon.New(ctx, beacon.Options{Settings: c.Own, Log: b.log, Wall: time.Now,
			Elapsed: func() time.Duration { return time.Since(start) }, Meter: b.telemetry.Meter})
		if err != nil {
			return app.Part{}, err
		}
		return one.Part(), nil
	})
}
