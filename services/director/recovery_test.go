package director_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// hosted is a config whose matches need a server.
func hosted(f string) *pb.Config {
	return &pb.Config{Function: f, Hosting: &pb.Hosting{Fleet: "fleet"}}
}

// allocator takes matches from the work queue and gives each a server of its own, until stop.
func (w *world) allocator() (stop func()) {
	w.Helper()
	store, b := w.connect()
	ctx, cancel := context.WithCancel(w.Context())
	var working sync.WaitGroup
	working.Go(func() {
		err := b.ConsumeMatches(ctx, 8, func(ctx context.Context, work *pb.MatchWork, _ int) error {
			m, err := store.Match(ctx, work.GetProject(), work.GetMatch())
			if problem.KindOf(err) == problem.NotFound {
				return nil
			}
			if err != nil {
				return err
			}
			begun, err := store.BeginAllocations(ctx, work.GetProject(), []state.Beginning{{Match: m, Lease: state.MatchLease{
				Holder: m.GetId(), Hold: patience, Search: patience, Claim: patience,
			}}})
			if err != nil || begun[0].Status != state.MatchActive {
				return err
			}
			_, err = store.EndMatches(ctx, work.GetProject(), []state.Ending{{Match: m,
				Tickets: state.TicketsOf(m.GetProposal()), Results: []*pb.Assignment{{Connection: m.GetId()}},
				Outcome: state.Outcome{Holder: m.GetId(), Readable: patience, Connection: m.GetId()}}})
			return err
		})
		if err != nil {
			w.Error(err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); working.Wait() })
	w.Cleanup(stop)
	return stop
}

// paired checks that each ticket has a server, which it shares with one other.
func (w *world) paired(ids ...string) {
	w.Helper()
	players := map[string]int{}
	for _, got := range w.results(ids...) {
		players[got.GetConnection()]++
	}
	for server, n := range players {
		if server == "" || n != 2 {
			w.Errorf("%d tickets have the server %q", n, server)
		}
	}
}

// play runs all that a hosted match needs. most is how long no run starts at most while nothing happens.
func (w *world) play(most time.Duration) {
	w.Helper()
	w.runner("r", map[string]function{"f": pairs})
	w.put(project, "c", hosted("f"))
	w.allocator()
	settings := times()
	settings.MaxInterval = most
	w.director("a", settings)
	w.paired(w.create(2)...)
}

// A director that dies after it has claimed a match, before the work queue has it, leaves it to the next one.
// Promise 5.
func TestMatchThatNobodySentIsSentByTheNextLeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	revision := w.put(project, "c", hosted("f"))
	tickets := w.create(2)
	epoch, err := w.store.AcquireLease(t.Context(), project, "dead", time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	m := &pb.Match{Id: "m", Config: "c", Revision: revision, Proposal: of("", tickets...), Hosting: &pb.Hosting{},
		Place: state.PlaceHosting}
	claim := &state.Claim{Match: m, Tickets: tickets}
	options := state.ClaimOptions{
		Epoch: epoch, Claim: 10 * patience, Readable: patience,
	}
	if _, err := w.store.Claim(t.Context(), project, options, []*state.Claim{claim}); err != nil || claim.Refusal != "" {
		t.Fatal(claim.Refusal, err)
	}
	w.allocator()
	w.director("a", times())
	w.paired(tickets...)
}

// A match whose allocation does not begin in time is given up, and its tickets are matched again.
// Promise 5.
func TestMatchThatNobodyTakesUpIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner("r", map[string]function{"f": pairs})
	w.put(project, "c", hosted("f"))
	hasty := times()
	hasty.Claim = 100 * time.Millisecond
	stop := w.director("a", hasty)
	tickets := w.create(2)
	w.until("the match is given up", func() bool { return w.says("tickets of overdue matches wait again") })
	stop()
	w.allocator()
	w.director("b", times())
	w.paired(tickets...)
}

// Promise 1.
func TestTicketsAreTakenAndMatchedLaterWhileNATSIsAway(t *testing.T) {
	t.Parallel()
	w, own := newOwnWorld(t)
	w.play(time.Second)
	own.stopNATS()
	tickets := w.create(20) // each is answered at once
	own.startNATS()
	w.paired(tickets...)
	w.paired(w.create(2)...)
}

func TestMatchesGoOnAfterNATSLostItsStore(t *testing.T) {
	t.Parallel()
	w, own := newOwnWorld(t)
	w.play(time.Second)
	own.stopNATS()
	tickets := w.create(4)
	if err := os.RemoveAll(own.natsDir); err != nil {
		t.Fatal(err)
	}
	own.startNATS()
	w.paired(tickets...)
	w.until("events are published", func() bool {
		last, _, err := w.bus.LastEvents(t.Context(), project)
		return err == nil && last != nil
	})
}

// Promise 1.
func TestNothingIsTakenWhileRedisIsAwayAndAllGoesOnWhenItIsBack(t *testing.T) {
	t.Parallel()
	w, own := newOwnWorld(t)
	w.play(time.Hour)
	tickets := w.create(1)
	own.stopRedis()
	err := w.store.Creator(nil).Create(t.Context(), project, &pb.Ticket{Id: "x"})
	if problem.KindOf(err) != problem.Unavailable {
		t.Errorf("a create without Redis: %v", err)
	}
	w.until("the director notices", func() bool { return w.says("reading the state") })
	own.startRedis()
	w.paired(append(tickets, w.create(1)...)...)
}

// What was in Redis is lost. Everything that comes afterwards works.
func TestMatchesGoOnAfterRedisLostItsData(t *testing.T) {
	t.Parallel()
	w, own := newOwnWorld(t)
	w.play(time.Hour)
	w.create(1) // it waits, and is in the runner's index
	own.stopRedis()
	if err := os.RemoveAll(own.redisDir); err != nil {
		t.Fatal(err)
	}
	own.startRedis()
	w.until("the director notices", func() bool { return w.says("the state store lost changes") })
	w.put(project, "c", hosted("f"))
	w.paired(w.create(2)...)
}

// Redis has the data of a while ago, as after a failover to a replica that lagged. A ticket that was matched since then
// waits again, and one that was created since then does not exist. The indexes follow.
func TestMatchesGoOnAfterRedisLostItsLastChanges(t *testing.T) {
	t.Parallel()
	w, own := newOwnWorld(t)
	w.play(time.Hour)
	lonely := w.create(1)
	own.stopRedis()
	before := filepath.Join(t.TempDir(), "before")
	if err := os.CopyFS(before, os.DirFS(own.redisDir)); err != nil {
		t.Fatal(err)
	}
	own.startRedis()
	partner := w.create(1)
	w.paired(lonely[0], partner[0])
	phantom := w.create(1)

	own.stopRedis()
	if err := os.RemoveAll(own.redisDir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(own.redisDir, os.DirFS(before)); err != nil {
		t.Fatal(err)
	}
	own.startRedis()
	for _, id := range slices.Concat(partner, phantom) {
		if _, err := w.store.Ticket(t.Context(), project, id); problem.KindOf(err) != problem.NotFound {
			t.Fatalf("%s still exists: %v", id, err)
		}
	}
	w.paired(lonely[0], w.create(1)[0])
	w.paired(w.create(2)...)
}
