package director_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/bustest"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/state"
)

func TestTwoTicketsAreMatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner("r", map[string]function{"c": pairs})
	w.put(project, "c", nil)
	w.director("a", times())
	for id, got := range w.results(w.create(2)...) {
		if got.GetConnection() != "c" {
			t.Errorf("%s got %v", id, got)
		}
	}
}

// The first matches of a big run do not wait for the last.
func TestProposalsAreSettledAsTheyCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := make(chan struct{})
	w.runner("r", map[string]function{"c": func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		if len(tickets) < 4 {
			return nil
		}
		part(of("early", tickets[:2]...))
		<-first
		part(of("late", tickets[2:]...))
		return nil
	}})
	tickets := w.create(4)
	w.put(project, "c", nil)
	w.director("a", times())
	w.results(tickets[:2]...)
	close(first)
	w.results(tickets[2:]...)
}

// Promise 9.
func TestSlowFunctionDelaysNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forever, running := make(chan struct{}), notify.New()
	defer close(forever)
	w.runner("r", map[string]function{
		"fast": pairs,
		"slow": func(*pb.RunRequest, []string, func(...*pb.Proposal)) error {
			running.Notify()
			<-forever
			return nil
		},
	})
	tickets := w.create(2)
	w.put(project, "slow", nil)
	w.director("a", times())
	<-running.C()
	w.put(project, "fast", nil)
	w.results(tickets...)
	w.results(w.create(2)...)
}

// The tickets that lost proposals leave over are proposed again, although nothing happens to them.
func TestWhatLostProposalsLeaveIsProposedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner("r", map[string]function{"c": func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		if len(tickets) < 4 {
			return pairs(r, tickets, part)
		}
		best := of("best", tickets[:2]...)
		best.Score = 1
		part(best, of("lost", tickets[0], tickets[2]), of("lost", tickets[1], tickets[3]))
		return nil
	}})
	tickets := w.create(4)
	w.put(project, "c", nil)
	patient := times()
	patient.MaxInterval = time.Hour
	w.director("a", patient)
	if got := w.results(tickets...); got[tickets[0]].GetConnection() != "best" || got[tickets[3]].GetConnection() != "c" {
		t.Errorf("the results are %v", got)
	}
}

// Several configs may propose one ticket. Proposals of runs that started together are compared. When one proposal gets
// the ticket, the ticket is withdrawn from all others.
// Promise 2.
func TestBestOfAllConfigsGetsTheTicket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var asked sync.WaitGroup
	asked.Add(2)
	best := func(score float64) function {
		var once sync.Once
		return func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
			if len(tickets) < 3 {
				return nil
			}
			once.Do(asked.Done)
			asked.Wait() // both functions see the tickets
			p := of(r.GetConfig(), tickets[int(score)-1:][:2]...)
			p.Score = score
			part(p)
			return nil
		}
	}
	w.runner("r", map[string]function{"good": best(1), "better": best(2)})
	tickets := w.create(3)
	w.put(project, "good", nil)
	w.put(project, "better", nil)
	patient := times()
	patient.Window = patience // it ends when both have answered
	patient.Cores = 0         // so that those are waited for that found nothing yet
	w.director("a", patient)
	for id, got := range w.results(tickets[1:]...) {
		if got.GetConnection() != "better" {
			t.Errorf("%s got %v", id, got)
		}
	}
	if left, err := w.store.Ticket(t.Context(), project, tickets[0]); err != nil || left.Assignment != nil {
		t.Errorf("the ticket of the proposal that lost: %v, %v", left, err)
	}
}

// Several configs have the same tickets. What one gets is withdrawn from the others: each ticket is in one match.
// Promise 2.
func TestTicketOfSeveralConfigsIsWithdrawnEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	functions := map[string]function{"casual": pairs, "ranked": pairs, "arena": pairs}
	w.runner("r", functions)
	for name := range functions {
		w.put(project, name, nil)
	}
	hasty := times()
	hasty.MinInterval, hasty.Window = time.Millisecond, time.Millisecond
	w.director("a", hasty)
	all := w.create(60)
	w.results(all...)
	matches := map[string]int{}
	ctx, enough := context.WithTimeout(t.Context(), patience)
	defer enough()
	err := bustest.FollowEvents(ctx, w.bus, project, func(batch *pb.Events) error {
		for _, e := range batch.GetEvents() {
			if e.GetKind() != pb.Event_KIND_ASSIGNED {
				continue
			}
			for _, id := range e.GetTickets() {
				matches[id]++
			}
		}
		if len(matches) == len(all) {
			enough()
		}
		return nil
	})
	if len(matches) != len(all) {
		t.Fatalf("%d of %d tickets are in events: %v", len(matches), len(all), err)
	}
	for id, n := range matches {
		if n != 1 {
			t.Errorf("%s is in %d matches", id, n)
		}
	}
}

// No run is shown a ticket that was claimed before it started.
// Promise 2.
func TestClaimedTicketsAreNotProposedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	proposed := map[string]bool{}
	w.runner("r", map[string]function{"c": func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range tickets {
			if proposed[id] && !w.says(untaken) {
				t.Errorf("a run saw %s, which had been claimed", id)
			}
		}
		tickets = tickets[:len(tickets)/2*2]
		for _, id := range tickets {
			proposed[id] = true
		}
		return pairs(r, tickets, part)
	}})
	w.put(project, "c", nil)
	hasty := times()
	hasty.MinInterval = time.Millisecond
	w.director("a", hasty, steady)
	var all []string
	for range 50 {
		all = append(all, w.create(4)...)
	}
	w.results(all...)
}

// Where no ticket waits no function runs. The runs of another project show that enough time has passed.
func TestProjectWhereNobodyWaitsRunsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var busy, idle atomic.Int32
	w.runner("r", map[string]function{"busy": func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		busy.Add(1)
		return pairs(r, tickets, part)
	}})
	if _, err := w.bus.ServeRuns("other", "quiet", "idle", func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
		idle.Add(1)
		_ = answer(&pb.RunPart{Last: true})
	}); err != nil {
		t.Fatal(err)
	}
	w.lives(t.Context(), "other")
	tickets := w.create(1)
	w.put("quiet", "idle", nil)
	w.put(project, "busy", nil)
	hasty := times()
	hasty.MaxInterval = 20 * time.Millisecond
	w.director("a", hasty)
	w.until("the idle one runs when something happened", func() bool {
		w.poke("quiet", &pb.Poke{})
		return idle.Load() > 0
	})
	w.until("it does not run any more", func() bool {
		ran, until := idle.Load(), busy.Load()+20
		w.until("the busy one runs", func() bool { return busy.Load() >= until })
		return idle.Load() == ran
	})
	w.results(append(tickets, w.create(1)...)...)
}

// A proposal that lost to one whose claim is refused does not wait for another run.
func TestLoserGetsItsChanceWhenTheWinnerIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var four []string
	w.runner("r", map[string]function{"c": func(_ *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		switch {
		case four == nil && len(tickets) == 4:
			four = slices.Clone(tickets)
			if _, err := w.store.DeleteTicket(w.Context(), project, four[0], ""); err != nil {
				return err
			}
		case four == nil || !w.says(untaken): // a run that no runner took is asked for again
			return nil
		}
		winner, loser := of("", four[0], four[1]), of("", four[1], four[2])
		other := of("", four[0], four[3])
		winner.Score, loser.Score, other.Score = 3, 2, 1
		part(winner, loser, other)
		return nil
	}})
	tickets := w.create(4)
	w.put(project, "c", nil)
	w.director("a", times(), steady)
	w.results(tickets[1], tickets[2])
	if left, err := w.store.Ticket(t.Context(), project, tickets[3]); err != nil || left.Assignment != nil {
		t.Errorf("the partner of the player who left: %v, %v", left, err)
	}
}

func TestFailingFunctionIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failures := 0
	w.runner("r", map[string]function{"c": func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		if failures++; failures < 4 {
			return errors.New("out of order")
		}
		return pairs(r, tickets, part)
	}})
	tickets := w.create(2)
	w.put(project, "c", nil)
	w.director("a", times())
	w.results(tickets...)
	if !w.says("out of order") || !w.says("the function runs again") {
		t.Error("the log does not say so")
	}
}

// A config counts from the moment on in which its PUT is answered, and does not count after its DELETE. The director is
// not poked here: it runs the configs that it knows, and learns of changes from claims that are refused.
// Promise 6.
func TestConfigsCountFromTheMomentTheyAreWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner("r", map[string]function{"f": func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		for pair := range slices.Chunk(tickets, 2) {
			if len(pair) == 2 {
				part(of(string(r.GetSettings()), pair...))
			}
		}
		return nil
	}})
	write := func(settings int) {
		c := &pb.Config{Id: "c", Function: "f", Settings: strconv.AppendInt(nil, int64(settings), 10)}
		if _, _, err := w.store.PutConfig(t.Context(), project, c, state.AnyRevision); err != nil {
			t.Fatal(err)
		}
	}
	w.put(project, "c", &pb.Config{Function: "f", Settings: []byte("0")})
	hasty := times()
	hasty.MinInterval, hasty.MaxInterval = time.Millisecond, 5*time.Millisecond
	w.director("a", hasty)
	w.results(w.create(2)...)

	oldest := map[string]int{} // the oldest settings that a ticket may be matched by
	var all []string
	for n := 1; n <= 60; n++ {
		if n%3 == 0 { // deleted for a while: tickets that come then are for the next config
			deleted, err := w.store.DeleteConfig(t.Context(), project, "c", state.AnyRevision, "")
			if err != nil || !deleted {
				t.Fatal(deleted, err)
			}
			for _, id := range w.create(2) {
				oldest[id] = n
				all = append(all, id)
			}
		}
		write(n)
		for _, id := range w.create(2) {
			oldest[id] = n
			all = append(all, id)
		}
	}
	for id, got := range w.results(all...) {
		if by, err := strconv.Atoi(got.GetConnection()); err != nil || by < oldest[id] {
			t.Errorf("%s was matched by settings %s, which %d had replaced before", id, got.GetConnection(), oldest[id])
		}
	}
}

// A run that no runner takes is started again, and so is one whose runner is lost.
func TestRunsOfALostRunnerAreDoneByAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	taken := notify.New()
	frozen := make(chan struct{})
	defer close(frozen)
	life, kill := context.WithCancel(t.Context())
	w.living(life, "lost", map[string]function{"c": func(*pb.RunRequest, []string, func(...*pb.Proposal)) error {
		taken.Notify()
		<-frozen
		return nil
	}})
	w.put(project, "c", nil)
	w.director("a", times(), steady, func(o *director.Options) { o.Timing.Silence = short })
	tickets := w.create(2)
	<-taken.C()
	w.runner("other", map[string]function{"c": pairs})
	kill()
	w.results(tickets...)
	if !w.says("the runner is lost") {
		t.Error("the log does not say so")
	}
}
