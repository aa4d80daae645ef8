package main

import "testing"

func TestListsOfWhatRuns(t *testing.T) {
	shell, service := newShell(t), newService(t)
	const says = "mm: 1 without a result, 0 that go to running games, 1 with one, 2 servers to give back"
	shell.on(service, "match", "list").expect(0, "m-2    assigned    ranked  q      2 s     f      eu",
		says)
	shell.on(service, "match", "list", "--limit", "1", "--state", "allocating", "--config", "ranked", "--queue", "q",
		"--region", "eu", "--fleet", "f", "--min-age", "90s").expect(0, "m-1    allocating  ranked", says)
	for name, want := range map[string]string{"state": "allocating", "config": "ranked", "queue": "q", "region": "eu",
		"fleet": "f", "minAge": "90", "limit": "1", "after": ""} {
		if got := service.query.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	shell.on(service, "match", "list", "-o", "wide").expect(0, "2026-11-05 10:26:40 UTC", says)
	shell.on(service, "match", "list", "-o", "json").expect(0, `"id": "m-2"`, says)
	shell.on(service, "backfill", "list", "--queue", "q").expect(0,
		"b-1       open   1.2.3.4:5   ada            1  62.5 s  0.5 s ago", "")
	shell.on(service, "queue", "list").expect(0,
		"(none)        1        1  62.5 s\nq             2        3  1 s     ranked", "")
	shell.on(service, "changes", "--kind", "function").expect(0,
		"2026-11-05 10:26:40 UTC  olga  function  duel  uploaded       3", "")
	for _, args := range [][]string{{"match", "list", "--limit", "-1"}, {"match", "list", "--state", "lost"},
		{"changes", "--kind", "x"}} {
		if got := shell.on(service, args...); got.code != 2 {
			t.Errorf("%q: exit code %d", args, got.code)
		}
	}
}
