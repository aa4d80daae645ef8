package director_test

import (
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
)

// While Redis is away nobody can answer, so nobody is taken for silent. When it is there all the time, who does not
// answer is.
func TestNobodyIsSilentWhileRedisIsAway(t *testing.T) {
	w := newWorld(t)
	w.runner("r", map[string]function{"f": pairs})
	w.put(project, "asks", &pb.Config{Function: "f", Acceptance: 1000})
	w.director("a", times())
	tickets := w.create(2)
	match := w.asked(tickets[0])
	w.stopRedis()
	w.until("the director notices", func() bool { return w.log.says("reading the state") })
	before := w.store.Now()
	w.until("the time to answer is over", func() bool { return w.store.Now().Sub(before) > 2e9 })
	w.startRedis()
	w.until("another match asks", func() bool { return w.asked(tickets[0]) != match })
	for _, id := range tickets {
		w.until("the ticket ends", func() bool {
			_, err := w.store.Ticket(t.Context(), project, id)
			return problem.KindOf(err) == problem.NotFound
		})
	}
}

// asked waits until a match asks the players of a ticket, and returns it.
func (w *world) asked(ticket string) (match string) {
	w.Helper()
	w.until("a match asks", func() bool {
		got, err := w.store.Ticket(w.Context(), project, ticket)
		if problem.KindOf(err) == problem.NotFound {
			w.Fatalf("the ticket %s has ended", ticket)
		}
		if err != nil || got.Acceptance == nil {
			return false
		}
		match = got.Acceptance.Match
		return true
	})
	return match
}
