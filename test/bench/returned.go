package main

import (
	"context"
	"errors"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
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
	err = awaitOwn(ctx, "the first upload is noted to work", func() (bool, error) {
		versions, err := registry.GetFunctionVersions(ctx, duel)
		return err == nil && versions[len(versions)-1].Worked, err
	})
	if err != nil {
		return err
	}
	r.report("a bad upload")
	playing, enough := r.waves(ctx, p)
	back, ran, err := r.badUpload(ctx, registry)
	enough()
	waits, failed := playing()
	if err := first([]error{err, context.Cause(ctx), failed}); err != nil {
		return err
	}
	load := count(r.Live) + "/s, a bad upload: "
	r.add(load+"out after it began to run", seconds, in(seconds, back.Time.Sub(ran)))
	r.add(load+"failed runs", "", float64(back.Failed))
	r.add(load+"longest wait", seconds, in(seconds, waits.quantile(1)))
	r.add(load+"p50 of all who came meanwhile", millis, in(millis, waits.quantile(0.5))).than("before it", usual.p50)
	return nil
}

// waves lets players come, --for at a time, until that is enough. Then result waits for the players that are still
// there, and returns how long all waited.
func (r *round) waves(ctx context.Context, p *project) (result func() (times, error), enough func()) {
	var all times
	var failed error
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for failed == nil {
			select {
			case <-done:
				return
			default:
			}
			a := r.arrive(p, manner{}, r.Live, r.For)
			a.mostBusy = 4 * mostBusy
			a.play(ctx, a.tickets)
			a.pool.stop()
			failed = a.err()
			all = append(all, a.whole()...)
		}
	}()
	return func() (times, error) {
		<-ended
		return all, failed
	}, func() { close(done) }
}

// badUpload uploads a function that cannot run the config, and waits until the one before it runs again. It returns
// when the bad one began to run, by this machine's clock, which is the service's, too.
func (r *round) badUpload(ctx context.Context, registry *client.Client) (*client.FunctionReturn, time.Time, error) {
	var ran time.Time
	before, err := registry.GetFunction(ctx, duel)
	if err != nil {
		return nil, ran, err
	}
	if err := upload(ctx, registry, r.Bad); err != nil {
		return nil, ran, err
	}
	var f *client.Function
	err = awaitOwn(ctx, "the function goes back", func() (bool, error) {
		f, err = registry.GetFunction(ctx, duel)
		if err == nil && ran.IsZero() && f.Upload > before.Upload && f.Status.State == client.Running {
			ran = time.Now()
		}
		return err == nil && f.Returned != nil, err
	})
	if err != nil {
		return nil, ran, err
	}
	if ran.IsZero() {
		ran = f.Returned.Time // within the pause between two looks
	}
	return f.Returned, ran, nil
}

// ownTime is how long the service has for what it does by itself.
const ownTime = time.Minute

// awaitOwn waits for what the service does by itself.
func awaitOwn(ctx context.Context, what string, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, ownTime, errors.New("it takes too long until "+what))
	defer cancel()
	return await(ctx, is)
}
