package director_test

import (
	"context"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

// While Redis is away no player can answer, so none is taken for silent. When it is there all the time, a player
// without an answer is.
// Promise 10.
func TestNobodyIsSilentWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	w, own := newOwnWorld(t)
	w.listens(0)
	answer := 10 * time.Second
	if testing.Short() {
		answer = 4 * time.Second
	}
	tickets := w.asks(answer)
	match := w.asked(tickets[0])
	own.stopRedis()
	w.until("the director notices", func() bool { return w.says("reading the state") })
	before := w.store.Now()
	w.until("the time to answer is over", func() bool { return w.store.Now().Sub(before) > answer+time.Second })
	own.startRedis()
	w.until("another match asks", func() bool { return w.asked(tickets[0]) != match })
	w.end(tickets)
}

// While no ticket service is there no player can answer either. A heartbeat from before may come late.
func TestNobodyIsSilentWhileNoTicketServiceListens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.listens(6 * time.Second)
	tickets := w.asks(time.Second)
	match := w.asked(tickets[0])
	w.until("another match asks", func() bool { return w.asked(tickets[0]) != match })
	stop()
	w.listens(0)
	w.end(tickets)
}

// asks makes two tickets whose players are asked, and have so long.
func (w *world) asks(acceptance time.Duration) (tickets []string) {
	w.runner("r", map[string]function{"f": pairs})
	w.put(project, "asks", &pb.Config{Function: "f", Acceptance: acceptance.Milliseconds()})
	w.director("a", times())
	return w.create(2)
}

// listens sends the heartbeats of a ticket service until stop. They come as late as that.
func (w *world) listens(late time.Duration) (stop func()) {
	return w.run(app.Part{Run: func(ctx context.Context) error {
		for ctx.Err() == nil {
			_ = w.bus.TicketHeartbeat(ctx, &pb.TicketStatus{Sent: w.store.Now().Add(-late).UnixMilli()})
			_ = wait.For(ctx, 100*time.Millisecond)
		}
		return nil
	}})
}

// end waits until tickets have ended.
func (w *world) end(tickets []string) {
	w.Helper()
	for _, id := range tickets {
		w.until("the ticket ends", func() bool {
			_, err := w.store.Ticket(w.Context(), project, id)
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

// Players are asked before a running game learns of them. A director that comes meanwhile goes on: the game's server
// has its whole time to approve when all have accepted.
// Promise 10.
func TestNextDirectorProposesAcceptedTicketsToARunningGame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	game := &pb.Backfill{Id: "game", Connection: "game:1"}
	if _, err := w.store.CreateBackfill(t.Context(), project, game); err != nil {
		t.Fatal(err)
	}
	w.runner("r", map[string]function{"f": func(_ *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		if len(tickets) == 2 {
			p := of("", tickets...)
			p.Filling = &pb.Filling{Backfill: "game", Generation: game.GetGeneration()}
			part(p)
		}
		return nil
	}})
	w.put(project, "asks", &pb.Config{Function: "f", Acceptance: 60_000, Hosting: &pb.Hosting{Fleet: "f"}})
	stop := w.director("a", times())
	tickets := w.create(2)
	match := w.asked(tickets[0])
	approve := func() []*state.Ticket {
		t.Helper()
		a, err := w.store.ApproveBackfill(t.Context(), project, "game", state.ApprovalOptions{Readable: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return a.Assigned
	}
	stop()
	for _, id := range tickets {
		if got := approve(); len(got) > 0 {
			t.Fatalf("%d tickets join, and not all players have accepted", len(got))
		}
		answer := state.Answer{Ticket: id, Match: match, Accept: true}
		if _, err := w.store.AnswerMatch(t.Context(), project, answer); err != nil {
			t.Fatal(err)
		}
	}
	if got := approve(); len(got) > 0 {
		t.Fatalf("%d tickets join, and no director proposed them", len(got))
	}
	w.director("b", times())
	var joined []*state.Ticket
	w.until("the tickets join", func() bool { joined = append(joined, approve()...); return len(joined) > 0 })
	if len(joined) != 2 || joined[0].Assignment.GetConnection() != "game:1" {
		t.Fatalf("%d tickets joined: %v", len(joined), joined[0].Assignment)
	}
}
