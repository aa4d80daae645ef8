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
	"time"

	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest/proxy"
	"matchmaker.dev/services/internal/state"
)

// serveFrom starts a Redis on what is stored in a folder.
func serveFrom(t *testing.T, dir string) *embedded.Redis {
	t.Helper()
	r, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{Dir: dir, AOF: true,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil || !r.Persistent() {
		t.Fatalf("a redis-server or valkey-server is needed: install one (%v)", err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// A replica that lagged takes over so fast that no call fails. What players said, or that they were heard of, may be
// lost: no player is taken for silent.
func TestNobodyIsSilentBecauseOfATakeover(t *testing.T) {
	here, there := filepath.Join(t.TempDir(), "here"), filepath.Join(t.TempDir(), "there")
	redis := serveFrom(t, here)
	s := opener(t, redis.URL())(state.Options{})
	revision, terms := setUp(t, s)
	create(t, s, "a", "b", "c")
	mustClaim(t, s, terms, offer(revision, "m", "a", "b"))
	must(t, s.CreateParty(t.Context(), project, partyOf("1", "ada", "bob"), fewParties),
		s.Hear(t.Context(), project, []string{"c"}))
	var now time.Time
	look := func(s *state.Store) (silent, unheard int) {
		t.Helper()
		_, found, err := s.At(now).SweepParties(t.Context(), project, time.Minute, 15*time.Second)
		must(t, err)
		ended, err := s.At(now).EndUnheard(t.Context(), project, time.Minute, 15*time.Second, time.Minute)
		must(t, err)
		return len(found), ended.Ended
	}
	for now = epoch0; now.Before(epoch0.Add(59 * time.Second)); now = now.Add(10 * time.Second) {
		look(s)
	}
	must(t, redis.Close(), os.CopyFS(there, os.DirFS(here)))
	later := opener(t, serveFrom(t, here).URL())(state.Options{}).At(epoch0.Add(5 * time.Second))
	mustSay(t, later, false, true, "a")
	replica := opener(t, serveFrom(t, there).URL())(state.Options{})
	ended := endAcceptances(t, replica.At(epoch0.Add(20*time.Second)))
	if len(ended.Failed) != 1 || len(ended.Ended()) != 0 {
		t.Errorf("tickets ended as silent: %+v", ended)
	}
	isWaiting(t, replica, "a", "b", "c")
	now = epoch0.Add(time.Minute)
	if silent, unheard := look(replica); silent+unheard > 0 {
		t.Errorf("%d parties have silent members, %d tickets end", silent, unheard)
	}
	silent := 0
	for range 8 {
		now = now.Add(10 * time.Second)
		found, _ := look(replica)
		silent += found
	}
	if silent == 0 {
		t.Error("nobody is silent any more")
	}
}

// A lagging replica replaces Redis while a reader is between two reads. Before the next read its feed is longer than
// what the reader has read, so the feed itself shows no difference.
func TestReaderNoticesAReplicaThatLagged(t *testing.T) {
	here, there := filepath.Join(t.TempDir(), "here"), filepath.Join(t.TempDir(), "there")
	redis := serveFrom(t, here)
	s := opener(t, redis.URL())(state.Options{})
	create(t, s, "a", "b")
	isWaiting(t, s, "a", "b") // a reader names the feed
	must(t, redis.Close(), os.CopyFS(there, os.DirFS(here)))
	redis, replica := serveFrom(t, here), serveFrom(t, there)

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

// Redis says too late which server it is. The answer must not be taken for another command's.
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
