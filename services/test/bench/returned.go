package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/catalog"
)

// returned measures what a bad upload costs while players come: it fails for the config that they wait for, and the
// function goes back by itself.
func (r *round) returned(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "returned", false)
	if err != nil {
		return err
	}
	registry, err := p.studio(catalog.Registry)
	if err != nil {
		return err
	}
	usual, err := r.live(ctx, p)
	if err != nil {
		return err
	}
	// The function goes back to an upload that worked.
	err = await(ctx, "the first upload is noted to work", func() (bool, error) {
		versions, err := registry.GetFunctionVersions(ctx, duel)
		return err == nil && versions[len(versions)-1].Worked, err
	})
	if err != nil {
		return err
	}
	r.report("a bad upload")
	a := r.arrive(p, manner{}, r.Live, r.Warm+2*r.For)
	a.mostBusy = 4 * mostBusy
	a.begin(ctx)
	var playing sync.WaitGroup
	playing.Go(func() { a.play(ctx, a.tickets) })
	var back *client.FunctionReturn
	var out time.Duration
	if err = pause(ctx, r.Warm); err == nil {
		back, out, err = r.badUpload(ctx, registry)
	}
	playing.Wait()
	a.pool.stop()
	if err := first([]error{err, context.Cause(ctx), a.err()}); err != nil {
		return err
	}
	waits := a.whole()
	load := count(r.Live) + "/s, a bad upload: "
	r.add(load+"out after", seconds, in(seconds, out))
	r.add(load+"failed runs", "", float64(back.Failed))
	r.add(load+"longest wait", seconds, in(seconds, waits.quantile(1)))
	r.add(load+"p50 of those seconds", millis, in(millis, waits.quantile(0.5))).than("before it", usual.p50)
	return nil
}

// badUpload uploads a function that cannot run the config, and waits until the one before it runs again. It returns how
// long the bad one was there, by the service's clock.
func (r *round) badUpload(ctx context.Context, registry *client.Client) (*client.FunctionReturn, time.Duration, error) {
	text, err := os.ReadFile(r.Bad)
	if err != nil {
		return nil, 0, err
	}
	if err := registry.PutFunction(ctx, duel, "", bytes.NewReader(text)); err != nil {
		return nil, 0, err
	}
	var f *client.Function
	err = await(ctx, "the function goes back", func() (bool, error) {
		f, err = registry.GetFunction(ctx, duel)
		return err == nil && f.Returned != nil, err
	})
	if err != nil {
		return nil, 0, err
	}
	versions, err := registry.GetFunctionVersions(ctx, duel)
	if err != nil {
		return nil, 0, err
	}
	for _, v := range versions {
		if v.Version == f.Returned.From {
			return f.Returned, f.Returned.Time.Sub(v.Uploaded), nil
		}
	}
	return nil, 0, fmt.Errorf("upload %d is not kept", f.Returned.From)
}

// ownTime is how long the service has for what it does by itself.
const ownTime = time.Minute

// await waits until something is so.
func await(ctx context.Context, what string, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, ownTime, errors.New("it takes too long until "+what))
	defer cancel()
	for {
		if so, err := is(); so || err != nil {
			return err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
