package state

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// primary notices when the feeds' connections find another Redis. A Redis that was restarted, or the replica that took
// its place, may lack the last changes and soon have others at their positions. A reader between two reads could not
// see that in the feed.
type primary struct {
	mu sync.Mutex
	// histories are the replication ids of the servers, by address. A primary gets a new one at its start.
	histories map[string]string
	// changes counts how often another server was found.
	changes int
}

// watch makes the connections to an address report their server.
func (s *primary) watch(addr string, o *redis.Options) {
	o.OnConnect = func(ctx context.Context, conn *redis.Conn) error { return s.connected(ctx, addr, conn) }
}

// connected is called on every new connection. A server that does not report its history always counts as the same one.
// A new server of a cluster counts as a change, since it may have replaced another.
func (s *primary) connected(ctx context.Context, addr string, conn *redis.Conn) error {
	text, err := conn.Info(ctx, "replication").Result()
	if _, answered := errors.AsType[redis.Error](err); answered {
		return nil // not permitted, or not known to this server
	}
	if err != nil {
		return err // the reply may still come: a connection that is kept would take it for the reply to its next command
	}
	history := infoOf(text)["master_replid"]
	if history == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.histories) > 0 && s.histories[addr] != history {
		s.changes++
	}
	if s.histories == nil {
		s.histories = map[string]string{}
	}
	s.histories[addr] = history
	return nil
}

// changeCount returns how often another server was found. When it has grown, earlier reads are void.
func (s *primary) changeCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}
