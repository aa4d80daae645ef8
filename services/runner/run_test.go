package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/runner"
)

func TestTwoTicketsAreMatched(t *testing.T) {
	w := newWorld(t)
	w.put(project, "duel", w.duel)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("duel", 1)

	if a := w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "duel"})); a.error != "" ||
		len(a.proposals) > 0 {
		t.Fatalf("without tickets: %v", a)
	}
	first, second := w.ticket(1000, nil), w.ticket(1040, nil)
	w.ticket(5000, nil)
	a := w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "duel", Position: w.position(),
		Settings: []byte(`{"widen":0}`)}))
	want := []*pb.Proposal{{Score: 60, Oldest: 1_700_000_000_001, Teams: []*pb.Team{{Tickets: []string{first, second}}}}}
	if diff := cmp.Diff(want, a.proposals, protocmp.Transform()); diff != "" || a.error != "" {
		t.Fatal(a.error, diff)
	}
	if a.stats.GetTickets() != 3 || a.stats.GetProposals() != 1 || a.stats.GetInstance() == "" {
		t.Errorf("stats: %v", a.stats)
	}
}

// A function judges settings while no ticket waits, and while some do, which it does not get.
func TestFunctionIsCheckedWithoutTickets(t *testing.T) {
	w := newWorld(t)
	w.put(project, "duel", w.duel)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("duel", 1)
	ask := func(settings string) answer {
		return w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "duel", Check: true,
			Position: w.position(), Settings: []byte(settings), Census: map[string]*pb.Pool{"all": {}}}))
	}
	for waiting := range int64(3) {
		const reason = `settings: "windw" is not a setting of this function`
		if a := ask(`{"windw":1}`); !strings.HasPrefix(a.error, reason) || a.stats.GetPopulation()["all"] != waiting {
			t.Errorf("%d wait: %v", waiting, a)
		}
		if a := ask(`{"window":1}`); a.error != "" || len(a.proposals) > 0 || a.stats.GetPopulation()["all"] != waiting {
			t.Errorf("%d wait: %v", waiting, a)
		}
		w.ticket(1000, nil)
	}
}

func TestProposalHasEverythingThatTheFunctionSet(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("guest", 1)
	w.ticket(1, map[string][]byte{"team": []byte("blue"), "unread": {0xff}})
	w.ticket(2, map[string][]byte{"team": []byte("red")})
	w.ticket(3, nil)
	a := w.invokeOK("guest", "all", 1)
	want := &pb.Proposal{
		Score: 7, Oldest: 1_700_000_000_001,
		Teams: []*pb.Team{{Name: "red", Tickets: []string{"ticket-2"}},
			{Name: "blue", Tickets: []string{"ticket-1", "ticket-3"}}},
		Connection:           "10.0.0.1:7777",
		AssignmentProperties: []byte(`{"a":1}`),
		MatchProperties:      []byte(`{"b":2}`),
		TicketProperties:     map[string][]byte{"ticket-1": []byte(`{"c":3}`)},
		Hosting:              &pb.HostingOverride{Region: "eu", Fleet: "fast", Profile: "big"},
	}
	if diff := cmp.Diff(want, a.proposals[0], protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	// The messages are used again: nothing of the last run may be left.
	want = &pb.Proposal{Score: 1, Oldest: 1_700_000_000_001,
		Teams: []*pb.Team{{Tickets: []string{"ticket-1", "ticket-2"}}}}
	if diff := cmp.Diff(want, w.invokeOK("guest", "pair", 1).proposals[0], protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

// Functions see backfill tickets as the feed brings them.
func TestFunctionsSeeBackfillTickets(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("guest", 1)
	w.ticket(1, nil)
	b := &pb.Backfill{Id: "b", Connection: "10.0.0.1:7777", AttributeNames: []string{"skill"},
		AttributeValues: []float64{3}, Properties: map[string][]byte{"unread": {0xff}}}
	position, err := w.store.CreateBackfill(t.Context(), project, b)
	w.must(err)
	fill := func(shown bool) answer {
		return w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "guest", Position: position,
			Budget:   20_000,
			Settings: []byte(`{"do":"fill"}`), Backfills: shown}))
	}
	a := fill(true)
	want := []*pb.Proposal{{
		Score: 1, Oldest: 1_700_000_000_001, Teams: []*pb.Team{{Tickets: []string{"ticket-1"}}},
		Filling: &pb.Filling{Backfill: "b", Generation: b.GetCreated(), Contents: &pb.Backfill{
			AttributeNames: []string{"skill"}, AttributeValues: []float64{2}, Properties: map[string][]byte{"unread": {0xff}},
		}},
	}}
	if diff := cmp.Diff(want, a.proposals, protocmp.Transform()); diff != "" || a.error != "" {
		t.Fatal(a.error, diff)
	}
	if a := fill(false); a.error != "" || len(a.proposals) > 0 {
		t.Errorf("not to be shown: %v", a)
	}
	_, position, err = w.store.DeleteBackfill(t.Context(), project, "b", "")
	w.must(err)
	if a := fill(true); a.error != "" || len(a.proposals) > 0 {
		t.Errorf("after it went: %v", a)
	}
}

func TestPoolsSelectTickets(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("guest", 1)
	for skill := range 6 {
		w.ticket(float64(skill), nil)
	}
	low, high := 2.0, 4.0
	ask := func(pools map[string]*pb.Pool) answer {
		return w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "guest", Position: w.position(),
			Pools: pools}))
	}
	a := ask(map[string]*pb.Pool{"mid": {Filters: []*pb.Filter{{Attribute: "skill", Min: &low, Max: &high}}}})
	if len(a.proposals) != 1 || !cmp.Equal(a.proposals[0].GetTeams()[0].GetTickets(), []string{"ticket-3", "ticket-4"}) {
		t.Errorf("one pool: %v", a)
	}
	a = ask(map[string]*pb.Pool{"nobody": {Filters: []*pb.Filter{{Attribute: "level"}}}})
	if a.error != "" || len(a.proposals) > 0 || a.stats.GetRun() != 0 {
		t.Errorf("a pool without tickets: %v", a)
	}
}

func TestRunsCountPools(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("guest", 1)
	low, high, one := 2.0, 4.0, 1.0
	mid := []*pb.Filter{{Attribute: "skill", Min: &low, Max: &high, Segmentation: &pb.Segmentation{Value: 1}}}
	counted := map[string]*pb.Pool{"all": {}, "mid": {Filters: mid},
		"nobody": {Filters: []*pb.Filter{{Attribute: "level"}}}}
	count := func(pools map[string]*pb.Pool, do string) map[string]int64 {
		a := w.awaitAnswer(w.startRun(&pb.RunRequest{
			Project: project, Function: "guest", Position: w.position(), Pools: pools, Census: counted,
			Settings: fmt.Appendf(nil, `{"do":%q}`, do),
		}))
		return a.stats.GetPopulation()
	}
	if diff := cmp.Diff(map[string]int64{"all": 0, "mid": 0, "nobody": 0}, count(nil, "pair")); diff != "" {
		t.Errorf("without tickets: %s", diff)
	}
	for skill := range 6 {
		w.ticket(float64(skill), nil)
	}
	want := map[string]int64{"all": 6, "mid": 2, "nobody": 0}
	// A run counts the population whatever its own pools are, and however it ends.
	for _, run := range []struct {
		pools map[string]*pb.Pool
		do    string
	}{
		{nil, "pair"},
		{map[string]*pb.Pool{"nobody": counted["nobody"]}, "pair"},
		{map[string]*pb.Pool{"one": {Filters: []*pb.Filter{{Attribute: "skill", Min: &one, Max: &one}}}}, "fail"},
	} {
		if diff := cmp.Diff(want, count(run.pools, run.do)); diff != "" {
			t.Errorf("%v, %s: %s", run.pools, run.do, diff)
		}
	}
	if a := w.invokeOK("guest", "pair", 3); a.stats.GetPopulation() != nil {
		t.Errorf("counted %v without being asked", a.stats.GetPopulation())
	}
}

func TestRunWaitsForItsPosition(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("guest", 1)
	w.ticket(1, nil)
	parts := w.startRun(&pb.RunRequest{Project: project, Function: "guest", Position: w.position() + 1, Budget: 60_000})
	w.ticket(2, nil)
	if a := w.awaitAnswer(parts); a.error != "" || len(a.proposals) != 1 {
		t.Errorf("got %v", a)
	}
	a := w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "guest", Position: w.position() + 1,
		Budget: 200}))
	if want := fmt.Sprintf("at position %d, not yet at %d: waited for 100ms", w.position(),
		w.position()+1); !strings.Contains(a.error, want) {
		t.Errorf("the error is %q, want %q", a.error, want)
	}
}

func TestLongAnswerComesInParts(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("guest", 1)
	const tickets = 12_000
	w.createTickets(tickets)
	a := w.invokeOK("guest", "pair", tickets/2)
	if a.parts < 2 {
		t.Errorf("%d parts", a.parts)
	}
	seen := map[string]bool{}
	for _, p := range a.proposals {
		for _, id := range p.GetTeams()[0].GetTickets() {
			if seen[id] {
				t.Fatalf("%s is there twice", id)
			}
			seen[id] = true
		}
	}
	if len(seen) != tickets {
		t.Errorf("%d tickets", len(seen))
	}
}

func TestProposalWithTooManyTicketsIsRefused(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("guest", 1)
	w.createTickets(invocation.PartSize / 36)
	if a := w.invoke("guest", "all"); !strings.Contains(a.error, "tickets, at most 1000 are allowed") {
		t.Errorf("got %q", a.error)
	}
	w.invokeOK("guest", "pair", invocation.PartSize/36/2)
}

func TestInstanceNamesFitIntoALabel(t *testing.T) {
	w := newWorld(t)
	long := "a" + strings.Repeat(".b", 31)
	w.put(project, long, w.guest)
	w.startRunner("some-host-name-7d4b8c9f6d-x2x4z-1", quickSettings())
	all := w.waitUntil(long+" to run",
		func(all []*pb.InstanceStatus) bool { return len(all) == 1 && all[0].GetState() == "Running" })
	if name := all[0].GetName(); len(name) > 63 || !strings.HasPrefix(name, "a.b.b") ||
		!strings.Contains(name, "-1-e-7d4b8c9f6d-x2x4z-1-") {
		t.Errorf("the name is %q", name)
	}
	w.ticket(1, nil)
	w.ticket(2, nil)
	w.invokeOK(long, "pair", 1)
	if !bytes.Contains([]byte(w.waitLogged(long, "asked for pair")), []byte(all[0].GetName()+": ")) {
		t.Error("the log does not name the instance")
	}
}

// A run answers a position before the first ticket that it did not see, also if that came while its function computed.
func TestRunsAnswerWhatTheySaw(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.put(project, "beside", w.guest)
	var armed atomic.Bool
	holds, goes := make(chan bool, 1), make(chan bool)
	release := sync.OnceFunc(func() { close(goes) })
	defer release()
	w.startRunner("runner-1", quickSettings(), func(o *runner.Options) {
		o.Engine = holdingEngine{o.Engine, func(ctx context.Context) {
			if armed.CompareAndSwap(true, false) {
				holds <- true
				select {
				case <-goes:
				case <-ctx.Done():
				}
			}
		}}
	})
	w.waitServing("guest", 1)
	w.waitServing("beside", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	before := w.position()
	armed.Store(true)
	held := w.startRun(&pb.RunRequest{Project: project, Function: "guest", Position: before, Budget: 60_000,
		Settings: []byte(`{"do":"pair"}`)})
	select {
	case <-holds:
	case <-time.After(patience):
		t.Fatal("the run does not begin")
	}
	w.ticket(3, nil)
	w.invokeOK("beside", "pair", 1) // the runner has read the third ticket then
	release()
	a := w.awaitAnswer(held)
	if saw := a.stats.GetTickets(); saw != 2 || a.position < before || a.position >= w.position() {
		t.Errorf("a run that saw %d tickets answers position %d: two came until %d, the third until %d", saw, a.position,
			before, w.position())
	}
	if b := w.invokeOK("guest", "pair", 1); b.stats.GetTickets() != 3 || b.position < w.position() {
		t.Errorf("the next run saw %d tickets, and answers position %d", b.stats.GetTickets(), b.position)
	}
}

// holdingEngine calls a function before each run, when the run's tickets are known.
type holdingEngine struct {
	runner.Engine
	hold func(context.Context)
}

type holdingInstance struct {
	runner.Instance
	hold func(context.Context)
}

func (e holdingEngine) Start(
	ctx context.Context, m *sandbox.Module, name string, log func(line string),
) (runner.Instance, error) {
	i, err := e.Engine.Start(ctx, m, name, log)
	return holdingInstance{i, e.hold}, err
}

func (i holdingInstance) Run(
	ctx context.Context, request []byte, budget time.Duration,
) ([]byte, sandbox.Stats, error) {
	i.hold(ctx)
	return i.Instance.Run(ctx, request, budget)
}
