package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func assignedAtThirdRead(n int) map[string]any {
	if n < 3 {
		return nil
	}
	return map[string]any{"connection": "127.0.0.1:7000", "properties": map[string]any{"password": "x"},
		"matchproperties": map[string]any{"map": "arena\u001b"}}
}

func TestTicketList(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "ticket", "list", "--player", "p").expect(0, `TICKET  CREATED                  STATE    CONNECTION
t-2     2001-09-09 01:46:40 UTC  waiting
t-1     2001-09-09 01:46:40 UTC  matched  10.0.0.1:7000
`, "")
}

func TestTicketResumeWaitsForTheMatchOfTheTicketThatAPlayerHas(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.owners["t-2"] = "p"
	service.assignment = assignedAtThirdRead
	shell.on(service, "ticket", "resume", "--player", "p").
		expect(0, "connection        127.0.0.1:7000\n", "mm: ticket t-2 is the player's\n")
	if service.reads != 3 {
		t.Errorf("the ticket was read %d times, want 3", service.reads)
	}
	shell.on(service, "ticket", "resume", "--player", "nobody").expect(1, "", `ask for one with "mm ticket create"`)
	shell.on(service, "ticket", "resume").expect(2, "", "--player")
	service.taken = "t-2"
	for _, wait := range [][]string{nil, {"--wait"}} {
		shell.on(service, append([]string{"ticket", "create", "--player", "p"}, wait...)...).
			expect(1, "", `has ticket t-2 (409 Conflict, correlation id c-1): "mm ticket resume" waits for its match`)
	}
}

func TestTicketCreateSendsAttributesAndProperties(t *testing.T) {
	shell, service := newShell(t), newService(t)
	file := filepath.Join(t.TempDir(), "loadout.bin")
	if err := os.WriteFile(file, []byte{0, 1}, 0o600); err != nil {
		t.Fatal(err)
	}
	got := shell.on(service, "ticket", "create", "--player", "p", "--attribute", "skill=-12.5", "--attribute", "a;b,c=1",
		"--property", "k=hi, there", "--property", "loadout=@"+file)
	got.expect(0, "ticket  t-1\n", "")
	want := map[string]any{
		"attributes": map[string]any{"skill": -12.5, "a;b,c": 1.0},
		"properties": map[string]any{"k": "aGksIHRoZXJl", "loadout": "AAE="},
	}
	if !reflect.DeepEqual(service.body, want) || service.owners["t-1"] != "p" {
		t.Errorf("sent %v for %v", service.body, service.owners)
	}
	shell.on(service, "ticket", "create", "--player", "p", "--queue", "ranked", "--queue", "a,b").expect(0, "ticket", "")
	if !reflect.DeepEqual(service.body["queues"], []any{"ranked", "a,b"}) {
		t.Errorf("sent %v", service.body)
	}
	got = shell.on(service, "ticket", "create", "--player", "p", "--output", "json")
	got.expect(0, `"id": "t-1"`, "")
	shell.on(service, "ticket", "create", "--player", "p", "--property", "k=@"+file+"x").
		expect(2, "", "mm: --property k: open")
}

func TestTicketAnswersItsMatch(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "ticket", "create", "--player", "p").expect(0, "ticket  t-1\n", "")
	shell.on(service, "ticket", "accept", "t-1", "--player", "p").expect(1, "", "no match asks")
	service.acceptance = map[string]any{"match": "m-1", "remaining": 1500, "players": 10, "accepted": 3,
		"unanswered": []any{"p"}}
	shell.on(service, "ticket", "get", "t-1").expect(0, "3 of 10 players", "")
	for _, c := range []struct {
		args []string
		out  string
		want map[string]any
	}{
		{[]string{"accept", "t-1", "--player", "p"}, "accepted  m-1\n",
			map[string]any{"match": "m-1", "accept": true, "by": "p"}},
		{[]string{"decline", "t-1", "--match", "m-2"}, "declined  m-2\n",
			map[string]any{"match": "m-2", "accept": false, "by": ""}},
	} {
		shell.on(service, append([]string{"ticket"}, c.args...)...).expect(0, c.out, "")
		if !reflect.DeepEqual(service.body, c.want) {
			t.Errorf("sent %v, want %v", service.body, c.want)
		}
	}
}

func TestTicketCreateSendsPlayers(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "ticket", "create", "--for", "ada,skill=1200,role=2", "--for", "bob").expect(0, "ticket  t-1\n", "")
	want := map[string]any{"players": []any{
		map[string]any{"id": "ada", "attributes": map[string]any{"skill": 1200.0, "role": 2.0}},
		map[string]any{"id": "bob"},
	}}
	if !reflect.DeepEqual(service.body, want) || service.owners["t-1"] != "ada" {
		t.Errorf("sent %v for %v", service.body, service.owners)
	}
	file := filepath.Join(t.TempDir(), "players.json")
	if err := os.WriteFile(file, []byte(`[{"id":"ada","properties":{"badge":"Z29sZA=="}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	service.body = nil
	shell.on(service, "ticket", "create", "--player", "zoe", "--players", file).expect(0, "ticket  t-1\n", "")
	want = map[string]any{"players": []any{map[string]any{"id": "ada", "properties": map[string]any{"badge": "Z29sZA=="}}}}
	if !reflect.DeepEqual(service.body, want) || service.owners["t-1"] != "zoe" {
		t.Errorf("sent %v for %v", service.body, service.owners)
	}
	if err := os.WriteFile(file, []byte(`[{"id":"ada","values":{"roles":["tank"]}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	service.body = nil
	shell.on(service, "ticket", "create", "--players", file, "--value", "mode=ranked", "--value", `latency={"eu":30}`).
		expect(0, "ticket  t-1\n", "")
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	want = map[string]any{
		"properties": map[string]any{"mode": text(`"ranked"`), "latency": text(`{"eu":30}`)},
		"players":    []any{map[string]any{"id": "ada", "properties": map[string]any{"roles": text(`["tank"]`)}}},
	}
	if !reflect.DeepEqual(service.body, want) {
		t.Errorf("sent %v, want %v", service.body, want)
	}
	for message, args := range map[string][]string{
		"is not NAME=VALUE": {"--value", "mode"},
		"value mode: is bool, and not a string, a number": {"--value", "mode=true"},
		"--value mode is given twice, or is a --property": {"--player", "a", "--value", "mode=a", "--property", "mode=b"},
		"is not PLAYER":          {"--for", ",skill=1"},
		"NAME=NUMBER":            {"--for", "ada,skill"},
		"skill is given twice":   {"--for", "ada,skill=1,skill=2"},
		"can't be used together": {"--for", "ada", "--players", file},
	} {
		shell.on(service, append([]string{"ticket", "create"}, args...)...).expect(2, "", message)
	}
	if err := os.WriteFile(file, []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	shell.on(service, "ticket", "create", "--players", file).expect(1, "", "mm: --players: ")
	for text, want := range map[string]string{
		`[{"id":"ada","skill":3}]`: `unknown field "skill"`, `[{"id":"ada"}] []`: "behind the list", "": "the file is empty",
	} {
		shell.on(service, "ticket", "create", "--players", write(t, "players.json", text)).expect(1, "", want)
	}
}

func TestTicketGetPrintsPlayers(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.players = []any{map[string]any{"id": "ada"}, map[string]any{"id": "bob",
		"attributes": map[string]any{"role": 2}, "properties": map[string]any{"badge": "Z29sZA=="}}}
	shell.on(service, "ticket", "create", "--player", "ada")
	got := shell.on(service, "ticket", "get", "t-1")
	if !strings.Contains(got.out, " ada\n") || !strings.Contains(got.out, " bob role=2 badge: 4 bytes\n") {
		t.Errorf("printed\n%s", got.out)
	}
}

func TestTicketCreateWaitsInOneRequest(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.holds = true
	service.assignment = func(int) map[string]any { return map[string]any{"connection": "127.0.0.1:7000"} }
	got := shell.on(service, "ticket", "create", "--player", "p", "--wait")
	got.expect(0, "connection       127.0.0.1:7000\n", "mm: ticket t-1 waits for a match; Ctrl-C deletes it\n")
	if service.reads != 1 {
		t.Errorf("the ticket was asked for %d times, want once, with its create", service.reads)
	}
}

// TestWaitTellsOfTheMatchThatAsks: people learn that they must answer, and why the ticket ended if they do not.
func TestWaitTellsOfTheMatchThatAsks(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.events = "event: waiting\nid: waiting\ndata: {\"id\":\"t-1\"}\n\n" +
		"event: acceptance\nid: a\ndata: " +
		`{"id":"t-1","acceptance":{"match":"m-1","players":2,"remaining":9000}}` + "\n\n" +
		"event: acceptance\nid: b\ndata: " +
		`{"id":"t-1","acceptance":{"match":"m-1","players":2,"accepted":1}}` + "\n\n" +
		"event: ended\nid: ended\ndata: {\"id\":\"t-1\",\"reason\":\"silent\"}\n\n"
	for _, line := range []string{"ticket create --player p --wait", "ticket get t-1 --wait", "ticket resume --player p"} {
		got := shell.on(service, strings.Fields(line)...)
		got.expect(1, "", `mm: match m-1 asks 2 players: "mm ticket accept t-`)
		if !strings.Contains(got.err, "within 9s\n") ||
			!strings.Contains(got.err, " ended: silent (a player did not answer a match)\n") ||
			strings.Count(got.err, "asks") != 1 {
			t.Errorf("%s: printed\n%s", line, got.err)
		}
	}
	service.events = "event: ended\nid: ended\ndata: {\"id\":\"t-3\",\"reason\":\"deleted\"}\n\n"
	shell.on(service, "ticket", "watch", "t-3").expect(1, "ended  deleted\n", "mm: ticket t-3 ended: deleted\n")
}

func TestTicketWaitPrintsTheAssignment(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.assignment = assignedAtThirdRead
	got := shell.on(service, "ticket", "create", "--player", "p", "--wait")
	got.expect(0, "connection        127.0.0.1:7000\n", "mm: ticket t-1 waits for a match; Ctrl-C deletes it\n")
	if !strings.Contains(got.out, `match properties  {"map":"arena\u001b"}`) || strings.Contains(got.out, "error") {
		t.Errorf("printed\n%s", got.out)
	}
	got = shell.on(service, "ticket", "get", "t-1", "--wait", "--output", "json")
	got.expect(0, "{", "")
	var ticket struct {
		Created    int64
		Assignment struct {
			Connection      string
			MatchProperties map[string]string
		}
	}
	if err := json.Unmarshal([]byte(got.out), &ticket); err != nil {
		t.Fatalf("%v in %s", err, got.out)
	}
	if ticket.Created != 1893456000000 || ticket.Assignment.Connection != "127.0.0.1:7000" ||
		ticket.Assignment.MatchProperties["map"] != "arena\x1b" {
		t.Errorf("printed %+v", ticket)
	}
}

func TestTicketWaitWithoutAMatchPrintsTheTicketAndFails(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.assignment = func(int) map[string]any { return map[string]any{"connection": ""} }
	shell.on(service, "ticket", "create", "--player", "p", "--wait").
		expect(0, "matched, without a server: neither config nor function names one\n", "mm: ticket t-1 waits")
	service.assignment = func(int) map[string]any { return map[string]any{"error": "PoolTimeout"} }
	for _, line := range []string{"ticket create --player p --wait", "ticket get t-1 --player p --wait"} {
		got := shell.on(service, strings.Fields(line)...)
		got.expect(1, "error            PoolTimeout\n", "mm: ticket t-1 got no match: PoolTimeout\n")
	}
}

func TestTicketStaysAfterTimeoutAndItsIDIsPrinted(t *testing.T) {
	shell, service := newShell(t), newService(t)
	ctx, cancel := context.WithDeadline(t.Context(), shell.now) // expired from the start
	defer cancel()
	got := shell.onContext(ctx, service, "ticket", "create", "--player", "p", "--wait")
	got.expect(1, "ticket  t-1\n",
		`mm: timed out after 1m0s (--timeout); ticket t-1 still waits: "mm ticket delete t-1 --player p" deletes it`)
	if _, ok := service.owners["t-1"]; !ok {
		t.Error("the ticket was deleted")
	}
	got = shell.onContext(ctx, service, "ticket", "get", "t-1", "--wait")
	got.expect(1, "", "mm: timed out after 1m0s (--timeout)\n")
}

func TestCtrlCDeletesTheTicket(t *testing.T) {
	shell, service := newShell(t), newService(t)
	ctx, interrupt := context.WithCancel(t.Context())
	service.assignment = func(n int) map[string]any {
		if n == 2 {
			interrupt()
		}
		return nil
	}
	for range 2 { // the second time, the context is canceled before the ticket is created
		got := shell.onContext(ctx, service, "ticket", "create", "--player", "p", "--wait")
		got.expect(130, "", "mm: interrupted: ticket t-1 is deleted, so that no match gets an absent player\n")
		if len(service.owners) != 0 {
			t.Error("the ticket is still there")
		}
	}
}

func TestTicketGetAndDelete(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "ticket", "create", "--player", "p").expect(0, "t-1", "")
	got := shell.on(service, "ticket", "get", "t-1")
	got.expect(
		0,
		"ticket           t-1\ncreated          2030-01-01 00:00:00 UTC\nattribute skill  1200\n"+
			"property k       2 bytes\nstate            waiting\n",
		"",
	)
	shell.on(service, "ticket", "delete", "t-1", "--player", "q").
		expect(0, "", "mm: there is no ticket t-1: nothing was deleted\n")
	shell.on(service, "ticket", "delete", "t-1", "--player", "p").expect(0, "deleted  t-1\n", "")
	shell.on(service, "ticket", "get", "t-1", "--player", "p").expect(1, "", "mm: there is no ticket t-1")
}

func TestProgressIsNotOnStandardOutput(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.width = 80
	service.assignment = assignedAtThirdRead
	got := shell.on(service, "ticket", "create", "--player", "p", "--wait", "--output", "json")
	if got.code != 0 || !json.Valid([]byte(got.out)) || !strings.Contains(got.err, "ticket t-1 waits") {
		t.Errorf("%+v", got)
	}
}
