package allocator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

// TestMain lets the test binary be an allocator that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == "allocator" {
		if err := runAllocator(context.Background(), os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(embeddedtest.Run(m))
}

// soon is how long a dead allocator is waited for: short, since the test has many of them.
const soon = time.Second

// runAllocator runs an allocator that gets its servers from a hosting system at an address.
func runAllocator(ctx context.Context, redis, nats, hosting, search string) error {
	deadline, err := time.ParseDuration(search)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	store, err := state.Open(state.Options{Server: state.Server{URL: redis}, Log: log, History: 1000})
	if err != nil {
		return err
	}
	b, err := bus.Connect(ctx, bus.Options{Server: bus.Server{URL: nats}, Log: log, AckWait: soon})
	if err != nil {
		return err
	}
	short := settings.Default[allocator.Settings]()
	short.Hold, short.Poll, short.Deadline = soon, 10*time.Millisecond, deadline
	short.Sweep, short.Retry = 10*time.Millisecond, soon
	part := allocator.New(allocator.Options{
		Store: store, Bus: b, Provider: &remote{url: hosting}, Log: log, Settings: short,
		Readable: 10 * time.Minute, Renewable: 24 * time.Hour,
	})
	return part.Run(ctx)
}

// remote is the provider of a hosting system that is in another process.
type remote struct{ url string }

func (p *remote) Allocate(ctx context.Context, r *provider.Request) (provider.Result, error) {
	return p.call(ctx, "allocate", r.Ref)
}

func (p *remote) Poll(ctx context.Context, refs []provider.Ref) ([]provider.Result, error) {
	results := make([]provider.Result, len(refs))
	for i, r := range refs {
		var err error
		if results[i], err = p.call(ctx, "poll", r); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (p *remote) Release(ctx context.Context, r provider.Ref) error {
	if r.Used != "" {
		return nil // it has one server for each allocation
	}
	_, err := p.call(ctx, "release", r)
	return err
}

// reply is the answer of the hosting system.
type reply struct {
	// Reason is why there is no server, "" when there is one.
	Reason     provider.Reason
	Status     provider.Status
	Connection string
}

func (p *remote) call(ctx context.Context, what string, r provider.Ref) (provider.Result, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/"+what, bytes.NewReader([]byte(r.Allocation())))
	if err != nil {
		return provider.Result{}, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return provider.Result{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return provider.Result{}, err
	}
	if res.StatusCode != http.StatusOK {
		return provider.Result{}, fmt.Errorf("the hosting system answers %s", res.Status)
	}
	var got reply
	if err := json.Unmarshal(text, &got); err != nil {
		return provider.Result{}, err
	}
	if got.Reason != "" {
		return provider.Result{}, provider.Fail(got.Reason, "no server")
	}
	return provider.Result{Status: got.Status, Connection: got.Connection}, nil
}
