package e2e

import (
	"cmp"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/internal/account"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/embedded"
	"matchmaker.dev/services/internal/keyring"
	"matchmaker.dev/services/test/contract"
	"matchmaker.dev/services/test/proxy"
)

// newServices starts every service twice, each as a process of its own, beside a Redis and a NATS server and behind a gateway. front starts that, and
// returns where it is. Each is a user of its own there, with the rights that it needs alone.
func newServices(t *testing.T, made *artefacts, front func(t *testing.T, s *system, log *slog.Logger) string) *system {
	t.Helper()
	dir := t.TempDir()
	users := newUsers(t, made.matchmaker, dir)
	log := slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &users.said), &slog.HandlerOptions{Level: slog.LevelWarn}))
	redis, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{Dir: filepath.Join(dir, "redis"), AOF: true, Users: users.redis, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	if !redis.Persistent() {
		t.Fatal("redis-server or valkey-server is needed")
	}
	nats, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: filepath.Join(dir, "nats"), Settings: users.nats, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nats.Close() })

	s := newSystem(t, made, filepath.Join(dir, "keys"))
	s.proxies = map[string]*proxy.Proxy{"Redis": newProxy(t, redis.URL()), "NATS": newProxy(t, nats.URL())}
	address := front(t, s, log)
	s.front = func() string { return address }
	collector := httptest.NewServer(&s.traces)
	t.Cleanup(collector.Close)
	// No span is to be lost because a machine is slow.
	s.env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_BSP_MAX_QUEUE_SIZE=100000"}
	if s.settings != "" {
		s.env = append(s.env, "MATCHMAKER_CONFIG="+s.settings)
	}
	issuers := trust(t, s, filepath.Join(dir, "issuers.yaml"))
	command := func(name string, more ...string) {
		service, _, _ := strings.Cut(name, "-")
		s.commands[name] = slices.Concat([]string{
			service, "--name", name, "--listen", cmp.Or(s.listen[name], "127.0.0.1:0"), "--redis", "redis://" + s.proxies["Redis"].Address(), "--nats", "nats://" + s.proxies["NATS"].Address(),
			"--drain", patience.String(), "--grace", grace.String(),
			"--log-level", "debug", // what is logged is looked into: see confidential
			"--metrics-listen", "127.0.0.1:0",
		}, users.flags(service), contract.Modest(), more)
	}
	hostingKeys := filepath.Join(dir, "hosting-keys")
	if _, err := keyring.Add(hostingKeys, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ticket-1", "ticket-2", "backfill-1", "backfill-2"} {
		command(name, "--issuers", issuers)
	}
	for _, name := range []string{"config-1", "config-2"} {
		command(name, "--issuers", issuers, "--hosting-keys", hostingKeys)
	}
	modules := func(name string) []string {
		return append([]string{"--modules", filepath.Join(dir, name)}, made.instances...)
	}
	for _, name := range []string{"registry-1", "registry-2"} {
		command(name, append(modules(name), "--issuers", issuers)...)
	}
	command("runner-1", modules("runner-1")...)
	command("runner-2", modules("runner-2")...)
	command("director-1")
	command("director-2")
	serverKeys := filepath.Join(dir, "server-keys.json")
	if _, err := token.Rotate(serverKeys, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"allocator-1", "allocator-2"} {
		command(name, "--provider", "local", "--max-servers", "2000", "--hosting-keys", hostingKeys, "--server-keys", serverKeys, "--server-api", address, "--player-stay", "0s")
	}
	s.start(t, s.names()...)
	s.stores = map[string]string{"Redis": filepath.Join(dir, "redis"), "NATS": filepath.Join(dir, "nats")}
	follower := url.UserPassword(account.User(account.Events), users.password(t, account.Events))
	s.nats = func() string { return (&url.URL{Scheme: "nats", User: follower, Host: nats.ClientsAddr()}).String() }
	s.redis, s.users = redis.Addr(), users
	return s
}

// trust writes the file that makes services believe the system's tokens.
func trust(t *testing.T, s *system, file string) string {
	t.Helper()
	servers := new(token.Issuer).Trust()
	servers.JWKS = s.front() + token.Path
	text, err := json.Marshal([]auth.Issuer{s.tokens.Trust(), servers}) // JSON is YAML
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func services(t *testing.T, made *artefacts) {
	s := newServices(t, made, balanced)
	play(t, s)
	t.Run("contract", func(t *testing.T) { promised(t, s) })
	t.Run("traced", func(t *testing.T) { traced(t, s.project(t)) })
	t.Run("metrics", func(t *testing.T) { measured(t, s) })
	t.Run("director-killed", func(t *testing.T) { directorKilled(t, s.project(t)) })
	t.Run("director-frozen", func(t *testing.T) { directorFrozen(t, s.project(t)) })
	t.Run("runner-killed", func(t *testing.T) { runnerKilled(t, s.project(t)) })
	t.Run("allocator-killed", func(t *testing.T) { allocatorKilled(t, s.project(t)) })
	t.Run("nats-away", func(t *testing.T) { natsAway(t, s.project(t)) })
	t.Run("redis-away", func(t *testing.T) { redisAway(t, s.project(t)) })
	t.Run("rolling", func(t *testing.T) { rolling(t, s.project(t)) })
	// What all of the above left behind as well.
	t.Run("confidential", func(t *testing.T) { confidential(t, s.project(t)) })
	t.Run("drain", func(t *testing.T) {
		p := s.project(t)
		p.upload(t, "duel", made.duel)
		p.ranked(t, "ranked", 0)
		drain(t, p, p.ticket(t, "ada", attributes{"skill": 1200}))
	})
	t.Run("permitted", func(t *testing.T) { permitted(t, s) })
}
