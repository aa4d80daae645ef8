package insight

import (
	"context"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

const (
	// ownedEvery is how often the tickets of a player are read at most.
	ownedEvery = time.Second
	// maxOwned is how many tickets of a player are remembered.
	maxOwned = 10_000
)

// owned are the tickets of a player. Events name no players: so these are the tickets that there are when it is looked,
// and those that were seen before.
type owned struct {
	store           *state.Store
	project, player string
	ids             map[string]bool
	// until is up to when created tickets are known, by the state store's clock.
	until time.Time
}

// begin reads the tickets for the first time. Errors: Conflict where the project does not list them.
func (o *owned) begin(ctx context.Context) error {
	settings, err := o.store.Settings(ctx, o.project)
	if err != nil {
		return err
	}
	if !state.Listed(settings) {
		return problem.New(problem.TicketsNotListed, "query parameter player: this project does not list the tickets of "+
			"players: its settings have neither tickets.listed nor tickets.perPlayer. Ask for a ticket")
	}
	return o.read(ctx)
}

func (o *owned) read(ctx context.Context) error {
	now := o.store.Now()
	tickets, err := o.store.TicketsOf(ctx, o.project, o.player)
	if err != nil {
		return err
	}
	if o.ids == nil || len(o.ids) > maxOwned {
		o.ids = map[string]bool{}
	}
	for _, t := range tickets {
		o.ids[t.Body.GetId()] = true
	}
	o.until = now
	return nil
}

// learn reads the tickets again if one was created that may be the player's.
func (o *owned) learn(ctx context.Context, events []*pb.Event) error {
	created := slices.ContainsFunc(events, func(e *pb.Event) bool {
		// A process knows the clock of the state store to within a second.
		return e.GetKind() == pb.Event_KIND_CREATED && e.GetTime() > o.until.Add(-time.Second).UnixMilli()
	})
	if !created {
		return nil
	}
	if err := wait.For(ctx, o.until.Add(ownedEvery).Sub(o.store.Now())); err != nil {
		return err
	}
	return o.read(ctx)
}

func (o *owned) hasAny(tickets []string) bool {
	return slices.ContainsFunc(tickets, func(id string) bool { return o.ids[id] })
}
