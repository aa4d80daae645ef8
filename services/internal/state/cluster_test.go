package state_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// startRedis starts a Redis with these settings. It runs until stop is called, or the test ends.
func startRedis(t *testing.T, settings ...string) (stop func()) {
	t.Helper()
	local := []string{"--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}
	return embeddedtest.StartRedis(t, append(local, settings...)...)
}

func openStore(t *testing.T, o state.Options) *state.Store {
	t.Helper()
	o.Log, o.Clock = slog.New(slog.DiscardHandler), func() time.Time { return epoch0 }
	s, err := state.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// runMatches creates, claims, assigns and releases matches of a project. It fails at the first step that the server
// refuses.
func runMatches(t *testing.T, s *state.Store, project string) {
	t.Helper()
	ctx := t.Context()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %s: %v", project, what, err)
		}
	}
	ctxFollow, stop := context.WithCancel(ctx)
	m, ended := newMirror(), make(chan struct{})
	go func() { defer close(ended); s.Follow(ctxFollow, project, m, m.wake) }()
	defer func() { stop(); <-ended }()

	revision, _, err := s.PutConfig(ctx, project, &pb.Config{Id: "c", Function: "duel"}, state.AnyRevision)
	must("config", err)
	var ids []string
	for i := range 6 {
		ids = append(ids, fmt.Sprint("ticket-", i))
		must("create", s.At(at(i)).Creator(nil).Create(ctx, project, ticket(ids[i], i)))
	}
	m.sees(t, ids...)
	epoch, err := s.AcquireLease(ctx, project, "director-1", time.Minute)
	must("lease", err)
	terms := state.ClaimOptions{Epoch: epoch, Claim: time.Second, Readable: time.Minute}
	hosted, left := claim(revision, "m1", ids[0], ids[1]), claim(revision, "m3", ids[4], ids[5])
	direct := direct(revision, "m2", "1.2.3.4:5", ids[2], ids[3])
	_, err = s.Claim(ctx, project, terms, []*state.Claim{hosted, direct, left})
	must("claim", err)
	m.sees(t)
	b, err := s.BeginAllocation(ctx, project, hosted.Match, tenSecondLease("one", time.Minute))
	if err != nil || b.Status != state.MatchActive {
		t.Fatalf("%s: begin: %+v, %v", project, b, err)
	}
	status, got, err := s.Assign(ctx, project, hosted.Match, state.Outcome{Holder: "one", Readable: time.Minute,
		Connection: "5.6.7.8:9"},
		map[string]*pb.Assignment{ids[0]: {Connection: "5.6.7.8:9"}, ids[1]: {Connection: "5.6.7.8:9"}})
	if err != nil || status != state.MatchActive || len(got) != 2 {
		t.Fatalf("%s: assign: %s %v, %v", project, status, got, err)
	}
	for id, want := range map[string]string{ids[0]: "5.6.7.8:9", ids[3]: "1.2.3.4:5"} {
		read, err := s.Ticket(ctx, project, id)
		must("read", err)
		if read.Assignment.GetConnection() != want {
			t.Errorf("%s: %s got %v, want %s", project, id, read.Assignment, want)
		}
	}
	matches, _, err := s.At(epoch0.Add(2*time.Second)).ReleaseOverdueMatches(ctx, project, 10)
	must("release", err)
	if len(matches) != 1 {
		t.Errorf("%s: %v were released", project, matches)
	}
	m.sees(t, ids[4], ids[5])
	if _, err := s.DeleteTicket(ctx, project, ids[4], "owner-of-"+ids[4]); err != nil {
		t.Errorf("%s: delete: %v", project, err)
	}
	m.sees(t, ids[5])
	if now, err := s.Counts(ctx, project); err != nil || now.Waiting != 1 || !now.Oldest.Equal(epoch0.Add(5*time.Second)) {
		t.Errorf("%s: counts %+v, %v", project, now, err)
	}
}

// All keys of a project are on one node of a cluster, and the projects on all nodes. Matches work as on a single
// server, with the user for all services.
func TestCluster(t *testing.T) {
	t.Parallel()
	nodes := startCluster(t, 3, "--aclfile", aclFile(t, true))
	server := state.Server{URL: "redis-cluster://" + nodes[0].addr}
	s := openStore(t, state.Options{Server: server, Login: login(account.All)})
	var projects []string
	for i := range 9 {
		projects = append(projects, fmt.Sprint("project-", i))
		runMatches(t, s, projects[i])
	}
	if leases, err := s.Leases(t.Context(), projects); err != nil || len(leases) != 9 || leases[8].Owner != "director-1" {
		t.Errorf("leases over all nodes: %v, %v", leases, err)
	}
	if known, err := s.Projects(t.Context()); err != nil || len(known) != 9 {
		t.Errorf("projects: %v, %v", known, err)
	}
	if err := s.ForgetProjects(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, err := s.FindProjects(t.Context()); err != nil || !slices.Equal(found, projects) {
		t.Errorf("found of the lost projects: %v, %v", found, err)
	}
	operator := openStore(t, state.Options{Server: server, Login: login(account.Operator)})
	if n, err := operator.RemoveProject(t.Context(), "project-0"); err != nil || n == 0 {
		t.Errorf("removed %d keys, %v", n, err)
	}
	if n, err := operator.RemoveProject(t.Context(), "project-0"); err != nil || n != 0 {
		t.Errorf("removed %d keys again, %v", n, err)
	}
	// A node has all keys of a project or none, and each node has a project.
	home := map[string]int{}
	for i, node := range nodes {
		keys, err := node.Keys(t.Context(), "mm:{*").Result()
		if err != nil {
			t.Fatal(err)
		}
		here := map[string]bool{}
		for _, key := range keys {
			project, _, _ := strings.Cut(strings.TrimPrefix(key, "mm:{"), "}")
			if at, elsewhere := home[project]; elsewhere && at != i {
				t.Errorf("keys of %s are on two nodes", project)
			}
			home[project], here[project] = i, true
		}
		if len(here) == 0 {
			t.Errorf("node %d has no project", i)
		}
	}
}

// The store finds the primary that Sentinels name.
func TestSentinel(t *testing.T) {
	t.Parallel()
	port := embeddedtest.FreePort(t)
	startRedis(t, "--port", port, "--aclfile", aclFile(t, true))
	_, url := startSentinel(t, port)
	s := openStore(t, state.Options{Server: state.Server{URL: url}, Login: login(account.All)})
	waittest.Until(t, "the primary is known", func() bool { return s.Ping(t.Context()) == nil })
	runMatches(t, s, "demo")
}

// authority makes a certificate authority, and files with a certificate for 127.0.0.1.
func authority(t *testing.T) (pool *x509.CertPool, pair tls.Certificate, ca, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth,
			x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for file, text := range map[string][]byte{cert: public,
		key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(public)
	if pair, err = tls.LoadX509KeyPair(cert, key); err != nil {
		t.Fatal(err)
	}
	return pool, pair, cert, cert, key
}

// Both sides have a certificate. The user is the one for all services.
func TestTLS(t *testing.T) {
	t.Parallel()
	pool, pair, ca, cert, key := authority(t)
	port := embeddedtest.FreePort(t)
	startRedis(t, "--port", "0", "--tls-port", port, "--tls-ca-cert-file", ca, "--tls-cert-file", cert, "--tls-key-file",
		key, "--tls-auth-clients", "yes", "--aclfile", aclFile(t, false))
	secure := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	host := "127.0.0.1:" + port
	url := fmt.Sprintf("rediss://%s:%s@%s", account.User(account.All), passwordOf(account.All), host)
	s := openStore(t, state.Options{Server: state.Server{URL: url}, TLS: secure})
	waittest.Until(t, "the server answers", func() bool { return s.Ping(t.Context()) == nil })
	runMatches(t, s, "demo")
	// Connections without a certificate or with another login fail. The error says what to do and has no secret.
	for what, test := range map[string]struct {
		options state.Options
		want    string
	}{
		"without a certificate": {state.Options{Server: state.Server{URL: url}, TLS: &tls.Config{RootCAs: pool,
			MinVersion: tls.VersionTLS12}}, "--redis-cert"},
		"without an authority": {state.Options{Server: state.Server{URL: url}}, "--redis-ca"},
		"without a password": {state.Options{Server: state.Server{URL: "rediss://" + host}, TLS: secure},
			"--redis-password"},
		"with another password": {state.Options{Server: state.Server{URL: "rediss://nobody:open-sesame@" + host},
			TLS: secure}, "--redis-password"},
		"with another's login": {state.Options{Server: state.Server{URL: "rediss://" + host}, TLS: secure,
			Login: account.Login{User: "nobody", Password: func() (string, error) {
				return "open-sesame", nil
			}}}, "--redis-password"},
		"with no file": {state.Options{Server: state.Server{URL: "rediss://" + host}, TLS: secure,
			Login: account.Login{User: "nobody", Password: func() (string, error) {
				_, err := os.ReadFile("/none")
				return "", err
			}}}, "/none"},
	} {
		err := openStore(t, test.options).Ping(t.Context())
		if problem.KindOf(err) != problem.Unavailable || !strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "open-sesame") || strings.Contains(err.Error(), passwordOf(account.All)) {
			t.Errorf("%s: %v, want an error that names %s", what, err, test.want)
		}
	}
}

func TestInvalidURLsAreRefused(t *testing.T) {
	for _, url := range []string{"", "redis", "http://host", "redis-ring://host",
		"redis-sentinel://user:secret@host:26379", "redis-cluster://user:secret@host:port"} {
		_, err := state.Open(state.Options{Server: state.Server{URL: url}, Log: slog.New(slog.DiscardHandler)})
		if problem.KindOf(err) != problem.Invalid || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"redis://user:secret@host", "redis-cluster://:secret@host",
		"redis-sentinel://host?master_name=m&username=user&password=secret"} {
		if _, err := state.Open(state.Options{Server: state.Server{URL: url}, Login: login("x"),
			Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), "--redis-user") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("two users of %s: %v", url, err)
		}
	}
	_, err := state.Open(state.Options{Server: state.Server{URL: "redis://host"}, TLS: new(tls.Config),
		Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "rediss") {
		t.Errorf("certificates without TLS: %v", err)
	}
}
