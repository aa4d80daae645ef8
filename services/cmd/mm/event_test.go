package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

const (
	createdLine  = "2030-01-01 00:00:00.000  created    tickets=a,b\n"
	assignedLine = "2030-01-01 00:00:00.123  assigned   match=m config=ranked function=duel upload=2 score=1.5 tickets=a\n"
)

func TestEventLogReadsPages(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "event", "log", "--ticket", "a", "--player", "ada", "--match", "m", "--config", "ranked",
		"--kind", "created", "--kind", "assigned", "--since", "1m").expect(0, createdLine+assignedLine, "")
	for name, want := range map[string]string{
		"ticket": "a", "player": "ada", "match": "m", "config": "ranked", "kind": "created,assigned", "after": "1",
		"since": shell.now.Add(-time.Minute).UTC().Format(time.RFC3339Nano),
	} {
		if got := service.query.Get(name); got != want {
			t.Errorf("the service was asked for the %s %q, want %q", name, got, want)
		}
	}
	shell.run("event", "log", "--since", "0s").expect(2, "", "--since: must be more than 0")
	shell.on(service, "event", "log", "-o", "json").expect(0, `"match":"m","config":"ranked","revision":7,"tickets":["a"],`+
		`"function":"duel","upload":2,"score":1.5,"teams":[{"tickets":1}],"position":5}`, "")
}

func TestEventLogFollowsAStream(t *testing.T) {
	shell, service := newShell(t), newService(t)
	ctx, interrupt := context.WithTimeout(t.Context(), time.Minute)
	defer interrupt()
	out := &watchedOutput{text: "assigned", found: interrupt}
	code := run(ctx, []string{"event", "log", "--follow", "--data", shell.data, "--url", service.url}, console{
		in: strings.NewReader(""), out: out, err: t.Output(), now: func() time.Time { return shell.now },
	})
	if code != exitInterrupted || out.String() != createdLine+assignedLine {
		t.Errorf("code %d, printed %s", code, out)
	}
}

func TestMatchGet(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "match", "get", "m").expect(0, `match     m
state     assigned
config    ranked, revision 7
function  duel, upload 2
made      2030-01-01 00:00:00 UTC
ended     2030-01-01 00:00:01 UTC
players   3
score     1.5
server    10.0.0.1:7000
fleet     eu

TEAM  TICKET  WAITED  PLAYERS
red   a       2.5 s   ada bob
2     b       0.25 s
`, "")
	shell.on(service, "match", "get", "m", "-o", "json").expect(0, `"upload": 2`, "")
	shell.on(service, "match", "get", "n").expect(1, "", "mm: match was not found (404 Not Found")
}
