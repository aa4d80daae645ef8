package director_test

import (
	"slices"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// One of two players leaves when both are claimed already. That player gets no result, and the other one is again the
// oldest player that waits: a function that always takes the two oldest takes it next. While a server is being
// allocated the other one stays with the match: see the allocator's tests.
// Promise 4.
func TestPartnerOfACancelledTicketWaitsAgainAtItsOldAge(t *testing.T) {
	for name, test := range map[string]struct {
		config *pb.Config
		// first proposes the two, release makes the other one wait again.
		first   func(game *pb.Backfill, tickets []string) *pb.Proposal
		release func(w *world)
	}{
		"claimed": {
			config:  hosted("f"),
			first:   func(_ *pb.Backfill, tickets []string) *pb.Proposal { return of("", tickets...) },
			release: func(w *world) { w.allocator() }, // which drops the match
		},
		"proposed to a backfill ticket": {
			config: &pb.Config{Function: "f"},
			first: func(game *pb.Backfill, tickets []string) *pb.Proposal {
				p := of("", tickets...)
				p.Filling = &pb.Filling{Backfill: "game", Generation: game.GetGeneration(), Contents: &pb.Backfill{}}
				return p
			},
			release: func(w *world) {
				deleted, _, err := w.store.DeleteBackfill(w.Context(), project, "game", "")
				if err != nil || !deleted {
					w.Error(deleted, err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			game := &pb.Backfill{Id: "game", Connection: "game:1"}
			if _, err := w.store.CreateBackfill(t.Context(), project, game); err != nil {
				t.Fatal(err)
			}
			var first []string
			w.runner("r", map[string]function{"f": func(_ *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
				switch {
				case len(tickets) == 2 && (first == nil || slices.Equal(first, tickets)):
					first = slices.Clone(tickets) // again, if no runner took the run in time
					part(test.first(game, tickets))
				case first != nil && len(tickets) > 2:
					part(of("again", tickets[:2]...))
				}
				return nil
			}})
			w.put(project, "c", test.config)
			w.director("a", times())
			two := w.create(2)
			w.until("both are claimed", func() bool {
				n, err := w.store.Waiting(t.Context(), project)
				return err == nil && n == 0
			})
			if _, err := w.store.DeleteTicket(t.Context(), project, two[0], ""); err != nil {
				t.Fatal(err)
			}
			others := w.create(2)
			test.release(w)
			got := w.results(two[1], others[0])
			if a, b := got[two[1]].GetConnection(), got[others[0]].GetConnection(); a != b || a == "" || a == "game:1" {
				t.Errorf("they have %q and %q", a, b)
			}
			if left, err := w.store.Ticket(t.Context(), project, others[1]); err != nil || left.Assignment != nil {
				t.Errorf("the youngest: %v, %v", left, err)
			}
			if _, err := w.store.Ticket(t.Context(), project, two[0]); problem.KindOf(err) != problem.NotFound {
				t.Errorf("the ticket of the player who left exists: %v", err)
			}
		})
	}
}
