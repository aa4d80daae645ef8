package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// homes are the addresses of three machines beside the nodes: Redis with a replica and Sentinels, and NATS.
var homes = []string{"192.0.2.11", "192.0.2.12", "192.0.2.13"}

// stores makes the users, and starts Redis and NATS, as docs/production.md has it. The folder has what operators keep.
func stores(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	matchmaker(t, dir, "", "permissions", "passwords", "users")
	matchmaker(t, dir, "users.acl", "permissions", "redis", "--passwords", "users")
	matchmaker(t, dir, "users.conf", "permissions", "nats", "--passwords", "users")
	matchmaker(t, dir, "", "keys", "hosting", "hosting-keys")
	matchmaker(t, dir, "", "keys", "server", "server-keys.json")
	matchmaker(t, dir, "", "keys", "seat", "seat-keys.json")
	write(t, in("hosting.yaml"), `default: fixed`, `providers: {fixed: {kind: instant, connection: "192.0.2.9:7777"}}`)

	for i, at := range homes[:2] {
		settings := []string{
			"appendonly yes", "maxmemory-policy noeviction", "maxmemory 3gb", "min-replicas-to-write 1",
			"aclfile " + in("users.acl"),
			"masteruser matchmaker-replica", "masterauth " + password(t, dir, "replica"),
			// All of them are on one machine here.
			"bind " + at, "dir " + in(fmt.Sprintf("redis-%d", i+1)), "replica-announce-ip " + at,
		}
		if i > 0 {
			settings = append(settings, "replicaof "+homes[0]+" 6379")
		}
		redis(t, dir, fmt.Sprintf("redis-%d", i+1), settings)
	}
	for i, at := range homes {
		name := fmt.Sprintf("sentinel-%d", i+1)
		redis(t, dir, name, []string{
			"port 26379", "bind " + at, "dir " + in(name), "sentinel announce-ip " + at,
			"sentinel monitor games " + homes[0] + " 6379 2",
			"sentinel down-after-milliseconds games 2000",
			"sentinel failover-timeout games 6000",
			"sentinel auth-user games matchmaker-sentinel",
			"sentinel auth-pass games " + password(t, dir, "sentinel"),
		}, "--sentinel")
		name = fmt.Sprintf("nats-%d", i+1)
		err := here.start(name, filepath.Join(here.bin, "nats-server"), "--server_name", name, "--addr", at,
			"--jetstream", "--store_dir", in(name), "--config", in("users.conf"), "--cluster_name", "games",
			"--cluster", "nats://"+at+":6222",
			"--routes", "nats://"+strings.Join(homes, ":6222,nats://")+":6222")
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range homes {
		eventually(t, "the Sentinels know each other and the replica", func(ctx context.Context) error {
			said, err := exec.CommandContext(ctx, "redis-cli", "-h", at, "-p", "26379", "info", "sentinel").CombinedOutput()
			if !strings.Contains(string(said), "status=ok,address="+homes[0]+":6379,slaves=1,sentinels=3") {
				return errors.Join(err, fmt.Errorf("%s", said))
			}
			return nil
		})
	}
}

// secrets gives the cluster what the folder has, as docs/production.md has it.
func secrets(t *testing.T, dir string) {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, from := range [][]string{
		{"redis", "--from-literal", "url=redis-sentinel://" + homes[0] + ":26379?master_name=games&addr=" +
			homes[1] + ":26379&addr=" + homes[2] + ":26379"},
		{"nats", "--from-literal", "url=nats://" + strings.Join(homes, ":4222,nats://") + ":4222"},
		{"mm-users", "--from-file", in("users")},
		{"hosting", "--from-file", in("hosting.yaml")},
		{"hosting-keys", "--from-file", in("hosting-keys")},
		{"server-keys", "--from-file", in("server-keys.json")},
		{"seat-keys", "--from-file", in("seat-keys.json")},
	} {
		kubectl(t, append([]string{"--namespace", games, "create", "secret", "generic"}, from...)...)
	}
}

// redis starts a server of Redis with settings of its own in a file, which it may write again.
func redis(t *testing.T, dir, name string, settings []string, more ...string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name+".conf")
	write(t, file, settings...)
	if err := here.start(name, "redis-server", append([]string{file}, more...)...); err != nil {
		t.Fatal(err)
	}
}

// write writes lines to a file.
func write(t *testing.T, file string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// password is an account's password.
func password(t *testing.T, dir, account string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "users", account))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// matchmaker runs a command in a folder. What it prints is in the file, if one is named.
func matchmaker(t *testing.T, dir, file string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(*built, "matchmaker"), args...)
	cmd.Dir = dir
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("matchmaker %s: %v", strings.Join(args, " "), err)
	}
	if file != "" {
		write(t, filepath.Join(dir, file), strings.TrimSuffix(string(said), "\n"))
	}
}
