package state_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// TestCreateTakesFewRoundTrips: a create takes one round trip. Many that come together take as few, also when something
// has to be read for each of them.
func TestCreateTakesFewRoundTrips(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{})
	must(t, s.Creator(nil).Create(t.Context(), project, ticket("first", 0))) // Redis knows the script and the project
	var trips atomic.Int64
	var gate atomic.Pointer[chan struct{}]
	s.OnTrips(func(int) {
		trips.Add(1)
		if closed := gate.Load(); closed != nil {
			<-*closed
		}
	})
	took := func(what string, most int64) {
		t.Helper()
		if n := trips.Swap(0); n < 1 || n > most {
			t.Errorf("%s: %d round trips, want at most %d", what, n, most)
		}
	}
	asked := func(id, owner, key string) state.Creation {
		return state.Creation{Ticket: &pb.Ticket{Id: id, Owner: owner, Created: 1,
			Players: []*pb.Player{{Id: owner}, {Id: "friend-of-" + owner}}},
			Settings: &pb.ProjectSettings{Tickets: &pb.TicketRules{PlayerLimit: 1, WhenReached: "replace"}}, Key: key}
	}
	must(t, s.Creator(nil).Create(t.Context(), project, ticket("one", 1)))
	took("one", 1)
	must(t, second(s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: ticket("rated", 1),
		Settings: &pb.ProjectSettings{Ratings: []*pb.RatingRule{skill()}, Standing: trusting()}})))
	took("one with ratings and a standing", 1)
	must(t, second(s.Creator(nil).CreateAs(t.Context(), project, asked("keyed", "ada", "key"))))
	took("one with a key", 1)
	must(t, second(s.CreatedBefore(t.Context(), project, "ada", "key", nil)))
	took("its key", 1)

	const many = 128
	// together creates tickets that wait until the round trip of another one has ended, and so are one group.
	together := func(creation func(n int) state.Creation, good func(err error) bool) (told []uint64) {
		t.Helper()
		held := make(chan struct{})
		gate.Store(&held)
		c := s.Creator(func(_ context.Context, _ string, position uint64, _ ...string) { told = append(told, position) })
		var all sync.WaitGroup
		all.Go(func() { _ = c.Create(t.Context(), project, ticket(fmt.Sprint("holds", many), 1)) })
		waittest.Until(t, "the first is under way", func() bool { return trips.Load() == 1 })
		for n := range many {
			all.Go(func() {
				if _, err := c.CreateAs(t.Context(), project, creation(n)); !good(err) {
					t.Errorf("%d: %v", n, err)
				}
			})
		}
		waittest.Until(t, "the others wait", func() bool { return c.Queued(project) == many })
		close(held)
		all.Wait()
		gate.Store(nil)
		return told
	}
	stored := func(err error) bool { return err == nil }
	player := func(n int) string { return fmt.Sprint("p", n) }
	told := together(func(n int) state.Creation { return asked(fmt.Sprint("a", n), player(n), "key") }, stored)
	took("many with keys and lists, after another", 2)
	if at, err := s.Position(t.Context(), project); err != nil || !slices.Equal(told, []uint64{at}) {
		t.Errorf("two scripts, of which one follows the other, are told at %v, want once at %d, %v", told, at, err)
	}
	trips.Store(0)
	together(func(n int) state.Creation { return asked(fmt.Sprint("b", n), player(n), "") }, stored)
	took("many that replace others: these are looked at once", 4)
	together(func(n int) state.Creation {
		one := asked(fmt.Sprint("c", n), player(n), "")
		one.Ticket.Queues = []string{"nobody"}
		one.Settings = &pb.ProjectSettings{Tickets: &pb.TicketRules{RefuseUnserved: true}}
		return one
	}, func(err error) bool { return problem.KindOf(err) == problem.Invalid })
	took("many that are refused: the queues that there are are read once", 3)
}

// TestReadyCreatesDoNotWait: of creates that are one group, those that need no look at older tickets are answered
// before it, after as many round trips as without the others.
func TestReadyCreatesDoNotWait(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{})
	settings := &pb.ProjectSettings{Tickets: &pb.TicketRules{PlayerLimit: 1, WhenReached: "replace"}}
	c := s.Creator(nil)
	create := func(owner, id string) (state.Created, error) {
		return c.CreateAs(t.Context(), project, state.Creation{Ticket: &pb.Ticket{Id: id, Owner: owner, Created: 1},
			Settings: settings})
	}
	const many = 8
	for n := range many {
		must(t, second(create(fmt.Sprint("p", n), fmt.Sprint("old", n))))
	}
	var trips, ready atomic.Int64
	first, look := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(look) })
	defer goOn()
	s.OnTrips(func(scripts int) {
		if n := trips.Add(1); n == 1 {
			<-first
		} else if scripts == 0 {
			<-look
		}
	})
	var all sync.WaitGroup
	all.Go(func() { _, _ = create("holds", "holds") })
	waittest.Until(t, "the first is under way", func() bool { return trips.Load() == 1 })
	for n := range many {
		all.Go(func() {
			one, err := create(fmt.Sprint("p", n), fmt.Sprint("new", n))
			if old := []string{fmt.Sprint("old", n)}; err != nil || !slices.Equal(one.Ended, old) {
				t.Errorf("%v: it replaced %v", err, one.Ended)
			}
		})
		all.Go(func() {
			if _, err := create(fmt.Sprint("q", n), fmt.Sprint("ready", n)); err == nil {
				ready.Add(1)
			}
		})
	}
	waittest.Until(t, "the others wait", func() bool { return c.Queued(project) == 2*many })
	close(first)
	waittest.Until(t, "those that are ready are answered", func() bool { return ready.Load() == many })
	waittest.Until(t, "the older tickets are looked at", func() bool { return trips.Load() == 3 })
	goOn()
	all.Wait()
	if n := trips.Load(); n != 4 {
		t.Errorf("%d round trips, want 4", n)
	}
}

// TestPairTakesFewCommands: what Redis runs for two tickets that are matched, beside its clock. Of several pairs that
// counts beside which other tests did least.
func TestPairTakesFewCommands(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{History: 1000, Limits: state.Limits{Waiting: 100, Results: 100,
		PlayerRate: 1, PlayerBurst: 20, ProjectRate: 100, ProjectBurst: 500}})
	revision, terms := setUp(t, s)
	terms.Matches = 100
	commands := func() (n int) {
		text, err := s.Usage(t.Context())
		must(t, err)
		for _, calls := range regexp.MustCompile(`cmdstat_(\w+):calls=(\d+)`).FindAllStringSubmatch(text, -1) {
			one, err := strconv.Atoi(calls[2])
			if must(t, err); calls[1] != "info" {
				n += one
			}
		}
		return n
	}
	creates, claims, hosted, begins, ends := math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt
	for n := range 5 {
		one, other := fmt.Sprint("one", n), fmt.Sprint("other", n)
		c := claim(revision, fmt.Sprint("m", n), one, other)
		c.Match.Place, c.Match.Hosting, c.Assignments = "", nil, []*pb.Assignment{{Connection: "x"}, {Connection: "x"}}
		before := commands()
		must(t, s.Creator(nil).Create(t.Context(), project, ticket(one, 1)))
		must(t, s.Creator(nil).Create(t.Context(), project, ticket(other, 1)))
		created := commands()
		mustClaim(t, s, terms, c)
		creates, claims = min(creates, created-before), min(claims, commands()-created)

		one, other = "hosted-"+one, "hosted-"+other
		create(t, s, one, other)
		c = claim(revision, fmt.Sprint("h", n), one, other)
		before = commands()
		mustClaim(t, s, terms, c)
		claimed := commands()
		status, _, err := take(t.Context(), s, c.Match, epoch0, at(50))
		if must(t, err); status != state.MatchActive {
			t.Fatal(status)
		}
		begun := commands()
		ended, err := s.EndMatch(t.Context(), project, state.Ending{Match: c.Match, Tickets: c.Tickets,
			Results: []*pb.Assignment{{Connection: "x"}},
			Outcome: state.Outcome{Holder: "one", Connection: "x", Readable: time.Minute}})
		if must(t, err); len(ended.Assigned) != 2 {
			t.Fatal(ended)
		}
		hosted, begins, ends = min(hosted, claimed-before), min(begins, begun-claimed), min(ends, commands()-begun)
	}
	if creates > 2*11 || claims > 12 {
		t.Errorf("two creates take %d commands, want 22; their claim takes %d, want 12", creates, claims)
	}
	if hosted > 18 || begins > 9 || ends > 15 {
		t.Errorf("with a server: the claim takes %d commands, want 18; its begin %d, want 9; its end %d, want 15", hosted,
			begins, ends)
	}
}

// TestLimitsHoldBetweenLooks: of two processes that rarely look at a project's limits, neither creates a ticket more.
func TestLimitsHoldBetweenLooks(t *testing.T) {
	open := opener(t, embeddedtest.Redis(t))
	options := state.Options{History: 1000, Limits: state.Limits{Waiting: 20, Results: 24},
		Host: func() time.Time { return epoch0 }} // what was looked at counts all the time
	stores := []*state.Store{open(options), open(options)}
	revision, terms := setUp(t, stores[0])
	var created, matched []string
	fill := func(want int, limit string) {
		t.Helper()
		for n := range want + 1 {
			id := fmt.Sprint("t", len(created))
			err := stores[n%2].Creator(nil).Create(t.Context(), project, ticket(id, 1))
			if n < want {
				must(t, err)
				created = append(created, id)
			} else if refused, is := errors.AsType[*problem.Error](err); !is || refused.Limit.Name != limit {
				t.Fatalf("ticket %d: %v, want the limit %q", n, err, limit)
			}
		}
	}
	match := func(count int) {
		t.Helper()
		for range count / 2 {
			n := len(matched)
			c := claim(revision, fmt.Sprint("m", n), created[n], created[n+1])
			c.Match.Place, c.Match.Hosting, c.Assignments = "", nil, []*pb.Assignment{{Connection: "x"}, {Connection: "x"}}
			mustClaim(t, stores[0], terms, c)
			matched = created[:n+2]
		}
	}
	fill(20, "waiting")
	match(20)
	fill(20, "waiting")
	match(4)
	fill(0, "results")
	before := lastPosition(t, stores[0])
	for n := range 6 {
		if err := stores[n%2].Creator(nil).Create(t.Context(), project, ticket("refused", 1)); err == nil {
			t.Fatal("it was created")
		}
	}
	if after := lastPosition(t, stores[0]); after != before {
		t.Errorf("refused creates moved the history from %d to %d", before, after)
	}
	lines, end := readHistory(t, stores[0], nil)
	if strings.Contains(strings.Join(lines, "\n"), "gap") || end.GetPosition() != before {
		t.Errorf("the history ends at %d, and its counter at %d: %q", end.GetPosition(), before, lines)
	}
}

// TestReplacementsHoldTheLimit: a create that would replace its player's older ticket is refused where no ticket may be
// created, and the older one waits on. Where one may, it takes the place that the older one leaves.
func TestReplacementsHoldTheLimit(t *testing.T) {
	open := opener(t, embeddedtest.Redis(t))
	options := state.Options{History: 1000, Limits: state.Limits{Waiting: 4},
		Host: func() time.Time { return epoch0 }} // what was looked at counts all the time
	stores, n := []*state.Store{open(options), open(options)}, 0
	settings := &pb.ProjectSettings{Tickets: &pb.TicketRules{PlayerLimit: 1, WhenReached: "replace"}}
	creates := func(id, owner string) (state.Created, error) {
		n++
		return stores[n%2].Creator(nil).CreateAs(t.Context(), project, state.Creation{Settings: settings,
			Ticket: &pb.Ticket{Id: id, Owner: owner, Created: 1}})
	}
	refused := func(id, owner string) {
		t.Helper()
		for range stores {
			_, err := creates(id, owner)
			if e, is := errors.AsType[*problem.Error](err); !is || e.Limit == nil || e.Limit.Name != "waiting" {
				t.Fatalf("%s: %v, want the limit of waiting tickets", id, err)
			}
		}
	}
	waits := func(want ...string) {
		t.Helper()
		ids, err := stores[0].OldestWaiting(t.Context(), project, 0)
		must(t, err)
		if slices.Sort(ids); !slices.Equal(ids, want) {
			t.Fatalf("%q wait, want %q", ids, want)
		}
	}
	for _, id := range []string{"a1", "b1", "c1", "d1"} {
		must(t, second(creates(id, id[:1])))
	}
	refused("a2", "a")
	waits("a1", "b1", "c1", "d1")
	must(t, second(stores[0].DeleteTicket(t.Context(), project, "d1", "")))
	for k := range 6 { // each takes the place of the one before
		made, err := creates(fmt.Sprint("a", k+2), "a")
		if must(t, err); !slices.Equal(made.Ended, []string{fmt.Sprint("a", k+1)}) {
			t.Fatalf("it replaced %q", made.Ended)
		}
	}
	waits("a7", "b1", "c1")
	must(t, second(creates("e1", "e")))
	refused("f1", "f")
	refused("b2", "b")
	waits("a7", "b1", "c1", "e1")
}

// lastPosition is the last position of the history.
func lastPosition(t *testing.T, s *state.Store) uint64 {
	t.Helper()
	at, err := s.HistoryPosition(t.Context(), project)
	must(t, err)
	return at
}

// TestRefusedCreatesWriteNothing: where a limit is met, and where one is not but the player has a ticket.
func TestRefusedCreatesWriteNothing(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{History: 1000, Limits: state.Limits{Waiting: 9}})
	settings := &pb.ProjectSettings{Tickets: &pb.TicketRules{PlayerLimit: 1}}
	ask := func(id, owner string) error {
		return second(s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Settings: settings,
			Ticket: &pb.Ticket{Id: id, Owner: owner, Created: 1}}))
	}
	must(t, ask("first", "ada"))
	writes := regexp.MustCompile(`cmdstat_(incrby|xadd|zadd|hset):calls=\d+`)
	written := func() []string {
		text, err := s.Usage(t.Context())
		must(t, err)
		found := writes.FindAllString(text, -1)
		slices.Sort(found)
		return found
	}
	refuses := func(id, owner string) {
		t.Helper()
		before := written()
		for range 3 {
			if err := ask(id, owner); err == nil {
				t.Fatal("it was created")
			}
		}
		if after := written(); !slices.Equal(before, after) {
			t.Errorf("refused creates wrote: %q, then %q", before, after)
		}
	}
	refuses("again", "ada")
	for n := range 8 {
		must(t, ask(fmt.Sprint("t", n), fmt.Sprint("p", n)))
	}
	refuses("full", "bea")
}

// TestLimitsHoldInGroups: a group of which a part is refused, and tickets that wait again.
func TestLimitsHoldInGroups(t *testing.T) {
	for _, history := range []int{0, 1000} {
		s := opener(t, embeddedtest.Redis(t))(state.Options{History: history, Limits: state.Limits{Waiting: 20},
			Host: func() time.Time { return epoch0 }})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		c := claim(revision, "m", "a", "b")
		mustClaim(t, s, terms, c)
		var group []*pb.Ticket
		for n := range 18 {
			group = append(group, ticket(fmt.Sprint("t", n), 1))
		}
		must(t, s.Creator(nil).CreateAtOnce(t.Context(), project, group...)) // two may wait
		must(t, second(s.ReleaseMatch(t.Context(), project, c.Match, "test", false, "allocation")))
		if err := s.Creator(nil).Create(t.Context(), project, ticket("more", 1)); err == nil {
			t.Errorf("history %d: more wait than may, after some wait again", history)
		}
		must(t, second(s.DeleteTicket(t.Context(), project, "t0", "")))
		if err := s.Creator(nil).CreateAtOnce(t.Context(), project, ticket("in", 1), ticket("out", 1)); err == nil {
			t.Errorf("history %d: two were created for one", history)
		}
		if counts, err := s.Counts(t.Context(), project); err != nil || counts.Waiting != 20 {
			t.Errorf("history %d: %d wait: %v", history, counts.Waiting, err)
		}
	}
}

// TestLimitsHoldAfterAFailover: positions that are below what was known tell nothing.
func TestLimitsHoldAfterAFailover(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{History: 1000, Limits: state.Limits{Waiting: 20},
		Host: func() time.Time { return epoch0 }})
	create(t, s, "a")
	must(t, s.Flush(t.Context()), s.LetWait(t.Context(), project, []string{"x"}))
	for n := range 19 {
		must(t, s.LetWait(t.Context(), project, []string{fmt.Sprint("y", n)}))
	}
	if err := s.Creator(nil).Create(t.Context(), project, ticket("more", 1)); err == nil {
		t.Error("more wait than may")
	}
}

// TestProjectsShareRoundTrips: what many projects create, and claim, while two round trips are under way, takes one.
func TestProjectsShareRoundTrips(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{})
	const projects = 20
	name := func(n int) string { return fmt.Sprint("p", n) }
	for n := range projects { // Redis knows the projects and the scripts
		must(t, s.Creator(nil).Create(t.Context(), name(n), ticket("first", 1)))
	}
	revision, terms := setUp(t, s)
	create(t, s, "known")
	mustClaim(t, s, terms, claim(revision, "known", "known"))
	var trips atomic.Int64
	var gate atomic.Pointer[chan struct{}]
	s.OnTrips(func(int) {
		trips.Add(1)
		<-*gate.Load()
	})
	for what, step := range map[string]func(n int) error{
		"creates": func(n int) error { return s.Creator(nil).Create(t.Context(), name(n), ticket("second", 1)) },
		"claims": func(n int) error {
			_, err := s.Claim(t.Context(), name(n), terms, []*state.Claim{claim(1, "m", "first")})
			if errors.Is(err, state.ErrLeaseLost) {
				err = nil // it ran: this one leads no project
			}
			return err
		},
	} {
		held := make(chan struct{})
		gate.Store(&held)
		trips.Store(0)
		var all sync.WaitGroup
		for n := range projects {
			all.Go(func() {
				if err := step(n); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
		waittest.Until(t, "two are under way, and the others wait", func() bool {
			return trips.Load() == 2 && s.QueuedCommands(name(0)) == projects-2
		})
		close(held)
		all.Wait()
		if n := trips.Load(); n > 4 {
			t.Errorf("%s of %d projects took %d round trips", what, projects, n)
		}
	}
}

// TestResultTakesFewRoundTrips: what a result is counted with takes one round trip, and of many few.
func TestResultTakesFewRoundTrips(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{})
	revision, terms := setUp(t, s)
	create(t, s, "t0")
	mustClaim(t, s, terms, awaiting(revision, "m", "t0"))
	var trips atomic.Int64
	held, hold := make(chan struct{}), atomic.Bool{}
	s.OnTrips(func(int) {
		trips.Add(1)
		if hold.Load() {
			<-held
		}
	})
	read := func() {
		_, err := s.ReadResult(t.Context(), project, "m", []string{"ada", "bea"})
		if err != nil {
			t.Error(err)
		}
	}
	read()
	if n := trips.Swap(0); n != 1 {
		t.Errorf("one took %d round trips", n)
	}
	const many = 64
	hold.Store(true)
	var all sync.WaitGroup
	for n := range int64(2) { // as many round trips are under way at once
		all.Go(read)
		waittest.Until(t, "it is under way", func() bool { return trips.Load() == n+1 })
	}
	for range many - 2 {
		all.Go(read)
	}
	waittest.Until(t, "the others wait", func() bool { return s.QueuedCommands(project) == 4*(many-2) })
	hold.Store(false)
	close(held)
	all.Wait()
	if n := trips.Load(); n > 5 {
		t.Errorf("%d took %d round trips", many, n)
	}
}

// TestBatchesAreAbreast: of what is due, several steps are under way at a time. One after another, the first would wait
// here for the others.
func TestBatchesAreAbreast(t *testing.T) {
	const due, abreast = 48, 16
	s := opener(t, embeddedtest.Redis(t))(state.Options{})
	revision, terms := setUp(t, s)
	var claims []*state.Claim
	for n := range due {
		create(t, s, fmt.Sprint("t", n))
		claims = append(claims, claim(revision, fmt.Sprint("m", n), fmt.Sprint("t", n)))
		must(t, second(s.CreateBackfill(t.Context(), project, game(fmt.Sprint("g", n), 1))))
		must(t, s.CreateParty(t.Context(), project, &pb.Party{Id: fmt.Sprint("p", n), Code: fmt.Sprint("code", n), Size: 2,
			Members: []*pb.Member{{Player: fmt.Sprint("ada", n)}}}, state.PartyLimits{Parties: due, Silence: time.Minute}))
	}
	mustClaim(t, s, terms, claims...)
	for _, c := range claims {
		_, _, err := take(t.Context(), s, c.Match, epoch0, at(50))
		must(t, err)
	}
	const gap = time.Hour
	_, _, err := s.SweepParties(t.Context(), project, time.Minute, gap) // since then a service listens
	must(t, err)
	var together atomic.Pointer[barrier]
	var first atomic.Int64 // how many scripts come before those that are to be abreast
	s.OnTrips(func(scripts int) {
		if b := together.Load(); b != nil && first.Add(-int64(scripts)) < 0 {
			b.wait(scripts)
		}
	})
	for _, batch := range []struct {
		name  string
		first int64
		end   func() (done int, err error)
	}{
		{"overdue claims", 0, func() (int, error) {
			done, _, err := s.At(at(100)).ReleaseOverdueMatches(t.Context(), project, due)
			return len(done), err
		}},
		{"deallocations", 0, func() (int, error) {
			done, err := s.At(at(200)).ClaimDeallocations(t.Context(), []string{project}, due, retries)
			return len(done[project]), err
		}},
		{"silent games", 0, func() (int, error) {
			done, _, err := s.At(at(10000)).DeleteSilentBackfills(t.Context(), project, time.Second, due)
			return len(done), err
		}},
		{"silent members", 1, func() (int, error) {
			_, done, err := s.At(at(200)).SweepParties(t.Context(), project, time.Minute, gap)
			return len(done), err
		}},
	} {
		first.Store(batch.first)
		together.Store(newBarrier(abreast))
		done, err := batch.end()
		if err != nil || done != due || together.Load().late {
			t.Errorf("%s: %d done, %v; late: %v", batch.name, done, err, together.Load().late)
		}
	}
}

// barrier holds scripts until so many are under way, or it is late.
type barrier struct {
	most int
	open chan struct{}
	mu   sync.Mutex
	came int
	late bool
}

func newBarrier(most int) *barrier {
	b := &barrier{most: most, open: make(chan struct{})}
	time.AfterFunc(2*time.Minute, func() { b.come(most, true) })
	return b
}

func (b *barrier) come(scripts int, late bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.came < b.most && b.came+scripts >= b.most {
		b.late = late
		close(b.open)
	}
	b.came += scripts
}

func (b *barrier) wait(scripts int) {
	if scripts > 0 {
		b.come(scripts, false)
		<-b.open
	}
}

// TestRowsOfAnotherShapeAreErrors: what HMGET and MGET answer in another shape is never taken for nothing.
func TestRowsOfAnotherShapeAreErrors(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{})
	revision, terms := setUp(t, s)
	create(t, s, "a", "b")
	mustClaim(t, s, terms, claim(revision, "m", "a"))
	var on atomic.Bool
	var mangled atomic.Int64
	var mangle func(row []any) []any
	s.MangleRows(&on, &mangled, func(row []any) []any { return mangle(row) })
	ctx := t.Context()
	reads := map[string]func() error{
		"ticket":    func() error { return second(s.Ticket(ctx, project, "a")) },
		"tickets":   func() error { return second(s.Tickets(ctx, project, []string{"a", "b"})) },
		"match":     func() error { return second(s.Match(ctx, project, "m")) },
		"server":    func() error { return second(s.ServerOf(ctx, project, "m")) },
		"party":     func() error { return second(s.Party(ctx, project, "p")) },
		"party of":  func() error { return second(s.PartyOf(ctx, project, "ada")) },
		"code":      func() error { return second(s.PartyWith(ctx, project, "code")) },
		"queues":    func() error { return second(s.UnservedQueues(ctx, project, []string{"q"})) },
		"configs":   func() error { return third(s.ChangedConfigs(ctx, project, nil)) },
		"history":   func() error { return second(s.ConfigHistory(ctx, project, "c")) },
		"leases":    func() error { return second(s.Leases(ctx, []string{project})) },
		"inventory": func() error { return second(s.Inventories(ctx, []string{project})) },
		"due":       func() error { return second(s.DueWork(ctx, project, state.Ages{})) },
		"counts":    func() error { return second(s.Counts(ctx, project)) },
		"position":  func() error { return second(s.Position(ctx, project)) },
		"forget":    func() error { return second(s.ForgetPlayer(ctx, project, "a", "owner-of-a")) },
		"player": func() error {
			return s.FindPlayer(ctx, project, "owner-of-a", func(state.Mentions) error { return nil })
		},
		"report": func() error {
			_, _, err := s.Report(ctx, project, "", []int64{0})
			return err
		},
		"acceptances": func() error {
			_, err := s.At(at(100)).EndAcceptances(ctx, project, state.AcceptanceTerms{Limit: 10})
			return err
		},
	}
	for how, change := range map[string]func(row []any) []any{
		"numbers":   func(row []any) []any { return append([]any{int64(7)}, row[1:]...) },
		"too short": func(row []any) []any { return row[1:] },
		"too long":  func(row []any) []any { return append([]any{nil}, row...) },
	} {
		mangle = change
		for name, read := range reads {
			on.Store(true)
			mangled.Store(0)
			err := read()
			on.Store(false)
			if err == nil || mangled.Load() == 0 || problem.KindOf(err) == problem.NotFound {
				t.Errorf("%s, %s: %d rows were changed, and it answers %v", name, how, mangled.Load(), err)
			}
		}
	}
}

// TestRunningGamesTakeFewRoundTrips: most approvals find no player, and take one.
func TestRunningGamesTakeFewRoundTrips(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{})
	var trips atomic.Int64
	s.OnTrips(func(int) { trips.Add(1) })
	took := func(what string, want int64) {
		t.Helper()
		if n := trips.Swap(0); n != want {
			t.Errorf("%s: %d round trips, want %d", what, n, want)
		}
	}
	revision, terms := setUp(t, s)
	terms.Approval = 20 * time.Second
	joins := func(round int) {
		t.Helper()
		id := fmt.Sprint("t", round)
		create(t, s, id)
		generation, err := s.Generation(t.Context(), project, "g")
		must(t, err)
		c := fill(revision, &pb.Backfill{Id: "g", Generation: generation}, game("g", 1), id)
		trips.Store(0)
		if mustClaim(t, s, terms, c); c.Refusal != "" {
			t.Fatal(c.Refusal)
		}
	}
	createGame(t, s, game("g", 3))
	for round := range 2 { // in the first, Redis learns the scripts
		joins(2 * round)
		claimed := trips.Swap(0)
		approve(t, s, "g", round)
		approved := trips.Swap(0)
		approve(t, s, "g", round)
		idle := trips.Swap(0)
		joins(2*round + 1)
		trips.Store(0)
		must(t, second(s.At(at(round)).ReplaceBackfill(t.Context(), project, game("g", 3))))
		if round == 0 {
			trips.Store(0)
			continue
		}
		took("a PUT while a match goes there", 3)
		for what, n := range map[string][2]int64{"a claim, with what the game was started with": {claimed, 2},
			"an approval with a match, and those who joined before: four after another, and two at a time": {approved, 6},
			"an approval without one, and those who joined before":                                         {idle, 2}} {
			if n[0] != n[1] {
				t.Errorf("%s: %d round trips, want %d", what, n[0], n[1])
			}
		}
	}
}

// TestLooksAmongRefusals: the limits are looked at after a ticket of the group was refused.
func TestLooksAmongRefusals(t *testing.T) {
	open := opener(t, embeddedtest.Redis(t))
	options := state.Options{History: 1000, Limits: state.Limits{Waiting: 20, PlayerRate: 0.001, PlayerBurst: 1},
		Host: func() time.Time { return epoch0 }}
	s, other := open(options), open(options)
	ofAda := func(id string) *pb.Ticket { return &pb.Ticket{Id: id, Owner: "ada", Created: 1} }
	must(t, s.Creator(nil).Create(t.Context(), project, ofAda("first")))
	for n := range 12 {
		create(t, other, fmt.Sprint("t", n))
	}
	err := s.Creator(nil).CreateAtOnce(t.Context(), project, ofAda("again"), ticket("last", 1))
	if refused, is := errors.AsType[*problem.Error](err); !is || refused.Limit.Name != "player" {
		t.Errorf("a player creates too often: %v", err)
	}
	_, err = s.Ticket(t.Context(), project, "last")
	must(t, err)
}
