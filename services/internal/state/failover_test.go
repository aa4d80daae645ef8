package state_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// replicated is a primary with a replica.
type replicated struct {
	primary, replica *redis.Client
	url              string
	// replace puts the replica in the primary's place, which is gone, or becomes a replica.
	replace func(t *testing.T)
	lives   bool
}

// replicate starts them. The replica logs in as a user of its own, which can be locked out.
func replicate(t *testing.T, args ...string) (r replicated, primary, replica string) {
	t.Helper()
	start := func(more ...string) (client *redis.Client, addr string) {
		port, bus := embeddedtest.FreePort(t), embeddedtest.FreePort(t)
		if len(args) > 0 {
			more = append(more, "--cluster-port", bus)
		}
		startRedis(t, slices.Concat([]string{"--port", port, "--repl-diskless-sync-delay", "0"}, args, more)...)
		client = redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
		t.Cleanup(func() { _ = client.Close() })
		return client, port + " " + bus
	}
	r.primary, primary = start()
	must(t, r.primary.Do(t.Context(), "ACL", "SETUSER", "replica", "on", ">secret", "+psync", "+replconf", "+ping").Err())
	r.replica, replica = start("--masteruser", "replica", "--masterauth", "secret")
	return r, primary, replica
}

// isLinked reports whether the replica has all that the primary wrote before.
func (r replicated) isLinked(t *testing.T) bool {
	t.Helper()
	offset := func(client *redis.Client, name string) string {
		_, rest, _ := strings.Cut(client.Info(t.Context(), "replication").Val(), name+":")
		value, _, _ := strings.Cut(rest, "\r")
		return value
	}
	return offset(r.replica, "master_link_status") == "up" &&
		offset(r.primary, "master_repl_offset") == offset(r.replica, "slave_repl_offset")
}

// watched starts servers whose addresses a Sentinel gives.
func watched(t *testing.T) replicated {
	t.Helper()
	r, primary, _ := replicate(t)
	port, _, _ := strings.Cut(primary, " ")
	must(t, r.replica.ReplicaOf(t.Context(), "127.0.0.1", port).Err())
	waittest.Until(t, "the replica is linked", func() bool { return r.isLinked(t) })

	asked, url := startSentinel(t, port, "down-after-milliseconds games 60000", "failover-timeout games 5000")
	knowsReplica(t, asked)
	r.url = url
	r.replace = func(t *testing.T) { t.Helper(); takeOver(t, asked) }
	return r
}

// clustered starts servers of a cluster.
func clustered(t *testing.T) replicated {
	t.Helper()
	r, primary, replica := replicate(t, "--cluster-enabled", "yes")
	p, q := strings.Fields(primary), strings.Fields(replica)
	must(t, r.primary.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(),
		r.replica.Do(t.Context(), "CLUSTER", "MEET", "127.0.0.1", p[0], p[1]).Err())
	id := r.primary.Do(t.Context(), "CLUSTER", "MYID").Val()
	waittest.Until(t, "the replica knows the primary", func() bool {
		return r.replica.Do(t.Context(), "CLUSTER", "REPLICATE", id).Err() == nil
	})
	waittest.Until(t, "the replica is linked", func() bool {
		return r.isLinked(t) && strings.Contains(r.primary.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	})
	r.url = "redis-cluster://127.0.0.1:" + p[0] + "?addr=127.0.0.1:" + q[0]
	r.replace = func(t *testing.T) {
		t.Helper()
		must(t, r.replica.Do(t.Context(), "CLUSTER", "FAILOVER", "TAKEOVER").Err())
	}
	return r
}

// A primary is replaced by a replica that lacks its last writes. What they changed is as it was before; nothing
// strands.
func TestFailoverToAReplicaThatLags(t *testing.T) {
	taken := func(t *testing.T) replicated { r := clustered(t); r.lives = true; return r }
	for name, start := range map[string]func(*testing.T) replicated{
		"sentinel": watched, "cluster": clustered, "taken over": taken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failOver(t, start(t))
		})
	}
}

func failOver(t *testing.T, r replicated) {
	t.Helper()
	ctx := t.Context()
	s := openStore(t, state.Options{Server: state.Server{URL: r.url}, History: 1000})
	waittest.Until(t, "the primary is known", func() bool { return s.Ping(ctx) == nil })
	revision, terms := setUp(t, s)
	create(t, s, "a", "b", "c", "d", "e", "f")
	kept := claim(revision, "kept", "e", "f")
	mustClaim(t, s, terms, kept)
	must(t, s.CreateParty(ctx, project, partyOf("1", "ada", "bob"), fewParties))
	createGame(t, s, game("g", 3))
	m := follow(t, s)
	m.sees(t, "a", "b", "c", "d")
	waittest.Until(t, "the replica has caught up", func() bool { return r.isLinked(t) })

	must(t, r.primary.Do(ctx, "ACL", "SETUSER", "replica", "off").Err(),
		r.primary.Do(ctx, "CLIENT", "KILL", "TYPE", "replica").Err())
	// All of this is lost.
	create(t, s, "lost-1", "lost-2")
	lost := claim(revision, "lost", "a", "b")
	mustClaim(t, s, terms, lost)
	if b, err := s.BeginAllocation(ctx, project, lost.Match, tenSecondLease("one", time.Minute)); err != nil ||
		b.Status != state.MatchActive {
		t.Fatal(b, err)
	}
	must(t, second(s.DeleteTicket(ctx, project, "d", "")))
	revised := func(s *state.Store) (config, party, backfill int64) {
		t.Helper()
		config, _, err := s.PutConfig(ctx, project, &pb.Config{Id: "revised"}, state.AnyRevision)
		must(t, err)
		p, _, err := s.ChangeParty(ctx, project, "1", fewParties, state.Leaving{}, joins("eve"))
		must(t, err)
		must(t, second(s.ReplaceBackfill(ctx, project, game("g", 2))))
		backfill, err = s.Generation(ctx, project, "g")
		must(t, err)
		return config, p.GetRevision(), backfill
	}
	lostConfig, lostParty, lostBackfill := revised(s)
	later := s.At(at(2))
	lostEpoch, err := later.AcquireLease(ctx, project, "director-2", time.Minute)
	if err != nil || lostEpoch <= terms.Epoch {
		t.Fatalf("epoch %d, %v", lostEpoch, err)
	}
	m.sees(t, "c", "lost-1", "lost-2")
	entries, err := s.History(ctx, project, nil, 100)
	must(t, err)
	last := entries[len(entries)-1].Bookmark
	if !r.lives {
		_ = r.primary.ShutdownNoSave(ctx).Err()
	}
	r.replace(t)
	waittest.Until(t, "the replica is the primary", func() bool {
		role, err := r.replica.Do(ctx, "ROLE").Slice()
		return err == nil && role[0] == "master"
	})
	soon, cancel := context.WithTimeout(ctx, 40*time.Second) // by itself, a cluster's client asks after a minute
	defer cancel()
	waittest.Until(t, "the store has found it", func() bool { return second(s.Waiting(soon, project)) == nil })

	m.sees(t, "a", "b", "c", "d") // the feed's reader notices
	isWaiting(t, s, "a", "b", "c", "d")
	for _, id := range []string{"lost-1", "lost-2"} {
		_, err := s.Ticket(ctx, project, id)
		kindOf(t, err, problem.NotFound)
	}
	// The director that lost its lease claims nothing, also when another one has taken it.
	terms.Epoch = lostEpoch
	claimsNothing := func() {
		t.Helper()
		if _, err := later.Claim(ctx, project, terms, []*state.Claim{claim(revision, "n", "a", "b")}); err == nil {
			t.Error("a claim under a lease that was lost")
		}
	}
	claimsNothing()
	epoch, err := s.At(at(3)).AcquireLease(ctx, project, "director-3", time.Minute)
	if err != nil || epoch <= lostEpoch {
		t.Errorf("epoch %d after %d, %v", epoch, lostEpoch, err)
	}
	claimsNothing()
	// A revision that was lost is no other one's, and what a function saw in the lost time is no game's.
	if config, party, backfill := revised(s.At(at(3))); config <= lostConfig || party <= lostParty ||
		backfill <= lostBackfill {
		t.Errorf("the revisions are %d, %d and %d after %d, %d and %d", config, party, backfill, lostConfig, lostParty,
			lostBackfill)
	}
	fills := fill(revision, &pb.Backfill{Id: "g", Generation: lostBackfill}, nil, "c")
	terms.Epoch = epoch
	if mustClaim(t, later, terms, fills); fills.Refusal != "backfill" {
		t.Errorf("a proposal that saw a lost game: %q", fills.Refusal)
	}
	// The allocator of the lost match learns that it is not known, and gives its server back.
	status, _, err := later.Assign(ctx, project, lost.Match, state.Outcome{Holder: "one", Readable: time.Minute,
		Connection: "5.6.7.8:9"}, map[string]*pb.Assignment{"a": {}, "b": {}})
	if err != nil || status != state.MatchForgotten {
		t.Errorf("a match that was lost: %v, %v", status, err)
	}
	again := direct(revision, "again", "1.2.3.4:5", "a", "b")
	if _, err := later.Claim(ctx, project, terms, []*state.Claim{again}); err != nil || again.Refusal != "" {
		t.Errorf("claimed again: %q, %v", again.Refusal, err)
	}
	// What the replica had goes on.
	if b, err := later.BeginAllocation(ctx, project, kept.Match, tenSecondLease("two", time.Minute)); err != nil ||
		b.Status != state.MatchActive {
		t.Errorf("a match that was kept: %+v, %v", b, err)
	}
	must(t, s.At(at(3)).Creator(nil).Create(ctx, project, ticket("new", 3)))
	m.sees(t, "c", "d", "new")
	// Readers of events learn that some are missing.
	entries, err = s.History(ctx, project, last, 100)
	must(t, err)
	gap := slices.ContainsFunc(entries, func(e state.HistoryEntry) bool {
		return slices.ContainsFunc(e.Events, func(e *pb.Event) bool { return e.GetKind() == pb.Event_KIND_GAP })
	})
	if !gap {
		t.Errorf("no gap in %v", fmt.Sprint(entries))
	}
	strays, err := s.Strays(ctx, project)
	if err != nil || len(strays) != 0 {
		t.Errorf("strays: %v, %v", strays, err)
	}
}
