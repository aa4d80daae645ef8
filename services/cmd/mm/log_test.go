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
)

// journal is a service that has nothing but a log, which grows between one look at it and the next.
type journal struct {
	*httptest.Server
	asked   []string // the query of each look
	expires []time.Time
	// look is what a look finds: the logs, and the position; an empty one is left out.
	look func(n int) (map[string]string, string)
}

func newJournal(t *testing.T, look func(n int) (map[string]string, string)) *journal {
	t.Helper()
	j := &journal{look: look}
	j.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		j.asked = append(j.asked, r.URL.RawQuery)
		token := claims(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		expires, _ := token["exp"].(float64)
		j.expires = append(j.expires, time.Unix(int64(expires), 0))
		logs, position := j.look(len(j.asked))
		if logs == nil {
			writeProblem(w, http.StatusNotFound, "there is no function duel")
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

// follow runs mm on the journal until it has slept so often, each time for as long as pause.
func (j *journal) follow(t *testing.T, s *shell, times int, pause time.Duration, args ...string) result {
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
	return result{code, out.String(), err.String()}
}

func TestFunctionLogFollows(t *testing.T) {
	looks := []map[string]string{
		{"duel-0": "one\ntwo\n", "duel-1": ""},
		{"duel-0": "", "duel-1": ""},
		{"duel-0": "two\n\x1b[31mthree", "duel-1": ""},
		{"duel-0": "four", "duel-1": "[runner] started"},
		{"duel-1": "five"},
	}
	look := func(n int) (map[string]string, string) { return looks[n-1], strconv.Itoa(10 * n) }
	j := newJournal(t, look)
	got := j.follow(t, newShell(t), len(looks), time.Second, "--seconds", "5")
	got.expect(t, 0, "== duel-0 ==\none\ntwo\ntwo\n\ufffd[31mthree\nfour\n== duel-1 ==\n[runner] started\nfive\n", "")
	if want := "[seconds=5 after=10 after=20 after=30 after=40]"; fmt.Sprint(j.asked) != want {
		t.Errorf("asked %v, want %s", j.asked, want)
	}

	got = newJournal(t, look).follow(t, newShell(t), len(looks), time.Second, "-o", "json")
	got.expect(t, 0, `{"instance":"duel-0","line":"one"}
{"instance":"duel-0","line":"two"}
{"instance":"duel-0","line":"two"}
{"instance":"duel-0","line":"\u001b[31mthree"}
{"instance":"duel-0","line":"four"}
{"instance":"duel-1","line":"[runner] started"}
{"instance":"duel-1","line":"five"}
`, "")
}

// Following outlives --timeout, and the tokens that are made for it.
func TestFunctionLogFollowsForLong(t *testing.T) {
	s := newShell(t)
	began := s.now
	j := newJournal(t, func(n int) (map[string]string, string) { return map[string]string{"duel-0": ""}, strconv.Itoa(n) })
	j.follow(t, s, 50, 9*time.Second, "--timeout", "30s").expect(t, 0, "", "")
	if len(j.asked) != 50 {
		t.Errorf("looked %d times", len(j.asked))
	}
	made := map[time.Time]bool{}
	for i, expires := range j.expires {
		made[expires] = true
		if now := began.Add(time.Duration(i) * 9 * time.Second); expires.Before(now.Add(30 * time.Second)) {
			t.Fatalf("look %d has a token that expires %v later, within --timeout", i, expires.Sub(now))
		}
	}
	if len(made) < 2 || len(made) > 20 {
		t.Errorf("%d tokens were made", len(made))
	}
}

func TestFunctionLogFollowEnds(t *testing.T) {
	gone := newJournal(t, func(n int) (map[string]string, string) {
		if n == 3 {
			return nil, ""
		}
		return map[string]string{"duel-0": "line"}, "1"
	})
	gone.follow(t, newShell(t), 9, time.Second).expect(t, 1, "== duel-0 ==\nline\nline\n", "mm: there is no function duel (404 Not Found")
	old := newJournal(t, func(int) (map[string]string, string) { return map[string]string{"duel-0": "line"}, "" })
	old.follow(t, newShell(t), 9, time.Second).expect(t, 1, "", "mm: the service does not say how far the log was read")
}
