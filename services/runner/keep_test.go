package runner

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/embedded"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/telemetry"
)

// keeping is a Redis, and what a runner keeps beside it.
type keeping struct {
	store *state.Store
	env   *env
	dir   string
}

func newKeeping(t *testing.T) *keeping {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	server, err := embedded.StartRedis(t.Context(),
		embedded.RedisOptions{Dir: filepath.Join(t.TempDir(), "redis"), AOF: true, Log: log})
	if err != nil || !server.Persistent() {
		t.Fatalf("a redis-server or valkey-server is needed: install one (%v)", err)
	}
	t.Cleanup(func() { _ = server.Close() })
	k := &keeping{dir: filepath.Join(t.TempDir(), "snapshots")}
	if k.store, err = state.Open(state.Options{Server: state.Server{URL: server.URL()}, Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.store.Close() })
	k.env = newEnv(Options{Store: k.store, Log: log, Now: time.Now, Snapshots: k.dir,
		Settings: Settings{Snapshots: 1, Timing: Timing{KeptFrom: 1}}})
	k.env.metrics = newMetrics(telemetry.Meter{}, &Runner{env: k.env})
	if k.env.snapshots = openSnapshots(&k.env.Options, k.env.metrics); k.env.snapshots == nil {
		t.Fatal("there are no snapshots")
	}
	return k
}

// follow follows the feed of a project until end is called.
func (k *keeping) follow(project string, s *snapshots) (f *feed, end func()) {
	f = newFeed(project, pool.DefaultNames, k.env.Log)
	f.snapshots = s
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() {
		f.follow(ctx, func(ctx context.Context) { k.store.Follow(ctx, project, f, f.wake.C()) })
	})
	return f, func() { cancel(); following.Wait() }
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface{ Fatal(args ...any) }

// reach waits until a feed has all changes.
func (k *keeping) reach(t fataler, f *feed) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	position, err := k.store.Position(ctx, f.project)
	if err == nil {
		err = f.wait(ctx, position)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// kept is how many files there are.
func (k *keeping) kept(t fataler) int {
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// contents is what an index has of each ticket.
func contents(f *feed) map[string]string {
	all := map[string]string{}
	f.index.View(func(v pool.View) {
		for _, queue := range []string{"", "ranked"} {
			var s pool.Selection
			v := v.In(queue)
			v.Select(map[string]*pb.Pool{"all": {}}, &s)
			columns := make([][]float64, 3)
			for i, name := range []string{"skill", "ping", pool.Created} {
				columns[i] = make([]float64, s.N())
				v.Column(&s, name, columns[i])
			}
			for i := range s.N() {
				all[queue+"/"+s.ID(i)] = fmt.Sprint(columns[0][i], columns[1][i], columns[2][i], s.Properties(i))
			}
			all[queue] = fmt.Sprint(v.Players(&s))
		}
	})
	return all
}

// Whatever happened before a runner stopped and while it was away: the index from its snapshot and the feed is the one
// from Redis.
func TestIndexFromASnapshotIsTheOneFromRedis(t *testing.T) {
	k := newKeeping(t)
	project, count, kept := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		project++
		name, ctx := fmt.Sprint("p", project), context.Background()
		var ids []string
		change := func(when string) {
			for range rapid.IntRange(0, 12).Draw(t, when) {
				if len(ids) > 0 && rapid.IntRange(0, 2).Draw(t, "deletes") == 0 {
					id := rapid.SampledFrom(ids).Draw(t, "id")
					_, _ = k.store.DeleteTicket(ctx, name, id, "") // it may be gone
					continue
				}
				count++
				one := &pb.Ticket{Id: fmt.Sprint("t", count), Created: int64(1_700_000_000_000 + count),
					Owner: fmt.Sprint("o", rapid.IntRange(0, 5).Draw(t, "owner")), AttributeNames: []string{"skill"},
					AttributeValues: []float64{rapid.Float64().Draw(t, "skill")},
					Properties:      map[string][]byte{"p": rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "property")}}
				if rapid.Bool().Draw(t, "queued") {
					one.Queues = []string{"ranked"}
				}
				for n := range rapid.IntRange(0, 2).Draw(t, "players") {
					one.Players = append(one.Players, &pb.Player{Id: fmt.Sprint(one.Id, "/", n),
						AttributeNames: []string{"ping"}, AttributeValues: []float64{float64(n)}})
				}
				if err := k.store.Creator(nil).Create(ctx, name, one); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, one.Id)
			}
		}
		change("before")
		first, end := k.follow(name, nil)
		k.reach(t, first)
		change("seen")
		k.reach(t, first)
		end()
		k.env.keep(ctx, first)
		if had := first.index.Len() > 0; had != (k.kept(t) == 1) {
			t.Fatal("tickets that wait: ", had, "; files: ", k.kept(t))
		} else if had {
			kept++
		}
		change("away")
		second, end := k.follow(name, k.env.snapshots)
		defer end()
		fresh, end := k.follow(name, nil)
		defer end()
		change("back")
		k.reach(t, second)
		k.reach(t, fresh)
		if got, want := contents(second), contents(fresh); !maps.Equal(got, want) {
			t.Fatalf("the index from the snapshot has %v, the one from Redis %v", got, want)
		}
		if k.kept(t) > 0 {
			t.Fatal("a snapshot was left")
		}
	})
	if kept == 0 {
		t.Error("no index was kept")
	}
}

// An index is kept only if it is complete and large enough, and a damaged file is as none.
func TestWhatIsNotWorthItIsNotKept(t *testing.T) {
	k := newKeeping(t)
	create := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			if err := k.store.Creator(nil).Create(t.Context(), "p", &pb.Ticket{Id: id, Owner: id, Created: 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	create("a", "b", "c")
	f, end := k.follow("p", k.env.snapshots)
	k.reach(t, f)
	end()
	keeps := func(what string, want int) {
		t.Helper()
		if k.env.keep(t.Context(), f); k.kept(t) != want {
			t.Errorf("%s: %d files, want %d", what, k.kept(t), want)
		}
	}
	k.env.snapshots.from = 4
	keeps("few tickets", 0)
	k.env.snapshots.from = 3
	f.setPosition(false, 5)
	keeps("an index that is not complete", 0)
	position, err := k.store.Position(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	f.setPosition(true, position)
	origin := f.origin
	f.origin = state.Origin{Feed: origin.Feed}
	keeps("a Redis that does not say who it is", 0)
	f.origin = origin
	keeps("all tickets", 1)

	entries, err := os.ReadDir(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(k.dir, entries[0].Name())
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1]++
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	create("d")
	again, end := k.follow("p", k.env.snapshots)
	defer end()
	if k.reach(t, again); again.index.Len() != 4 || k.kept(t) != 0 {
		t.Errorf("%d tickets and %d files after a damaged one", again.index.Len(), k.kept(t))
	}
}
