package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"

	"matchmaker.dev/services/internal/platform/process"
)

// grace is how long Redis may take to write its files before it is killed.
const grace = 10 * time.Second

// RedisOptions say which server to start, and where its data lies.
type RedisOptions struct {
	// Dir holds the append-only files; it is created when missing.
	Dir string
	// Binary to run. When empty, redis-server or valkey-server from the PATH, and when neither is there, a server in
	// memory.
	Binary string
	// Port on 127.0.0.1; a free one when 0.
	Port int
	// AOF writes every change to Dir, and to the disk once a second. Without it the state is gone when the server ends.
	AOF bool
	// MaxMemory is how many bytes the data may take; 0 is no limit.
	MaxMemory int64
	// Users is the path of an ACL file, in which the default user may ask for INFO; without it every client may do
	// everything.
	Users string
	// Password is the default user's; every client may do everything when it is empty. The server reads its hash from a
	// file in Dir: other users of the machine see command lines. Users and Password exclude each other.
	Password string
	Log      *slog.Logger
}

// Redis is a running Redis server: a child process, or one in memory.
type Redis struct {
	addr   string
	login  *url.Userinfo
	aof    bool
	child  *process.Process     // nil when in memory
	log    *redisLog            // of the child
	memory *miniredis.Miniredis // nil when a child
	lock   *os.File
}

// StartRedis returns when the server has loaded its data and answers. The child dies with this process, however that
// ends.
func StartRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	path := RedisBinary()
	if o.Binary != "" {
		var err error
		if path, err = exec.LookPath(o.Binary); err != nil {
			return nil, fmt.Errorf("redis: %w", err)
		}
	}
	if path == "" {
		return StartMemory(o.Port, o.Password)
	}
	lock, err := lock(ctx, o.Dir)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	r := &Redis{aof: o.AOF, lock: lock, login: loginOf(o.Password)}
	if err := r.start(ctx, path, o); err != nil {
		_ = unlock(lock)
		return nil, fmt.Errorf("redis: %w", err)
	}
	return r, nil
}

// StartMemory starts a Redis server in this process whose state ends with it. Port 0 takes a free one. Without a
// password every client may do everything.
func StartMemory(port int, password string) (*Redis, error) {
	m := miniredis.NewMiniRedis()
	if password != "" {
		m.RequireAuth(password)
	}
	if err := m.StartAddr(loopback(port)); err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	AllowFlags(m)
	return &Redis{addr: m.Addr(), memory: m, login: loginOf(password)}, nil
}

func loginOf(password string) *url.Userinfo {
	if password == "" {
		return nil
	}
	return url.UserPassword("default", password) // redis-cli sends no empty name
}

// Addr is host:port.
func (r *Redis) Addr() string { return r.addr }

// URL is where clients connect, redis://[default:password@]host:port.
func (r *Redis) URL() string {
	return (&url.URL{Scheme: "redis", User: r.login, Host: r.addr}).String()
}

// PID is the id of the server's process, 0 when it is in this one.
func (r *Redis) PID() int {
	if r.child == nil {
		return 0
	}
	return r.child.PID()
}

// Persistent reports whether the state survives a restart.
func (r *Redis) Persistent() bool { return r.aof }

// Watch returns nil when ctx ends, and an error when the server ends before.
func (r *Redis) Watch(ctx context.Context) error {
	if r.child == nil {
		<-ctx.Done()
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-r.child.Done():
		return fmt.Errorf("redis: %w", r.child.Err())
	}
}

// Close ends the server; it has written everything to its files when Close returns nil. Closing twice is harmless.
func (r *Redis) Close() error {
	if r.memory != nil {
		r.memory.Close()
		return nil
	}
	r.log.warn.Store(false)
	if err := r.child.Stop(grace); err != nil {
		r.lock.Close()
		return fmt.Errorf("redis: %w", err)
	}
	_ = unlock(r.lock)
	return nil
}

// RedisBinary is the path of the server that runs when none is named, "" when there is none.
func RedisBinary() string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// redisLine takes apart "12345:M 21 Nov 2025 03:22:00.123 # Ready to accept connections" into the level, one of . - * #
// (the highest), and the text.
var redisLine = regexp.MustCompile(`^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ ([.*#-]) (.*)$`)

// redisLog passes the lines that Redis writes on to slog.
type redisLog struct {
	log *slog.Logger
	// warn logs Redis's warnings as warnings. While the server starts and stops it writes greetings as warnings; they
	// matter only when it fails, and then the error has them.
	warn atomic.Bool
}

func (l *redisLog) add(text string) {
	text = strings.TrimSpace(text)
	log := l.log.Debug
	if m := redisLine.FindStringSubmatch(text); m != nil {
		text = m[2]
		if m[1] == "#" && l.warn.Load() {
			log = l.log.Warn
		}
	}
	if text != "" {
		log("redis: " + text)
	}
}
