package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/fault"
)

// Options say which Redis to use, and the limits that scripts enforce.
type Options struct {
	// URL is redis://, rediss:// or unix://, as go-redis parses it.
	URL string
	Log *slog.Logger
	// Waiting is how many tickets of a project may wait; a create beyond it is Limited. 0 means no limit.
	Waiting int
	// Player and Project limit how often tickets are created, for one player and for all of a project.
	Player, Project Rate
	// Feed is how many entries the feed keeps, about; a reader that falls further behind
	// starts again from a snapshot. 0 means 100,000.
	Feed int
	// History is how many events and their tickets are kept until they are published, about; beyond it the
	// oldest are lost. 0 means that nobody is told of any event.
	History int
	// Functions is how many functions a project may have; 0 means 20, as the contract says.
	Functions int
	// Backfills is how many backfill tickets a project may have; a create beyond it is Limited. 0 means 100,000.
	Backfills int
}

// Store reads and changes the state. It is safe for concurrent use.
type Store struct {
	redis redis.UniversalClient
	// feeds has connections of its own: readers block on them.
	feeds  redis.UniversalClient
	server server
	log    *slog.Logger

	waiting, feed, history, functions, backfills int
	player, project                              Rate
}

// Open makes a Store. It does not connect: Ping tells whether Redis answers.
func Open(o Options) (*Store, error) {
	parsed, err := redis.ParseURL(o.URL)
	if err != nil {
		// The URL may hold a password, and the parser's errors may quote it.
		return nil, fault.New(fault.Invalid, "redis: the URL must look like redis://[user:password@]host:port[/db], rediss://… or unix:///path")
	}
	parsed.Protocol = 2 // the feed reads raw replies, which differ in RESP3
	parsed.DisableIdentity = true
	parsed.PoolSize = 64
	// A script whose reply was lost may have run: nobody may run it again unasked.
	parsed.MaxRetries = -1
	redis.SetLogger(clientLog{o.Log})
	s := &Store{
		redis: redis.NewClient(parsed), log: o.Log,
		waiting: o.Waiting, feed: o.Feed, history: o.History, functions: o.Functions, backfills: o.Backfills, player: o.Player, project: o.Project,
	}
	feeds := *parsed
	feeds.PoolSize = 4096
	feeds.OnConnect = s.server.meet
	s.feeds = redis.NewClient(&feeds)
	if s.feed == 0 {
		s.feed = 100_000
	}
	if s.functions == 0 {
		s.functions = 20
	}
	if s.backfills == 0 {
		s.backfills = 100_000
	}
	return s, nil
}

// clientLog takes what the Redis client says, which its errors say as well.
type clientLog struct{ log *slog.Logger }

// Printf is what the client calls.
func (l clientLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis client", "says", fmt.Sprintf(format, args...))
}

// Close closes all connections.
func (s *Store) Close() error { return errors.Join(s.redis.Close(), s.feeds.Close()) }

// Ping is nil when Redis answers.
func (s *Store) Ping(ctx context.Context) error {
	return unavailable(s.redis.Ping(ctx).Err())
}

// Projects lists the projects that have, or had, a config or a function.
func (s *Store) Projects(ctx context.Context) ([]string, error) {
	names, err := s.redis.SMembers(ctx, projects).Result()
	return names, unavailable(err)
}

// unavailable marks an error of the connection or of Redis itself; nil stays nil.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Unavailable, err, "the state store did not answer, try again")
}

// corrupt is a reply or a stored value that this version does not understand.
func corrupt(what string, err error) error { return fmt.Errorf("state: %s: %w", what, err) }

func millis(t time.Time) int64 { return t.UnixMilli() }
