package state_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
)

const project = "demo"

// epoch0 is the time at which these tests start.
var epoch0 = time.UnixMilli(1_700_000_000_000)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// suite runs a test against a real Redis server and against the embedded one.
func suite(t *testing.T, test func(t *testing.T, open func(state.Options) *state.Store)) {
	t.Helper()
	onRedis(t, test)
	inMemory(t, test)
}

// longSuite is suite for tests with many large calls, for which the embedded server takes seconds. A short run leaves
// that out.
func longSuite(t *testing.T, test func(t *testing.T, open func(state.Options) *state.Store)) {
	t.Helper()
	onRedis(t, test)
	if !testing.Short() {
		inMemory(t, test)
	}
}

func onRedis(t *testing.T, test func(t *testing.T, open func(state.Options) *state.Store)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, opener(t, embeddedtest.Redis(t)))
	})
}

func inMemory(t *testing.T, test func(t *testing.T, open func(state.Options) *state.Store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		server, err := embedded.StartMemory(0, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		test(t, opener(t, embeddedtest.Patient(server.URL())))
	})
}

// opener opens stores whose time is epoch0, and whose method At gives them another.
func opener(t *testing.T, url string) func(state.Options) *state.Store {
	return func(o state.Options) *state.Store {
		t.Helper()
		o.Server.URL, o.Log = url, slog.New(slog.DiscardHandler)
		if o.Clock == nil {
			o.Clock = func() time.Time { return epoch0 }
		}
		s, err := state.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		s.LookEvery(50 * time.Millisecond)
		return s
	}
}

// ticket is a ticket created n seconds after epoch0.
func ticket(id string, n int) *pb.Ticket {
	return &pb.Ticket{
		Id: id, Owner: "owner-of-" + id, Created: epoch0.Add(time.Duration(n) * time.Second).UnixMilli(),
		AttributeNames: []string{"skill"}, AttributeValues: []float64{float64(n)},
		Properties: map[string][]byte{"blob": {0, 255, '\r', '\n'}},
	}
}

func create(t *testing.T, s *state.Store, ids ...string) {
	t.Helper()
	for i, id := range ids {
		if err := s.At(at(i)).Creator(nil).Create(t.Context(), project, ticket(id, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// setUp stores the config "c" and takes the lease; it returns the config's revision and terms to claim under.
func setUp(t *testing.T, s *state.Store) (revision int64, terms state.ClaimOptions) {
	t.Helper()
	revision, _, err := s.PutConfig(t.Context(), project, &pb.Config{Id: "c", Function: "duel"}, state.AnyRevision)
	if err != nil {
		t.Fatal(err)
	}
	epoch, err := s.AcquireLease(t.Context(), project, "director-1", time.Second)
	if err != nil || epoch == 0 {
		t.Fatalf("lease: epoch %d, %v", epoch, err)
	}
	return revision, state.ClaimOptions{Epoch: epoch, Claim: 10 * time.Second, Readable: time.Minute}
}

// claim asks for a match that needs a server.
func claim(revision int64, match string, tickets ...string) *state.Claim {
	return &state.Claim{
		Match: &pb.Match{
			Id: match, Config: "c", Revision: revision,
			Proposal: &pb.Proposal{Teams: []*pb.Team{{Tickets: tickets[:1]}, {Tickets: tickets[1:]}}},
			Hosting:  &pb.Hosting{Fleet: "f"},
			Place:    state.PlaceHosting,
		},
		Tickets: tickets,
	}
}

// direct is a claim whose tickets are assigned at once.
func direct(revision int64, match, connection string, tickets ...string) *state.Claim {
	c := claim(revision, match, tickets...)
	c.Match.Place = ""
	for range tickets {
		c.Assignments = append(c.Assignments, &pb.Assignment{Connection: connection})
	}
	return c
}

func mustClaim(t *testing.T, s *state.Store, terms state.ClaimOptions, claims ...*state.Claim) {
	t.Helper()
	if _, err := s.Claim(t.Context(), project, terms, claims); err != nil {
		t.Fatal(err)
	}
}

// mirror is a Sink that stores the changes.
type mirror struct {
	store    *state.Store // the store that it follows
	mu       sync.Mutex
	changed  chan struct{}
	wake     chan struct{} // reads the feed at once
	waiting  map[string]string
	shown    map[string]*pb.Backfill
	position uint64
	resets   int
	claimed  []string // tickets that matches took, in order
}

func newMirror() *mirror {
	return &mirror{changed: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

func (m *mirror) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting, m.shown, m.position = map[string]string{}, map[string]*pb.Backfill{}, 0
	m.resets++
}

func (m *mirror) Apply(changes []state.Change, position uint64) {
	m.mu.Lock()
	for _, c := range changes {
		if c.Backfill != "" {
			b, err := c.DecodeBackfill()
			if err != nil {
				panic(err)
			}
			if m.shown[c.Backfill] = b; b == nil {
				delete(m.shown, c.Backfill)
			}
		} else if c.Body == "" {
			delete(m.waiting, c.Ticket)
			if c.Claimed {
				m.claimed = append(m.claimed, c.Ticket)
			}
		} else {
			m.waiting[c.Ticket] = c.Body
		}
	}
	m.position = position
	m.mu.Unlock()
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// follow mirrors the project's feed until the test ends.
func follow(t *testing.T, s *state.Store) *mirror {
	m := newMirror()
	m.store = s
	followInto(t, s, m, m.wake)
	return m
}

// followInto follows the feed until end is called, or the test ends. wake may be nil.
func followInto(t *testing.T, s *state.Store, m state.Sink, wake <-chan struct{}) (end func()) {
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { s.Follow(ctx, project, m, wake) })
	end = func() { stop(); done.Wait() }
	t.Cleanup(end)
	return end
}

// sees waits until the mirror has exactly these waiting tickets.
func (m *mirror) sees(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	m.until(t, func() (any, bool) {
		got := slices.Sorted(maps.Keys(m.waiting))
		return got, slices.Equal(got, want)
	}, want)
}

// reaches waits until the mirror has reached a position.
func (m *mirror) reaches(t *testing.T, position uint64) {
	t.Helper()
	m.until(t, func() (any, bool) { return m.position, m.position >= position }, position)
}

// body returns the mirror's body of a waiting ticket.
func (m *mirror) body(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting[id]
}

// isWaiting checks that exactly these tickets wait, in the set and in a new snapshot.
func isWaiting(t *testing.T, s *state.Store, want ...string) {
	t.Helper()
	n, err := s.Waiting(t.Context(), project)
	if err != nil || n != int64(len(want)) {
		t.Fatalf("%d tickets wait (%v), want %v", n, err, want)
	}
	m := newMirror()
	end := followInto(t, s, m, nil)
	m.sees(t, want...)
	end()
}

func kindOf(t *testing.T, err error, want problem.Code) {
	t.Helper()
	if err == nil || problem.KindOf(err) != want {
		t.Fatalf("error %v of kind %v, want kind %v", err, problem.KindOf(err), want)
	}
}

func assigned(t *testing.T, s *state.Store, id string) *pb.Assignment {
	t.Helper()
	got, err := s.Ticket(t.Context(), project, id)
	if err != nil {
		t.Fatal(err)
	}
	return got.Assignment
}

func TestTicketIsReadAsItWasCreated(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		create(t, s, "a", "b")
		got, err := s.Ticket(t.Context(), project, "b")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ticket("b", 1), got.Body, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		if got.Assignment != nil {
			t.Errorf("a waiting ticket has an assignment: %v", got.Assignment)
		}
		_, err = s.Ticket(t.Context(), "other", "b")
		kindOf(t, err, problem.NotFound)
	})
}

// Promise 1.
func TestManyCreatesAtOnceAreAllStored(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		m := follow(t, s)
		var last uint64
		c := s.Creator(func(_ context.Context, _ string, position uint64, _ ...string) { last = max(last, position) })
		var all sync.WaitGroup
		var ids []string
		for i := range 500 {
			id := fmt.Sprintf("t%03d", i)
			ids = append(ids, id)
			all.Go(func() {
				if err := c.Create(t.Context(), project, ticket(id, i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		m.sees(t, ids...)
		if last == 0 || last > 500 {
			t.Errorf("500 tickets took %d entries of the feed", last)
		}
	})
}

func TestCreateStopsAtTheLimitOfWaitingTickets(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Waiting: 2}})
		create(t, s, "a", "b")
		kindOf(t, s.Creator(nil).Create(t.Context(), project, ticket("c", 3)), problem.Limited)
		if _, err := s.DeleteTicket(t.Context(), project, "a", ""); err != nil {
			t.Fatal(err)
		}
		create(t, s, "d")
		isWaiting(t, s, "b", "d")
	})
}

func TestCreateStopsAtTheLimitOfResults(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Results: 4}})
		revision, terms := setUp(t, s)
		refused := func(s *state.Store) {
			t.Helper()
			kindOf(t, s.Creator(nil).Create(t.Context(), project, ticket("e", 5)), problem.Limited)
		}
		create(t, s, "a", "b", "c", "d")
		one, two := direct(revision, "one", "1.2.3.4:5", "a", "b"), claim(revision, "two", "c", "d")
		mustClaim(t, s, terms, one, two)
		create(t, s, "f", "g")
		_, _, err := take(t.Context(), s, two.Match, epoch0, at(10))
		must(t, err)
		status, _, err := s.Assign(t.Context(), project, two.Match, state.Outcome{Holder: "one", Readable: time.Minute,
			Connection: "5.6.7.8:9"}, map[string]*pb.Assignment{"c": {}, "d": {}})
		if err != nil || status != state.MatchActive {
			t.Fatal(status, err)
		}
		refused(s)
		if now, err := s.Counts(t.Context(), project); err != nil || now.Results != 4 {
			t.Errorf("%d results are kept, %v", now.Results, err)
		}
		_, err = s.DeleteTicket(t.Context(), project, "c", "")
		must(t, err)
		refused(s) // what is kept of it ends at its time, not when it is deleted: leaders of earlier versions do not count
		later := s.At(epoch0.Add(5 * time.Minute))
		must(t, later.Creator(nil).Create(t.Context(), project, ticket("e", 5)))
		isWaiting(t, s, "e", "f", "g")
	})
}

func TestDeleteIsForTheOwner(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		create(t, s, "a", "b")
		_, err := s.DeleteTicket(t.Context(), project, "a", "owner-of-b")
		kindOf(t, err, problem.NotFound)
		isWaiting(t, s, "a", "b")
		if _, err := s.DeleteTicket(t.Context(), project, "a", "owner-of-a"); err != nil {
			t.Fatal(err)
		}
		isWaiting(t, s, "b")
		_, err = s.DeleteTicket(t.Context(), project, "a", "")
		kindOf(t, err, problem.NotFound)
	})
}

// Promise 2.
func TestClaimIsAllOrNothing(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c", "d", "e")
		first, second, third := claim(revision, "m1", "a", "b"), claim(revision, "m2", "b", "c"), direct(revision, "m3",
			"1.2.3.4:5", "d", "e")
		missing := claim(revision, "m4", "c", "nobody")
		mustClaim(t, s, terms, first, second, third, missing)
		if first.Refusal != "" || second.Refusal != "b" || third.Refusal != "" || missing.Refusal != "nobody" {
			t.Fatalf("refused: %q %q %q %q", first.Refusal, second.Refusal, third.Refusal, missing.Refusal)
		}
		isWaiting(t, s, "c")
		if got := assigned(t, s, "e"); got.GetConnection() != "1.2.3.4:5" {
			t.Errorf("assignment %v", got)
		}
		if got := assigned(t, s, "a"); got != nil {
			t.Errorf("a ticket without a server yet has the assignment %v", got)
		}
		m, err := s.Match(t.Context(), project, "m1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first.Match, m, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestClaimsOfManyScriptsComeBackInOrder(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		var ids []string
		var claims []*state.Claim
		for i := range 700 {
			a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
			ids = append(ids, a, b)
			if i%7 == 3 {
				b = "nobody"
			}
			claims = append(claims, direct(revision, fmt.Sprint("m", i), fmt.Sprint("c", i), a, b))
		}
		create(t, s, ids...)
		mustClaim(t, s, terms, claims...)
		for i, c := range claims {
			want := ""
			if i%7 == 3 {
				want = "nobody"
			}
			if c.Refusal != want {
				t.Fatalf("claim %d was refused for %q, want %q", i, c.Refusal, want)
			}
		}
		if got := assigned(t, s, "b600"); got.GetConnection() != "c600" {
			t.Errorf("ticket b600 got %v", got)
		}
	})
}

// Promise 2.
func TestClaimNeedsTheLease(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		// Another director takes over when the lease of the first has expired.
		if epoch, err := s.At(epoch0.Add(999*time.Millisecond)).AcquireLease(t.Context(), project, "director-2",
			time.Second); err != nil || epoch != 0 {
			t.Fatalf("a lease was taken before it expired: epoch %d, %v", epoch, err)
		}
		epoch, err := s.At(epoch0.Add(time.Second)).AcquireLease(t.Context(), project, "director-2", time.Second)
		if err != nil || epoch <= terms.Epoch {
			t.Fatalf("epoch %d after %d, %v", epoch, terms.Epoch, err)
		}
		if _, err := s.Claim(t.Context(), project, terms, []*state.Claim{claim(revision, "m", "a", "b")}); !errors.Is(err,
			state.ErrLeaseLost) {
			t.Fatalf("the former director claimed: %v", err)
		}
		isWaiting(t, s, "a", "b")
		terms.Epoch = epoch
		c := claim(revision, "m", "a", "b")
		mustClaim(t, s, terms, c)
		if c.Refusal != "" {
			t.Errorf("refused: %q", c.Refusal)
		}
	})
}

func TestReleasedLeaseIsFree(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		_, terms := setUp(t, s)
		if err := s.ReleaseLease(t.Context(), project, "somebody else"); err != nil {
			t.Fatal(err)
		}
		if epoch, _ := s.AcquireLease(t.Context(), project, "director-2", time.Second); epoch != 0 {
			t.Fatal("another owner released the lease")
		}
		if err := s.ReleaseLease(t.Context(), project, "director-1"); err != nil {
			t.Fatal(err)
		}
		if epoch, _ := s.AcquireLease(t.Context(), project, "director-2", time.Second); epoch <= terms.Epoch {
			t.Fatalf("epoch %d", epoch)
		}
	})
}

// Promise 6.
func TestClaimNeedsAnUnchangedConfig(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		if _, _, err := s.PutConfig(t.Context(), project, &pb.Config{Id: "c", Function: "other"},
			state.AnyRevision); err != nil {
			t.Fatal(err)
		}
		changed := claim(revision, "m1", "a", "b")
		mustClaim(t, s, terms, changed)
		if there, err := s.DeleteConfig(t.Context(), project, "c", state.AnyRevision, ""); err != nil || !there {
			t.Fatal(there, err)
		}
		deleted := direct(revision+1, "m2", "x", "a", "b")
		mustClaim(t, s, terms, deleted)
		if changed.Refusal != "config" || deleted.Refusal != "config" {
			t.Errorf("refused: %q, %q", changed.Refusal, deleted.Refusal)
		}
		isWaiting(t, s, "a", "b")
	})
}

// Promises 3, 4.
func TestAssignReachesAllTicketsOfAMatch(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c")
		c := claim(revision, "m", "a", "b", "c")
		mustClaim(t, s, terms, c)
		if status, _, err := take(t.Context(), s, c.Match, epoch0, epoch0.Add(20*time.Second)); err != nil ||
			status != state.MatchActive {
			t.Fatal(status, err)
		}
		// A ticket that leaves now no longer drops the match.
		if _, err := s.DeleteTicket(t.Context(), project, "b", ""); err != nil {
			t.Fatal(err)
		}
		if status, _, err := take(t.Context(), s, c.Match, epoch0, epoch0.Add(20*time.Second)); err != nil ||
			status != state.MatchActive {
			t.Fatal("asked again:", status, err)
		}
		results := map[string]*pb.Assignment{}
		for _, id := range c.Tickets {
			results[id] = &pb.Assignment{Connection: "1.2.3.4:5", Properties: []byte(`{"for":"` + id + `"}`)}
		}
		status, got, err := s.Assign(t.Context(), project, c.Match, state.Outcome{Holder: "one", Readable: time.Minute,
			Connection: "1.2.3.4:5"}, results)
		slices.Sort(got)
		if err != nil || status != state.MatchActive || !slices.Equal(got, []string{"a", "c"}) {
			t.Fatal(got, status, err)
		}
		if diff := cmp.Diff(results["c"], assigned(t, s, "c"), protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		_, err = s.Ticket(t.Context(), project, "b")
		kindOf(t, err, problem.NotFound)
		if status, _, err := s.Assign(t.Context(), project, c.Match, state.Outcome{Holder: "one"},
			map[string]*pb.Assignment{"a": {Connection: "other"}}); status != state.MatchAssigned || err != nil {
			t.Error("a match was assigned twice", status, err)
		}
		if status, _, err := take(t.Context(), s, c.Match, epoch0, epoch0); err != nil || status != state.MatchAssigned {
			t.Error(status, err)
		}
	})
}

func TestAssignedMatchIsStoredUntilItsExpiry(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		c := claim(revision, "m", "a", "b")
		mustClaim(t, s, terms, c)
		if _, _, err := take(t.Context(), s, c.Match, epoch0, at(10)); err != nil {
			t.Fatal(err)
		}
		end := state.Outcome{Holder: "one", Readable: time.Minute, Connection: "1.2.3.4:5"}
		if _, _, err := s.Assign(t.Context(), project, c.Match, end,
			map[string]*pb.Assignment{"a": {}, "b": {}}); err != nil {
			t.Fatal(err)
		}
		// Its deadline no longer counts: players are on their way to the server.
		if released, _, err := s.At(at(10).Add(time.Hour)).ReleaseOverdueMatches(t.Context(), project, 10); err != nil ||
			len(released) > 0 {
			t.Fatal("released:", released, err)
		}
		if status, _, err := take(t.Context(), s, c.Match, epoch0, at(10)); err != nil ||
			status != state.MatchAssigned {
			t.Fatal(status, err)
		}
		// Results and the match are deleted after their expiry.
		e, err := s.At(at(60)).Expire(t.Context(), project, time.Hour, time.Minute, 10)
		if err != nil || e.Read != 2 || e.Matches != 1 {
			t.Fatal(e, err)
		}
		if status, _, err := take(t.Context(), s, c.Match, epoch0, at(10)); err != nil ||
			status != state.MatchForgotten {
			t.Fatal(status, err)
		}
	})
}

// Promise 3.
func TestMatchIsDroppedWhenATicketLeftBeforeItsServerWasAskedFor(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c")
		c := claim(revision, "m", "a", "b", "c")
		mustClaim(t, s, terms, c)
		m := follow(t, s)
		m.sees(t)
		if _, err := s.DeleteTicket(t.Context(), project, "a", ""); err != nil {
			t.Fatal(err)
		}
		status, position, err := take(t.Context(), s, c.Match, epoch0, epoch0)
		if err != nil || status != state.MatchDropped || position == 0 {
			t.Fatal(status, position, err)
		}
		m.sees(t, "b", "c")
		got := new(pb.Ticket)
		if err := proto.Unmarshal([]byte(m.body("c")), got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ticket("c", 2), got, protocmp.Transform()); diff != "" {
			t.Error("a ticket that waits again changed:", diff)
		}
		isWaiting(t, s, "b", "c")
	})
}

// Promise 5.
func TestOverdueClaimIsReleased(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c", "d")
		lost, begun := claim(revision, "lost", "a", "b"), claim(revision, "begun", "c", "d")
		mustClaim(t, s, terms, lost, begun)
		if _, _, err := take(t.Context(), s, begun.Match, epoch0, at(10).Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if released, _, err := s.At(at(10).Add(-time.Millisecond)).ReleaseOverdueMatches(t.Context(), project,
			10); err != nil || len(released) > 0 {
			t.Fatal("released before the deadline:", released, err)
		}
		released, position, err := s.At(at(10)).ReleaseOverdueMatches(t.Context(), project, 10)
		if err != nil || !slices.Equal(released, []string{"lost"}) || position == 0 {
			t.Fatal(released, position, err)
		}
		isWaiting(t, s, "a", "b")
		if status, _, err := s.Assign(t.Context(), project, lost.Match, state.Outcome{Holder: "one"},
			map[string]*pb.Assignment{"a": {}}); status != state.MatchForgotten || err != nil {
			t.Error("a released match was assigned", status, err)
		}
		if status, _, err := take(t.Context(), s, lost.Match, epoch0, epoch0); err != nil || status != state.MatchForgotten {
			t.Error(status, err)
		}
		_, err = s.Match(t.Context(), project, "lost")
		kindOf(t, err, problem.NotFound)
		if got := assigned(t, s, "a"); got != nil {
			t.Error("a released ticket has a result:", got)
		}
	})
}

// A match with the most tickets of a proposal is proposed to a running game, claimed, released, begun and assigned in
// one step each.
func TestLargestMatch(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 100_000})
		revision, terms := setUp(t, s)
		ids := make([]string, invocation.MaxTickets)
		results := map[string]*pb.Assignment{}
		for i := range ids {
			ids[i] = fmt.Sprint("t", i)
			results[ids[i]] = &pb.Assignment{Connection: "server:1"}
		}
		create(t, s, ids...)
		createGame(t, s, game("g", 2000))
		proposal := fill(revision, follow(t, s).seesGame(t, version(game("g", 2000), 1)), nil, ids...)
		terms.Approval = 20 * time.Second
		mustClaim(t, s, terms, proposal)
		if proposal.Refusal != "" {
			t.Fatal(proposal.Refusal)
		}
		must(t, second(s.At(at(21)).EndOverdueJoins(t.Context(), project, time.Minute, 10)))
		isWaiting(t, s, ids...)

		mustClaim(t, s, terms, claim(revision, "lost", ids...))
		if released, _, err := s.At(at(10)).ReleaseOverdueMatches(t.Context(), project, 10); err != nil ||
			len(released) != 1 {
			t.Fatal(released, err)
		}
		isWaiting(t, s, ids...)

		served := claim(revision, "served", ids...)
		mustClaim(t, s, terms, served)
		if _, _, err := take(t.Context(), s, served.Match, epoch0, at(10)); err != nil {
			t.Fatal(err)
		}
		end := state.Outcome{Holder: "one", Readable: 10 * time.Minute, Connection: "server:1"}
		_, got, err := s.Assign(t.Context(), project, served.Match, end, results)
		if err != nil || len(got) != len(ids) {
			t.Fatalf("%d of %d tickets are assigned, %v", len(got), len(ids), err)
		}
	})
}

// Promise 5.
func TestOutboxKeepsMatchesThatWereNotSent(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c", "d", "e", "f")
		begun := claim(revision, "m2", "c", "d")
		mustClaim(t, s, terms, claim(revision, "m1", "a", "b"), begun, direct(revision, "m3", "x", "e", "f"))
		if young, err := s.Outbox(t.Context(), project, time.Millisecond, 10); err != nil || len(young) > 0 {
			t.Fatal(young, err)
		}
		left, err := s.Outbox(t.Context(), project, 0, 10)
		if err != nil || !slices.Equal(left, []string{"m1", "m2"}) {
			t.Fatal(left, err)
		}
		if err := s.RemoveFromOutbox(t.Context(), project, []string{"m1"}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := take(t.Context(), s, begun.Match, epoch0, at(20)); err != nil {
			t.Fatal(err)
		}
		if left, err = s.Outbox(t.Context(), project, 0, 10); err != nil || len(left) > 0 {
			t.Fatal("the outbox still has matches:", left, err)
		}
	})
}

// Promise 1.
func TestExpiry(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c", "d") // created 0, 1, 2, 3 seconds after the start
		mustClaim(t, s, terms, direct(revision, "m", "x", "a", "b"))
		m := follow(t, s)
		m.sees(t, "c", "d")
		e, err := s.At(at(60).Add(-time.Millisecond)).Expire(t.Context(), project, 28900*time.Millisecond, time.Minute, 10)
		if err != nil || e.Abandoned != 1 || e.Read != 0 || e.Position == 0 {
			t.Fatal(e, err)
		}
		m.sees(t, "d")
		_, err = s.Ticket(t.Context(), project, "c")
		kindOf(t, err, problem.NotFound)
		if got := assigned(t, s, "a"); got == nil {
			t.Error("a result became unreadable too soon")
		}
		if _, err := s.DeleteTicket(t.Context(), project, "b", ""); err != nil {
			t.Fatal(err)
		}
		if e, err = s.At(at(60)).Expire(t.Context(), project, time.Hour, time.Minute, 10); err != nil || e.Read != 1 {
			t.Fatal("want one expired result:", e, err)
		}
		_, err = s.Ticket(t.Context(), project, "a")
		kindOf(t, err, problem.NotFound)
		isWaiting(t, s, "d")
	})
}

func TestRatesAreSharedByAllReplicas(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		options := state.Options{Limits: state.Limits{PlayerRate: 1, PlayerBurst: 2, ProjectRate: 10, ProjectBurst: 4}}
		now := epoch0
		clock := func() time.Time { return now }
		options.Clock = clock
		one, two := open(options).Creator(nil), open(options).Creator(nil)
		n := 0
		by := func(c *state.Creator, owner string) error {
			n++
			body := ticket(fmt.Sprint("t", n), n)
			body.Owner = owner
			return c.Create(t.Context(), project, body)
		}
		for _, c := range []*state.Creator{one, two} {
			if err := by(c, "a"); err != nil {
				t.Fatal(err)
			}
		}
		isLimited(t, by(one, "a"), "player", time.Second)
		now = now.Add(400 * time.Millisecond)
		isLimited(t, by(two, "a"), "player", 600*time.Millisecond)
		for _, owner := range []string{"b", "c", "d", "e"} {
			if err := by(one, owner); err != nil {
				t.Fatal(owner, err)
			}
		}
		times := map[time.Duration]bool{}
		for range 9 {
			times[isLimited(t, by(two, "f"), "project", 100*time.Millisecond)] = true
		}
		if len(times) < 2 {
			t.Errorf("all that are refused are to come again after %v", times)
		}
		now = now.Add(600 * time.Millisecond)
		if err := by(one, "a"); err != nil {
			t.Fatal("a second later:", err)
		}
	})
}

// However long a project's bucket takes to fill, it is kept, and buckets of players are not kept longer for it.
func TestProjectsBucketOutlivesThoseOfPlayers(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{PlayerRate: 10, PlayerBurst: 50, ProjectRate: 1, ProjectBurst: 40}})
		n := 0
		creates := func(after time.Duration) error {
			n++
			body := ticket(fmt.Sprint("t", n), n)
			body.Owner = "a"
			return s.At(epoch0.Add(after)).Creator(nil).Create(t.Context(), project, body)
		}
		for range 40 {
			must(t, creates(0))
		}
		kindOf(t, creates(0), problem.Limited)
		if kept, err := s.RateOf(t.Context(), project, "a"); err != nil || kept > 20*time.Second {
			t.Errorf("the bucket of a player is kept for %v, %v", kept, err)
		}
		const later = 25 * time.Second
		for range int(later / time.Second) {
			must(t, creates(later))
		}
		kindOf(t, creates(later), problem.Limited)
	})
}

// Players' buckets move to another hash now and then. No player gains by it, and full buckets are forgotten.
func TestPlayersAreForgottenWhenTheirBucketsAreFull(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		options := state.Options{Limits: state.Limits{PlayerRate: 1, PlayerBurst: 20}}
		store := open(options)
		at := func(after time.Duration) *state.Creator {
			return store.At(epoch0.Add(after)).Creator(nil)
		}
		n := 0
		by := func(c *state.Creator, owner string) error {
			n++
			body := ticket(fmt.Sprint("t", n), n)
			body.Owner = owner
			return c.Create(t.Context(), project, body)
		}
		const end = 20 * time.Second // of the period that begins with epoch0
		for range 20 {
			if err := by(at(end-time.Second), "a"); err != nil {
				t.Fatal(err)
			}
		}
		kindOf(t, by(at(end-time.Second), "a"), problem.Limited)
		// Redis's clock jumps back into the period before.
		if err := by(at(end), "a"); err != nil {
			t.Fatal("a second later:", err)
		}
		kindOf(t, by(at(end), "a"), problem.Limited)
		kindOf(t, by(at(end-time.Millisecond), "a"), problem.Limited)
		if err := by(at(end+time.Second), "b"); err != nil {
			t.Fatal(err)
		}
		if stored, err := store.Players(t.Context(), project); err != nil || stored != 3 { // a in both hashes
			t.Fatal(stored, err)
		}
		if err := by(at(2*end), "c"); err != nil {
			t.Fatal(err)
		}
		// c, and a and b of the period before
		if stored, err := store.Players(t.Context(), project); err != nil || stored != 3 {
			t.Fatal("one period later:", stored, err)
		}
		if err := by(at(10*end), "d"); err != nil {
			t.Fatal(err)
		}
		if stored, err := store.Players(t.Context(), project); err != nil || stored != 1 {
			t.Fatal("long after:", stored, err)
		}
	})
}

// What was charged counts after Redis's clock jumped back into the turn before.
func TestChargesCountWhenTheClockJumpsBack(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{Limits: state.Limits{PlayerRate: 1, PlayerBurst: 20}})
	const turn = 20 * time.Second
	by := func(after time.Duration, n int) error {
		body := ticket(fmt.Sprint("t", n), n)
		body.Owner = "a"
		return s.At(epoch0.Add(after)).Creator(nil).Create(t.Context(), project, body)
	}
	for n := range 10 {
		must(t, by(turn, n))
	}
	for n := range 9 {
		must(t, by(turn-time.Millisecond, 10+n))
	}
	kindOf(t, by(turn-time.Millisecond, 19), problem.Limited)
}

func TestScriptsThatRedisForgotAreSentAgain(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		var claims []*state.Claim
		for i := range 3 { // batches, as each match has more tickets than fit beside another
			var ids []string
			for j := range 300 {
				ids = append(ids, fmt.Sprintf("t%d-%d", i, j))
			}
			create(t, s, ids...)
			claims = append(claims, direct(revision, fmt.Sprint("m", i), "x", ids...))
		}
		if err := s.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustClaim(t, s, terms, claims...)
		if n, err := s.Waiting(t.Context(), project); err != nil || n > 0 {
			t.Fatal("tickets that still wait:", n, err)
		}
	})
}

func TestCharge(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		budget := state.Budget{Amount: 10 * time.Minute, Window: time.Hour}
		charge := func(used time.Duration, after time.Duration, wantLeft, wantEmpty time.Duration) {
			t.Helper()
			left, empty, err := s.At(epoch0.Add(after)).Charge(t.Context(), project, "compile", used, budget)
			if err != nil || left.Round(time.Second) != wantLeft || empty.Round(time.Second) != wantEmpty {
				t.Errorf("Charge(%v) after %v = %v, %v, %v; want %v, %v", used, after, left, empty, err, wantLeft, wantEmpty)
			}
		}
		charge(0, 0, 10*time.Minute, 0)
		charge(4*time.Minute, 0, 6*time.Minute, 0)
		charge(0, 6*time.Minute, 7*time.Minute, 0)              // a sixth of the time comes back
		charge(9*time.Minute, 6*time.Minute, 0, 12*time.Minute) // what was done is charged, also beyond
		charge(0, 17*time.Minute, 0, time.Minute)
		charge(0, 24*time.Minute, time.Minute, 0)
		charge(0, 10*time.Hour, 10*time.Minute, 0)
		if left, _, err := s.Charge(t.Context(), "other", "compile", 0, budget); err != nil ||
			left != budget.Amount {
			t.Errorf("another project has %v, %v", left, err)
		}
	})
}

func TestAllow(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s, rate := open(state.Options{}), state.Rate{PerSecond: 2, Burst: 3}
		for range 3 {
			if err := s.Allow(t.Context(), project, "configs", rate); err != nil {
				t.Fatal(err)
			}
		}
		kindOf(t, s.Allow(t.Context(), project, "configs", rate), problem.Limited)
		if err := s.Allow(t.Context(), project, "functions", rate); err != nil {
			t.Error("another bucket:", err)
		}
		if err := s.At(epoch0.Add(500*time.Millisecond)).Allow(t.Context(), project, "configs", rate); err != nil {
			t.Error("half a second later:", err)
		}
		later := s.At(epoch0.Add(time.Minute))
		must(t, later.AllowN(t.Context(), project, "configs", rate, 0))
		must(t, later.AllowN(t.Context(), project, "configs", rate, 2))
		kindOf(t, later.AllowN(t.Context(), project, "configs", rate, 2), problem.Limited)
		must(t, later.AllowN(t.Context(), project, "configs", rate, 1))
		kindOf(t, later.AllowN(t.Context(), project, "configs", rate, 0), problem.Limited)
		must(t, s.At(epoch0.Add(time.Hour)).AllowN(t.Context(), project, "configs", rate, 60)) // what a full one holds
		if err := s.Allow(t.Context(), project, "configs", state.Rate{}); err != nil {
			t.Error("no limit:", err)
		}
	})
}
