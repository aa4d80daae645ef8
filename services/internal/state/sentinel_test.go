package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// startSentinel starts a Sentinel that watches the primary at a port as "games", and has settings of its own.
func startSentinel(t *testing.T, primary string, settings ...string) (asked *redis.SentinelClient, url string) {
	t.Helper()
	port, file := embeddedtest.FreePort(t), filepath.Join(t.TempDir(), "sentinel.conf")
	all := append([]string{"monitor games 127.0.0.1 " + primary + " 1"}, settings...)
	must(t, os.WriteFile(file, []byte("sentinel "+strings.Join(all, "\nsentinel ")+"\n"), 0o600))
	embeddedtest.StartRedis(t, file, "--sentinel", "--port", port, "--bind", "127.0.0.1")
	asked = redis.NewSentinelClient(&redis.Options{Addr: "127.0.0.1:" + port})
	t.Cleanup(func() { _ = asked.Close() })
	// Unless told so, it asks every 10 s.
	often := redis.NewStatusCmd(t.Context(), "SENTINEL", "DEBUG", "info-period", 1000, "publish-period", 100)
	waittest.Until(t, "Sentinel answers", func() bool { return asked.Process(t.Context(), often) == nil })
	return asked, "redis-sentinel://127.0.0.1:" + port + "?master_name=games"
}

// knowsReplica waits until a Sentinel knows the replica, and that it is linked.
func knowsReplica(t *testing.T, asked *redis.SentinelClient) {
	t.Helper()
	waittest.Until(t, "Sentinel knows the replica", func() bool {
		known, err := asked.Replicas(t.Context(), "games").Result()
		return err == nil && len(known) == 1 && known[0]["master-link-status"] == "ok"
	})
}

// takeOver makes the replica the primary, as soon as Sentinel has heard from it of late.
func takeOver(t *testing.T, asked *redis.SentinelClient) {
	t.Helper()
	waittest.Until(t, "Sentinel lets it take over", func() bool {
		return asked.Failover(t.Context(), "games").Err() == nil
	})
}

// Replicas and Sentinels log in as the users that the ACL file has for them, and a replica takes over with those rights
// alone.
func TestReplicasAndSentinelsHaveTheRightsThatTheyNeed(t *testing.T) {
	t.Parallel()
	var servers [2]*redis.Client
	var ports [2]string
	for i := range servers {
		ports[i] = embeddedtest.FreePort(t)
		more := []string{"--port", ports[i], "--repl-diskless-sync-delay", "0", "--aclfile", aclFile(t, false),
			"--masteruser", account.User(account.Replica), "--masterauth", passwordOf(account.Replica)}
		if i > 0 {
			more = append(more, "--replicaof", "127.0.0.1 "+ports[0])
		}
		startRedis(t, more...)
		servers[i] = redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + ports[i],
			Username: account.User(account.Operator), Password: passwordOf(account.Operator)})
		t.Cleanup(func() { _ = servers[i].Close() })
	}
	linked := func(i int) bool {
		return strings.Contains(servers[i].Info(t.Context(), "replication").Val(), "master_link_status:up")
	}
	waittest.Until(t, "the replica is linked", func() bool { return linked(1) })

	asked, url := startSentinel(t, ports[0], "down-after-milliseconds games 60000", "failover-timeout games 2000",
		"auth-user games "+account.User(account.Sentinel), "auth-pass games "+passwordOf(account.Sentinel))
	s := openStore(t, state.Options{Server: state.Server{URL: url}, Login: login(account.All)})
	knowsReplica(t, asked)
	takeOver(t, asked)
	waittest.Until(t, "the primary is its replica", func() bool { return linked(0) })
	waittest.Until(t, "the store has found it", func() bool { return second(s.Waiting(t.Context(), project)) == nil })
	// The users of the servers read and write nothing of projects.
	for _, name := range []string{account.Replica, account.Sentinel} {
		for _, command := range []string{"GET a", "SET a b", "CONFIG GET *", "KEYS *", "ACL LIST"} {
			args := []any{"ACL", "DRYRUN", account.User(name)}
			for word := range strings.FieldsSeq(command) {
				args = append(args, word)
			}
			if said := servers[0].Do(t.Context(), args...).String(); !strings.Contains(said, "has no permissions") {
				t.Errorf("%s may %s: %s", name, command, said)
			}
		}
	}
}
