package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// logService is a fake service that has only a log.
type logService struct {
	*httptest.Server
	queries []string
	expires []time.Time // of the tokens
}

// newLogService answers the n-th request with the logs and the position that read returns. An empty position is left
// out.
func newLogService(t *testing.T, read func(n int) (logs map[string]string, position string)) *logService {
	t.Helper()
	j := &logService{}
	j.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		j.queries = append(j.queries, r.URL.RawQuery)
		token := claims(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		expires, _ := token["exp"].(float64)
		j.expires = append(j.expires, time.Unix(int64(expires), 0))
		logs, position := read(len(j.queries))
		if logs == nil {
			writeProblem(w, problem.FunctionNotFound, "there is no function duel")
			return
		}
		if position != "" {
			w.Header().Set("X-Log-Position", position)
		}
		answer(w, map[string]any{"logs": logs})
	}))
	t.Cleanup(j.Close)
	return j
}

// follow runs mm until it has slept this many times. Each sleep takes pause.
func (j *logService) follow(t *testing.T, s *shell, times int, pause time.Duration, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, err bytes.Buffer
	slept := 0
	code := run(ctx, append([]string{"function", "log", "duel", "-f", "--url", j.URL, "--data", s.data}, args...), console{
		in: strings.NewReader(""), out: &out, err: &err, now: func() time.Time { return s.now },
		sleep: func(ctx context.Context, d time.Duration) error {
			if d != time.Second {
				t.Errorf("slept for %v", d)
			}
			if _, ends := ctx.Deadline(); ends {
				t.Error("following has a deadline")
			}
			s.now = s.now.Add(pause)
			if slept++; slept == times {
				cancel() // Ctrl-C
			}
			return ctx.Err()
		},
	})
	return result{t, code, out.String(), err.String()}
}

func TestFunctionLogFollowPrintsEachLineOnce(t *testing.T) {
	answers := []map[string]string{
		{"duel-0": "one\ntwo\n", "duel-1": ""},
		{"duel-0": "", "duel-1": ""},
		{"duel-0": "two\n\x1b[31mthree", "duel-1": ""},
		{"duel-0": "four", "duel-1": "[runner] started"},
		{"duel-1": "five"},
	}
	read := func(n int) (map[string]string, string) { return answers[n-1], strconv.Itoa(10 * n) }
	j := newLogService(t, read)
	got := j.follow(t, newShell(t), len(answers), time.Second, "--seconds", "5")
	got.expect(exitInterrupted,
		"== duel-0 ==\none\ntwo\ntwo\n\ufffd[31mthree\nfour\n== duel-1 ==\n[runner] started\nfive\n", "")
	if want := "[seconds=5 after=10 after=20 after=30 after=40]"; fmt.Sprint(j.queries) != want {
		t.Errorf("queries %v, want %s", j.queries, want)
	}

	got = newLogService(t, read).follow(t, newShell(t), len(answers), time.Second, "-o", "json")
	got.expect(exitInterrupted, `{"instance":"duel-0","line":"one"}
{"instance":"duel-0","line":"two"}
{"instance":"duel-0","line":"two"}
{"instance":"duel-0","line":"\u001b[31mthree"}
{"instance":"duel-0","line":"four"}
{"instance":"duel-1","line":"[runner] started"}
{"instance":"duel-1","line":"five"}
`, "")
}

func TestFunctionLogFollowsBeyondTimeoutAndTokens(t *testing.T) {
	s := newShell(t)
	began := s.now
	j := newLogService(t,
		func(n int) (map[string]string, string) { return map[string]string{"duel-0": ""}, strconv.Itoa(n) })
	j.follow(t, s, 50, 9*time.Second, "--timeout", "30s").expect(exitInterrupted, "", "")
	if len(j.queries) != 50 {
		t.Errorf("read %d times", len(j.queries))
	}
	made := map[time.Time]bool{}
	for i, expires := range j.expires {
		made[expires] = true
		if now := began.Add(time.Duration(i) * 9 * time.Second); expires.Before(now.Add(30 * time.Second)) {
			t.Fatalf("request %d has a token that expires %v later, within --timeout", i, expires.Sub(now))
		}
	}
	if len(made) < 2 || len(made) > 20 {
		t.Errorf("%d tokens were made", len(made))
	}
}

func TestFunctionLogFollowEndsWithAnError(t *testing.T) {
	deleted := newLogService(t, func(n int) (map[string]string, string) {
		if n == 3 {
			return nil, ""
		}
		return map[string]string{"duel-0": "line"}, "1"
	})
	deleted.follow(t, newShell(t), 9, time.Second).
		expect(1, "== duel-0 ==\nline\nline\n", "mm: there is no function duel (404 Not Found")
	old := newLogService(t, func(int) (map[string]string, string) { return map[string]string{"duel-0": "line"}, "" })
	old.follow(t, newShell(t), 9, time.Second).
		expect(1, "", "mm: the service cannot follow logs: its answer has no position")
}
