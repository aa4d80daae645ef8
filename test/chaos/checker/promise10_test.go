package checker

import (
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/services/test/chaos/history"
)

// asked is a good history in which matches ask their players, too: n and o accept theirs, p accepts and q declines, r
// accepts and s is silent. p and r wait again, and leave. So does t, who accepts to go to a running game that lets the
// proposal lapse.
func asked() *history.History {
	h := good()
	number := map[string]int64{"n": 14, "o": 15, "p": 16, "q": 17, "r": 18, "s": 19, "t": 20}
	h.Changes = append(h.Changes, change(history.Put, "asked", 14, 5, 5))
	answer := func(op history.Op, id, match string, millis int64) {
		c := call(op, id, number[id], millis, 204)
		c.Match = match
		h.Calls = append(h.Calls, c)
	}
	for id, n := range number {
		h.Calls = append(h.Calls, call(history.Create, id, n, 740, 201))
	}
	match := made("asked", 5, 740, 14, 15)
	for _, id := range []string{"n", "o"} {
		answer(history.Accept, id, "m7", 742)
		for _, millis := range []int64{760, 900} {
			c := call(history.Get, id, number[id], millis, 200)
			c.Created, c.Assignment = 740, &history.Assignment{Connection: "hosts:7", Match: match}
			h.Calls = append(h.Calls, c)
		}
	}
	answer(history.Accept, "p", "m8", 752)
	answer(history.Decline, "q", "m8", 753)
	answer(history.Accept, "r", "m9", 752)
	answer(history.Accept, "t", "m10", 758)
	for _, id := range []string{"p", "r", "t"} {
		h.Calls = append(h.Calls, call(history.Delete, id, number[id], 5000, 200))
	}
	for _, id := range []string{"p", "q", "r", "s", "t"} {
		h.Calls = append(h.Calls, call(history.Get, id, number[id], 6000, 404))
	}
	h.Hostings = append(h.Hostings, history.Hosting{At: at(745), Op: history.Allocate, Project: project, Match: "m7",
		Key: "m7", Tickets: []string{"n", "o"}, Connection: "hosts:7", Fresh: true})
	event := func(position uint64, kind history.Kind, millis int64, e history.Event, tickets ...string) {
		e.Project, e.Position, e.Kind, e.Time, e.Tickets = project, position, kind, millis, tickets
		h.Events = append(h.Events, e)
	}
	of := func(match, reason string) history.Event { return history.Event{Match: match, Reason: reason} }
	claim := func(match string) history.Event {
		return history.Event{Match: match, Config: "asked", Revision: 5, Epoch: 2, Acceptance: 3000}
	}
	event(60, history.Created, 740, history.Event{}, "n", "o", "p", "q", "r", "s", "t")
	event(61, history.Claimed, 741, claim("m7"), "n", "o")
	event(62, history.Accepted, 742, of("m7", ""), "n")
	event(63, history.Accepted, 743, of("m7", ""), "o")
	event(64, history.Allocating, 744, of("m7", ""))
	event(65, history.Assigned, 750, of("m7", ""), "n", "o")
	event(70, history.Claimed, 751, claim("m8"), "p", "q")
	event(71, history.Accepted, 752, of("m8", ""), "p")
	event(72, history.Declined, 753, of("m8", ""), "q")
	event(73, history.Expired, 754, of("m8", "declined"), "q")
	event(74, history.Released, 754, of("m8", "declined"), "p")
	event(80, history.Claimed, 755, claim("m9"), "r", "s")
	event(81, history.Accepted, 756, of("m9", ""), "r")
	event(82, history.Expired, 3760, of("m9", "silent"), "s")
	event(83, history.Released, 3760, of("m9", "silent"), "r")
	joins := claim("m10")
	joins.Backfill, joins.Place = "bf", "backfill/bf"
	event(84, history.Claimed, 3761, joins, "t")
	event(85, history.Accepted, 3762, of("m10", ""), "t")
	event(87, history.Released, 3790, of("m10", "lapsed"), "t")
	event(90, history.Cancelled, 5000, history.Event{Reason: waiting}, "p", "r", "t")
	return h
}

func TestMatchesThatAskKeepAllPromises(t *testing.T) {
	r := Check(asked())
	for _, p := range r.Promises {
		for _, b := range p.Broken {
			t.Errorf("promise %d: %s", p.Number, b)
		}
	}
	if want := (Sums{Faults: 1, Tickets: 20, Matches: 13}); r.Sums != want {
		t.Errorf("got %v, want %v", r.Sums, want)
	}
}

func TestMatchesThatWereNotAcceptedAreFound(t *testing.T) {
	drop := func(position uint64) func(*history.History) {
		return func(h *history.History) {
			h.Events = slices.DeleteFunc(h.Events, func(e history.Event) bool { return e.Position == position })
		}
	}
	for name, c := range map[string]struct {
		want  string
		spoil func(*history.History)
	}{
		"a server is asked for before all accepted": {"did not accept", drop(63)},
		"a server is given before all accepted":     {"a server was asked for", drop(62)},
		"a server is asked for though one declined": {"did not accept", func(h *history.History) {
			edit(h, 63, func(e *history.Event) { e.Kind = history.Declined })
		}},
		"who accepted ends with who was silent": {"whose player said", func(h *history.History) {
			edit(h, 82, func(e *history.Event) { e.Tickets = []string{"r", "s"} })
			edit(h, 83, func(e *history.Event) { e.Tickets = nil })
		}},
		"who accepted ends with who declined": {"accepted match m8, and ended with it", func(h *history.History) {
			edit(h, 73, func(e *history.Event) { e.Tickets = []string{"p", "q"} })
			edit(h, 74, func(e *history.Event) { e.Tickets = nil })
		}},
		"who declined waits again": {"whose player declined", func(h *history.History) {
			edit(h, 73, func(e *history.Event) { e.Tickets = nil })
			edit(h, 74, func(e *history.Event) { e.Tickets = []string{"p", "q"} })
		}},
		"an acceptance lasts too long": {"the limit is", func(h *history.History) {
			for _, position := range []uint64{82, 83} {
				edit(h, position, func(e *history.Event) { e.Time = 90_000 })
			}
		}},
		"all accepted, and the match ends as silent": {"all players had accepted", func(h *history.History) {
			edit(h, 82, func(e *history.Event) {
				*e = history.Event{Kind: history.Accepted, Match: "m9", Time: 800, Tickets: []string{"s"}}
			})
			edit(h, 83, func(e *history.Event) { e.Tickets = []string{"r", "s"} })
		}},
		"who could not answer is silent": {"nobody took answers", func(h *history.History) {
			h.Terms.Answerers = []string{"ticket-1", "ticket-2"}
			for i, kind := range []string{"kill", "freeze"} {
				h.Faults = append(h.Faults, history.Fault{Span: history.Span{From: at(1000), To: at(3700)}, Kind: kind,
					Target: h.Terms.Answerers[i]})
			}
		}},
		"who declined plays": {"declined match m7, which was assigned", func(h *history.History) {
			for i := range h.Calls {
				if h.Calls[i].Op == history.Accept && h.Calls[i].Ticket == "n" {
					h.Calls[i].Op = history.Decline
				}
			}
		}},
		"players are proposed to a game before they accepted": {"did not accept", drop(85)},
		"who declined is proposed to a game": {"declined match m10, which was released", func(h *history.History) {
			for i := range h.Calls {
				if h.Calls[i].Op == history.Accept && h.Calls[i].Ticket == "t" {
					h.Calls[i].Op = history.Decline
				}
			}
		}},
		"an answer is taken for a match that asks nobody": {"which asks nobody", func(h *history.History) {
			c := call(history.Accept, "a", 1, 300, 204)
			c.Match = "m1"
			h.Calls = append(h.Calls, c)
		}},
		"an answer comes after the end": {"the acceptance was over", func(h *history.History) {
			insert(h, 75, history.Event{Kind: history.Accepted, Match: "m8", Time: 760, Tickets: []string{"p"}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := asked()
			c.spoil(h)
			for _, p := range Check(h).Promises {
				if p.Number == 10 && slices.ContainsFunc(p.Broken, func(b string) bool { return strings.Contains(b, c.want) }) {
					return
				}
			}
			t.Errorf("promise 10 is kept")
		})
	}
}
