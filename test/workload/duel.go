package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/wait"
)

// Config is a config of a function over the tickets that have an attribute of 0 to most.
func Config(function, attribute string, most float64, settings any) client.Config {
	text, _ := json.Marshal(settings) // no value of it fails
	least := 0.0
	return client.Config{
		Matchmaking: client.Matchmaking{TargetFunction: client.FunctionTarget{Name: function, Version: "1"}, Config: text},
		Pools:       map[string][]client.PoolFilter{"everyone": {{Attribute: attribute, Min: &least, Max: &most}}},
	}
}

// startTime is how long a function may take to run.
const startTime = time.Minute

// ErrNotStarted is the error of a function that does not run.
var ErrNotStarted = errors.New("the function did not start")

// Start uploads a function and returns when it runs.
func Start(ctx context.Context, functions *client.Client, name string, module io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := functions.PutFunction(ctx, name, "", module); err != nil {
		return err
	}
	for {
		f, err := functions.GetFunction(ctx, name)
		switch {
		case err != nil && (client.Status(err) != http.StatusTooManyRequests || ctx.Err() != nil):
			return err
		case err == nil && f.Status.State == client.Running:
			return nil
		case err == nil && f.Status.State == client.Failed:
			return ErrNotStarted
		}
		if wait.For(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("%w in %s", ErrNotStarted, startTime)
		}
	}
}

// Play creates a ticket and returns it with its match.
func Play(ctx context.Context, tickets *client.Client, r client.TicketRequest) (*client.Ticket, error) {
	id, err := tickets.CreateTicket(ctx, r)
	if err != nil {
		return nil, err
	}
	t, err := tickets.Wait(ctx, id)
	if err != nil {
		leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
		defer cancel()
		_ = tickets.DeleteTicket(leave, id, r.Player)
		return nil, err
	}
	if t.Assignment.Error != "" {
		return nil, fmt.Errorf("the ticket has the error %s", t.Assignment.Error)
	}
	return t, nil
}

// Quantile sorts times. Of none it is 0.
func Quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(int(q*float64(len(times))), len(times)-1)]
}
