package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/services/test/chaos/history"
)

func TestAGoodHistoryKeepsAllPromises(t *testing.T) {
	r := Check(good())
	for _, p := range r.Promises {
		for _, b := range p.Broken {
			t.Errorf("promise %d: %s", p.Number, b)
		}
	}
	want := Sums{Faults: 1, Tickets: 13, Matches: 9}
	if r.Sums != want {
		t.Errorf("got %v, want %v", r.Sums, want)
	}
	waits := "half of the players had their result within 320ms, 99 % within 540ms, all within 540ms"
	if got := r.Waits.String(); got != waits {
		t.Errorf("got %q, want %q", got, waits)
	}
	sums := "faults: 1, tickets: 13, matches: 9, lost 0, doubled 0, stranded 0, servers leaked 0"
	if got := r.Sums.String(); got != sums {
		t.Errorf("got %q, want %q", got, sums)
	}
}

// Each history breaks a promise.
func TestBrokenPromisesAreFound(t *testing.T) {
	tests := []struct {
		name    string
		promise int // 0 is the event log, -1 the answers
		want    string
		spoil   func(*history.History)
	}{
		{"a waiting ticket is gone", 1, "ticket a (player 1) is gone", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Get, "a", 1, 900, 404))
		}},
		{"a ticket is gone before its deletion was asked for", 1, "ticket e (player 5) is gone", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Get, "e", 5, 110, 404))
		}},
		{"a ticket is gone when it is to be deleted", 1, "ticket a (player 1) is gone", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Delete, "a", 1, 950, 404))
		}},
		{"nobody can learn of a ticket after the faults", 1, "no request for ticket a", func(h *history.History) {
			h.Calls = slices.DeleteFunc(h.Calls, func(c history.Call) bool { return c.Ticket == "a" && c.From > 500*1000 })
		}},
		{"a ticket has lost its properties", 1, "has properties of 0 bytes", func(h *history.History) {
			h.Calls[0].Bytes = 100
		}},
		{"a ticket expires", 1, "expired", func(h *history.History) {
			h.Events = append(h.Events, history.Event{Project: project, Position: 90, Kind: history.Expired,
				Tickets: []string{"a"}})
		}},
		{"a ticket is claimed twice", 2, "takes ticket a, which is claimed", func(h *history.History) {
			insert(h, 11, history.Event{Kind: history.Claimed, Match: "other", Tickets: []string{"a"}, Config: "hosted",
				Revision: 1})
		}},
		{"a resolved ticket is assigned again", 2, "takes ticket c, which is resolved", func(h *history.History) {
			insert(h, 90, history.Event{Kind: history.Assigned, Match: "other", Tickets: []string{"c"}, Config: "free",
				Revision: 2})
		}},
		{"a ticket gets two connections", 2, "was told hosts:1", func(h *history.History) {
			again := call(history.Get, "a", 1, 950, 200)
			again.Assignment = &history.Assignment{Connection: "hosts:9", Match: h.Calls[2].Assignment.Match}
			h.Calls = append(h.Calls, again)
		}},
		{"a result is taken back", 2, "had a result", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Get, "a", 1, 950, 200))
		}},
		{"a former director claims", 2, "it had lost the lease", func(h *history.History) {
			edit(h, 30, func(e *history.Event) { e.Epoch = 1 })
		}},
		{"a match is ended twice", 2, "the match was assigned before", func(h *history.History) {
			insert(h, 13, history.Event{Kind: history.Released, Reason: "deadline", Match: "m1", Tickets: []string{"a", "b"}})
		}},
		{"a match is assigned in part", 3, "leaves out ticket b", func(h *history.History) {
			edit(h, 12, func(e *history.Event) { e.Tickets = []string{"a"} })
		}},
		{"two of a match get different connections", 3, "was told hosts:2", func(h *history.History) {
			tell(h, "b", "hosts:2")
		}},
		{"one of a match is told later than the other", 3, "had no result", func(h *history.History) {
			tell(h, "b", "")
		}},
		{"the players that are named are others", 3, "is player 2", func(h *history.History) {
			for i := range h.Calls {
				if a := h.Calls[i].Assignment; a != nil && h.Calls[i].Ticket != "g" && h.Calls[i].Ticket != "f" {
					a.Match = made("hosted", 1, 200, 1, 7)
				}
			}
		}},
		{"a server is asked for though a player had left", 3, "though ticket e had left", func(h *history.History) {
			edit(h, 22, func(e *history.Event) { *e = history.Event{Kind: history.Allocating, Match: "m2"} })
		}},
		{"a match is dropped though its server was asked for", 3, "was dropped though", func(h *history.History) {
			edit(h, 42, func(e *history.Event) { e.Kind, e.Reason = history.Released, "left" })
		}},
		{"a deleted ticket is claimed", 4, "takes ticket e, which had been deleted", func(h *history.History) {
			edit(h, 23, func(e *history.Event) { e.Tickets = []string{"f", "e"} })
		}},
		{"a deleted ticket is assigned", 4, "which had been deleted", func(h *history.History) {
			edit(h, 42, func(e *history.Event) { e.Tickets = []string{"h", "i"} })
		}},
		{"a deleted ticket is there again", 4, "was answered 200", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Get, "e", 5, 950, 200))
		}},
		{"a match of a deleted ticket is made after the answer", 4, `claimed by match "m2" after that`,
			func(h *history.History) {
				edit(h, 20, func(e *history.Event) { e.Time = 700 })
			}},
		{"a ticket is never matched", 5, "was never matched", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Create, "z", 26, 100, 201), call(history.Get, "z", 26, 900, 200))
			insert(h, 2, history.Event{Kind: history.Created, Tickets: []string{"z"}})
		}},
		{"a ticket that waits was told to be gone before", 5, "was never matched", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Create, "z", 26, 100, 201), call(history.Get, "z", 26, 800, 404),
				call(history.Get, "z", 26, 900, 200))
			insert(h, 2, history.Event{Kind: history.Created, Tickets: []string{"z"}})
		}},
		{"a ticket that waits was deleted before", 5, "was never matched", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Create, "z", 26, 100, 201), call(history.Delete, "z", 26, 800, 200),
				call(history.Get, "z", 26, 900, 200))
			insert(h, 2, history.Event{Kind: history.Created, Tickets: []string{"z"}})
		}},
		{"a claimed ticket stays claimed", 5, "is still claimed", func(h *history.History) {
			h.Events = slices.DeleteFunc(h.Events, func(e history.Event) bool { return e.Position == 12 })
		}},
		{"a claim takes too long", 5, "the limit is", func(h *history.History) {
			edit(h, 12, func(e *history.Event) { e.Time = 200_000 })
		}},
		{"a match that is over is taken up", 5, "the match was released before", func(h *history.History) {
			insert(h, 23, history.Event{Kind: history.Allocating, Match: "m2"})
		}},
		{"a ticket's age changes", 5, "was created at", func(h *history.History) {
			again := call(history.Get, "a", 1, 950, 200)
			again.Assignment, again.Created = h.Calls[2].Assignment, 7
			h.Calls = append(h.Calls, again)
		}},
		{"a deleted config claims", 6, "after its delete was answered", func(h *history.History) {
			h.Changes = append(h.Changes, change(history.Delete, "hosted", 150, 0, 0))
		}},
		{"a config claims that was replaced", 6, "after its put was answered", func(h *history.History) {
			h.Changes = append(h.Changes, change(history.Put, "hosted", 150, 9, 9))
		}},
		{"a run uses settings that were replaced", 6, "was matched by a run", func(h *history.History) {
			h.Changes = append(h.Changes, change(history.Put, "free", 300, 9, 9))
			edit(h, 30, func(e *history.Event) { e.Time = 100 })
		}},
		{"an edition that nobody uploaded", 6, "of edition 0, which was not uploaded before", func(h *history.History) {
			h.Changes = append(h.Changes, upload(history.Upload, 1, 20))
		}},
		{"an edition that was uploaded later", 6, "which was not uploaded before", func(h *history.History) {
			h.Changes = append(h.Changes, upload(history.Upload, 0, 790))
		}},
		{"a run of an edition that was replaced", 6, "of edition 0, after its upload was answered",
			func(h *history.History) {
				h.Terms.Recovery = 100e6
				h.Changes = append(h.Changes, upload(history.Upload, 0, 20), upload(history.Upload, 1, 90))
			}},
		{"a run of a function that was deleted", 6, "after its remove was answered", func(h *history.History) {
			h.Terms.Takeover, h.Calm = 50e6, at(100)
			h.Changes = append(h.Changes, upload(history.Upload, 0, 20), upload(history.Remove, 0, 90))
		}},
		{"a run of an upload from which the function went back", 6, "of edition 1, after its rollback was answered",
			func(h *history.History) {
				h.Terms.Recovery = 100e6
				h.Changes = append(h.Changes, upload(history.Upload, 2, 5), upload(history.Upload, 1, 20),
					upload(history.Rollback, 2, 90))
				madeBy(h, 1)
			}},
		{"a run of a canary whose time is over", 6, "of edition 1, a canary until", func(h *history.History) {
			h.Terms.Recovery = 50e6
			canary := upload(history.Canary, 1, 20)
			canary.Lasts = 30e6
			h.Changes = append(h.Changes, upload(history.Upload, 1, 5), upload(history.Upload, 0, 10), canary)
			madeBy(h, 1)
		}},
		{"a match of another upload than it names", 6, "is of upload 3 of hosted-function", func(h *history.History) {
			h.Changes = append(h.Changes, upload(history.Upload, 0, 20))
			edit(h, 10, func(e *history.Event) { e.Upload = 3 })
		}},
		{"a player has no seat pass", 3, "has 0 seat passes for 1 players", func(h *history.History) {
			seat(h, history.Seat{})
			for i := range h.Calls {
				if a := h.Calls[i].Assignment; a != nil {
					a.Seats = nil
				}
			}
		}},
		{"a seat pass of another match", 3, "the seat pass of player-1 is", func(h *history.History) {
			seat(h, history.Seat{Player: "player-1", Project: project, Ticket: "a", Match: "m2", Connection: "hosts:1"})
		}},
		{"a seat pass of another server", 3, "the seat pass of player-1 is", func(h *history.History) {
			seat(h, history.Seat{Player: "player-1", Project: project, Ticket: "a", Match: "m1", Connection: "hosts:2"})
		}},
		{"settings that nobody put", 6, "which was never put", func(h *history.History) {
			h.Changes = slices.DeleteFunc(h.Changes, func(c history.Change) bool { return c.Name == "free" })
		}},
		{"a server serves nobody", 7, "a server that no ticket uses", func(h *history.History) {
			h.Hostings = slices.DeleteFunc(h.Hostings, func(a history.Hosting) bool { return a.Op == history.Release })
		}},
		{"a server is given back while it is played on", 7, "was given back at", func(h *history.History) {
			h.Hostings = append(h.Hostings, history.Hosting{At: at(900), Op: history.Release, Project: project, Match: "m1",
				Key: "m1", Connection: "hosts:1", Fresh: true})
		}},
		{"a match has two servers", 7, "has two servers", func(h *history.History) {
			h.Hostings = append(h.Hostings, history.Hosting{At: at(205), Op: history.Allocate, Project: project, Match: "m1",
				Key: "again", Connection: "hosts:8", Fresh: true})
		}},
		{"a match is assigned though nobody asked for a server", 7, "never allocated", func(h *history.History) {
			h.Hostings = slices.DeleteFunc(h.Hostings, func(a history.Hosting) bool { return a.Match == "m1" })
		}},
		{"the log says that a server was given back that is played on", 7, "given back though", func(h *history.History) {
			insert(h, 90, history.Event{Kind: history.Returned, Match: "m1"})
		}},
		{"players are sent to a server that is another match's", 7, "but the server of match m1 is at",
			func(h *history.History) {
				tell(h, "a", "hosts:7")
				tell(h, "b", "hosts:7")
			}},
		{"a ticket that is proposed is claimed as well", 2, "which is claimed in match j2",
			func(h *history.History) {
				insert(h, 45, history.Event{Kind: history.Claimed, Match: "other", Tickets: []string{"k"}, Config: "hosted",
					Revision: 1, Epoch: 2})
			}},
		{"a former director proposes", 2, "it had lost the lease", func(h *history.History) {
			edit(h, 45, func(e *history.Event) { e.Epoch = 1 })
		}},
		{"an approval leaves one out", 3, "leaves out ticket l", func(h *history.History) {
			edit(h, 46, func(e *history.Event) { e.Tickets = []string{"k"} })
		}},
		{"a deleted ticket joins a game", 4, "concerns ticket m, which had been deleted", func(h *history.History) {
			insert(h, 48, history.Event{Kind: history.Assigned, Match: "j3", Backfill: "bf", Tickets: []string{"m"}})
		}},
		{"a proposal is never approved or rejected", 5, "is still claimed", func(h *history.History) {
			h.Events = slices.DeleteFunc(h.Events, func(e history.Event) bool { return e.Position == 46 })
		}},
		{"a proposal takes too long", 5, "the limit is", func(h *history.History) {
			edit(h, 46, func(e *history.Event) { e.Time = 200_000 })
		}},
		{"a proposal to a former version counts", 8, "was proposed to version 1 of backfill ticket bf",
			func(h *history.History) {
				for i := range h.Calls {
					if a := h.Calls[i].Assignment; a != nil && a.Connection == "game:1" {
						a.Match = []byte(strings.Replace(string(a.Match), `"version":2`, `"version":1`, 1))
					}
				}
			}},
		{"a proposal to a later version counts", 8, "was proposed to version 3 of backfill ticket bf",
			func(h *history.History) {
				for i := range h.Calls {
					if a := h.Calls[i].Assignment; a != nil && a.Connection == "game:1" {
						a.Match = []byte(strings.Replace(string(a.Match), `"version":2`, `"version":3`, 1))
					}
				}
			}},
		{"players are sent to a game that is not theirs", 8, "but told game:2", func(h *history.History) {
			tell(h, "k", "game:2")
			tell(h, "l", "game:2")
		}},
		{"players are sent to a game that is not there", 8, "where no game is", func(h *history.History) {
			h.Rounds = nil
		}},
		{"a server is told of players that it does not get", 8, "was told that ticket m has joined",
			func(h *history.History) {
				h.Rounds[3].Tickets = append(h.Rounds[3].Tickets, "m")
			}},
		{"a function that misbehaves makes a match", 9, "makes no valid proposal", func(h *history.History) {
			edit(h, 30, func(e *history.Event) { e.Config = "enemy" })
		}},
		{"the log has a gap", 0, "there is a gap", func(h *history.History) {
			insert(h, 90, history.Event{Kind: history.Gap, Reason: "trimmed"})
		}},
		{"the log goes back", 0, "comes after position", func(h *history.History) {
			edit(h, 42, func(e *history.Event) { e.Position = 5 })
		}},
		{"the log lacks a ticket", 0, "the event log does not have it", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Create, "z", 26, 100, 201), call(history.Delete, "z", 26, 900, 200))
		}},
		{"the log lacks a deletion", 0, "the event log does not say so", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Delete, "c", 3, 960, 200))
		}},
		{"the log says that a ticket was in another state when it was deleted", 0, "not waiting", func(h *history.History) {
			edit(h, 21, func(e *history.Event) { e.Reason = waiting })
		}},
		{"a ticket is replaced by none", 1, "asked for no other", func(h *history.History) {
			addEnd(h, history.Cancelled, "replaced", 300)
		}},
		{"a ticket is replaced by somebody else's", 1, "asked for no other", func(h *history.History) {
			addEnd(h, history.Cancelled, "replaced", 300)
			h.Calls = append(h.Calls, call(history.Create, "y", 27, 250, 201), call(history.Get, "y", 27, 900, 404))
		}},
		{"a ticket ends as unheard that is asked for", 1, "was asked for 3 times", func(h *history.History) {
			addEnd(h, history.Expired, "unheard", 20_000)
			for _, at := range []int64{6000, 9000, 12_000} {
				h.Calls = append(h.Calls, call(history.Get, "z", 26, at, 200))
			}
		}},
		{"a ticket ends as unserved that is served", 1, "a config served its queue", func(h *history.History) {
			addEnd(h, history.Expired, "unserved", 600).Configs = []string{"free"}
		}},
		{"a ticket ends for no reason", 1, "too short for that", func(h *history.History) {
			addEnd(h, history.Expired, "abandoned", 600)
		}},
		{"a player is told another end", 1, "was told to have ended as unheard", func(h *history.History) {
			addEnd(h, history.Cancelled, "replaced", 300)
			h.Calls[len(h.Calls)-1].End = "unheard"
		}},
		{"a create with a key makes two tickets", 1, "and ticket z when it was repeated", func(h *history.History) {
			h.Calls[0].Key = "key"
			addEnd(h, history.Cancelled, "replaced", 300).Key = "key"
		}},
		{"the ticket of a repeated create is matched besides", 1, "with one key", func(h *history.History) {
			h.Calls[0].Key = "key"
			for i := range h.Calls {
				if a := h.Calls[i].Assignment; a != nil && h.Calls[i].Ticket == "c" {
					a.Match = made("free", 2, 400, 3, 1)
				}
			}
		}},
		{"a player is twice in a match", 2, "has tickets a and b of player-1", func(h *history.History) {
			for i := range h.Calls {
				if h.Calls[i].Ticket == "b" {
					h.Calls[i].Player = "player-1"
				}
			}
		}},
		{"a deleted ticket tells why it ended", 4, "was answered 404", func(h *history.History) {
			again := call(history.Get, "e", 5, 950, 404)
			again.End = "deleted"
			h.Calls = append(h.Calls, again)
		}},
		{"a ticket is matched by another queue's config", 6, "in whose pools or queue it is not", func(h *history.History) {
			h.Calls[0].Configs = []string{"queued"}
		}},
		{"a match has a server of another config's fleet", 7, "of the fleet free", func(h *history.History) {
			h.Hostings[0].Fleet = "free"
		}},
		{"a player joins a game that the player is in", 8, "where that player is", func(h *history.History) {
			h.Rounds[3].Players = []string{"player-11"}
		}},
		{"an answer is an internal error", -1, "was answered 500", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Get, "a", 1, 300, 500))
		}},
	}
	tried := map[int]bool{}
	for _, test := range tests {
		tried[test.promise] = true
		t.Run(test.name, func(t *testing.T) {
			h := good()
			test.spoil(h)
			r := Check(h)
			i := test.promise - 1
			if test.promise <= 0 {
				i = 12 - test.promise
			}
			if !slices.ContainsFunc(r.Promises[i].Broken, func(b string) bool { return strings.Contains(b, test.want) }) {
				t.Errorf("promise %d is not broken by %q:", test.promise, test.want)
				for _, p := range r.Promises {
					t.Log(p.Number, p.Text, p.Broken)
				}
			}
			if r.Kept() {
				t.Error("all promises are kept")
			}
		})
	}
	for n := 1; n <= 9; n++ {
		if !tried[n] {
			t.Errorf("no history breaks promise %d", n)
		}
	}
}

// upload is a change of the function of hosted.
func upload(op history.Op, edition int, millis int64) history.Change {
	c := change(op, "hosted-function", millis, 0, 0)
	c.Edition, c.Version = edition, int64(edition)+1
	return c
}

// madeBy lets the matches of the config hosted be made by an edition.
func madeBy(h *history.History, n int) {
	for i := range h.Calls {
		if a := h.Calls[i].Assignment; a != nil && strings.Contains(string(a.Match), `"config":"hosted"`) {
			made := *a
			made.Match = fmt.Appendf(nil, `{"edition":%d,%s`, n, a.Match[1:])
			h.Calls[i].Assignment = &made
		}
	}
}

// seat gives ticket a a seat pass, which its config wants.
func seat(h *history.History, s history.Seat) {
	for i := range h.Calls {
		if a := h.Calls[i].Assignment; a != nil && h.Calls[i].Ticket == "a" {
			seated := *a
			seated.Match = []byte(strings.Replace(string(a.Match), `"generation":1`, `"generation":1,"seats":true`, 1))
			seated.Seats = map[string]history.Seat{"player-1": s}
			h.Calls[i].Assignment = &seated
		}
	}
}

// addEnd adds a ticket that ends for a reason, and is gone. It returns its create.
func addEnd(h *history.History, kind history.Kind, reason string, millis int64) *history.Call {
	insert(h, 2, history.Event{Kind: history.Created, Tickets: []string{"z"}, Time: 100})
	insert(h, 90, history.Event{Kind: kind, Reason: reason, Tickets: []string{"z"}, Time: millis})
	h.Calls = append(h.Calls, call(history.Create, "z", 26, 100, 201), call(history.Get, "z", 26, max(900, millis), 404))
	return &h.Calls[len(h.Calls)-2]
}

func TestSums(t *testing.T) {
	h := good()
	h.Calls = append(h.Calls, call(history.Get, "c", 3, 950, 404),
		call(history.Create, "z", 26, 100, 201), call(history.Get, "z", 26, 900, 200))
	insert(h, 2, history.Event{Kind: history.Created, Tickets: []string{"z"}})
	insert(h, 90, history.Event{Kind: history.Assigned, Match: "other", Tickets: []string{"d"}, Config: "free",
		Revision: 2})
	h.Hostings = slices.DeleteFunc(h.Hostings, func(a history.Hosting) bool { return a.Op == history.Release })
	want := Sums{Faults: 1, Tickets: 14, Matches: 10, Lost: 1, Doubled: 1, Stranded: 1, Leaked: 1}
	if got := Check(h).Sums; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (Sums{Faults: 212, Tickets: 61402}).String(); !strings.HasPrefix(got, "faults: 212, tickets: 61,402, ") {
		t.Error(got)
	}
}
