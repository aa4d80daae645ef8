package state_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"matchmaker.dev/services/internal/embedded"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/test/proxy"
)

// A replica that lagged takes the place of Redis while a reader is between two reads. Until the reader reads again it
// has come farther than the reader, so that nothing in the feed tells the difference.
func TestReaderNoticesAReplicaThatLagged(t *testing.T) {
	serve := func(dir string) *embedded.Redis {
		t.Helper()
		r, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{Dir: dir, AOF: true,
			Log: slog.New(slog.DiscardHandler)})
		if err != nil || !r.Persistent() {
			t.Fatalf("a redis-server or valkey-server is needed: install one (%v)", err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	here, there := filepath.Join(t.TempDir(), "here"), filepath.Join(t.TempDir(), "there")
	redis := serve(here)
	s := opener(t, redis.URL())(state.Options{})
	create(t, s, "a", "b")
	isWaiting(t, s, "a", "b") // a reader names the feed
	must(t, redis.Close(), os.CopyFS(there, os.DirFS(here)))
	redis, replica := serve(here), serve(there)

	var now atomic.Pointer[embedded.Redis]
	now.Store(redis)
	wire, err := proxy.Listen(t.Context(), func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", now.Load().Addr())
	})
	must(t, err)
	t.Cleanup(func() { _ = wire.Close() })
	m := &stopped{mirror: newMirror(), held: make(chan struct{}, 1), gate: make(chan struct{})}
	followInto(t, opener(t, "redis://"+wire.Address())(state.Options{}), m)
	m.sees(t, "a", "b")
	create(t, opener(t, redis.URL())(state.Options{}), "lost")
	<-m.held
	create(t, opener(t, replica.URL())(state.Options{}), "c", "d")
	wire.Set(proxy.Refused)
	now.Store(replica)
	wire.Set(proxy.Open)
	close(m.gate)
	m.sees(t, "a", "b", "c", "d")
}

// stopped is a mirror that holds its reader up at the first change behind the snapshot, until its gate is open.
type stopped struct {
	*mirror
	held, gate chan struct{}
}

func (s *stopped) Apply(changes []state.Change, position uint64) {
	if len(changes) > 0 && position > 0 {
		select {
		case s.held <- struct{}{}:
		default:
		}
		<-s.gate
	}
	s.mirror.Apply(changes, position)
}
