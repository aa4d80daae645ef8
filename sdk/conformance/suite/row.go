// Package suite is the conformance programme of the SDKs: it plays the service on its bad days to a driver, and judges
// what the driver does (PROTOCOL.md).
package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"matchmaker.dev/services/internal/edge/openapi/openapitest"
)

// Row is a behaviour that is expected of an SDK.
type Row struct {
	Name string
	// Needs is what an SDK must be able to do, as a driver says it. One that cannot has no result.
	Needs string
	// Scale is how long a second of the service is; 0 is a twentieth of one.
	Scale float64
	// Lasts is a time of the service that the row waits for; a wait may take it beside the patience.
	Lasts time.Duration
	play  func(ctx context.Context, g *game)
}

func (r *Row) scale() float64 {
	if r.Scale == 0 {
		return 0.05
	}
	return r.Scale
}

// Options say which driver is judged, and how.
type Options struct {
	// Command starts the driver. Env, when not nil, adds variables of the environment for a row.
	Command []string
	Env     func(Row) []string
	// Patience is how long anything is waited for.
	Patience time.Duration
	// Parallel is how many rows are played at once.
	Parallel int

	// wrong makes the driver wrong in what each row is about.
	wrong bool
}

// ErrLacks is the result of a row that the SDK is not made for.
var ErrLacks = errors.New("the SDK is not for this")

// Run plays rows. The results are nil where the SDK does what is expected.
func Run(ctx context.Context, o Options, rows []Row) ([]error, error) {
	checker, err := openapitest.New(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]error, len(rows))
	places := make(chan struct{}, max(1, o.Parallel))
	var all sync.WaitGroup
	for i := range rows {
		places <- struct{}{}
		all.Go(func() {
			results[i] = again(o, rows[i].Name, func() error { return play(ctx, o, &rows[i], checker) })
			<-places
		})
	}
	all.Wait()
	return results, nil
}

// standstill is how long this process must get no processor to count as one that stood still.
const standstill = 200 * time.Millisecond

// again plays a row up to three times while it fails and this process stood still: its times mean nothing then. A wrong
// driver may fail of that too.
func again(o Options, name string, play func() error) (err error) {
	for range 3 {
		over, stood := make(chan struct{}), make(chan bool, 1)
		go func() {
			still := false
			for last, done := time.Now(), false; !done; last = time.Now() {
				select {
				case <-over:
					done = true
				case <-time.After(standstill / 8):
				}
				still = still || time.Since(last) > standstill
			}
			stood <- still
		}()
		err = play()
		close(over)
		if still := <-stood; err == nil || o.wrong || !still {
			break
		}
		fmt.Fprintf(os.Stderr, "%s: this process stood still, and the row is played again after: %v\n", name, err)
	}
	return err
}

func play(ctx context.Context, o Options, r *Row, checker *openapitest.Checker) error {
	storage, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(storage) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &game{row: r, o: o, storage: storage, epoch: time.Now().Truncate(time.Millisecond)}
	if o.wrong {
		g.mistake = mistakes[r.Name]
	}
	g.tokens = func(int) map[string]any { return g.token(time.Hour) }
	g.service = newService(g, checker)
	r.play(ctx, g)
	g.stop()
	for _, r := range g.regions {
		r.close()
	}
	g.service.CloseClientConnections()
	g.service.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lacks {
		return ErrLacks
	}
	return g.err
}
