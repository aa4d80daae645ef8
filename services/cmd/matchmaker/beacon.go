package main

import (
	"context"
	"errors"
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

func (c *beaconCmd) Run(ctx context.Context, s streams) (err error) {
	log, err := app.Logger(s.err, c.Process.LogLevel, c.Process.LogFormat)
	if err != nil {
		return err
	}
	b := &builder{log: log}
	defer func() { err = errors.Join(err, b.close(context.WithoutCancel(ctx))) }()
	if _, err := b.observe(ctx, &c.Process); err != nil {
		return err
	}
	start := time.Now()
	one, err := beacon.New(ctx, beacon.Options{Settings: c.Own, Log: log, Wall: time.Now,
		Elapsed: func() time.Duration { return time.Since(start) }, Meter: b.telemetry.Meter})
	if err != nil {
		return err
	}
	b.add(one.Part())
	return b.serve(ctx, &c.Process, nil)
}
