package simulate

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/test/chaos/history"
)

// stream has the events of each project. The mutex of the hub guards it.
type stream struct{ projects map[string][]*pb.Events }

// LastEvents reads the last message of a project.
func (p port) LastEvents(ctx context.Context, project string) (last *pb.Events, tail bus.EventTail, err error) {
	err = p.gate.call(ctx, p.process, "last events "+project, calls, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		all := p.stream.projects[project]
		if tail.Sequence = uint64(len(all)); len(all) > 0 {
			last = all[len(all)-1]
		}
		return nil
	})
	return last, tail, err
}

// PublishEvents appends a message, if no other publisher has appended one since the last.
func (p port) PublishEvents(ctx context.Context, e *pb.Events, last bus.EventTail) (
	tail bus.EventTail, removed uint64, err error,
) {
	project, message := e.GetProject(), proto.CloneOf(e)
	step := fmt.Sprintf("publish events %s %d", project, last.Sequence)
	err = p.gate.call(ctx, p.process, step, append(calls, repeat), func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if uint64(len(p.stream.projects[project])) != last.Sequence {
			return bus.ErrEventConflict
		}
		p.stream.projects[project] = append(p.stream.projects[project], message)
		tail.Sequence = last.Sequence + 1
		return nil
	})
	if err == nil {
		err = p.publish(published, project, message)
	}
	return tail, 0, err
}

// events are the events of a project so far.
func (h *hub) events(project string) (all []history.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, message := range h.stream.projects[project] {
		for _, e := range message.GetEvents() {
			all = append(all, history.Event{
				Project: project, Position: e.GetPosition(), Time: e.GetTime(),
				Kind:    history.Kind(strings.ToLower(strings.TrimPrefix(e.GetKind().String(), "KIND_"))),
				Tickets: e.GetTickets(), Match: e.GetMatch(), Config: e.GetConfig(), Revision: e.GetRevision(),
				Epoch: e.GetEpoch(), Reason: e.GetReason(), Error: e.GetError(), Backfill: e.GetBackfill(), Place: e.GetPlace(),
				Acceptance: e.GetAcceptance(), Player: int64(e.GetPlayer()), Upload: e.GetUpload(),
			})
		}
	}
	return all
}

// purge removes the events of a project.
func (h *hub) purge(project string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.stream.projects, project)
}
