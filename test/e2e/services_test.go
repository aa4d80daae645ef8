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
	"testing"
	"time"

	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest/proxy"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/test/contract"
	installed "matchmaker.dev/services/test/launch"
)

// newServices starts two processes of each service, with a Redis, a NATS server and a gateway. Each service is a user
// of its own in Redis and NATS, with only the rights it needs. front starts the gateway and returns its URL.
func newServices(t *testing.T, made *artefacts, front func(t *testing.T, s *system, log *slog.Logger) string) *system {
	t.Helper()
	dir := t.TempDir()
	users := newUsers(t, cmp.Or(made.newest, made.matchmaker), dir)
	log := slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &users.warnings),
		&slog.HandlerOptions{Level: slog.LevelWarn}))
	redis, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{Dir: filepath.Join(dir, "redis"), AOF: true,
		MaxMemory: 4 << 30, Users: users.redis, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	if !redis.Persistent() {
		t.Fatal("redis-server or valkey-server is needed")
	}
	nats, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: filepath.Join(dir, "nats"),
		Settings: users.nats, Log: log})
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
	// The queue is large enough to keep all spans on a slow machine.
	s.env = append(s.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_BSP_SCHEDULE_DELAY=500",
		"OTEL_BSP_MAX_QUEUE_SIZE=100000")
	if s.settings != "" {
		s.env = append(s.env, "MATCHMAKER_CONFIG="+s.settings)
	}
	issuers := trust(t, s, filepath.Join(dir, "issuers.yaml"))
	command := func(service, name string, more ...string) {
		s.commands[name] = slices.Concat([]string{
			service, "--name", name, "--listen", cmp.Or(s.listen[name], "127.0.0.1:0"),
			"--redis", embeddedtest.Patient("redis://" + s.proxies["Redis"].Address()),
			"--nats", "nats://" + s.proxies["NATS"].Address(),
			"--drain", patience.String(), "--grace", grace.String(),
			"--log-level", "debug", // confidential searches the logs for secrets
			"--metrics-listen", "127.0.0.1:0",
		}, users.flags(service), contract.Modest(), more)
	}
	hostingKeys := filepath.Join(dir, "hosting-keys")
	if _, err := keyring.Add(hostingKeys, time.Now()); err != nil {
		t.Fatal(err)
	}
	serverKeys := filepath.Join(dir, "server-keys.json")
	if _, err := keyfile.Rotate(serverKeys, time.Now()); err != nil {
		t.Fatal(err)
	}
	seatKeys := filepath.Join(dir, "seat-keys.json")
	if _, err := keyfile.Rotate(seatKeys, time.Now()); err != nil {
		t.Fatal(err)
	}
	// No flags: the version before has none.
	s.env = append(s.env, "MATCHMAKER_SEAT_KEYS="+seatKeys, "MATCHMAKER_INSTANCE_CODE="+sandbox.UserCode())
	all, err := installed.Services(t.Context(), made.matchmaker)
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range all {
		for _, name := range []string{service.Name + "-1", service.Name + "-2"} {
			var more []string
			if service.Issuers {
				more = append(more, "--issuers", issuers)
			}
			if service.HostingKeys {
				more = append(more, "--hosting-keys", hostingKeys)
			}
			if service.Modules {
				more = slices.Concat(more, []string{"--modules", filepath.Join(dir, name)}, made.instances)
			}
			if service.Hosting {
				more = append(more, "--provider", "local", "--max-servers", "2000", "--server-keys", serverKeys,
					"--server-api", address, "--player-stay", "0s")
			}
			command(service.Name, name, more...)
		}
	}
	s.start(t, s.names()...)
	s.stores = map[string]string{"Redis": filepath.Join(dir, "redis"), "NATS": filepath.Join(dir, "nats")}
	follower := url.UserPassword(account.User(account.Events), users.password(t, account.Events))
	s.nats = func() string { return (&url.URL{Scheme: "nats", User: follower, Host: nats.ClientsAddr()}).String() }
	s.redis, s.users = redis.Addr(), users
	return s
}

// trust writes the file that makes services trust the system's tokens.
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

// services plays the scenarios, and looks at all that the system wrote meanwhile.
func services(t *testing.T, made *artefacts) {
	s := newServices(t, made, startBalancer)
	play(t, s, map[string]func(*testing.T, *project){
		"contract": func(t *testing.T, p *project) { runContract(t, p.s) },
		"traced":   traceTickets,
	})
	t.Run("metrics", func(t *testing.T) { checkMetrics(t, s) })
	t.Run("confidential", func(t *testing.T) { confidential(t, s.project(t)) })
	t.Run("permitted", func(t *testing.T) { checkPermissions(t, s) })
}

// faults disturbs a system of its own, one fault after the other.
func faults(t *testing.T, made *artefacts) {
	s := newServices(t, made, startBalancer)
	t.Run("director-killed", func(t *testing.T) { directorKilled(t, s.project(t)) })
	t.Run("director-frozen", func(t *testing.T) { directorFrozen(t, s.project(t)) })
	t.Run("runner-killed", func(t *testing.T) { runnerKilled(t, s.project(t)) })
	t.Run("allocator-killed", func(t *testing.T) { allocatorKilled(t, s.project(t)) })
	t.Run("nats-away", func(t *testing.T) { natsAway(t, s.project(t)) })
	t.Run("redis-away", func(t *testing.T) { redisAway(t, s.project(t)) })
	t.Run("redis-full", func(t *testing.T) { redisFull(t, s.project(t)) })
	t.Run("rolling", func(t *testing.T) { rolling(t, s.project(t)) })
	t.Run("list-lost", func(t *testing.T) { listLost(t, s.project(t)) })
	t.Run("removed", func(t *testing.T) { remove(t, s.project(t)) })
	// It also searches what the tests above left behind.
	t.Run("seats", func(t *testing.T) { seats(t, s.project(t)) })
	t.Run("confidential", func(t *testing.T) { confidential(t, s.project(t)) })
	t.Run("drain", func(t *testing.T) {
		p := s.project(t)
		p.upload(t, "duel", made.duel)
		p.ranked(t, "ranked", 0)
		drain(t, p, p.ticket(t, "ada", attributes{"skill": 1200}))
	})
	t.Run("permitted", func(t *testing.T) { checkPermissions(t, s) })
}
