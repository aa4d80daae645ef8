package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/catalog"
)

var update = flag.Bool("update", false, "write docs/rights.txt")

// TestPermissionsAreDocumented: docs/rights.txt has what the command prints. With -update it is written.
func TestPermissionsAreDocumented(t *testing.T) {
	const name = "../../../docs/rights.txt"
	var rights strings.Builder
	for _, server := range []string{"redis", "nats"} {
		rights.WriteString("$ matchmaker permissions " + server + "\n" + printed(t, server))
	}
	if *update {
		if err := os.WriteFile(name, []byte(rights.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != rights.String() {
		t.Errorf("docs/rights.txt does not have what 'matchmaker permissions' prints; run this test with -update (%v):\n%s",
			err, &rights)
	}
}

// TestEveryServiceHasAnAccount: each service is a command and has one account in Redis and one in NATS.
func TestEveryServiceHasAnAccount(t *testing.T) {
	for _, name := range append(catalog.Names(), account.All) {
		if code, _, stderr := matchmaker(t, name, "--help"); code != exitOK {
			t.Errorf("%s has an account and is no command: %s", name, stderr)
		}
		for _, server := range []string{"redis", "nats"} {
			got, user := printed(t, server, name), account.User(name)
			if strings.Count(got, user+" ")+strings.Count(got, `"`+user+`"`) != 1 {
				t.Errorf("%s: %s", server, got)
			}
		}
	}
	if got := printed(t, "redis", account.Events); strings.Contains(got, account.User(account.Events)) {
		t.Errorf("the account for events has a Redis user: %s", got)
	}
}

// TestPasswordsStay: the command keeps existing passwords and makes missing ones. The servers get hashes of them.
func TestPasswordsStay(t *testing.T) {
	dir := passwords(t)
	read := func(name string) string { return password(t, dir, name) }
	before := read(catalog.Ticket)
	if err := os.Remove(filepath.Join(dir, catalog.Runner)); err != nil {
		t.Fatal(err)
	}
	if out := printed(t, "passwords", dir); strings.Count(out, "\n") != 1 ||
		!strings.Contains(out, account.User(catalog.Runner)) {
		t.Errorf("wanted a line for the missing password, got %q", out)
	}
	if read(catalog.Ticket) != before || len(before) < 40 || read(catalog.Runner) == before {
		t.Error("a password changed, is too short, or equals another one")
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, server := range []string{"redis", "nats"} {
		got := printed(t, server, "--passwords", dir)
		for _, name := range append(catalog.Names(), account.Operator) {
			if strings.Contains(got, read(name)) {
				t.Errorf("%s is told the password of %s itself", server, name)
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, account.Replica)); err != nil {
		t.Fatal(err)
	}
	printed(t, "nats", "--passwords", dir) // it has no such user
	for name, args := range map[string][]string{
		"a user without a password":    {"redis", "--passwords", dir},
		"an account that there is not": {"redis", "matchmaker"},
		"a folder that there is not":   {"nats", "--passwords", "/none"},
		"a folder without passwords":   {"nats", "--passwords", t.TempDir()},
	} {
		code, stdout, stderr := matchmaker(t, append([]string{"permissions"}, args...)...)
		if code == exitOK || stdout != "" || !strings.HasPrefix(stderr, "matchmaker: ") {
			t.Errorf("%s: %d, %q, %q", name, code, stdout, stderr)
		}
	}
}

// TestHalfALogin: the command refuses incomplete or contradictory logins in one line that names the flags.
func TestHalfALogin(t *testing.T) {
	empty := write(t, "\n")
	some := write(t, "open-sesame")
	for name, test := range map[string]struct{ args, want []string }{
		"a Redis user without a password": {[]string{"--redis-user", "x"}, []string{"--redis-user", "--redis-password"}},
		"a NATS user without a password":  {[]string{"--nats-user", "x"}, []string{"--nats-user", "--nats-password"}},
		"a missing file":                  {[]string{"--redis-password", "/none"}, []string{"--redis-password", "/none"}},
		"a missing variable": {[]string{"--nats-user", "x", "--nats-password", "env:NOWHERE"},
			[]string{"--nats-password", "NOWHERE"}},
		"an empty file": {[]string{"--redis-password", empty}, []string{"--redis-password", empty}},
		"two users of Redis": {[]string{"--redis", "redis://u:hunter2@host", "--redis-user", "x", "--redis-password", some},
			[]string{"--redis-user"}},
		"two users of NATS": {[]string{"--nats", "nats://u:hunter2@host", "--nats-user", "x", "--nats-password", some},
			[]string{"--nats-user"}},
		"a user and credentials": {[]string{"--nats-credentials", some, "--nats-user", "x", "--nats-password", some},
			[]string{"--nats-credentials"}},
		"credentials and a key": {[]string{"--nats-credentials", some, "--nats-nkey", some},
			[]string{"--nats-credentials", "--nats-nkey"}},
		"a certificate without a key": {[]string{"--nats-cert", some}, []string{"--nats-cert", "--nats-key"}},
		"a key without a certificate": {[]string{"--redis", "rediss://x", "--redis-key", some},
			[]string{"--redis-cert", "--redis-key"}},
		"an invalid authority":          {[]string{"--redis", "rediss://x", "--redis-ca", some}, []string{"--redis-ca"}},
		"an invalid authority for NATS": {[]string{"--nats-ca", some}, []string{"nats"}},
		"an invalid NKey":               {[]string{"--nats-nkey", some}, []string{"nats", some}},
	} {
		code, _, stderr := matchmaker(t, append([]string{"director"}, test.args...)...)
		if code != exitFailure || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "hunter2") ||
			strings.Contains(stderr, "open-sesame") ||
			slices.ContainsFunc(test.want, func(word string) bool { return !strings.Contains(stderr, word) }) {
			t.Errorf("%s: %d, %q", name, code, stderr)
		}
	}
}
