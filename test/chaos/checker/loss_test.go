package checker

import (
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/services/test/chaos/history"
)

// The history of a ticket y and a ticket z, which wait since the fifth second.
func waitingTwo(h *history.History) {
	for i, id := range []string{"y", "z"} {
		h.Calls = append(h.Calls, call(history.Create, id, int64(25+i), 5000, 201))
	}
	insert(h, 60, history.Event{Kind: history.Created, Time: 5000, Tickets: []string{"y", "z"}})
}

// tells is a GET with a result.
func tells(h *history.History, ticket string, number, millis int64, connection string) {
	c := call(history.Get, ticket, number, millis, 200)
	c.Created, c.Assignment = 5000, &history.Assignment{Connection: connection}
	h.Calls = append(h.Calls, c)
}

// matched is that y and z are matched, at a position and time.
func matched(h *history.History, position uint64, millis int64, match, connection string) {
	h.Events = append(h.Events, history.Event{Project: project, Position: position, Kind: history.Assigned, Time: millis,
		Match: match, Config: "free", Revision: 2, Epoch: 2, Tickets: []string{"y", "z"}})
	tells(h, "y", 25, millis+10, connection)
	tells(h, "z", 26, millis+10, connection)
}

// gap is that the event log goes on at a position.
func gap(h *history.History, position uint64, millis int64) {
	h.Events = append(h.Events, history.Event{Project: project, Position: position, Kind: history.Gap, Time: millis,
		Reason: "replaced"})
}

// What was written in the eleventh second is lost. That excuses what follows from it, and nothing else.
func TestLostWritesExcuseTheirConsequences(t *testing.T) {
	tests := []struct {
		name string
		// without is what is found when nothing was lost, with when it was; "" for nothing.
		without, with string
		happens       func(*history.History)
	}{
		{"a ticket that is created is unknown", "player 26) is gone", "", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Create, "z", 26, 10_100, 201), call(history.Get, "z", 26, 12_000, 404))
		}},
		{"one that was created before is unknown", "player 26) is gone", "player 26) is gone", func(h *history.History) {
			waitingTwo(h)
			matched(h, 70, 12_000, "m9", "free-9")
			h.Calls = append(h.Calls, call(history.Get, "z", 26, 13_000, 404))
		}},
		{"a match is made again", "was told free-8", "", func(h *history.History) {
			waitingTwo(h)
			matched(h, 70, 10_200, "m8", "free-8")
			gap(h, 60, 11_500)
			matched(h, 70, 12_000, "m9", "free-9")
		}},
		{"a match that was made before is made again", "was told free-8", "was told free-8", func(h *history.History) {
			waitingTwo(h)
			matched(h, 70, 6000, "m8", "free-8")
			gap(h, 60, 11_500)
			matched(h, 70, 12_000, "m9", "free-9")
		}},
		{"another match is made of those who were told one", "with one key", "", func(h *history.History) {
			waitingTwo(h)
			h.Calls[0].Key = "key"
			tells(h, "y", 25, 10_200, "free-8")
			h.Calls[len(h.Calls)-1].Assignment.Match = made("free", 2, 10_190, 25, int(h.Calls[0].Number))
			matched(h, 70, 12_000, "m9", "free-9")
		}},
		{"a match that was told just after is made again", "with one key", "", func(h *history.History) {
			waitingTwo(h)
			h.Calls[0].Key = "key"
			tells(h, "y", 25, 11_900, "free-8")
			h.Calls[len(h.Calls)-1].Assignment.Match = made("free", 2, 10_190, 25, int(h.Calls[0].Number))
			matched(h, 70, 12_900, "m9", "free-9")
		}},
		{"events are told again", "created before", "", func(h *history.History) {
			waitingTwo(h)
			gap(h, 59, 11_500)
			h.Events = append(h.Events, history.Event{Project: project, Position: 60, Kind: history.Created, Time: 5000,
				Tickets: []string{"y", "z"}})
			matched(h, 70, 12_000, "m9", "free-9")
		}},
		{"a gap comes long after", "there is a gap", "there is a gap", func(h *history.History) { gap(h, 90, 90_000) }},
		{"a deleted ticket is matched", "was answered 200", "", func(h *history.History) {
			waitingTwo(h)
			h.Calls = append(h.Calls, call(history.Delete, "z", 26, 10_500, 200))
			matched(h, 70, 12_000, "m9", "free-9")
		}},
		{"a ticket that is written waits for ever", "was never matched", "was never matched", func(h *history.History) {
			c := call(history.Get, "z", 26, 20_000, 200)
			c.Created = 10_100
			h.Calls = append(h.Calls, call(history.Create, "z", 26, 10_100, 201), c)
		}},
		{"a ticket that was told to be gone waits again", "and its player asked for no other", "", func(h *history.History) {
			h.Calls = append(h.Calls, call(history.Create, "z", 26, 5000, 201))
			insert(h, 60, history.Event{Kind: history.Created, Time: 5000, Tickets: []string{"z"}})
			insert(h, 70, history.Event{Kind: history.Cancelled, Time: 10_500, Tickets: []string{"z"}, Reason: "replaced"})
			gap(h, 60, 11_500)
			told, c := call(history.Get, "z", 26, 10_600, 404), call(history.Get, "z", 26, 20_000, 200)
			told.End, c.Created = "replaced", 5000
			h.Calls = append(h.Calls, told, c)
		}},
		{"a server is forgotten", "a server that no ticket uses", "", func(h *history.History) {
			h.Hostings = append(h.Hostings, history.Hosting{At: at(10_500), Op: history.Allocate, Project: project,
				Match: "m8", Key: "m8", Connection: "hosts:8", Fresh: true})
		}},
		{"an older server is forgotten", "a server that no ticket uses", "a server that no ticket uses",
			func(h *history.History) {
				h.Hostings = append(h.Hostings, history.Hosting{At: at(6000), Op: history.Allocate, Project: project,
					Match: "m8", Key: "m8", Connection: "hosts:8", Fresh: true})
			}},
		{"an answer to a match that was made is forgotten", "which asks nobody", "", func(h *history.History) {
			waitingTwo(h)
			c := call(history.Accept, "z", 26, 10_500, 204)
			c.Match = "m8"
			h.Calls = append(h.Calls, c)
			matched(h, 70, 12_000, "m9", "free-9")
		}},
		{"an older answer is forgotten", "which asks nobody", "which asks nobody", func(h *history.History) {
			waitingTwo(h)
			c := call(history.Accept, "z", 26, 6000, 204)
			c.Match = "m8"
			h.Calls = append(h.Calls, c)
			matched(h, 70, 12_000, "m9", "free-9")
		}},
		{"a config that is deleted makes a match", "after its delete was answered", "", func(h *history.History) {
			waitingTwo(h)
			h.Changes = append(h.Changes, change(history.Delete, "free", 10_500, 0, 0))
			matched(h, 70, 12_000, "m9", "free-9")
		}},
		{"a former director claims", "it had lost the lease", "it had lost the lease", func(h *history.History) {
			waitingTwo(h)
			matched(h, 70, 12_000, "m9", "free-9")
			h.Events[len(h.Events)-1].Epoch = 1
		}},
	}
	found := func(h *history.History) (all string) {
		for _, p := range Check(h).Promises {
			all += strings.Join(p.Broken, "\n")
		}
		return all
	}
	for _, test := range tests {
		for want, losses := range map[*string][]history.Loss{
			&test.without: nil,
			&test.with:    {{Span: history.Span{From: at(10_000), To: at(11_000)}, Projects: []string{"other", project}}},
		} {
			h := good()
			h.Losses = losses
			test.happens(h)
			slices.SortStableFunc(h.Calls, func(a, b history.Call) int { return int(a.From - b.From) })
			if got := found(h); (*want == "") != (got == "") || !strings.Contains(got, *want) {
				t.Errorf("%s, with %d losses: found %q, want %q", test.name, len(losses), got, *want)
			}
		}
	}
}
