package main

import "testing"

func TestTicketListOfThoseWhoWait(t *testing.T) {
	shell, service := newShell(t), newService(t)
	const first = "t-1     62.5 s  ada bob  quick   eu      level=3 skill=1200\n"
	shell.on(service, "ticket", "list").expect(0, "TICKET  WAITED  PLAYERS  QUEUES  REGION  ATTRIBUTES\n"+first+
		"t-2     2 s     cyd\n", "mm: 2 of 3 tickets")
	shell.on(service, "ticket", "list", "--limit", "1", "--config", "ranked", "--pool", "new", "--player", "ada",
		"--attribute", "skill=1000..2000", "--attribute", "level=3..", "--min-age", "1m", "--sample").expect(0, first,
		"1 of 3")
	for name, want := range map[string]string{
		"config": "ranked", "pool": "new", "player": "ada", "minAge": "60", "limit": "1", "after": "", "sample": "true",
		"filters": `[{"attribute":"skill","min":1000,"max":2000},{"attribute":"level","min":3}]`,
	} {
		if got := service.query.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	shell.on(service, "ticket", "list", "-o", "json").expect(0, `"waited": 62.5`, "2 of 3")
	shell.on(service, "ticket", "list", "--player", "ada").expect(0, "t-2", "") // tickets with results as well
	for _, args := range [][]string{
		{"--attribute", "skill"}, {"--attribute", "skill=1"}, {"--attribute", "skill=a..b"}, {"--attribute", "=1..2"},
		{"--limit", "-1"}, {"--pool", "x"}, {"--config", "x", "--queue", "y"}, {"--queue", "x", "--no-queue"},
		{"--min-age", "-1s"},
	} {
		if got := shell.on(service, append([]string{"ticket", "list"}, args...)...); got.code != 2 {
			t.Errorf("%q: exit code %d", args, got.code)
		}
	}
}

// A name that is wrong must not look like a project in which nothing happens.
func TestProjectWithoutConfigsIsSaid(t *testing.T) {
	shell, service := newShell(t), newService(t)
	const says = "mm: project demo has no configs: is that its name (--project)?"
	shell.on(service, "ticket", "list", "--waiting", "--player", "nobody").expect(0, "", says)
	shell.on(service, "ticket", "why", "--player", "nobody").expect(1, "", says)
	shell.on(service, "event", "log", "--ticket", "none").expect(0, "", says)
	shell.on(service, "top", "--once").expect(0, "there are no configs", "")
	shell.on(service, "config", "get", "ranked").expect(1, "", "(404 Not Found, project demo, correlation id")
}
