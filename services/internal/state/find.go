package state

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/platform/wait"
)

// Each step of a scan looks at about scanCount keys, which took Redis 0.8 ms on a busy machine. The pause leaves it to
// others for most of the time: a million keys take about ten seconds.
const (
	scanCount = 1000
	scanPause = 10 * time.Millisecond
)

// kept matches the keys of projects whose names have at least three letters: no keys of tickets, matches and backfill
// tickets.
const kept = "mm:{*}:[a-z][a-z][a-z]*"

// proofs are keys of a project. At least one of them exists as long as there is work for a director, a runner or an
// allocator. A lease and rate limits prove nothing: they may be left of a project that was deleted.
func (k keys) proofs() []string {
	return []string{k.configs(), k.functions(), k.unused(), k.waiting(), k.resolved(), k.claims(), k.outbox(), k.ended(),
		k.deallocations(), k.backfills(), k.joins(), k.history()}
}

// AddProjects adds existing projects to the list. The list is the one key outside of every project's slot, so it may be
// lost alone.
func (s *Store) AddProjects(ctx context.Context, projects []string) error {
	if len(projects) == 0 {
		return nil
	}
	c := s.call("project_list", global, ids{})
	c.addArgs(projects)
	return s.eval(ctx, c)
}

// FindProjects looks through all keys of Redis for projects that are not listed, lists them, and returns their names.
// It is slow on purpose.
func (s *Store) FindProjects(ctx context.Context) ([]string, error) {
	found, err := s.scanProjects(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := s.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, project := range listed {
		delete(found, project)
	}
	var lost []string
	for _, project := range slices.Sorted(maps.Keys(found)) {
		// It may have been deleted meanwhile.
		n, err := s.redis.Exists(ctx, keysOf(project).proofs()...).Result()
		if err != nil {
			return nil, unavailable(err)
		}
		if n > 0 {
			lost = append(lost, project)
		}
	}
	return lost, s.AddProjects(ctx, lost)
}

// scanProjects returns the projects that have keys, on all servers of a cluster.
func (s *Store) scanProjects(ctx context.Context) (map[string]bool, error) {
	found, mu := map[string]bool{}, sync.Mutex{}
	note := func(names []string) error {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range names {
			project, _, _ := strings.Cut(strings.TrimPrefix(name, string(global)+"{"), "}:")
			if slices.Contains(keysOf(project).proofs(), name) {
				found[project] = true
			}
		}
		return nil
	}
	return found, eachNode(ctx, s.redis, func(ctx context.Context, node redis.Cmdable, _ string) error {
		return scan(ctx, node, kept, note)
	})
}

// scan calls take with the keys of a server that match a pattern, some at a time, until take fails.
func scan(ctx context.Context, server redis.Cmdable, pattern string, take func(names []string) error) error {
	for cursor := uint64(0); ; {
		names, next, err := server.Scan(ctx, cursor, pattern, scanCount).Result()
		if err != nil {
			return unavailable(err)
		}
		if err := take(names); err != nil {
			return err
		}
		if cursor = next; cursor == 0 {
			return nil
		}
		if err := wait.For(ctx, scanPause); err != nil {
			return err
		}
	}
}
