package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestTopShowsTheProject(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.configs["ranked"] = `{"pools":{"new":[],"old":[]},"matchmaking":{"targetFunction":{"name":"duel"}}}`
	service.functions["duel"] = "5d41402abc4b2a76b9719d911017c592"
	shell.now = time.Date(2030, 1, 1, 0, 0, 1, 0, time.UTC)
	got := shell.on(service, "top", "--once")
	got.expect(0, "demo  2030-01-01 00:00:01  3 tickets wait\n", "")
	for _, line := range []string{
		"CONFIG QUEUE POOL WAITING OLDEST MATCHES/S TICKETS ASSIGNED FAILED RELEASED FULL\n",
		"ranked new 3 62.5 s 0.01667 0 1 0 0 0\n", "ranked old 3 62.5 s\n", "(no config serves it) (none) 1 62.5 s\n",
		"FUNCTION STATE INSTANCES\n", "duel Running 1\n",
	} {
		if !strings.Contains(regexp.MustCompile(" +").ReplaceAllString(got.out, " "), line) {
			t.Errorf("no line %q in\n%s", line, got.out)
		}
	}
	shell.on(service, "top", "--once", "-o", "json").expect(0, `"waiting":3,"configs":[{"config":"ranked",`, "")
	shell.run("top", "--interval", "1ms").expect(2, "", "--interval: must be 1s or more")
}

// Of a config that was deleted meanwhile no ticket waits. How many wait at a service without queues is not known.
func TestTopWithoutWhatItAsksFor(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.configs["ranked"] = `{"matchmaking":{"targetFunction":{"name":"duel"}}}`
	base, err := url.Parse(service.url)
	if err != nil {
		t.Fatal(err)
	}
	for missing, code := range map[string]int{"/tickets/waiting": 0, "/queues": 1} {
		proxy := httputil.NewSingleHostReverseProxy(base)
		gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, missing) {
				http.NotFound(w, r)
				return
			}
			proxy.ServeHTTP(w, r)
		}))
		got := shell.run("top", "--once", "--url", gateway.URL, "--data", shell.data)
		gateway.Close()
		if got.code != code || strings.Contains(got.out, "3 tickets wait") != (code == 0) || (got.err == "") != (code == 0) {
			t.Errorf("without %s: %+v", missing, got)
		}
	}
}

func TestTopGoesOnUntilItIsInterrupted(t *testing.T) {
	shell, service := newShell(t), newService(t)
	ctx, interrupt := context.WithTimeout(t.Context(), time.Minute)
	defer interrupt()
	var out strings.Builder
	looks := 0
	code := run(ctx, []string{"top", "--data", shell.data, "--url", service.url}, console{
		in: strings.NewReader(""), out: &out, err: t.Output(), now: time.Now, width: 80,
		sleep: func(ctx context.Context, _ time.Duration) error {
			if looks++; looks == 3 {
				interrupt()
			}
			return ctx.Err()
		},
	})
	if code != exitInterrupted || strings.Count(out.String(), clearScreen) != 3 {
		t.Errorf("code %d, printed %q", code, out.String())
	}
}

func TestRecentCountsMatches(t *testing.T) {
	shell, service := newShell(t), newService(t)
	session := &session{
		commonFlags: commonFlags{URL: service.url, Project: "demo", Data: shell.data, Timeout: time.Minute},
		console:     console{now: time.Now, err: t.Output()},
	}
	api, err := session.connect(asDeveloper())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2030, 1, 1, 0, 0, 1, 0, time.UTC)
	r := newRecent(at)
	if err := r.read(t.Context(), api, at); err != nil {
		t.Fatal(err)
	}
	one := topConfig{Config: "ranked"}
	if r.add(&one); one.MatchesPerSecond != 1.0/60 || one.Assigned != 1 || one.Waited != nil {
		t.Errorf("%+v", one)
	}
	if made, is := createdAt("0198f3a2-5c1e-7d40-9a10-0a4be0d0c001"); !is || made.UnixMilli() != 0x0198f3a25c1e {
		t.Errorf("%v %v", made, is)
	}
	if _, is := createdAt("0198f3a2-5c1e-4d40-9a10-0a4be0d0c001"); is {
		t.Error("an id that is no UUID of version 7 has a time")
	}
}
