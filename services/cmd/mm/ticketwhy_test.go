package main

import (
	"io"
	"net/http"
	"os"
	"testing"
)

//nolint:lll // a table
func TestTicketWhy(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "ticket", "why", "t-1").expect(0, `ticket   t-1
state    waiting
created  42.5 s ago
players  2
queues   a b

CONFIG   FUNCTION  WHY IT WAITS                                                                              CANDIDATES WITHOUT THAT
casual   duel      pool high: skill is 1200, 100 below the least, 1300
casual   duel      pool low: skill is 1200, 200 above the greatest, 1000
casual   duel      pool low: it has no level
casual   duel      pool edge: the number of players is 2, and must be below 2
far      duel      it serves the queue c
failing  bad       the run failed: deadline
mute     duel      none of 3 proposals for 9 tickets has it; the function does not say why
rules    rules     near: without it there is a match                                                         4
rules    rules     �[2J
soon     duel      one of 3 proposals has it: the next cycle may match it
outbid   duel      by age it is number 2 of the 9 tickets that the function gets
outbid   duel      one of 3 proposals has it: with the score 1.5 it loses to one of rules, which has 4
unasked  duel      it gets the ticket; its function was not asked, since that is done for some configs only
`, "")
	shell.on(service, "ticket", "why", "t-1", "-o", "json").expect(0, `"candidates": 4`, "")
	shell.on(service, "ticket", "why", "t-1").expect(0, `
TIME                     ITS MATCH  IS        REASON      DETAIL         SCORE  CONFIG
2030-01-01 00:01:00 UTC  m-2        released  allocation  fleet is full  1.5    rules
`, "")
	shell.on(service, "ticket", "why", "t-1", "-o", "json").expect(0, `"reason": "allocation"`, "")
	shell.on(service, "ticket", "why", "t-3").expect(0, "ticket  t-3\nstate   ended\n"+
		"ended   silent, at 2030-01-01 00:01:00 UTC after 42.5 s\n", "")
	shell.on(service, "ticket", "why", "t-4").expect(0, "ticket ",
		"mm: no config serves the queue qick: nothing matches the ticket there\n")
	shell.on(service, "ticket", "why", "--player", "ada").expect(0, "ticket   t-1\n", "")
	if player := service.query.Get("player"); player != "ada" {
		t.Errorf("the player %q was asked for", player)
	}
	shell.run("ticket", "why").expect(2, "", "give the ticket's id, or --player")
	shell.run("ticket", "why", "t-1", "--player", "ada").expect(2, "", "give the ticket's id, or --player")
	shell.on(service, "ticket", "why", "t-2").expect(1, "", "mm: there is no ticket t-2 (404 Not Found")
}

// A file's name is printed as it is, also one that looks like a time.
func TestTicketCapture(t *testing.T) {
	shell, service := newShell(t), newService(t)
	t.Chdir(t.TempDir())
	const name = "2026-11-30T12:00:00Z"
	shell.on(service, "ticket", "capture", "t-1", "--config", "ranked", "--to", name).expect(0, "capture  "+name+"\n", "")
	if text, err := os.ReadFile(name); err != nil || string(text) != "a run" {
		t.Errorf("%q, %v", text, err)
	}
}

func (s *service) captureRun(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = io.WriteString(w, "a run")
}
