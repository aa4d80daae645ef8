package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/provider/conformance"
	"matchmaker.dev/services/internal/bus/bustest"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/process/processtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// patience is how long a condition may take to come true.
const patience = 2 * time.Minute

// direct runs a director, which needs both servers and serves no API, from its command line on until the test ends.
func direct(t *testing.T, args ...string) *processtest.Buffer {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	said, ended := new(processtest.Buffer), make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"director", "--listen", "127.0.0.1:0"}, args...), io.Discard, said)
	}()
	t.Cleanup(func() {
		stop()
		select {
		case code := <-ended:
			if code != exitOK {
				t.Errorf("it ended with %d:\n%s", code, said)
			}
		case <-time.After(patience):
			t.Error("it does not end")
		}
	})
	return said
}

// becomesReady waits until a process says that it is.
func becomesReady(t *testing.T, said *processtest.Buffer) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(said)
		}
	}()
	waittest.Until(t, "it is ready", func() bool {
		for line := range strings.Lines(said.String()) {
			var event struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &event) != nil || event.Msg != "serving" {
				continue
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+event.Address+"/readyz", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				return false
			}
			_ = answer.Body.Close()
			return answer.StatusCode == http.StatusOK
		}
		return false
	})
}

// printsError waits until one line of the log says what to do. No line may have a secret in it.
func printsError(t *testing.T, said *processtest.Buffer, want string, secrets ...string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(said)
		}
	}()
	count := func() (n int) {
		for line := range strings.Lines(said.String()) {
			if strings.Contains(line, `"level":"ERROR"`) && strings.Contains(line, want) {
				n++
			}
		}
		return n
	}
	waittest.Until(t, "it speaks of "+want, func() bool { return count() > 0 })
	for _, secret := range secrets {
		if strings.Contains(said.String(), secret) {
			t.Errorf("it tells the secret %q", secret)
		}
	}
}

// certificates are the files of a client's certificate and key, and of the authority that signed it.
type certificates struct{ ca, cert, key string }

func newCertificates(t *testing.T) (c certificates, trusting *tls.Config) {
	t.Helper()
	authority := conformance.NewAuthority(t)
	dir := t.TempDir()
	c = certificates{authority.File, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	authority.Client(t, c.cert, c.key, time.Now().Add(time.Hour))
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		t.Fatal(err)
	}
	return c, &tls.Config{RootCAs: authority.Pool(), Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

// flags give the certificates to a service.
func (c certificates) flags(server string) []string {
	return []string{"--" + server + "-ca", c.ca, "--" + server + "-cert", c.cert, "--" + server + "-key", c.key}
}

// passwords makes the passwords of all users.
func passwords(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "users")
	printed(t, "passwords", dir)
	return dir
}

// printed returns the output of 'matchmaker permissions …'.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := matchmaker(t, append([]string{"permissions"}, args...)...)
	if code != exitOK {
		t.Fatal(stderr)
	}
	return stdout
}

// newNATS starts a NATS server with settings of its own.
func newNATS(t *testing.T, settings string) *embedded.NATS {
	t.Helper()
	n, err := embedded.StartNATS(t.Context(),
		embedded.NATSOptions{Dir: t.TempDir(), Settings: write(t, settings), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// TestNATS logs in to NATS in every way that the settings offer.
func TestNATS(t *testing.T) {
	redis, err := embedded.StartMemory(0, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	start := func(t *testing.T, args ...string) *processtest.Buffer {
		t.Helper()
		return direct(t, append([]string{"--redis", redis.URL()}, args...)...)
	}
	dir := passwords(t)
	users := newNATS(t, printed(t, "nats", "--passwords", dir))
	user, file := account.User(catalog.Director), filepath.Join(dir, catalog.Director)
	text, err := account.Secret(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DIRECTORS_PASSWORD", text)
	t.Setenv("WRONG_PASSWORD", "open-sesame")
	certs, _ := newCertificates(t)
	others, _ := newCertificates(t)
	sealed := newNATS(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n%s",
		certs.cert, certs.key, certs.ca, printed(t, "nats", "--passwords", dir)))
	nkeySettings, seed := bustest.NKey(t, catalog.Director)
	nkeys := newNATS(t, nkeySettings)
	_, otherSeed := bustest.NKey(t, catalog.Director)
	jwtSettings, credentials := bustest.Credentials(t, catalog.Director)
	decentralized := newNATS(t, jwtSettings)
	_, otherCredentials := bustest.Credentials(t, catalog.Director)
	secure := "tls://" + sealed.ClientsAddr()
	login := []string{"--nats-user", user, "--nats-password", file}

	for name, args := range map[string][]string{
		"a password in a file": append(login, "--nats", users.URL()),
		"a password in the environment": {"--nats", users.URL(), "--nats-user", user,
			"--nats-password", "env:DIRECTORS_PASSWORD"},
		"a user in the URL":              {"--nats", "nats://" + user + ":" + text + "@" + users.ClientsAddr()},
		"a server that is away, and one": append(login, "--nats", "nats://127.0.0.1:1,"+users.URL()),
		"certificates on both sides":     slices.Concat(login, certs.flags("nats"), []string{"--nats", secure}),
		"an NKey":                        {"--nats", nkeys.URL(), "--nats-nkey", seed},
		"a credentials file":             {"--nats", decentralized.URL(), "--nats-credentials", credentials},
		"settings in a file": {"--config",
			write(t, fmt.Sprintf("nats: %s\nnats-user: %s\nnats-password: %s\n", users.URL(), user, file))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			becomesReady(t, start(t, args...))
		})
	}
	for name, test := range map[string]struct {
		want string
		args []string
	}{
		"another password": {"--nats-password",
			[]string{"--nats", users.URL(), "--nats-user", user, "--nats-password", "env:WRONG_PASSWORD"}},
		"another password in the URL": {"--nats",
			[]string{"--nats", "nats://" + user + ":open-sesame@" + users.ClientsAddr()}},
		"no user":           {"--nats-user", []string{"--nats", users.URL()}},
		"no authority":      {"--nats-ca", slices.Concat(login, []string{"--nats", secure})},
		"another authority": {"--nats-ca", slices.Concat(login, others.flags("nats"), []string{"--nats", secure})},
		"no certificate":    {"--nats-cert", slices.Concat(login, []string{"--nats", secure, "--nats-ca", certs.ca})},
		"TLS to a server without it": {"must begin with nats",
			slices.Concat(login, []string{"--nats", "tls://" + users.ClientsAddr()})},
		"another NKey": {"--nats-nkey", []string{"--nats", nkeys.URL(), "--nats-nkey", otherSeed}},
		"another operator's user": {"--nats-credentials",
			[]string{"--nats", decentralized.URL(), "--nats-credentials", otherCredentials}},
		"credentials for a server with passwords": {"--nats-credentials",
			[]string{"--nats", users.URL(), "--nats-credentials", credentials}},
		"the user of another service": {"permissions nats",
			[]string{"--nats", users.URL(), "--nats-user", account.User(catalog.Runner),
				"--nats-password", filepath.Join(dir, catalog.Runner)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			printsError(t, start(t, test.args...), test.want, text, "open-sesame")
		})
	}
}

// TestPasswordIsReadAgain: a refused process connects when its password is corrected, without a restart.
func TestPasswordIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := passwords(t)
	nats := newNATS(t, printed(t, "nats", "--passwords", dir))
	redis := newRedis(t, nil, "--aclfile", write(t, printed(t, "redis", "--passwords", dir)))
	file := filepath.Join(t.TempDir(), "password")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("open-sesame")
	user := account.User(catalog.Director)
	said := direct(t, "--nats", nats.URL(), "--nats-user", user, "--nats-password", file, "--redis", "redis://"+redis,
		"--redis-user", user, "--redis-password", file)
	printsError(t, said, "--nats-password", "open-sesame")
	printsError(t, said, "--redis-password", "open-sesame")
	text, err := account.Secret(filepath.Join(dir, catalog.Director))
	if err != nil {
		t.Fatal(err)
	}
	put(text)
	becomesReady(t, said)
}

// TestRedis connects to Redis in every way, over TLS with certificates on both sides, as the user of a service.
func TestRedis(t *testing.T) {
	nats := newNATS(t, "")
	dir := passwords(t)
	certs, trusting := newCertificates(t)
	others, _ := newCertificates(t)
	acl := write(t, printed(t, "redis", "--passwords", dir))
	tlsArgs := []string{"--tls-ca-cert-file", certs.ca, "--tls-cert-file", certs.cert, "--tls-key-file", certs.key,
		"--tls-auth-clients", "yes"}
	single := newRedis(t, trusting, append(tlsArgs, "--aclfile", acl)...)
	cluster := newRedis(t, trusting, append(tlsArgs, "--aclfile", acl, "--cluster-enabled", "yes", "--tls-cluster", "yes",
		"--cluster-port", embeddedtest.FreePort(t))...)
	operator := fmt.Sprintf("AUTH %s %s", account.User(account.Operator), password(t, dir, account.Operator))
	waittest.Until(t, "a cluster of one", func() bool {
		_, _ = ask(cluster, trusting, operator, "CLUSTER ADDSLOTSRANGE 0 16383")
		answer, err := ask(cluster, trusting, operator, "CLUSTER INFO")
		return err == nil && strings.Contains(answer, "cluster_state:ok")
	})
	_, port, _ := net.SplitHostPort(single)
	conf := write(t, fmt.Sprintf("sentinel monitor games 127.0.0.1 %s 1\n"+
		"sentinel auth-user games %s\nsentinel auth-pass games %s\n",
		port, account.User(account.Operator), password(t, dir, account.Operator)))
	sentinel := newRedis(t, trusting, append([]string{conf, "--sentinel", "--tls-replication", "yes"}, tlsArgs...)...)

	user, file := account.User(catalog.Director), filepath.Join(dir, catalog.Director)
	text := password(t, dir, catalog.Director)
	t.Setenv("DIRECTORS_PASSWORD", text)
	t.Setenv("WRONG_PASSWORD", "open-sesame")
	start := func(t *testing.T, args ...string) *processtest.Buffer {
		t.Helper()
		return direct(t, append([]string{"--nats", nats.URL()}, args...)...)
	}
	login := append(certs.flags("redis"), "--redis-user", user, "--redis-password", file)
	for name, args := range map[string][]string{
		"one server": append(login, "--redis", "rediss://"+single),
		"a cluster":  append(login, "--redis", "rediss-cluster://"+cluster),
		"Sentinels":  append(login, "--redis", "rediss-sentinel://"+sentinel+"?master_name=games"),
		"a password in the environment": append(certs.flags("redis"), "--redis", "rediss://"+single, "--redis-user", user,
			"--redis-password", "env:DIRECTORS_PASSWORD"),
		"a user in the URL":         append(certs.flags("redis"), "--redis", "rediss://"+user+":"+text+"@"+single),
		"a user in a cluster's URL": append(certs.flags("redis"), "--redis", "rediss-cluster://"+user+":"+text+"@"+cluster),
		"settings in a file": {"--config", write(t, fmt.Sprintf("redis: rediss://%s\nredis-user: %s\nredis-password: %s\n"+
			"redis-ca: %s\nredis-cert: %s\nredis-key: %s\n",
			single, user, file, certs.ca, certs.cert, certs.key))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			becomesReady(t, start(t, args...))
		})
	}
	for name, test := range map[string]struct {
		want string
		args []string
	}{
		"another password": {"--redis-password",
			append(certs.flags("redis"), "--redis", "rediss://"+single, "--redis-user", user,
				"--redis-password", "env:WRONG_PASSWORD")},
		"another password of a cluster": {"--redis-password",
			append(certs.flags("redis"), "--redis", "rediss-cluster://"+cluster, "--redis-user", user,
				"--redis-password", "env:WRONG_PASSWORD")},
		"another password in the URL": {"--redis",
			append(certs.flags("redis"), "--redis", "rediss://"+user+":open-sesame@"+single)},
		"no user": {"--redis-user", append(certs.flags("redis"), "--redis", "rediss://"+single)},
		"no authority": {"--redis-ca",
			[]string{"--redis", "rediss://" + single, "--redis-user", user, "--redis-password", file}},
		"another authority": {"--redis-ca",
			append(others.flags("redis"), "--redis", "rediss://"+single, "--redis-user", user, "--redis-password", file)},
		"no certificate": {"--redis-cert",
			[]string{"--redis", "rediss://" + single, "--redis-user", user, "--redis-password", file, "--redis-ca", certs.ca}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			printsError(t, start(t, test.args...), test.want, text, "open-sesame")
		})
	}
}

func password(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := account.Secret(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// newRedis starts a Redis on a free port and returns when it is ready. It uses TLS when the test has a way to trust it.
func newRedis(t *testing.T, trusting *tls.Config, args ...string) (addr string) {
	t.Helper()
	port := embeddedtest.FreePort(t)
	listen := []string{"--bind", "127.0.0.1", "--dir", t.TempDir(), "--port", port}
	if trusting != nil {
		listen = []string{"--bind", "127.0.0.1", "--dir", t.TempDir(), "--port", "0", "--tls-port", port}
	}
	embeddedtest.StartRedis(t, slices.Concat(args, listen)...)
	addr = net.JoinHostPort("127.0.0.1", port)
	waittest.Until(t, "Redis answers", func() bool { _, err := ask(addr, trusting); return err == nil })
	return addr
}

// ask sends commands and then a PING. It returns all replies before the PING's; a refusal is a reply.
func ask(addr string, trusting *tls.Config, commands ...string) (string, error) {
	var conn net.Conn
	var err error
	if trusting != nil {
		conn, err = tls.Dial("tcp", addr, trusting)
	} else {
		conn, err = net.Dial("tcp", addr)
	}
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, strings.Join(append(commands, "PING"), "\r\n")+"\r\n"); err != nil {
		return "", err
	}
	in, all := bufio.NewReader(conn), ""
	for {
		line, err := in.ReadString('\n')
		all += line
		if err != nil || strings.HasPrefix(line, "+PONG") || strings.HasPrefix(line, "-NOAUTH") {
			return all, err
		}
	}
}
