package state_test

import (
	"bytes"
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

// A lagging replica replaces Redis while a reader is between two reads. Before the next read its feed is longer than
// what the reader has read, so the feed itself shows no difference.
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
	m := &gatedMirror{mirror: newMirror(), blocked: make(chan struct{}, 1), gate: make(chan struct{})}
	followInto(t, opener(t, "redis://"+wire.Address())(state.Options{}), m, nil)
	m.sees(t, "a", "b")
	m.until(t, func() (any, bool) { return m.position, m.position > 0 }, "the snapshot")
	create(t, opener(t, redis.URL())(state.Options{}), "lost")
	<-m.blocked
	create(t, opener(t, replica.URL())(state.Options{}), "c", "d")
	wire.Set(proxy.Refused)
	now.Store(replica)
	wire.Set(proxy.Open)
	close(m.gate)
	m.sees(t, "a", "b", "c", "d")
}

// Redis says too late which server it is. The answer must not be taken for that of another command.
func TestConnectionThatWasAnsweredLateIsNotUsed(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &lateConn{Conn: conn, t: t}, err
		}})
		if _, err := s.Position(t.Context(), project); err == nil {
			t.Error("a connection works whose server has not answered")
		}
	})
}

// lateConn has the answer to INFO after the deadline.
type lateConn struct {
	net.Conn
	t           *testing.T
	asked, late bool
}

func (c *lateConn) Read(b []byte) (int, error) {
	if c.asked && !c.late {
		c.late = true
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Read(b)
}

func (c *lateConn) Write(b []byte) (int, error) {
	if c.late {
		c.t.Errorf("%q is sent to a server that has not answered yet", b)
	}
	c.asked = c.asked || bytes.Contains(b, []byte("replication"))
	return c.Conn.Write(b)
}

// gatedMirror is a mirror that blocks its reader at the first change after the snapshot, until its gate is open.
type gatedMirror struct {
	*mirror
	blocked, gate chan struct{}
}

func (s *gatedMirror) Apply(changes []state.Change, position uint64) {
	if len(changes) > 0 && position > 0 {
		select {
		case s.blocked <- struct{}{}:
		default:
		}
		<-s.gate
	}
	s.mirror.Apply(changes, position)
}
