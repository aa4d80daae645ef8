package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// A file of players is read as strictly as the service reads requests.
func TestPlayersOfAGameAreChecked(t *testing.T) {
	shell, service := newShell(t), newService(t)
	create := func(text string) result {
		return shell.on(service, "backfill", "create", "--players", write(t, "players.json", text))
	}
	create(`[{"id":"ada","team":"red"}]`).expect(0, "backfill  b-1\n", "")
	for text, want := range map[string]string{
		`[{"id":"ada","rank":3}]`: `unknown field "rank"`, `[{"id":"ada"}] []`: "behind the list", `{}`: "cannot unmarshal",
	} {
		got := create(text)
		if got.code == 0 || !strings.Contains(got.err, "--players: ") || !strings.Contains(got.err, want) {
			t.Errorf("%s: %+v, want an error with %q", text, got, want)
		}
	}
}

func TestBackfillCreateApproveUpdateAndDelete(t *testing.T) {
	shell, service := newShell(t), newService(t)
	roster := write(t, "roster.bin", "\x01\x02")
	shell.on(service, "backfill", "create", "--connection", "127.0.0.1:7777", "--attribute", "open=2",
		"--property", "roster=@"+roster).
		expect(0, "backfill  b-1\n", "")
	shell.on(service, "backfill", "approve", "b-1").expect(0, `backfill         b-1
created          2030-01-01 00:00:00 UTC
version          1
connection       127.0.0.1:7777
attribute open   2
property roster  2 bytes
`, "")
	shell.on(service, "backfill", "update", "b-1", "--attribute", "open=1").expect(0, "backfill  b-1\n", "")
	got := shell.on(service, "backfill", "approve", "b-1", "-o", "json")
	var b map[string]any
	if err := json.Unmarshal([]byte(got.out), &b); err != nil || b["RecordVersion"] != 2.0 || b["Connection"] != "" {
		t.Errorf("after the update: %v %s", err, got.out)
	}
	shell.on(service, "backfill", "delete", "b-1").expect(0, "deleted  b-1\n", "")
	shell.on(service, "backfill", "delete", "b-1").
		expect(0, "", "mm: there is no backfill ticket b-1: nothing was deleted\n")
	for _, line := range []string{"approve b-1", "update b-1"} {
		args := append([]string{"backfill"}, strings.Fields(line)...)
		shell.on(service, args...).expect(1, "", "mm: there is no backfill ticket b-1 (404")
	}
}

func TestBackfillUsesTheTokenOfTheUser(t *testing.T) {
	shell, service := newShell(t), newService(t)
	token := strings.TrimSpace(shell.run("token", "player", "p", "--data", shell.data).out)
	shell.on(service, "backfill", "create", "--token", token).expect(1, "", "a token of kind player is not for this (403")
	token = strings.TrimSpace(shell.run("token", "server", "--data", shell.data).out)
	shell.on(service, "backfill", "create", "--token", token, "-o", "json").expect(0, `"id": "b-1"`, "")
}
