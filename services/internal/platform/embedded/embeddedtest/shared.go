package embeddedtest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"matchmaker.dev/services/internal/platform/embedded"
)

// Run runs the tests of a binary, which share a Redis, and returns the exit code. TestMain calls it. More tests run at
// a time than usual, unless -parallel says how many: they wait more than they compute.
func Run(m *testing.M) int {
	defer shared.close()
	_ = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0)))
	return m.Run()
}

// Redis returns the URL of an empty database of the Redis that all tests of a binary share. A test that stops, fills
// or configures its Redis starts its own.
func Redis(tb testing.TB) string {
	tb.Helper()
	d, err := shared.take(tb)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { shared.give(d) })
	if err := d.empty(tb.Context()); err != nil {
		tb.Fatalf("empty the database: %v", err)
	}
	return Patient(d.server.URL() + "/" + strconv.Itoa(d.number))
}

// Patient is the URL of a Redis whose answers are waited for when the machine stands still for seconds: the client's
// usual time, after which a command fails, is shorter.
func Patient(url string) string { return url + "?read_timeout=2m&write_timeout=2m" }

// shared has the servers until the binary ends.
var shared servers

type servers struct {
	mu      sync.Mutex
	running []*embedded.Redis
	free    []database
}

// databases of a Redis that is not configured otherwise.
const databases = 16

type database struct {
	server *embedded.Redis
	number int
}

// take returns a database without a test, of another server when all others' have one.
func (s *servers) take(tb testing.TB) (database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 {
		dir, err := os.MkdirTemp("", "redis")
		if err != nil {
			return database{}, err
		}
		defer os.RemoveAll(dir) // it writes no files
		log := slog.New(slog.DiscardHandler)
		server, err := embedded.StartRedis(tb.Context(), embedded.RedisOptions{Dir: dir, Log: log})
		if err != nil {
			return database{}, err
		}
		s.running = append(s.running, server)
		if server.PID() == 0 {
			return database{}, fmt.Errorf("a redis-server or valkey-server is needed: install one")
		}
		for n := range databases {
			s.free = append(s.free, database{server, n})
		}
	}
	last := len(s.free) - 1
	d := s.free[last]
	s.free = s.free[:last]
	return d, nil
}

func (s *servers) give(d database) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, d)
}

func (s *servers) close() {
	for _, r := range s.running {
		_ = r.Close()
	}
}

// empty deletes all keys, and comes back when it is done.
func (d database) empty(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", d.server.Addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "SELECT %d\r\nFLUSHDB\r\n", d.number); err != nil {
		return err
	}
	const done = "+OK\r\n+OK\r\n"
	answer := make([]byte, len(done))
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != done {
		return fmt.Errorf("%q, %w", answer, err)
	}
	return nil
}
