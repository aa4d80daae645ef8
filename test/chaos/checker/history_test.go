package checker

import (
	"fmt"
	"slices"
	"strings"

	"matchmaker.dev/services/test/chaos/history"
)

const project = "game"

// at is a moment so many milliseconds after the beginning.
func at(millis int64) history.Moment { return history.Moment(millis * 1000) }

// call is one that was answered within a millisecond.
func call(op history.Op, ticket string, number, millis int64, status int) history.Call {
	return history.Call{Span: history.Span{From: at(millis), To: at(millis + 1)}, Op: op, Project: project, Number: number,
		Ticket: ticket, Status: status}
}

func change(op history.Op, name string, millis, generation, revision int64) history.Change {
	return history.Change{Span: history.Span{From: at(millis), To: at(millis + 1)}, Op: op, Project: project, Name: name,
		Generation: generation, Revision: revision, Status: 200}
}

// unanswered is a change that took effect or not.
func unanswered(op history.Op, name string, millis int64) history.Change {
	c := change(op, name, millis, 0, 0)
	c.Status = 0
	return c
}

// made is what a match function writes into a match.
func made(config string, generation, now int64, players ...int) []byte {
	return fmt.Appendf(nil, `{"settings":{"config":%q,"generation":%d},"now":%d,"players":%s}`, config, generation, now,
		strings.ReplaceAll(fmt.Sprint(players), " ", ","))
}

// good is a history in which every promise is kept: a and b get a server, c and d are matched without one, e leaves f
// before their server is asked for, so that f is matched with g, and i leaves h after that, so that h plays alone. j
// leaves when its server is there, which is given back. k and l join a running game, whose server had rejected k once,
// and m leaves before it can.
func good() *history.History {
	h := &history.History{Terms: history.Terms{Claim: 5e9, Allocation: 20e9, Recovery: 60e9, Enemies: []string{"enemy"}}}
	number := map[string]int64{}
	for i, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"} {
		number[id] = int64(i + 1)
	}
	gets := func(id, connection string, match []byte, millis int64) {
		for _, m := range []int64{millis, 900} {
			c := call(history.Get, id, number[id], m, 200)
			c.Created, c.Assignment = 100, &history.Assignment{Connection: connection, Match: match}
			h.Calls = append(h.Calls, c)
		}
	}
	for _, id := range []string{"a", "b"} {
		h.Calls = append(h.Calls, call(history.Create, id, number[id], 100, 201))
	}
	match := made("hosted", 1, 200, 1, 2)
	gets("a", "hosts:1", match, 220)
	gets("b", "hosts:1", match, 225)
	for _, id := range []string{"c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"} {
		h.Calls = append(h.Calls, call(history.Create, id, number[id], 100, 201))
	}
	match = made("free", 2, 400, 3, 4)
	gets("c", "free-1", match, 420)
	gets("d", "free-1", match, 420)
	match = made("hosted", 1, 350, 6, 7)
	gets("f", "hosts:3", match, 370)
	gets("g", "hosts:3", match, 370)
	gets("h", "hosts:4", made("hosted", 1, 500, 8, 9), 530)
	filled := func(version int64, now int64, players ...int) []byte {
		text := made("games", 4, now, players...)
		return fmt.Appendf(text[:len(text)-1], `,"backfill":"game:1","version":%d}`, version)
	}
	gets("k", "game:1", filled(2, 600, 11, 12), 640)
	gets("l", "game:1", filled(2, 600, 11, 12), 640)
	rounds := func(op history.Op, millis int64, status int, version int64, tickets ...string) {
		h.Rounds = append(h.Rounds, history.Round{Span: history.Span{From: at(millis), To: at(millis + 5)}, Op: op,
			Project:  project,
			Backfill: "bf", Connection: "game:1", Version: version, Tickets: tickets, Status: status})
	}
	rounds(history.Create, 550, 201, 0)
	rounds(history.Put, 590, 200, 0)
	rounds(history.Approve, 610, 0, 0)
	rounds(history.Approve, 620, 200, 2, "k", "l")
	rounds(history.Put, 650, 0, 0)
	for _, left := range []struct {
		id     string
		millis int64
	}{{"e", 310}, {"i", 520}, {"j", 720}, {"m", 660}} {
		waits := call(history.Get, left.id, number[left.id], 150, 200)
		waits.Created = 100
		lost := call(history.Delete, left.id, number[left.id], left.millis-5, 0)
		h.Calls = append(h.Calls, waits, lost, call(history.Delete, left.id, number[left.id], left.millis, 200),
			call(history.Get, left.id, number[left.id], 900, 404))
	}
	h.Changes = []history.Change{change(history.Put, "hosted", 10, 1, 1), change(history.Put, "free", 11, 2, 2),
		change(history.Put, "enemy", 12, 3, 3), change(history.Put, "games", 13, 4, 4)}
	started := func(millis int64, match, connection string, tickets ...string) {
		h.Hostings = append(h.Hostings,
			history.Hosting{At: at(millis), Op: history.Allocate, Project: project, Match: match, Key: match, Tickets: tickets,
				Connection: connection, Fresh: true},
			history.Hosting{At: at(millis + 1), Op: history.Allocate, Project: project, Match: match, Key: match,
				Tickets: tickets, Connection: connection})
	}
	started(204, "m1", "hosts:1", "a", "b")
	started(360, "m3", "hosts:3", "f", "g")
	started(510, "m5", "hosts:4", "h", "i")
	started(710, "m6", "hosts:5", "j")
	h.Hostings = append(h.Hostings, history.Hosting{At: at(730), Op: history.Release, Project: project, Match: "m6",
		Key: "m6", Connection: "hosts:5", Fresh: true})
	h.Faults = []history.Fault{{Span: history.Span{From: at(210), To: at(215)}, Kind: "kill", Target: "redis"}}
	h.Calm = at(800)

	event := func(position uint64, kind history.Kind, millis int64, e history.Event, tickets ...string) {
		e.Project, e.Position, e.Kind, e.Time, e.Tickets = project, position, kind, millis, tickets
		h.Events = append(h.Events, e)
	}
	first := func(match, config string, revision int64, epoch uint64) history.Event {
		return history.Event{Match: match, Config: config, Revision: revision, Epoch: epoch}
	}
	event(1, history.Created, 100, history.Event{}, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m")
	event(10, history.Claimed, 201, first("m1", "hosted", 1, 1), "a", "b")
	event(11, history.Allocating, 203, history.Event{Match: "m1"})
	event(12, history.Assigned, 206, history.Event{Match: "m1"}, "a", "b")
	event(20, history.Claimed, 301, first("m2", "hosted", 1, 1), "e", "f")
	event(21, history.Cancelled, 305, history.Event{Reason: claimed}, "e")
	event(22, history.Released, 320, history.Event{Match: "m2", Reason: "left"}, "f")
	event(23, history.Claimed, 351, first("m3", "hosted", 1, 2), "f", "g")
	event(24, history.Allocating, 355, history.Event{Match: "m3"})
	event(25, history.Assigned, 365, history.Event{Match: "m3"}, "f", "g")
	event(30, history.Assigned, 401, first("m4", "free", 2, 2), "c", "d")
	event(40, history.Claimed, 501, first("m5", "hosted", 1, 2), "h", "i")
	event(41, history.Allocating, 505, history.Event{Match: "m5"})
	event(41, history.Cancelled, 515, history.Event{Reason: claimed}, "i")
	event(42, history.Assigned, 525, history.Event{Match: "m5"}, "h")
	joins := func(match string) history.Event {
		e := first(match, "games", 4, 2)
		e.Backfill, e.Place = "bf", "backfill/bf"
		return e
	}
	event(43, history.Claimed, 580, joins("j1"), "k")
	event(44, history.Released, 591, history.Event{Match: "j1", Backfill: "bf", Reason: "replaced"}, "k")
	event(45, history.Claimed, 601, joins("j2"), "k", "l")
	event(46, history.Assigned, 611, history.Event{Match: "j2", Backfill: "bf"}, "k", "l")
	event(47, history.Claimed, 641, joins("j3"), "m")
	event(48, history.Cancelled, 655, history.Event{Reason: claimed}, "m")
	event(49, history.Assigned, 660, history.Event{Match: "j3", Backfill: "bf"})
	event(50, history.Claimed, 701, first("m6", "hosted", 1, 2), "j")
	event(51, history.Allocating, 705, history.Event{Match: "m6"})
	event(52, history.Cancelled, 715, history.Event{Reason: claimed}, "j")
	event(53, history.Assigned, 725, history.Event{Match: "m6"})
	event(54, history.Returned, 731, history.Event{Match: "m6"})
	return h
}

// insert puts an event behind the events of a position.
func insert(h *history.History, position uint64, e history.Event) {
	i := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Position > position })
	if i < 0 {
		i = len(h.Events)
	}
	e.Project, e.Position = project, position
	h.Events = slices.Insert(h.Events, i, e)
}

// edit changes the last event of a position. Its project and position stay, unless they are changed.
func edit(h *history.History, position uint64, change func(*history.Event)) {
	for i := len(h.Events) - 1; i >= 0; i-- {
		if e := &h.Events[i]; e.Position == position {
			change(e)
			e.Project = project
			if e.Position == 0 {
				e.Position = position
			}
			return
		}
	}
}

// tell changes what a player was told, to nothing when connection is "".
func tell(h *history.History, ticket, connection string) {
	for i := range h.Calls {
		c := &h.Calls[i]
		if c.Ticket != ticket || c.Assignment == nil {
			continue
		}
		if connection == "" {
			c.Assignment = nil
			continue
		}
		changed := *c.Assignment
		changed.Connection = connection
		c.Assignment = &changed
	}
}
