package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func matched(asked int) map[string]any {
	if asked < 3 {
		return nil
	}
	return map[string]any{"connection": "127.0.0.1:7000", "error": nil, "properties": map[string]any{"password": "x"},
		"matchproperties": map[string]any{"map": "arena\u001b"}}
}

func TestTicketCreate(t *testing.T) {
	shell, service := newShell(t), newService(t)
	file := filepath.Join(t.TempDir(), "loadout.bin")
	if err := os.WriteFile(file, []byte{0, 1}, 0o600); err != nil {
		t.Fatal(err)
	}
	got := shell.on(t.Context(), service, "ticket", "create", "--player", "p", "--attribute", "skill=-12.5", "--attribute", "a;b,c=1",
		"--property", "k=hi, there", "--property", "loadout=@"+file)
	got.expect(t, 0, "ticket  t-1\n", "")
	want := map[string]any{
		"attributes": map[string]any{"skill": -12.5, "a;b,c": 1.0},
		"properties": map[string]any{"k": "aGksIHRoZXJl", "loadout": "AAE="},
	}
	if !reflect.DeepEqual(service.body, want) || service.owners["t-1"] != "p" {
		t.Errorf("sent %v for %v", service.body, service.owners)
	}
	got = shell.on(t.Context(), service, "ticket", "create", "--player", "p", "--output", "json")
	got.expect(t, 0, `"id": "t-1"`, "")
	shell.on(t.Context(), service, "ticket", "create", "--player", "p", "--property", "k=@"+file+"x").expect(t, 1, "", "mm: --property k: open")
}

func TestTicketWait(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.assignment = matched
	got := shell.on(t.Context(), service, "ticket", "create", "--player", "p", "--wait")
	got.expect(t, 0, "connection        127.0.0.1:7000\n", "mm: ticket t-1 waits for a match; Ctrl-C deletes it\n")
	if !strings.Contains(got.out, `match properties  {"map":"arena\u001b"}`) || strings.Contains(got.out, "error") {
		t.Errorf("printed\n%s", got.out)
	}
	got = shell.on(t.Context(), service, "ticket", "get", "t-1", "--wait", "--output", "json")
	got.expect(t, 0, "{", "")
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
	if ticket.Created != 1893456000000 || ticket.Assignment.Connection != "127.0.0.1:7000" || ticket.Assignment.MatchProperties["map"] != "arena\x1b" {
		t.Errorf("printed %+v", ticket)
	}
}

// No match is a failure, and the ticket is printed all the same.
func TestTicketWaitError(t *testing.T) {
	shell, service := newShell(t), newService(t)
	service.assignment = func(int) map[string]any { return map[string]any{"connection": "", "error": nil} }
	shell.on(t.Context(), service, "ticket", "create", "--player", "p", "--wait").expect(t, 0, "matched; neither its config nor its function names a server\n", "mm: ticket t-1 waits")
	service.assignment = func(int) map[string]any { return map[string]any{"error": "PoolTimeout"} }
	for _, line := range []string{"ticket create --player p --wait", "ticket get t-1 --player p --wait"} {
		got := shell.on(t.Context(), service, strings.Fields(line)...)
		got.expect(t, 1, "error            PoolTimeout\n", "mm: ticket t-1 got no match: PoolTimeout\n")
	}
}

// A ticket that nobody was found for in time stays, and its id is printed.
func TestTicketWaitTimeout(t *testing.T) {
	shell, service := newShell(t), newService(t)
	ctx, cancel := context.WithDeadline(t.Context(), shell.now) // over before it began
	defer cancel()
	got := shell.on(ctx, service, "ticket", "create", "--player", "p", "--wait")
	got.expect(t, 1, "ticket  t-1\n", `mm: timed out after 1m0s (--timeout); ticket t-1 still waits: "mm ticket delete t-1 --player p" ends it`)
	if _, ok := service.owners["t-1"]; !ok {
		t.Error("the ticket was deleted")
	}
	got = shell.on(ctx, service, "ticket", "get", "t-1", "--wait")
	got.expect(t, 1, "", "mm: timed out after 1m0s (--timeout)\n")
}

// Ctrl-C while waiting deletes the ticket; so does Ctrl-C during its creation.
func TestTicketWaitInterrupted(t *testing.T) {
	shell, service := newShell(t), newService(t)
	ctx, interrupt := context.WithCancel(t.Context())
	service.assignment = func(asked int) map[string]any {
		if asked == 2 {
			interrupt()
		}
		return nil
	}
	for range 2 { // the second time the context is over from the start
		got := shell.on(ctx, service, "ticket", "create", "--player", "p", "--wait")
		got.expect(t, 1, "", "mm: interrupted: ticket t-1 is deleted, so that nobody is matched with an absent player\n")
		if len(service.owners) != 0 {
			t.Error("the ticket is still there")
		}
	}
}

func TestTicketGetAndDelete(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(t.Context(), service, "ticket", "create", "--player", "p").expect(t, 0, "t-1", "")
	got := shell.on(t.Context(), service, "ticket", "get", "t-1")
	got.expect(t, 0, "ticket           t-1\ncreated          2030-01-01 00:00:00 UTC\nattribute skill  1200\nproperty k       2 bytes\nstate            waiting\n", "")
	shell.on(t.Context(), service, "ticket", "delete", "t-1", "--player", "q").expect(t, 1, "", "mm: there is no ticket t-1 (404 Not Found, correlation id c-1)\n")
	shell.on(t.Context(), service, "ticket", "delete", "t-1", "--player", "p").expect(t, 0, "deleted  t-1\n", "")
	shell.on(t.Context(), service, "ticket", "get", "t-1", "--player", "p").expect(t, 1, "", "mm: there is no ticket t-1")
}

// On a terminal the waiting is shown, and nothing of it is on standard output.
func TestTicketWaitOnTerminal(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.width = 80
	service.assignment = matched
	got := shell.on(t.Context(), service, "ticket", "create", "--player", "p", "--wait", "--output", "json")
	if got.code != 0 || !json.Valid([]byte(got.out)) || !strings.Contains(got.err, "ticket t-1 waits") {
		t.Errorf("%+v", got)
	}
}
