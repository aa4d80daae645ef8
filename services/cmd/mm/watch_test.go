package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// watch runs mm until it has slept this many times; between is called before each look but the first.
func (s *shell) watch(service *service, times int, between func(n int), args ...string) result {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	var out, err bytes.Buffer
	slept := 0
	if !slices.Contains(args, "--context") {
		args = append(args, "--url", service.url, "--data", s.data)
	}
	code := run(ctx, args, console{
		in: strings.NewReader(""), out: &out, err: &err, width: s.width, configDir: s.config,
		now: func() time.Time { return s.now },
		sleep: func(ctx context.Context, d time.Duration) error {
			if d != watchInterval {
				s.t.Errorf("slept for %v", d)
			}
			if slept++; slept == times {
				cancel()
				return ctx.Err()
			}
			service.mu.Lock()
			defer service.mu.Unlock()
			between(slept)
			return nil
		},
	})
	return result{s.t, code, out.String(), err.String()}
}

func TestWatchPrintsWhatChanged(t *testing.T) {
	shell, service := newShell(t), newService(t)
	change := func(n int) {
		if n == 2 {
			service.configs["ranked"] = duelConfig
		}
	}
	got := shell.watch(service, 4, change, "config", "list", "--watch", "-o", "json")
	got.expect(exitInterrupted, "[]\n[\n  {\n    \"id\": \"ranked\"", "has no configs")
	if n := strings.Count(got.out, `"id"`); n != 1 {
		t.Errorf("the config is printed %d times, want once:\n%s", n, got.out)
	}
	shell.width = 80 // of a terminal, whose content is replaced
	got = shell.watch(service, 3, func(int) { service.configs["second"] = duelConfig }, "config", "list", "--watch")
	if n := strings.Count(got.out, clearScreen); got.code != exitInterrupted || n != 2 {
		t.Errorf("the screen is replaced %d times, want twice:\n%q %s", n, got.out, got.err)
	}
	shell.width = 0
	got = shell.watch(service, 2, func(int) { service.functions["duel"] = someHash }, "function", "list", "-w")
	got.expect(exitInterrupted, "duel  Running", "has no functions")
	got = shell.watch(service, 2, func(int) {}, "ticket", "list", "--watch")
	got.expect(exitInterrupted, "t-1", "mm: 2 of 3 tickets\n")
	service.untrusted = true
	shell.watch(service, 2, func(int) {}, "config", "list", "--watch").expect(1, "", "the token was made with the key in")
}

// All looks have one token, and what its command says is not kept back.
func TestWatchAsksForOneToken(t *testing.T) {
	shell, service := newShell(t), newService(t)
	token := strings.TrimSpace(shell.run("token", "developer", "--data", shell.data).out)
	shell.run("context", "set", "kept", "--url", service.url, "--token-command", "echo asked >&2; echo "+token).
		expect(0, "tokens   a command\n", "")
	got := shell.watch(service, 4, func(int) {}, "function", "list", "--watch", "--context", "kept")
	if n := strings.Count(got.err, "asked\n"); got.code != exitInterrupted || n != 1 {
		t.Errorf("%d, asked %d times, want once: %s", got.code, n, got.err)
	}
	got = shell.watch(service, 2, func(n int) { service.untrusted = true }, "function", "list", "--watch")
	got.expect(1, "", "401")
}
