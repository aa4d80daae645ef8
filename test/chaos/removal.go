package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/workload"
)

// doomed is the project that is deleted while the system has faults.
const doomed = "doomed"

// letGo is until when all processes have let go of it: those that stand still too.
const letGo = 3*leaseTime + 4*time.Second

// removal deletes a project.
type removal struct {
	*studio
	system *system
	// operator are the flags with which the command reaches Redis and NATS. No fault is on this way.
	operator []string
	problems []string
}

// newRemoval makes the project, with a config and its function.
func newRemoval(ctx context.Context, s *system, st *studio) (*removal, error) {
	redis, err := s.redisOf(ctx, uncut)
	if err != nil {
		return nil, err
	}
	nats, err := s.natsFor(ctx, uncut)
	if err != nil {
		return nil, err
	}
	if err := st.upload(ctx, lane.FunctionOf(string(lane.Free)), s.made.editions[0]); err != nil {
		return nil, err
	}
	return &removal{studio: st, system: s, operator: []string{"--redis", redis, "--nats", nats}},
		st.Put(ctx, string(lane.Free))
}

// run lets some players come, and deletes the project as an operator does, whatever is under way. Then no ticket of it
// is there. A replica that lags would bring it back, so where there are some, the faults are over before.
func (r *removal) run(ctx, faults context.Context) {
	var ids []string
	for n := range 7 {
		r.ask(ctx, func(ctx context.Context) error {
			id, err := r.Tickets().CreateTicket(ctx, client.TicketRequest{Player: fmt.Sprint("doomed-", n),
				Attributes: lane.Free.Attributes(int64(n))})
			if err == nil {
				ids = append(ids, id)
			}
			return err
		})
	}
	if r.system.state != single {
		<-faults.Done()
	}
	var last string
	r.ask(ctx, func(ctx context.Context) error {
		arguments := append([]string{"project", "delete", doomed, "--yes", "--force", "--settle", letGo.String()},
			r.operator...)
		command := exec.CommandContext(ctx, r.system.made.matchmaker, arguments...)
		command.Env = []string{"PATH=" + os.Getenv("PATH")}
		said, err := command.CombinedOutput()
		last = string(said)
		return err
	})
	if !strings.Contains(last, "keys were deleted") || ctx.Err() != nil {
		r.fail("it was not deleted: %s", last)
	}
	for _, id := range ids {
		r.ask(ctx, func(ctx context.Context) error {
			t, err := r.Tickets().GetTicket(ctx, id)
			if err == nil {
				r.fail("ticket %s is there: %+v", id, t)
			} else if client.Status(err) != http.StatusNotFound {
				return err
			}
			return nil
		})
	}
}

// ask repeats a request until it succeeds.
func (r *removal) ask(ctx context.Context, do func(context.Context) error) {
	for {
		one, cancel := context.WithTimeout(ctx, 3*letGo)
		err := do(one)
		cancel()
		if err == nil || !pause(ctx, workload.RetryAfter(r.Random)) {
			return
		}
	}
}

// look checks that no Redis has anything of the project.
func (r *removal) look(ctx context.Context) {
	for _, server := range r.system.stores.servers {
		keys, err := server.ask(ctx, "KEYS", "mm:{"+doomed+"}:*")
		if list, ok := keys.([]any); err != nil || !ok || len(list) > 0 {
			r.fail("%s has %v: %v", server.name, keys, err)
		}
	}
}

func (r *removal) fail(format string, args ...any) {
	r.problems = append(r.problems, "the project that was deleted: "+fmt.Sprintf(format, args...))
}
