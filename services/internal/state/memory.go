package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/wait"
)

// How often a process asks Redis for its memory, how long an answer may take, and when a caller may try again whose
// create was refused for it.
const (
	memoryEvery   = time.Second
	memoryTimeout = 2 * time.Second
	memoryDelay   = 5 * time.Second
)

// Memory is what a Redis server has left of its maxmemory.
type Memory struct {
	// Free is less than 0 when the server uses more than its maxmemory: scripts that take work further run even then.
	Free int64
	// Reserve is what creates leave free.
	Reserve int64
	// policy is the server's maxmemory-policy.
	policy string
}

func (m Memory) short() bool { return m.Free < m.Reserve }

// memory is what this process knows of the servers' memory. Creates read it; KeepMemory updates it.
type memory struct {
	reserve reserve
	// short is true while any server is short of memory. While none is, a create needs no more.
	short atomic.Bool
	// servers has the servers with a maxmemory, by address.
	servers atomic.Pointer[map[string]Memory]
}

// reserve is the value of --redis-reserve: a share of maxmemory, or bytes.
type reserve struct {
	share float64
	bytes int64
}

var errReserve = errors.New(
	"--redis-reserve must be a share up to 50%, like 10%, or an amount, like 256MiB; 0 means none")

func parseReserve(text string) (reserve, error) {
	if text == "" {
		return reserve{}, nil
	}
	if percent, is := strings.CutSuffix(text, "%"); is {
		n, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(n >= 0 && n <= 50) {
			return reserve{}, errReserve
		}
		return reserve{share: n / 100}, nil
	}
	shift := 0
	for unit, by := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if number, is := strings.CutSuffix(text, unit); is {
			text, shift = number, by
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return reserve{}, errReserve
	}
	return reserve{bytes: n << shift}, nil
}

// of returns the reserve of a server: never more than half, so that a server that is smaller than expected takes
// creates.
func (r reserve) of(maxmemory int64) int64 {
	return min(max(r.bytes, int64(r.share*float64(maxmemory))), maxmemory/2)
}

// KeepMemory asks Redis for its memory until ctx ends, and logs problems.
func (s *Store) KeepMemory(ctx context.Context) error {
	said := ""
	for range wait.Every(ctx, memoryEvery) {
		if err := s.measureMemory(ctx); err != nil {
			s.log.DebugContext(ctx, "Redis's memory is not known", "error", err)
		}
		warning := s.MemoryWarning()
		if warning == "" && said != "" {
			s.log.InfoContext(ctx, "Redis has memory again")
		} else if warning != said {
			s.log.WarnContext(ctx, warning)
		}
		said = warning
	}
	return nil
}

// measureMemory asks all servers once. A server that does not answer keeps its last measurement.
func (s *Store) measureMemory(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, memoryTimeout)
	defer cancel()
	before := map[string]Memory{}
	if known := s.memory.servers.Load(); known != nil {
		before = *known
	}
	var mu sync.Mutex
	now := map[string]Memory{}
	err := eachNode(ctx, s.redis, func(ctx context.Context, node redis.Cmdable, addr string) error {
		m, limited, err := s.memoryOf(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			m, limited = before[addr], before[addr] != Memory{}
		}
		if limited {
			now[addr] = m
		}
		return err
	})
	if err != nil && len(now) == 0 {
		now = before // no server could be asked
	}
	short := false
	for m := range maps.Values(now) {
		short = short || m.short()
	}
	s.memory.servers.Store(&now)
	s.memory.short.Store(short)
	return err
}

// memoryOf asks one server. limited is false when it has no maxmemory.
func (s *Store) memoryOf(ctx context.Context, server redis.Cmdable) (m Memory, limited bool, err error) {
	text, err := server.Info(ctx, "memory").Result()
	if err != nil {
		return Memory{}, false, err
	}
	fields := infoOf(text)
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(fields[name], 10, 64)
		return n
	}
	maxmemory := number("maxmemory")
	if maxmemory <= 0 {
		return Memory{}, false, nil
	}
	return Memory{
		Free:    maxmemory - number("used_memory") + number("mem_not_counted_for_evict"),
		Reserve: s.memory.reserve.of(maxmemory), policy: fields["maxmemory_policy"],
	}, true, nil
}

// infoOf returns the fields of a server's INFO.
func infoOf(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields[name] = value
	}
	return fields
}

// Memory returns the memory of the server that is nearest to its reserve. known is false while no server with a
// maxmemory is known.
func (s *Store) Memory() (least Memory, known bool) {
	servers := s.memory.servers.Load()
	if servers == nil {
		return Memory{}, false
	}
	for _, m := range *servers {
		if !known || m.Free-m.Reserve < least.Free-least.Reserve {
			least, known = m, true
		}
	}
	return least, known
}

// MemoryWarning describes what is wrong with Redis's memory; "" for nothing.
func (s *Store) MemoryWarning() string {
	servers := s.memory.servers.Load()
	if servers == nil {
		return ""
	}
	for _, m := range *servers {
		if strings.HasPrefix(m.policy, "allkeys-") {
			return fmt.Sprintf("Redis's maxmemory-policy is %s, so it will delete state: set it to noeviction", m.policy)
		}
	}
	if s.memory.short.Load() {
		return "Redis is short of memory, so nothing new is taken: what exists goes on"
	}
	return ""
}

// HasMemory returns an error while the server of a project has less than its reserve left, or is full. It does not ask
// Redis.
func (s *Store) HasMemory(ctx context.Context, project string) error {
	return s.hasMemory(ctx, keysOf(project))
}

func (s *Store) hasMemory(ctx context.Context, k keys) error {
	if !s.memory.short.Load() {
		return nil
	}
	// Which key does not matter: a project's keys are on one server.
	_, addr, err := nodeOf(ctx, s.redis, k.projects())
	if err != nil {
		return unavailable(err)
	}
	if m, known := (*s.memory.servers.Load())[addr]; known && m.short() {
		return shortOfMemory(nil)
	}
	return nil
}

// mayAdd is an argument of scripts that create, or replace by something larger.
func (s *Store) mayAdd(ctx context.Context, all ...keys) int {
	for _, k := range all {
		if s.hasMemory(ctx, k) != nil {
			return 0
		}
	}
	return 1
}

func shortOfMemory(err error) error {
	return problem.Wrap(problem.Unavailable, err, "the state store is short of memory and takes nothing new, try again "+
		"when tickets were matched or deleted; what exists goes on").After(memoryDelay)
}

// isFull reports whether Redis refused a script because it has reached its maxmemory.
func isFull(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "OOM ") }
