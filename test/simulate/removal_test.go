package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/test/chaos/lane"
)

// doomed is the project that is deleted while the world lives.
const doomed = "game-3"

// letGo is until when all processes have let go of it: those that stand still, and what is late.
const letGo = 3*leaseTime + 4*time.Second

// foredoom gives the doomed project its studio.
func (w *world) foredoom(ctx context.Context, random *rand.Rand) (err error) {
	c, err := w.clients(doomed)
	if err != nil {
		return err
	}
	if w.doomed, err = w.newStudio(ctx, c, random); err == nil {
		err = w.doomed.add(ctx, string(lane.Free))
	}
	return err
}

// doom lets some players come to the doomed project, and deletes it as the command does, whatever is under way. Then
// no ticket of it is there. A replica that lags would bring it back, so that is over before.
func (w *world) doom(ctx, faults context.Context) {
	s, config := w.doomed, string(lane.Free)
	tickets := s.Tickets()
	ask := func(do func(context.Context) error) { _ = ask(as(ctx, doomed), s.Random, do) } // until the world ends
	var ids []string
	for n := range 7 {
		ask(func(ctx context.Context) error {
			id, err := tickets.CreateTicket(ctx, client.TicketRequest{Player: fmt.Sprint("doomed-", n),
				Attributes: lane.Free.Attributes(int64(n))})
			if err == nil {
				ids = append(ids, id)
			}
			return err
		})
	}
	if w.Lossy {
		<-faults.Done()
	}
	ask(func(ctx context.Context) error {
		_, err := s.functions.DeleteConfig(ctx, doomed, config, state.AnyRevision, "")
		return err
	})
	ask(func(ctx context.Context) error {
		return s.functions.ChangeFunction(ctx, doomed, lane.FunctionOf(config),
			func(*pb.Function) (*pb.Function, error) { return nil, nil })
	})
	ask(func(ctx context.Context) error { return s.functions.WithdrawProject(ctx, doomed) })
	for left := 1; left > 0 && pause(ctx, letGo); {
		w.hub.purge(doomed)
		ask(func(ctx context.Context) (err error) {
			left, err = s.functions.RemoveProject(ctx, doomed)
			return err
		})
	}
	for _, id := range ids {
		ask(func(ctx context.Context) error {
			t, err := tickets.GetTicket(ctx, id)
			if err == nil {
				w.fail("%s: removal: ticket %s is there: %+v", doomed, id, t)
			} else if client.Status(err) != http.StatusNotFound {
				return err
			}
			return nil
		})
	}
}

// checkRemoval checks that nothing is left of the doomed project.
func (w *world) checkRemoval() {
	if events := w.hub.events(doomed); len(events) > 0 {
		w.fail("%s: removal: it has events: %+v", doomed, events)
	}
	m, is := w.store.redis.(*memory)
	if !is {
		return
	}
	for _, key := range m.ask("KEYS", "mm:{"+doomed+"}:*") {
		if key != "" {
			w.fail("%s: removal: there is %s: %v", doomed, key, m.ask("TYPE", key))
		}
	}
}
