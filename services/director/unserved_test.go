package director_test

import (
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// Tickets whose queue lost its config end, one after another batch of them, in a project that refuses such tickets; in
// others they wait, and what was noted of the queue is forgotten.
// Promise 1.
func TestTicketsInAQueueWithoutConfigEnd(t *testing.T) {
	t.Parallel()
	for _, refuses := range []bool{true, false} {
		w := newWorld(t)
		settings := &pb.ProjectSettings{Tickets: &pb.TicketRules{EndsTold: true, RefuseUnserved: refuses}}
		if err := w.store.PutSettings(t.Context(), project, settings, state.AnyRevision); err != nil {
			t.Fatal(err)
		}
		w.put(project, "c", &pb.Config{Function: "f", Queue: "ranked"})
		var ids []string
		creator := w.store.Creator(w.bus.PokeTickets)
		for i := range 600 {
			id := state.NewID(time.UnixMilli(int64(i + 1)))
			_, err := creator.CreateAs(t.Context(), project, state.Creation{
				Ticket:   &pb.Ticket{Id: id, Owner: id, Created: 1, Queues: []string{"ranked"}},
				Settings: settings, Readable: time.Minute,
			})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		w.put(project, "c", &pb.Config{Function: "f", Queue: "casual"})
		brief := times()
		brief.Unserved = time.Millisecond
		w.director("d", brief)
		if refuses {
			for id, result := range w.results(ids...) {
				if result.GetError() != "unserved" {
					t.Fatalf("%s has %v", id, result)
				}
			}
			continue
		}
		w.until("the queue is forgotten", func() bool {
			due, err := w.store.DueWork(t.Context(), project, state.Ages{})
			if err != nil {
				t.Fatal(err)
			}
			return due.Unserved == 0
		})
		for _, id := range ids {
			if got, err := w.store.Ticket(t.Context(), project, id); err != nil || got.Assignment != nil {
				t.Fatalf("%s: %+v, %v, want a ticket that waits", id, got, err)
			}
		}
	}
}
