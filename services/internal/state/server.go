package state

import (
	"context"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// server is the Redis that the feeds are read from, as their connections find it. A Redis that was started again, or the
// replica that took its place, may lack the last changes, and soon has others in their places; nothing in the
// feed itself tells that to a reader who was between two reads.
type server struct {
	mu sync.Mutex
	// histories is what Redis calls the history of its data, by address: a primary has one of its own from its start on.
	histories map[string]string
	// changes is how often another one was met.
	changes int
}

// attend has the server at an address met.
func (s *server) attend(addr string, o *redis.Options) {
	o.OnConnect = func(ctx context.Context, conn *redis.Conn) error { return s.meet(ctx, addr, conn) }
}

// meet is called on every new connection. A server that does not tell its history is the same one for ever. One of a cluster that was
// not met before may have taken over from another.
func (s *server) meet(ctx context.Context, addr string, conn *redis.Conn) error {
	text, err := conn.Info(ctx, "replication").Result()
	if err != nil {
		return nil //nolint:nilerr // it is not allowed, or not known, to this server; if the connection is broken, others notice
	}
	for line := range strings.Lines(text) {
		name, history, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "master_replid" {
			continue
		}
		s.mu.Lock()
		if len(s.histories) > 0 && s.histories[addr] != history {
			s.changes++
		}
		if s.histories == nil {
			s.histories = map[string]string{}
		}
		s.histories[addr] = history
		s.mu.Unlock()
	}
	return nil
}

// met is how often another server was met. What was read before is void when it has grown.
func (s *server) met() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}
