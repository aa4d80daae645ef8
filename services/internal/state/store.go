package state

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/settings"
)

// Options say which Redis to use, and the limits that scripts enforce.
type Options struct {
	Server Server
	Limits Limits
	// TLS and Login replace the files of Server. When they are empty, the files are read.
	TLS   *tls.Config
	Login account.Login
	// Dial replaces the client's dialer; nil for the client's own.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	Log  *slog.Logger
	// Feed is about how many entries the feed keeps, and FeedBytes how many bytes of large ones. A reader that falls
	// further behind starts again from a snapshot. 0 means 100,000, and 128 MiB.
	Feed, FeedBytes int
	// History is about how many events and tickets of events are kept until they are published. When there are more, the
	// oldest are lost. 0 means that no event is written. HistoryBytes is how many bytes large ones may have besides; 0
	// means 64 MiB.
	History, HistoryBytes int
	// Functions is how many functions a project may have; 0 means no limit.
	Functions int
	// Host is the host's clock; nil is time.Now. Clock replaces Redis's in tests; nil otherwise.
	Host, Clock func() time.Time
}

// Store reads and changes the state. It is safe for concurrent use.
type Store struct {
	redis redis.UniversalClient
	// feeds has connections of its own: some readers block on them.
	feeds   redis.UniversalClient
	primary primary
	waits   *waits
	// pipes are the pipes of shared, by project.
	pipes sync.Map
	// listed is when keepListed last had each project listed.
	listed sync.Map
	// spaces has what creates know of each project's limits.
	spaces sync.Map
	log    *slog.Logger
	bare   bool             // see explain
	clock  func() time.Time // replaces Redis's
	// measured is Redis's clock as this process knows it.
	measured clock
	memory   *memory

	limits    Limits
	functions int
	step      int64          // snapshotStep, unless a test sets it
	arguments map[string]any // see argumentOf
}

// Open makes a Store. It does not connect: call Ping to check that Redis answers.
func Open(o Options) (*Store, error) {
	redis.SetLogger(clientLog{o.Log})
	var err error
	if o.TLS == nil {
		if o.TLS, err = o.Server.tls(); err != nil {
			return nil, err
		}
	}
	if !o.Login.Given() {
		if o.Login, err = account.ReadLogin("redis", o.Server.User, o.Server.Password); err != nil {
			return nil, err
		}
	}
	reserve, err := parseReserve(o.Limits.Reserve)
	if err != nil {
		return nil, err
	}
	url := o.Server.URL
	s := &Store{
		log: o.Log, bare: strings.HasPrefix(url, "rediss") && (o.TLS == nil || len(o.TLS.Certificates) == 0), clock: o.Clock,
		memory: &memory{reserve: reserve}, limits: o.Limits,
		functions: cmp.Or(o.Functions, math.MaxInt32), step: snapshotStep,
	}
	if s.measured.host = o.Host; o.Host == nil {
		s.measured.host = time.Now
	}
	if s.redis, err = connect(url, o.Login, o.TLS, o.Dial, commandPool, nil); err != nil {
		return nil, err
	}
	if s.feeds, err = connect(url, o.Login, o.TLS, o.Dial, feedPool, s.primary.watch); err != nil {
		return nil, err
	}
	s.waits = &waits{store: s, servers: map[string]*lookout{}, closed: make(chan struct{}), every: lookEvery}
	defaults := settings.Default[Limits]()
	s.limits.Backfills = cmp.Or(s.limits.Backfills, defaults.Backfills)
	s.limits.Configs.History = cmp.Or(s.limits.Configs.History, defaults.Configs.History)
	s.arguments = map[string]any{"feed_limit": cmp.Or(o.Feed, 100_000), "feed_bytes": cmp.Or(o.FeedBytes, 128<<20),
		"history_limit": o.History, "history_bytes": cmp.Or(o.HistoryBytes, 64<<20),
		"changes_bytes": s.limits.Configs.History}
	return s, nil
}

// Connections counts the connections of a process to all servers of Redis, and how many of them are in use.
type Connections struct{ Open, Busy int }

// Connections returns the connections for commands and for the readers of feeds.
func (s *Store) Connections() (commands, feeds Connections) {
	of := func(client redis.UniversalClient) Connections {
		stats := client.PoolStats()
		return Connections{Open: int(stats.TotalConns), Busy: int(stats.TotalConns) - int(stats.IdleConns)}
	}
	return of(s.redis), of(s.feeds)
}

// clientLog logs the messages of the Redis client at debug level, since its errors say the same.
type clientLog struct{ log *slog.Logger }

// Printf is called by the client.
func (l clientLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis client", "says", fmt.Sprintf(format, args...))
}

// Close closes all connections.
func (s *Store) Close() error {
	s.waits.close()
	return errors.Join(s.redis.Close(), s.feeds.Close())
}

// Ping returns nil when Redis answers. Its error tells the operator what to do, if that is known.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.redis.Ping(ctx).Err(); err != nil {
		return s.unreachable(err)
	}
	return nil
}

// unreachable is the error of a Redis that does not answer, for operators.
func (s *Store) unreachable(err error) error {
	return problem.Wrap(problem.Unavailable, err, "%s", explain(err, s.bare))
}

// Projects lists the projects that have, or had, a config, a function, a backfill ticket or a ticket.
func (s *Store) Projects(ctx context.Context) ([]string, error) {
	names, err := s.redis.SMembers(ctx, global.projects()).Result()
	return names, unavailable(err)
}

// answerDelay is when a caller may try again after Redis did not answer.
const answerDelay = time.Second

// moveDelay is when a caller may try again while a cluster moves the project key by key.
const moveDelay = 2 * time.Second

// unavailable marks an error of the connection or of Redis itself, once; nil stays nil.
func unavailable(err error) error {
	if _, marked := errors.AsType[*problem.Error](err); err == nil || marked {
		return err
	}
	if isFull(err) {
		return shortOfMemory(err)
	}
	if isMoving(err) {
		return problem.Wrap(problem.Unavailable, err,
			"the state of this project is being moved to another server, try again").After(moveDelay)
	}
	return problem.Wrap(problem.Unavailable, err, "the state store did not answer, try again").After(answerDelay)
}

// corrupt is the error of a reply or a stored value that this version does not understand.
func corrupt(what string, err error) error { return fmt.Errorf("state: %s: %w", what, err) }

// withSlack is with_slack of script/include/time.lua.
func withSlack(patience time.Duration) time.Duration { return patience + min(patience, time.Minute) }

func millis(t time.Time) int64 { return t.UnixMilli() }
