package state_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// member is a server of a cluster, and a client of it alone.
type member struct {
	*redis.Client
	addr, id string
}

// startCluster starts a cluster of primaries that share the slots.
func startCluster(t *testing.T, size int, args ...string) (members []member) {
	t.Helper()
	var ports []string
	for i := range size {
		port, bus := embeddedtest.FreePort(t), embeddedtest.FreePort(t)
		startRedis(t, append([]string{"--port", port, "--cluster-enabled", "yes", "--cluster-port", bus}, args...)...)
		m := member{Client: redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port}), addr: "127.0.0.1:" + port}
		t.Cleanup(func() { _ = m.Close() })
		must(t, m.ClusterAddSlotsRange(t.Context(), i*16384/size, (i+1)*16384/size-1).Err(),
			m.Do(t.Context(), "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
		for _, other := range ports {
			to := strings.Fields(other)
			must(t, m.Do(t.Context(), "CLUSTER", "MEET", "127.0.0.1", to[0], to[1]).Err())
		}
		m.id = m.Do(t.Context(), "CLUSTER", "MYID").Val().(string)
		members, ports = append(members, m), append(ports, port+" "+bus)
	}
	waittest.Until(t, "all servers know the cluster", func() bool {
		for _, m := range members {
			info, err := m.ClusterInfo(t.Context()).Result()
			if err != nil || !strings.Contains(info, "cluster_state:ok") ||
				!strings.Contains(info, fmt.Sprint("cluster_known_nodes:", size)) {
				return false
			}
		}
		return true
	})
	return members
}

// home is the slot of the project, the server that has it, and another one.
func home(t *testing.T, members []member) (slot int64, from, to member) {
	t.Helper()
	slot, err := members[0].ClusterKeySlot(t.Context(), "mm:{"+project+"}:lease").Result()
	must(t, err)
	i := int(slot) * len(members) / 16384
	return slot, members[i], members[(i+1)%len(members)]
}

// migrate moves keys, and returns the command that does.
func migrate(to member, keys []string) []any {
	host, port, _ := net.SplitHostPort(to.addr)
	command := []any{"MIGRATE", host, port, "", 0, 10_000, "KEYS"}
	for _, key := range keys {
		command = append(command, key)
	}
	return command
}

func keysIn(t *testing.T, m member, slot int64) []string {
	t.Helper()
	keys, err := m.ClusterGetKeysInSlot(t.Context(), int(slot), 100_000).Result()
	must(t, err)
	return keys
}

// busy creates tickets, reads them, claims them in pairs and reads their results until ended is called, which returns
// the number of tickets. failed is called with each error.
func busy(
	t *testing.T, s *state.Store, revision int64, terms state.ClaimOptions, failed func(error),
) (ended func() int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	n := 0
	creator := s.Creator(nil)
	all.Go(func() {
		for ; ctx.Err() == nil; n += 2 {
			ids := []string{fmt.Sprint("busy-", n), fmt.Sprint("busy-", n+1)}
			c := direct(revision, fmt.Sprint("busy-match-", n), "1.2.3.4:5", ids...)
			for _, err := range []error{
				creator.Create(t.Context(), project, ticket(ids[0], n)), creator.Create(t.Context(), project, ticket(ids[1], n)),
				second(s.Claim(t.Context(), project, terms, []*state.Claim{c})), second(s.Ticket(t.Context(), project, ids[0])),
				second(s.Configs(t.Context(), project)), second(s.AcquireLease(t.Context(), project, "director-1", time.Minute)),
			} {
				if err != nil {
					failed(err)
				}
			}
			if c.Refusal != "" {
				failed(errors.New(c.Refusal))
			}
		}
	})
	return func() int { stop(); all.Wait(); return n }
}

// Slots that move as a whole show no error.
func TestSlotThatMovesAsAWhole(t *testing.T) {
	t.Parallel()
	members := startCluster(t, 2)
	s := openStore(t, state.Options{Server: state.Server{URL: "redis-cluster://" + members[0].addr}})
	revision, terms := setUp(t, s)
	create(t, s, "a", "b")
	m := follow(t, s)
	m.sees(t, "a", "b")
	slot, from, to := home(t, members)
	for range 3 {
		ended := busy(t, s, revision, terms, func(err error) { t.Error(err) })
		moveWhole(t, from, to, slot)
		if keys := keysIn(t, from, slot); len(keys) != 0 {
			t.Fatalf("keys that were not moved: %v", keys)
		}
		if err := s.At(at(9)).Creator(nil).Create(t.Context(), project, ticket("c", 9)); err != nil {
			t.Error(err)
		}
		m.until(t, func() (any, bool) { _, is := m.waiting["c"]; return m.waiting, is }, "c")
		if n := ended(); n == 0 {
			t.Error("nothing happened meanwhile")
		}
		if t.Failed() {
			return
		}
		must(t, second(s.DeleteTicket(t.Context(), project, "c", "")))
		m.sees(t, "a", "b")
		from, to = to, from
	}
	runMatches(t, s, "another")
}

// moveWhole moves a slot by the server's own command, where it has one. Elsewhere one script moves the keys and gives
// the slot away.
func moveWhole(t *testing.T, from, to member, slot int64) {
	t.Helper()
	ctx := t.Context()
	err := from.Do(ctx, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", to.id).Err() // Valkey 9
	if err != nil {
		err = to.Do(ctx, "CLUSTER", "MIGRATION", "IMPORT", slot, slot).Err() // Redis 8.4
	}
	if err != nil {
		must(t, to.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.id).Err())
		host, port, _ := net.SplitHostPort(to.addr)
		must(t, from.Eval(ctx, `
			local keys = redis.call('CLUSTER', 'GETKEYSINSLOT', ARGV[1], 5000)
			redis.call('MIGRATE', ARGV[2], ARGV[3], '', 0, 10000, 'KEYS', unpack(keys))
			return redis.call('CLUSTER', 'SETSLOT', ARGV[1], 'NODE', ARGV[4])`, nil, slot, host, port, to.id).Err())
		must(t, to.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to.id).Err())
	}
	key := "mm:{" + project + "}:lease"
	waittest.Until(t, "the slot has moved", func() bool {
		gone := from.Exists(ctx, key).Err()
		return to.Exists(ctx, key).Err() == nil && gone != nil && strings.HasPrefix(gone.Error(), "MOVED")
	})
}

// While a slot moves key by key, callers are asked to come again. Nothing is lost, and all goes on when it is whole.
func TestSlotThatMovesKeyByKey(t *testing.T) {
	t.Parallel()
	members := startCluster(t, 2)
	s := openStore(t, state.Options{Server: state.Server{URL: "redis-cluster://" + members[0].addr}})
	revision, terms := setUp(t, s)
	create(t, s, "a", "b", "c", "d")
	mustClaim(t, s, terms, direct(revision, "m", "1.2.3.4:5", "a", "b"))
	m := follow(t, s)
	m.sees(t, "c", "d")
	ctx := t.Context()
	slot, from, to := home(t, members)
	all := keysIn(t, from, slot)

	must(t, to.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.id).Err(),
		from.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.id).Err())
	comeAgain := func(what string, err error) {
		t.Helper()
		p, is := errors.AsType[*problem.Error](err)
		if !is || p.Kind != problem.Unavailable || p.RetryAfter <= 0 || !strings.Contains(p.Detail, "moved") {
			t.Errorf("%s while a slot moves: %v", what, err)
		}
	}
	moved := func(part ...string) { t.Helper(); must(t, from.Do(ctx, migrate(to, part)...).Err()) }
	creator := s.Creator(nil)
	comeAgain("create, before a key has moved", creator.Create(ctx, project, ticket("e", 5)))
	moved("mm:{"+project+"}:t:a", "mm:{"+project+"}:t:c", "mm:{"+project+"}:waiting")
	_, err := s.Ticket(ctx, project, "a")
	comeAgain("read", err)
	if got := assigned(t, s, "b"); got.GetConnection() != "1.2.3.4:5" {
		t.Errorf("a ticket that has not moved has %v", got)
	}
	comeAgain("create", creator.Create(ctx, project, ticket("e", 5)))
	_, err = s.DeleteTicket(ctx, project, "d", "")
	comeAgain("delete", err)
	_, err = s.Claim(ctx, project, terms, []*state.Claim{direct(revision, "n", "1.2.3.4:5", "c", "d")})
	comeAgain("claim", err)
	var rest []string
	for _, key := range all {
		if from.Exists(ctx, key).Val() == 1 {
			rest = append(rest, key)
		}
	}
	moved(rest...)
	comeAgain("create, when all keys have moved", creator.Create(ctx, project, ticket("e", 5)))
	_, err = s.AcquireLease(ctx, project, "director-1", time.Second)
	comeAgain("lease", err)
	if keys := keysIn(t, from, slot); len(keys) != 0 {
		t.Errorf("keys that were written behind the move: %v", keys)
	}
	must(t, to.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to.id).Err(),
		from.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to.id).Err())

	must(t, creator.Create(ctx, project, ticket("e", 5)))
	m.sees(t, "c", "d", "e")
	isWaiting(t, s, "c", "d", "e")
	for _, id := range []string{"a", "b"} {
		if got := assigned(t, s, id); got.GetConnection() != "1.2.3.4:5" {
			t.Errorf("%s has %v", id, got)
		}
	}
	c := direct(revision, "n", "1.2.3.4:5", "c", "d")
	if mustClaim(t, s, terms, c); c.Refusal != "" {
		t.Errorf("refused: %q", c.Refusal)
	}
	m.sees(t, "e")
	if configs, err := s.Configs(ctx, project); err != nil || configs["c"].GetRevision() != revision {
		t.Errorf("configs: %v, %v", configs, err)
	}
}
