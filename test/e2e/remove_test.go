package e2e

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/account"
)

// operator connects to Redis as the operator.
func (s *system) operator(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", s.redis)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	fmt.Fprintf(conn, "AUTH %s %s\r\n", account.User(account.Operator), s.users.password(t, account.Operator))
	if answer, err := in.ReadString('\n'); err != nil || answer != "+OK\r\n" {
		t.Fatalf("the operator logs in: %q, %v", answer, err)
	}
	return conn, in
}

// command has Redis do something, as the operator, and returns the first line of its answer.
func (s *system) command(t *testing.T, line string) string {
	t.Helper()
	conn, in := s.operator(t)
	defer conn.Close()
	fmt.Fprintf(conn, "%s\r\n", line)
	answer, err := in.ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %q, %v", line, answer, err)
	}
	return strings.TrimSpace(answer)
}

// listLost: projects whose list was lost go on, and come back when no process knows of them.
func listLost(t *testing.T, p *project) {
	p.actor(t)
	p.match(t, attributes{"number": 0})
	lose := func() {
		t.Helper()
		if answer := p.s.command(t, "DEL mm:projects"); answer != ":1" {
			t.Fatal(answer)
		}
	}
	back := func() bool { return p.s.command(t, "SISMEMBER mm:projects "+p.name) == ":1" }
	lose()
	p.match(t, attributes{"number": 2})
	eventually(t, "the project is listed again", back)
	p.s.stop(t, p.s.names()...)
	lose()
	p.s.start(t, p.s.names()...)
	eventually(t, "the project is listed again", back)
	p.match(t, attributes{"number": 4})
}

// remove: the operator deletes a project with everything that it has. Others go on.
func remove(t *testing.T, p *project) {
	other := &project{s: p.s, name: p.name + "-other"}
	for _, project := range []*project{p, other} {
		project.actor(t)
		project.match(t, attributes{"number": 0})
	}
	waiting := p.ticket(t, "waiting", attributes{"number": 7})
	passwords := p.s.users.passwords
	run := func(args ...string) (string, error) {
		t.Helper()
		nats := p.s.proxies["NATS"].Address()
		args = append([]string{"project", "delete", p.name, "--redis", "redis://" + p.s.redis, "--nats", "nats://" + nats,
			"--redis-user", account.User(account.Operator), "--redis-password", filepath.Join(passwords, account.Operator),
			"--nats-user", account.User(account.Operator), "--nats-password", filepath.Join(passwords, account.Operator)},
			args...)
		out, err := exec.CommandContext(t.Context(), p.s.made.matchmaker, args...).CombinedOutput()
		return string(out), err
	}
	eventually(t, "no match is under way", func() bool {
		_, err := run()
		return err == nil
	})
	if out, err := run("--yes"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	left := p.s.command(t, "EVAL \"return #redis.call('KEYS', 'mm:{"+p.name+"}:*')\" 0")
	if left != ":0" || p.s.command(t, "SISMEMBER mm:projects "+p.name) != ":0" {
		t.Errorf("%s keys are left, or the name", left)
	}
	waiting.mustNotExist(t)
	if _, err := p.developer(t).GetFunction(within(t), "actor"); client.Status(err) != 404 {
		t.Errorf("the function: %v", err)
	}
	other.match(t, attributes{"number": 2})
	// The name may be used again.
	p.actor(t)
	p.match(t, attributes{"number": 2})
}
