package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/platform/account"
)

// users are the users of a system's Redis and NATS. Each service is one, with the rights that `matchmaker permissions`
// prints.
type users struct {
	passwords   string // folder
	redis, nats string // files for the servers
	// warnings are the warnings of both servers.
	warnings buffer
}

func newUsers(t *testing.T, matchmaker, dir string) *users {
	t.Helper()
	u := &users{passwords: filepath.Join(dir, "users"), redis: filepath.Join(dir, "users.acl"),
		nats: filepath.Join(dir, "users.conf")}
	prints := func(args ...string) string {
		t.Helper()
		var errs bytes.Buffer
		cmd := exec.CommandContext(t.Context(), matchmaker, append([]string{"permissions"}, args...)...)
		cmd.Stderr = &errs
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, &errs)
		}
		return string(text)
	}
	prints("passwords", u.passwords)
	// The tests use INFO to see whether their own Redis answers.
	redis := strings.Replace(prints("redis", "--passwords", u.passwords), "user default reset off",
		"user default reset on nopass +info", 1)
	for file, text := range map[string]string{u.redis: redis, u.nats: prints("nats", "--passwords", u.passwords)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// flags are the arguments that make a service use its user.
func (u *users) flags(service string) []string {
	user, password := account.User(service), filepath.Join(u.passwords, service)
	return []string{"--redis-user", user, "--redis-password", password, "--nats-user", user, "--nats-password", password}
}

func (u *users) password(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(u.passwords, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// denial matches the errors of a service that lacks a right.
var denial = regexp.MustCompile(`(?i)permissions violation|NOPERM|ACL failure` +
	`|the user executing the script can't|does not permit this user`)

// checkPermissions: after a whole run no service lacked a right in Redis or NATS. Both servers log it. NATS also tells
// the service, whose log is searched too.
func checkPermissions(t *testing.T, s *system) {
	conn, in := s.operator(t)
	defer conn.Close()
	// An empty list is "*0". The answer to PING marks its end.
	fmt.Fprint(conn, "ACL LOG\r\nPING\r\n")
	denied := ""
	for !strings.HasSuffix(denied, "+PONG\r\n") {
		line, err := in.ReadString('\n')
		if denied += line; err != nil {
			t.Fatalf("%v after %q", err, denied)
		}
	}
	if denied != "*0\r\n+PONG\r\n" {
		t.Errorf("a user lacked a right in Redis: %q", denied)
	}
	for line := range strings.Lines(s.users.warnings.all()) {
		if strings.Contains(line, "Violation") {
			t.Errorf("a user lacked a right in NATS: %s", line)
		}
	}
	for _, p := range s.all() {
		for line := range strings.Lines(p.log.all()) {
			if denial.MatchString(line) {
				t.Errorf("%s lacked a right: %s", p.name, line)
				break
			}
		}
	}
}
