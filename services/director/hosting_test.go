package director_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/platform/settings"
)

// limited is a hosting system with so many servers, which it gives away for good.
type limited struct {
	mu    sync.Mutex
	free  int
	given map[string]bool
	// asked are the matches that asked for a server.
	asked map[string]bool
}

func (l *limited) Allocate(_ context.Context, r *provider.Request) (provider.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[r.Match] = true
	if !l.given[r.Match] {
		if l.free == 0 {
			return provider.Result{}, provider.Fail(provider.FleetEmpty, "the fleet has no free server")
		}
		l.free--
		l.given[r.Match] = true
	}
	return provider.Result{Status: provider.Allocated, Connection: "server-of-" + r.Match}, nil
}

func (l *limited) Poll(context.Context, []provider.Ref) ([]provider.Result, error) { return nil, nil }

func (l *limited) Release(context.Context, provider.Ref) error { return nil }

func (l *limited) add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free += n
}

// served is how many matches have a server.
func (l *limited) served() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.given)
}

// hosted runs an allocator of a hosting system until stop.
func (w *world) hosted(p provider.Provider) (stop func()) {
	w.Helper()
	store, b := w.connect()
	patient := settings.Default[allocator.Settings]()
	patient.Deadline = 10 * patience
	return w.run(allocator.New(allocator.Options{
		Store: store, Bus: b, Provider: p, Log: discard, Settings: patient,
		Readable: 10 * time.Minute, Renewable: 24 * time.Hour,
	}))
}

// alone proposes a match of every ticket.
func alone(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
	var proposals []*pb.Proposal
	for _, id := range tickets {
		proposals = append(proposals, of(r.GetConfig(), id))
	}
	part(proposals...)
	return nil
}

// open is how many matches are claimed and have no result, and how many tickets wait.
func (w *world) open() (open, waiting int) {
	w.Helper()
	counts, err := w.store.Counts(w.Context(), project)
	if err != nil {
		w.Fatal(err)
	}
	return int(counts.Matches), int(counts.Waiting)
}

// told reports whether an event of a kind and reason was published.
func (w *world) told(kind pb.Event_Kind, reason string) bool {
	entries, err := w.store.History(w.Context(), project, &pb.Bookmark{}, 100_000)
	if err != nil {
		w.Fatal(err)
	}
	for _, entry := range entries {
		for _, e := range entry.Events {
			if e.GetKind() == kind && e.GetReason() == reason {
				return true
			}
		}
	}
	return false
}

// Claims are counted once there may be too many matches, however many were claimed since the last look found none.
func TestNoMoreMatchesAreClaimedThanMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner("r", map[string]function{"alone": alone})
	few := times()
	few.Matches, few.Claim = 3, 10*patience
	w.director("d", few, usual)
	w.put(project, "alone", &pb.Config{Hosting: &pb.Hosting{Fleet: "fleet"}})
	for n := 1; n <= few.Matches; n++ {
		w.create(1)
		w.until("the match is claimed", func() bool { open, _ := w.open(); return open == n })
	}
	w.create(4)
	w.until("the director says why", func() bool { return w.says("as many matches of the project wait for servers") })
	if open, waiting := w.open(); open != few.Matches || waiting != 4 {
		t.Errorf("%d matches are open, and %d tickets wait", open, waiting)
	}
}

// Ten times as many matches are wanted as there are servers. The others are not claimed: their tickets wait, until
// there are servers for them.
func TestMatchesWithoutServersAreNotClaimed(t *testing.T) {
	t.Parallel()
	servers, wanted, some := 200, 2000, 500
	if testing.Short() {
		servers, wanted, some = 100, 700, 100
	}
	w := newWorld(t)
	fleet := &limited{free: servers, given: map[string]bool{}, asked: map[string]bool{}}
	w.runner("r", map[string]function{"alone": alone})
	w.director("d", times(), steady, func(o *director.Options) { o.Events = false })
	w.hosted(fleet)
	ids := w.create(wanted)
	w.put(project, "alone", &pb.Config{Hosting: &pb.Hosting{Fleet: "fleet"}})
	w.until("all servers are used, and that is noticed", func() bool {
		return fleet.served() == servers && w.told(pb.Event_KIND_FULL, "fleet-empty")
	})
	// Proposals are made again and again, and refused.
	w.until("the director says why", func() bool { return w.says("hosting has no servers for more matches") })
	open, waiting := w.open()
	t.Logf("%d servers, %d matches wanted: %d are open, %d tickets wait", servers, wanted, open, waiting)
	// A target that is new has a window of 128 matches, and one more for every eight answers.
	if most := 128 + servers/8; open > most {
		t.Errorf("%d matches without a server are claimed, want at most %d", open, most)
	}
	// The open ones take the next servers. With more, others follow.
	for _, more := range []int{10, some, wanted} {
		before := fleet.served()
		fleet.add(more)
		w.until(fmt.Sprint(more, " more servers are used"), func() bool {
			return fleet.served() == min(wanted, before+more)
		})
	}
	for id, result := range w.results(ids...) {
		if result.GetConnection() == "" {
			t.Errorf("%s: %v", id, result)
		}
	}
	if n := len(fleet.asked); n != wanted {
		t.Errorf("%d matches asked for a server, want %d: each ticket is claimed once", n, wanted)
	}
}

// regional is a hosting system that has servers in one region. It counts what is asked of others.
type regional struct {
	region  string
	strange atomic.Int64
}

func (r *regional) Allocate(_ context.Context, q *provider.Request) (provider.Result, error) {
	if q.Hosting.Region != r.region && q.Hosting.Fleet != "other" {
		r.strange.Add(1)
		return provider.Result{}, provider.Fail(provider.FleetEmpty, "no server there")
	}
	return provider.Result{Status: provider.Allocated, Connection: "server-of-" + q.Match}, nil
}

func (r *regional) Poll(context.Context, []provider.Ref) ([]provider.Result, error) { return nil, nil }

func (r *regional) Release(context.Context, provider.Ref) error { return nil }

// Players invent regions. Meanwhile players of a region that hosting has served, and of another fleet, get servers, and
// the director says why the others wait.
func TestInventedRegionsTakeNoServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fleet := &regional{region: "eu"}
	var honest, alien sync.Map // ids of tickets
	w.runner("r", map[string]function{
		"regions": func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
			var proposals []*pb.Proposal
			for _, id := range tickets {
				if _, is := alien.Load(id); is {
					continue
				}
				p := of(r.GetConfig(), id)
				p.Hosting = &pb.HostingOverride{Region: "invented for " + id}
				if _, is := honest.Load(id); is {
					p.Hosting.Region = "eu"
				}
				proposals = append(proposals, p)
			}
			part(proposals...)
			return nil
		},
		"other": func(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
			return alone(r, slices.DeleteFunc(slices.Clone(tickets), func(id string) bool {
				_, is := alien.Load(id)
				return !is
			}), part)
		},
	})
	w.director("d", times(), steady, func(o *director.Options) { o.Events = false })
	w.hosted(fleet)
	w.put(project, "regions", &pb.Config{Hosting: &pb.Hosting{Fleet: "fleet"}})
	w.put(project, "other", &pb.Config{Hosting: &pb.Hosting{Fleet: "other"}})
	serve := func(when string) {
		t.Helper()
		for what, ids := range map[string]*sync.Map{"in a region with servers": &honest, "of another fleet": &alien} {
			id := fmt.Sprintf("ticket-%05d", w.n+1)
			ids.Store(id, true)
			if result := w.results(w.create(1)...)[id]; result.GetConnection() == "" {
				t.Errorf("%s: a ticket %s has %v", when, what, result)
			}
		}
	}
	serve("before")
	w.create(1500) // more than the targets that are remembered
	w.until("invented regions wait", func() bool { return w.says("hosting has given no server yet for") })
	serve("meanwhile")
	for line := range strings.Lines(w.log.String()) {
		if strings.Contains(line, "works again") && strings.Contains(line, "claiming matches for") {
			t.Errorf("it is refused all the time, and the log says: %s", line)
		}
	}
	if n := fleet.strange.Load(); n == 0 || n > 16*100 {
		t.Errorf("hosting was asked %d times for servers in invented regions", n)
	}
}

// While no allocator is there, a few matches are claimed, and not again and again.
func TestFewMatchesAreClaimedWhileNoAllocatorIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner("r", map[string]function{"alone": alone})
	brief := times()
	brief.Claim = time.Second
	w.director("d", brief, steady, func(o *director.Options) { o.Events = false })
	tickets, single := 500, 3
	if testing.Short() {
		tickets, single = 200, 1
	}
	ids := w.create(tickets)
	w.put(project, "alone", &pb.Config{Hosting: &pb.Hosting{Fleet: "fleet"}})
	// Matches that try one after the other are overdue after the matches of the first window.
	claimed := func() (claims, overdue int) {
		entries, err := w.store.History(t.Context(), project, &pb.Bookmark{}, 100_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			for _, e := range entry.Events {
				switch e.GetKind() {
				case pb.Event_KIND_CLAIMED:
					claims++
				case pb.Event_KIND_RELEASED:
					overdue++
				}
			}
		}
		return claims, overdue
	}
	var claims, overdue int
	w.until("matches try one after the other", func() bool {
		claims, overdue = claimed()
		return overdue >= 128+single
	})
	if claims > overdue+1 {
		t.Errorf("%d matches were claimed, and %d were overdue", claims, overdue)
	}
	w.allocator()
	if got := w.results(ids...); len(got) != len(ids) {
		t.Errorf("%d tickets have a result", len(got))
	}
}
