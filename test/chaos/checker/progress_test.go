package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/schedule"
)

// working is the history of a leader that makes a match of the config "free" every 1.1 seconds, for 40 seconds. All the
// time something has a fault. Two tickets of the config "slow" and two of "free" wait from the first second on, until a
// time of their own in milliseconds.
func working(slow, free int64) *history.History {
	h := &history.History{Terms: history.Terms{
		Claim: 5e9, Allocation: 20e9, Recovery: 60e9, Approval: 3e9, Directors: []string{"director-1", "director-2"},
	}}
	for second := range int64(50) {
		h.Faults = append(h.Faults, history.Fault{Span: history.Span{From: at(second * 1000), To: at(second*1000 + 1000)},
			Kind: "freeze", Target: []string{"runner-1", "director-2", "nats-1"}[second%3]})
	}
	h.Changes = []history.Change{change(history.Put, "free", 1, 1, 1), change(history.Put, "slow", 2, 2, 2)}
	position := uint64(0)
	event := func(kind history.Kind, millis int64, e history.Event, tickets ...string) {
		position++
		e.Project, e.Position, e.Kind, e.Time, e.Tickets = project, position, kind, millis, tickets
		h.Events = append(h.Events, e)
	}
	number := int64(0)
	create := func(id, config string, millis, until int64) {
		number++
		c := call(history.Create, id, number, millis, 201)
		c.Configs = []string{config}
		result := call(history.Get, id, number, max(until, 60_000), 200)
		result.Assignment = &history.Assignment{Connection: "at-" + id[:len(id)-1]}
		h.Calls = append(h.Calls, c, result)
		event(history.Created, millis, history.Event{}, id)
	}
	assign := func(match, config string, millis int64) {
		event(history.Assigned, millis, history.Event{Match: match, Config: config, Revision: 1, Epoch: 1}, match+"1",
			match+"2")
	}
	for _, n := range []string{"1", "2"} {
		create("slow"+n, "slow", 900, slow)
		create("free"+n, "free", 950, free)
	}
	for i := range int64(36) {
		millis := 1000 + 1100*i
		match := fmt.Sprintf("m%d-", i)
		create(match+"1", "free", millis, millis)
		create(match+"2", "free", millis, millis)
		if slow <= millis && slow > millis-1100 {
			assign("slow", "slow", millis)
		}
		if free <= millis && free > millis-1100 {
			assign("free", "free", millis)
		}
		assign(match, "free", millis+5)
	}
	h.Calm = at(45_000)
	return h
}

// claimedFor adds a match of the hosting config to a history, which is claimed after a second and released later.
func claimedFor(h *history.History, d time.Duration) {
	first := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Time > 1000 })
	for _, id := range []string{"x", "y"} {
		h.Calls = append(h.Calls, call(history.Create, id, int64(id[0]), 990, 201),
			call(history.Delete, id, int64(id[0]), 60_000, 200))
	}
	h.Events = slices.Insert(h.Events, first,
		history.Event{Kind: history.Created, Time: 990, Tickets: []string{"x", "y"}},
		history.Event{Kind: history.Claimed, Time: 1001, Match: "held", Config: "hosted", Epoch: 1,
			Tickets: []string{"x", "y"}})
	until := 1000 + d.Milliseconds()
	last := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Time > until })
	if last < 0 {
		last = len(h.Events)
	}
	h.Events = slices.Insert(h.Events, last,
		history.Event{Kind: history.Released, Time: until, Match: "held", Reason: "deadline", Tickets: []string{"x", "y"}})
	h.Events = append(h.Events,
		history.Event{Kind: history.Cancelled, Time: 60_000, Reason: waiting, Tickets: []string{"x"}},
		history.Event{Kind: history.Cancelled, Time: 60_000, Reason: waiting, Tickets: []string{"y"}})
	for i := range h.Events {
		h.Events[i].Project, h.Events[i].Position = project, uint64(i+1)
	}
}

// again is the history of a leader that claims two of the tickets a, b, c and d, which are in order of their age, again
// and again. They are released each time. In the end the others are matched too.
func again(first, second, third, fourth string) *history.History {
	h := &history.History{Calm: at(45_000),
		Terms: history.Terms{Claim: 5e9, Allocation: 20e9, Recovery: 60e9, Approval: 3e9}}
	h.Changes = []history.Change{change(history.Put, "free", 1, 1, 1)}
	event := func(kind history.Kind, millis int64, match string, tickets ...string) {
		h.Events = append(h.Events, history.Event{Project: project, Position: uint64(len(h.Events) + 1), Kind: kind,
			Time: millis, Match: match, Config: "free", Revision: 1, Epoch: 1, Tickets: tickets})
	}
	for i, id := range []string{"a", "b", "c", "d"} {
		c := call(history.Create, id, int64(i), int64(900+i), 201)
		c.Configs = []string{"free"}
		result := call(history.Get, id, int64(i), 60_000, 200)
		result.Assignment = &history.Assignment{Connection: "at-first"}
		if id == third || id == fourth {
			result.Assignment = &history.Assignment{Connection: "at-last"}
		}
		h.Calls = append(h.Calls, c, result)
		event(history.Created, int64(900+i), "", id)
	}
	for n := range int64(12) {
		match := fmt.Sprint("m", n)
		event(history.Claimed, 2000+n*1500, match, first, second)
		event(history.Released, 2500+n*1500, match, first, second)
	}
	event(history.Assigned, 25_000, "first", first, second)
	event(history.Assigned, 25_001, "last", third, fourth)
	return h
}

// A leader that is at work has no excuse, though there are faults all the time, and all is well in the end.
func TestALeaderThatWorksLeavesNothingUndone(t *testing.T) {
	tests := []struct {
		name  string
		want  string // "" when the promise is kept
		spoil func() *history.History
	}{
		{"all is done in time", "", func() *history.History { return working(9_000, 3_000) }},
		{"a config is left out for a while", `config "slow" waited while the leader of epoch 1 took others in 16 cycles`,
			func() *history.History { return working(30_000, 3_000) }},
		{"a config is left out after the faults", `config "slow" waited while the leader of epoch 1 took others in 10 cycles`,
			func() *history.History {
				h := working(30_000, 3_000)
				h.Calm = at(13_000) // 12 cycles before, 15 after
				return h
			}},
		{"a config that is being changed", "", func() *history.History {
			h := working(30_000, 3_000)
			for _, s := range []int64{8, 16, 24} {
				h.Changes = append(h.Changes, change(history.Delete, "slow", s*1000, 0, 0),
					change(history.Put, "slow", s*1000+500, s, s))
			}
			return h
		}},
		{"a config whose DELETE has no answer", "", func() *history.History {
			h := working(30_000, 3_000)
			h.Changes = append(h.Changes, unanswered(history.Delete, "slow", 2000), change(history.Put, "slow", 4000, 8, 8))
			return h
		}},
		{"that config after the faults", `config "slow" waited while the leader of epoch 1 took others in 10 cycles`,
			func() *history.History {
				h := working(30_000, 3_000)
				h.Changes = append(h.Changes, unanswered(history.Delete, "slow", 2000), change(history.Put, "slow", 4000, 8, 8),
					change(history.Put, "slow", 9000, 9, 9))
				h.Calm = at(8_000)
				return h
			}},
		{"a ticket is passed over", `ticket free1 waited while config "free" took only younger tickets in 8 cycles`,
			func() *history.History { return working(3_000, 30_000) }},
		{"older tickets come again and again", "", func() *history.History { return again("a", "b", "c", "d") }},
		{"younger tickets come again and again", `ticket a waited while config "free" took only younger tickets`,
			func() *history.History { return again("c", "d", "a", "b") }},
		{"a claim ends in time", "", func() *history.History {
			h := working(3_000, 3_000)
			claimedFor(h, 7*time.Second)
			return h
		}},
		{"a claim ends late", `match "held" was due at 00:00:06.001, and the leader of epoch 1 took tickets in 4 cycles`,
			func() *history.History {
				h := working(3_000, 3_000)
				claimedFor(h, 20*time.Second)
				return h
			}},
		{"a claim ends late because its leader does nothing", "", func() *history.History {
			h := working(3_000, 3_000)
			claimedFor(h, 20*time.Second)
			// Each match has a leader of its own: none is seen twice.
			epoch := uint64(0)
			for i := range h.Events {
				if h.Events[i].Epoch > 0 {
					epoch++
					h.Events[i].Epoch = epoch
				}
			}
			return h
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, p := range Check(test.spoil()).Promises {
				switch {
				case p.Number != 5 && len(p.Broken) > 0:
					t.Errorf("promise %d: %q", p.Number, p.Broken)
				case p.Number == 5 && test.want == "" && len(p.Broken) > 0:
					t.Errorf("promise 5: %q", p.Broken)
				case p.Number == 5 && !strings.Contains(strings.Join(p.Broken, "\n"), test.want):
					t.Errorf("promise 5: %q, want %q", p.Broken, test.want)
				}
			}
		})
	}
}

// Only what keeps all directors from Redis is an excuse for a claim that ends late.
func TestOnlyFaultsOfAllDirectorsAreAnExcuse(t *testing.T) {
	fault := func(target string, from, to int64) history.Fault {
		return history.Fault{Span: history.Span{From: at(from), To: at(to)}, Target: target}
	}
	tests := []struct {
		name   string
		faults []history.Fault
		able   time.Duration
	}{
		{"none", nil, 10 * time.Second},
		{"others", []history.Fault{fault("runner-1", 0, 9000), fault("nats-1", 0, 9000), fault("director-1>nats-1", 0, 9000)},
			10 * time.Second},
		{"one director", []history.Fault{fault("director-1", 0, 9000)}, 10 * time.Second},
		{"both, one after the other", []history.Fault{fault("director-1", 0, 4000), fault("director-2", 5000, 9000)},
			10 * time.Second},
		{"both at a time", []history.Fault{fault("director-1", 0, 6000), fault("director-2>redis", 5000, 9000)},
			9 * time.Second},
		{"Redis is full", []history.Fault{{Span: fault("", 0, 9000).Span, Kind: string(schedule.FillMemory),
			Target: "redis"}}, 10 * time.Second},
		{"Redis", []history.Fault{fault("redis", 500, 3000), fault("redis", 9000, 90_000)}, 6 * time.Second},
		{"all of it", []history.Fault{fault("redis", 1000, 4000), fault("director-1>redis", 2000, 8000),
			fault("director-1", 7000, 20_000), fault("director-2", 3000, 5000), fault("director-2", 10_500, 20_000)},
			10*time.Second - 4*time.Second - 500*time.Millisecond},
	}
	for _, test := range tests {
		terms := history.Terms{Directors: []string{"director-1", "director-2"}, Stores: []string{"redis"}}
		m := build(&history.History{Terms: terms, Faults: test.faults})
		from, to := &history.Event{Time: 1000}, &history.Event{Time: 11_000}
		if got := m.ableTime(from, to); got != test.able {
			t.Errorf("%s: %v, want %v", test.name, got, test.able)
		}
	}
}
