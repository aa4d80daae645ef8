package compose

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kept are the commands of docs/production.md that back up, and those that bring back what was lost.
var kept = struct{ backup, lose, restore [][]string }{
	backup: [][]string{
		// Redis may add to its file meanwhile, and must not replace it.
		{"docker", "compose", "exec", "-T", "redis", "redis-cli", "config", "set", "auto-aof-rewrite-percentage", "0"},
		{"docker", "compose", "cp", "redis:/data/appendonlydir", "backup"},
		{"docker", "compose", "exec", "-T", "redis", "redis-cli", "config", "set", "auto-aof-rewrite-percentage", "100"},
	},
	lose: [][]string{
		{"docker", "compose", "rm", "--stop", "--force", "redis", "nats"},
		{"docker", "volume", "rm", "matchmaker_redis", "matchmaker_nats"},
	},
	restore: [][]string{
		{"docker", "compose", "stop", "director", "allocator", "registry"},
		{"docker", "compose", "up", "--no-start", "--no-build", "--pull", "never", "redis", "nats"},
		{"docker", "compose", "cp", "backup", "redis:/data/appendonlydir"},
		{"docker", "compose", "start", "redis", "nats"},
		{"docker", "compose", "start", "director", "allocator", "registry"},
	},
}

// restore backs Redis up while players come, loses its data and NATS's, and brings Redis's back. Modules are uploaded
// again. Configs are as they were, and players are matched.
func (s *system) restore(ctx context.Context, t *testing.T) {
	before := s.mm(ctx, t, "demo", "config", "list")
	if !strings.Contains(before, "ranked") {
		t.Fatalf("the quick start's config is not there: %s", before)
	}
	s.all(ctx, t, kept.backup)
	if found, err := filepath.Glob(filepath.Join(s.source, "backup", "*.manifest")); err != nil || len(found) == 0 {
		entries, _ := os.ReadDir(filepath.Join(s.source, "backup"))
		t.Fatalf("the backup has no manifest: %v, %v", entries, err)
	}
	s.all(ctx, t, kept.lose)
	s.all(ctx, t, kept.restore)
	for _, service := range s.services {
		s.engine.awaitHealthy(ctx, t, service)
	}
	if after := s.mm(ctx, t, "demo", "config", "list"); after != before {
		t.Errorf("the configs are\n%s\nand were\n%s", after, before)
	}
	s.mm(ctx, t, "demo", "function", "put", "duel", "bin/functions/duel.zip")
	said, err := s.engine.inside(ctx, s.source, "bash", "-euo", "pipefail", "-c",
		"bin/mm ticket create --player kept-1 --attribute skill=1200 --wait & "+
			"bin/mm ticket create --player kept-2 --attribute skill=1210 --wait; wait $!")
	if err != nil {
		t.Fatal(err)
	}
	if matched := regexp.MustCompile(`(?m)^connection +\S+$`).FindAllString(said, -1); len(matched) != 2 {
		t.Errorf("%d players have a connection, want 2:\n%s", len(matched), said)
	}
}

// all runs commands one after the other. Commands of docker compose name the file of variables.
func (s *system) all(ctx context.Context, t *testing.T, commands [][]string) {
	t.Helper()
	for _, c := range commands {
		if slices.Equal(c[:2], []string{"docker", "compose"}) {
			s.compose(ctx, t, c[2:]...)
		} else {
			s.engine.must(ctx, t, s.source, c[0], c[1:]...)
		}
	}
}
