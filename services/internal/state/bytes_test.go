package state_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// many are tickets with bodies of somewhat more than size bytes.
func many(count, size int) (tickets []*pb.Ticket, ids []string) {
	for i := range count {
		ids = append(ids, fmt.Sprint("t", i))
		tickets = append(tickets, bulky(ids[i], i, size))
	}
	return tickets, ids
}

// bytesOf adds up names and values.
func bytesOf(entries ...[]string) (n int) {
	for _, entry := range entries {
		for _, text := range entry {
			n += len(text)
		}
	}
	return n
}

func feedOf(t *testing.T, s *state.Store) [][]string {
	t.Helper()
	entries, err := s.FeedEntries(t.Context(), project)
	must(t, err)
	return entries
}

// has checks the bodies that a mirror has.
func (m *mirror) has(t *testing.T, tickets ...*pb.Ticket) {
	t.Helper()
	ids := make([]string, len(tickets))
	for i, ticket := range tickets {
		ids[i] = ticket.GetId()
	}
	m.sees(t, ids...)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, want := range tickets {
		got := new(pb.Ticket)
		if err := proto.Unmarshal([]byte(m.waiting[want.GetId()]), got); err != nil || !proto.Equal(got, want) {
			t.Errorf("the body of %s has %d bytes, %v", want.GetId(), len(m.waiting[want.GetId()]), err)
		}
	}
}

// A match of 1,000 tickets is created, claimed and released, with bodies that are carried, and with bodies that are
// only named.
func TestEntriesOfTheFeedAreBounded(t *testing.T) {
	for _, size := range []int{100, 900, 20 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
				s := open(state.Options{})
				revision, terms := setUp(t, s)
				m := follow(t, s)
				tickets, ids := many(1000, size)
				must(t, s.Creator(nil).CreateAtOnce(t.Context(), project, tickets...))
				m.has(t, tickets...)
				c := claim(revision, "m", ids...)
				if mustClaim(t, s, terms, c); c.Refusal != "" {
					t.Fatal(c.Refusal)
				}
				m.sees(t)
				if _, err := s.ReleaseMatch(t.Context(), project, c.Match, "one", false, "deadline"); err != nil {
					t.Fatal(err)
				}
				m.has(t, tickets...)
				carried := 0
				for _, entry := range feedOf(t, s) {
					bodies := 0
					for i, name := range entry {
						if i%2 == 0 && strings.HasPrefix(name, "+") {
							bodies += len(entry[i+1])
							carried++
						}
					}
					if n := bytesOf(entry) - bodies; bodies > 128<<10 || n > 50*1000 {
						t.Errorf("an entry has %d bytes of bodies and %d others", bodies, n)
					}
				}
				// At 900 bytes the entry of the release carries about 130 bodies.
				if want := map[int]int{100: 1800, 900: 1100, 20 << 10: 0}[size]; carried < want || want == 0 && carried > 0 {
					t.Errorf("%d bodies are carried, want %d or some more", carried, want)
				}
			})
		})
	}
}

// The server of a game describes it in many bytes.
func TestLargeBackfillTicketsAreNamedInTheFeed(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		m := follow(t, s)
		b := game("g", 3)
		b.Properties["blob"] = []byte(strings.Repeat("x", 20<<10))
		createGame(t, s, b)
		createGame(t, s, game("small", 1))
		m.seesGames(t, "g", "small")
		if n := bytesOf(feedOf(t, s)...); n > 1<<10 {
			t.Errorf("the feed has %d bytes", n)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if got := m.shown["g"].GetProperties()["blob"]; len(got) != 20<<10 {
			t.Errorf("%d bytes are shown", len(got))
		}
	})
}

func TestGroupsOfCreatesAreBoundedInBytes(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		tickets, _ := many(100, 60<<10)
		tickets = append(tickets, ticket("plain", 0))
		must(t, s.Creator(nil).CreateAtOnce(t.Context(), project, tickets...))
		var groups []int
		for _, entry := range feedOf(t, s) {
			groups = append(groups, len(entry)/2)
		}
		if want := []int{17, 17, 17, 17, 17, 16}; !slices.Equal(groups, want) {
			t.Errorf("groups of %v tickets, want %v", groups, want)
		}
	})
}

func TestFeedIsBoundedInBytes(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		const limit = 1 << 20
		s := open(state.Options{FeedBytes: limit})
		written := 0
		for n := range 40 {
			tickets, _ := many(128, 900)
			for i := range tickets {
				tickets[i].Id += fmt.Sprint("-", n)
			}
			must(t, s.Creator(nil).CreateAtOnce(t.Context(), project, tickets...))
			written += 128 * 900
		}
		if n := bytesOf(feedOf(t, s)...); n > limit+limit/4 || n < limit/2 {
			t.Errorf("of %d bytes the feed kept %d", written, n)
		}
		follow(t, s).sees(t, must2(s.OldestWaiting(t.Context(), project, 0))...)
	})
}

func must2[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// isDue reports whether the leader trims the feed at a time.
func isDue(t *testing.T, s *state.Store, seconds int) bool {
	t.Helper()
	d, err := s.At(at(seconds)).DueWork(t.Context(), project, state.Ages{})
	must(t, err)
	return d.Feed
}

func trim(t *testing.T, s *state.Store, seconds int) {
	t.Helper()
	more, err := s.At(at(seconds)).TrimFeed(t.Context(), project)
	if must(t, err); more {
		t.Error("there is more to trim")
	}
}

// stuck is a mirror that tells when it got its first changes, and applies them when its gate opens.
type stuck struct {
	*mirror
	entered, gate chan struct{}
	once          sync.Once
}

func (s *stuck) Apply(changes []state.Change, position uint64) {
	if len(changes) > 0 {
		s.once.Do(func() { close(s.entered) })
		<-s.gate
	}
	s.mirror.Apply(changes, position)
}

func TestFeedIsTrimmedByItsAge(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		if isDue(t, s, 0) {
			t.Error("a feed that there is not is due")
		}
		m := follow(t, s)
		away := &stuck{mirror: newMirror(), entered: make(chan struct{}), gate: make(chan struct{})}
		followInto(t, s, away, nil)
		<-away.changed // the empty snapshot
		create(t, s, "a")
		<-away.entered
		create(t, s, "b", "c")
		if !isDue(t, s, 1) {
			t.Error("a new feed is not due")
		}
		trim(t, s, 1)
		create(t, s, "d", "e")
		m.sees(t, "a", "b", "c", "d", "e")
		if trim(t, s, 60); isDue(t, s, 60) || len(feedOf(t, s)) != 5 {
			t.Errorf("before a minute is over, %d entries are left", len(feedOf(t, s)))
		}
		if !isDue(t, s, 61) {
			t.Error("after a minute it is not due")
		}
		if trim(t, s, 61); len(feedOf(t, s)) != 3 {
			t.Errorf("of five entries, two younger than a minute, %d are left", len(feedOf(t, s)))
		}
		for seconds := 121; seconds < 300; seconds += 60 {
			trim(t, s, seconds)
		}
		if n := len(feedOf(t, s)); n != 1 || isDue(t, s, 1000) {
			t.Errorf("of an idle feed, %d entries are left", n)
		}
		// A reader that has read it all goes on. One that has not starts again.
		create(t, s, "f")
		close(away.gate)
		m.sees(t, "a", "b", "c", "d", "e", "f")
		away.sees(t, "a", "b", "c", "d", "e", "f")
		if m.resets != 1 || away.resets != 2 {
			t.Errorf("readers started %d and %d times", m.resets, away.resets)
		}
	})
}

// Redis's clock may jump when another server takes over.
func TestFeedIsTrimmedAfterTheClockWentBack(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		create(t, s, "a", "b")
		trim(t, s, 100_000)
		create(t, s, "c")
		if !isDue(t, s, 0) {
			t.Error("it is not due")
		}
		trim(t, s, 0)
		if n := len(feedOf(t, s)); n != 3 {
			t.Errorf("%d entries are left of three that are young", n)
		}
		if trim(t, s, 60); len(feedOf(t, s)) != 1 {
			t.Errorf("%d entries are left", len(feedOf(t, s)))
		}
	})
}

func TestHistoryIsBoundedInBytes(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		const limit = 1 << 16
		s := open(state.Options{History: 100_000, HistoryBytes: limit})
		for n := range 400 {
			detail := fmt.Sprint(n, strings.Repeat("x", 500)) // Redis stores what repeats only once
			must(t, s.AppendEvent(t.Context(), project, &pb.Event{Detail: detail}))
		}
		entries, err := s.HistoryEntries(t.Context(), project)
		must(t, err)
		if n := bytesOf(entries...); n > limit+limit/4 || n < limit/2 {
			t.Errorf("of 200,000 bytes the history kept %d", n)
		}
		got, err := s.History(t.Context(), project, nil, 1000)
		if err != nil || got[0].Events[0].GetKind() != pb.Event_KIND_GAP {
			t.Errorf("its reader does not see that events are missing: %v", err)
		}
	})
}

// meter is a connection that notes the largest reply: the most bytes that were read between two writes.
type meter struct {
	net.Conn
	read    int64
	largest *atomic.Int64
}

func (m *meter) Write(b []byte) (int, error) {
	m.read = 0
	return m.Conn.Write(b)
}

func (m *meter) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	if m.read += int64(n); m.read > m.largest.Load() {
		m.largest.Store(m.read)
	}
	return n, err
}

// 100 tickets of 60 KiB are assigned to a running game, in each of the two ways.
func TestRepliesAreBounded(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		var largest atomic.Int64
		s := open(state.Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &meter{conn, 0, &largest}, err
		}})
		revision, terms := setUp(t, s)
		terms.Approval = time.Minute
		tickets, ids := many(100, 60<<10)
		complete := func(way string, got []*state.Ticket) {
			t.Helper()
			if len(got) != len(tickets) {
				t.Fatalf("%s: %d tickets", way, len(got))
			}
			for _, one := range got {
				i := slices.Index(ids, one.Body.GetId())
				if !proto.Equal(one.Body, tickets[i]) || one.Assignment == nil {
					t.Errorf("%s: %s is not complete", way, ids[i])
				}
			}
		}
		must(t, s.Creator(nil).CreateAtOnce(t.Context(), project, tickets...))
		assignments := make([]*pb.Assignment, len(ids))
		for i := range assignments {
			assignments[i] = &pb.Assignment{Connection: "here"}
		}
		got, _, _, err := s.AssignWaiting(t.Context(), project, new(pb.Proposal), ids, assignments, time.Minute)
		must(t, err)
		complete("first generation", got)
		for _, id := range ids {
			must(t, second(s.DeleteTicket(t.Context(), project, id, "")))
		}

		must(t, s.Creator(nil).CreateAtOnce(t.Context(), project, tickets...))
		createGame(t, s, game("g", 100))
		seen := game("g", 100)
		seen.Generation, err = s.Generation(t.Context(), project, "g")
		must(t, err)
		if c := fill(revision, seen, game("g", 0), ids...); true {
			if mustClaim(t, s, terms, c); c.Refusal != "" {
				t.Fatal(c.Refusal)
			}
		}
		complete("approval", approve(t, s, "g", 1).Assigned)
		complete("repeated", approve(t, s, "g", 2).Previous)
		if n := largest.Load(); n > 2<<20 {
			t.Errorf("a reply has %d bytes", n)
		}
	})
}

// Results of 60 KiB are written by scripts of 1 MiB.
func TestClaimsAreBoundedInBytes(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		_, ids := many(40, 0)
		create(t, s, ids...)
		before := len(feedOf(t, s))
		var claims []*state.Claim
		for i := range 20 {
			c := direct(revision, fmt.Sprint("m", i), "here", ids[2*i:2*i+2]...)
			c.Match.Proposal.MatchProperties = []byte(strings.Repeat("x", 60<<10))
			claims = append(claims, c)
		}
		mustClaim(t, s, terms, claims...)
		var scripts []int
		for _, entry := range feedOf(t, s)[before:] {
			scripts = append(scripts, len(strings.Fields(entry[1]))/2)
		}
		if want := []int{17, 3}; !slices.Equal(scripts, want) {
			t.Errorf("scripts of %v matches, want %v", scripts, want)
		}
	})
}

// NATS is away while matches of many tickets are claimed, and others fail with long errors.
func TestHistoryIsReadInBoundedReplies(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		var largest atomic.Int64
		s := open(state.Options{History: 1 << 20, HistoryBytes: 8 << 20,
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, addr)
				return &meter{conn, 0, &largest}, err
			}})
		var want []int
		add := func(e *pb.Event, tickets int) {
			for range tickets {
				e.Tickets = append(e.Tickets, strings.Repeat("x", 36))
			}
			must(t, s.AppendEvent(t.Context(), project, e))
			want = append(want, tickets)
		}
		for n := range 150 {
			add(&pb.Event{Kind: pb.Event_KIND_CLAIMED}, 1000)
			add(&pb.Event{Kind: pb.Event_KIND_FAILED, Error: strings.Repeat("é", 5000), Detail: strings.Repeat("y", 5000)}, n%3)
		}
		add(&pb.Event{Kind: pb.Event_KIND_CLAIMED}, 5000) // longer than what one call reads
		add(&pb.Event{Kind: pb.Event_KIND_CLAIMED}, 1)
		must(t, s.SetBookmark(t.Context(), project, &pb.Bookmark{}))
		var got []int
		var mark *pb.Bookmark
		for {
			entries, err := s.History(t.Context(), project, mark, 70)
			must(t, err)
			if len(entries) == 0 {
				break
			}
			for _, e := range entries {
				if len(e.Events) != 1 || len(e.Events[0].GetError()) > 512 || len(e.Events[0].GetDetail()) > 512 {
					t.Fatalf("entry %d has %d events, or too long an error", len(got), len(e.Events))
				}
				got = append(got, len(e.Events[0].GetTickets()))
				mark = e.Bookmark
			}
			if len(entries) < 70 && len(got) < len(want) {
				t.Fatalf("%d entries were read where 70 were asked for", len(entries))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("read %v, want %v", got, want)
		}
		if n := largest.Load(); n > 1<<20 {
			t.Errorf("a reply has %d bytes", n)
		}
	})
}

// A feed with many entries is trimmed in small steps, to its end.
func TestFeedIsTrimmedInSteps(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		tickets, ids := many(1500, 0)
		must(t, s.Creator(nil).CreateAtOnce(t.Context(), project, tickets...))
		for _, id := range ids {
			must(t, second(s.DeleteTicket(t.Context(), project, id, "")))
		}
		trim(t, s, 1)
		if trim(t, s, 61); len(feedOf(t, s)) != 1 {
			t.Errorf("%d entries are left", len(feedOf(t, s)))
		}
	})
}
