package checker

import (
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/services/test/chaos/history"
)

// step is a request that was answered within a millisecond.
func step(op history.Op, player string, millis int64, status int) history.Step {
	return history.Step{Span: history.Span{From: at(millis), To: at(millis + 1)}, Op: op, Project: project, Player: player,
		Party: "pa", Status: status}
}

// told is one that was answered with a revision of the party.
func told(op history.Op, player string, millis, revision int64, ticket string, members ...string) history.Step {
	s := step(op, player, millis, 200)
	s.Revision, s.Leader, s.Ticket, s.Members = revision, members[0], ticket, members
	return s
}

// partied is a good history with a party, too. a makes it, and b, c and d join. They search with ticket n. d is silent,
// so n ends. a, b and c search with o, which c's leaving ends. a and b search with p and are matched with q. a hands
// over to b and leaves, e joins and is kicked, and b leaves.
func partied() *history.History {
	h := good()
	h.Terms.Silence = 10e9
	h.Changes = append(h.Changes, change(history.Put, "friends", 14, 6, 6))
	create := func(id string, number, millis int64, players ...string) {
		c := call(history.Create, id, number, millis, 201)
		if players != nil {
			c.Party, c.Players = "pa", players
		}
		h.Calls = append(h.Calls, c)
	}
	create("n", 14, 1400, "a", "b", "c", "d")
	create("o", 15, 20_100, "a", "b", "c")
	create("p", 16, 20_300, "a", "b")
	create("q", 17, 20_310)
	match := made("friends", 6, 20_350, 16, 17)
	for id, number := range map[string]int64{"p": 16, "q": 17} {
		for _, millis := range []int64{20_400, 30_000} {
			c := call(history.Get, id, number, millis, 200)
			c.Created, c.Assignment = 20_300, &history.Assignment{Connection: "friends:1", Match: match}
			h.Calls = append(h.Calls, c)
		}
	}
	for id, number := range map[string]int64{"n": 14, "o": 15} {
		h.Calls = append(h.Calls, call(history.Get, id, number, 30_000, 404))
	}
	join := told(history.Create, "a", 1000, 1, "", "a")
	join.Status = 201
	hand := told(history.HandOver, "a", 20_500, 8, "p", "a", "b")
	hand.Leader, hand.Other = "b", "b"
	kick := told(history.Kick, "b", 21_000, 11, "", "b")
	kick.Other = "e"
	again := step(history.Join, "e", 21_010, 404)
	again.Party = ""
	h.Steps = append(h.Steps, join,
		told(history.Join, "b", 1100, 2, "", "a", "b"), told(history.Join, "c", 1200, 3, "", "a", "b", "c"),
		told(history.Join, "d", 1300, 4, "", "a", "b", "c", "d"), told(history.Get, "d", 1350, 4, "", "a", "b", "c", "d"),
		told(history.Search, "a", 1400, 5, "n", "a", "b", "c", "d"), told(history.Get, "b", 9000, 5, "n", "a", "b", "c", "d"),
		told(history.Get, "c", 12_500, 6, "", "a", "b", "c"), told(history.Get, "a", 20_000, 6, "", "a", "b", "c"),
		told(history.Search, "a", 20_100, 7, "o", "a", "b", "c"), step(history.Leave, "c", 20_200, 204),
		told(history.Get, "b", 20_250, 8, "", "a", "b"))
	// The revisions of what follows are one higher.
	hand.Revision, kick.Revision = 10, 13
	h.Steps = append(h.Steps, told(history.Search, "a", 20_300, 9, "p", "a", "b"), hand,
		step(history.Leave, "a", 20_600, 204), told(history.Get, "b", 20_700, 11, "", "b"),
		told(history.Join, "e", 20_800, 12, "", "b", "e"), kick, again, step(history.Leave, "b", 21_100, 204))
	event := func(position uint64, kind history.Kind, millis int64, reason string, tickets ...string) {
		h.Events = append(h.Events, history.Event{Project: project, Position: position, Kind: kind, Time: millis,
			Reason: reason, Tickets: tickets})
	}
	event(60, history.Created, 1400, "", "n")
	event(61, history.Cancelled, 12_400, waiting, "n")
	event(62, history.Created, 20_100, "", "o")
	event(63, history.Cancelled, 20_200, waiting, "o")
	event(64, history.Created, 20_300, "", "p")
	event(65, history.Created, 20_310, "", "q")
	h.Events = append(h.Events, history.Event{Project: project, Position: 66, Kind: history.Assigned, Time: 20_350,
		Match: "m7", Config: "friends", Revision: 6, Epoch: 2, Tickets: []string{"p", "q"}})
	return h
}

func TestPartiesKeepAllPromises(t *testing.T) {
	r := Check(partied())
	for _, p := range r.Promises {
		for _, b := range p.Broken {
			t.Errorf("promise %d: %s", p.Number, b)
		}
		if p.Number != 11 {
			continue
		}
		want := map[string]int{"parties": 1, "changes of parties": 12, "members who joined": 4, "members who left": 2,
			"members who were kicked": 1, "members who left since they were silent": 1,
			"leaders who were followed by the oldest member": 0, "leaders who handed over": 1, "searches of parties": 3,
			"of these, with a result": 1, "of these, cancelled": 2}
		for _, c := range p.Counts {
			if c.Count != want[c.What] {
				t.Errorf("%d %s, want %d", c.Count, c.What, want[c.What])
			}
		}
	}
}

func TestPartiesThatBreakTheirPromiseAreFound(t *testing.T) {
	edited := func(revision int64, change func(*history.Step)) func(*history.History) {
		return func(h *history.History) {
			for i := range h.Steps {
				if h.Steps[i].Revision == revision {
					change(&h.Steps[i])
				}
			}
		}
	}
	without := func(is func(s history.Step) bool) func(*history.History) {
		return func(h *history.History) { h.Steps = slices.DeleteFunc(h.Steps, is) }
	}
	of := func(op history.Op, player string) func(history.Step) bool {
		return func(s history.Step) bool { return s.Op == op && s.Player == player }
	}
	add := func(s history.Step) func(*history.History) {
		return func(h *history.History) { h.Steps = append(h.Steps, s) }
	}
	other := told(history.Create, "b", 20_000, 1, "", "b")
	other.Party, other.Status = "other", 201
	later := told(history.Get, "b", 20_180, 1, "", "b")
	later.Party = "other"
	for name, c := range map[string]struct {
		want  string
		spoil []func(*history.History)
	}{
		"a player is in two parties": {"game b is in party",
			[]func(*history.History){add(other), add(later)}},
		"two are told differently": {"is told differently", []func(*history.History){
			add(told(history.Get, "b", 1250, 3, "", "a", "b"))}},
		"the youngest member follows a leader": {"the oldest member is a", []func(*history.History){
			without(of(history.HandOver, "a")),
			edited(9, func(s *history.Step) { s.Leader, s.Members, s.Ticket = "x", []string{"x", "a", "b"}, "" }),
			add(func() history.Step {
				s := told(history.Get, "a", 20_400, 10, "", "a", "b")
				s.Leader = "b"
				return s
			}()),
		}},
		"somebody leads who was not asked to": {"did not hand over", []func(*history.History){
			edited(10, func(s *history.Step) { s.Op = history.Get })}},
		"somebody is in it who did not join": {"who did not ask to join", []func(*history.History){
			edited(12, func(s *history.Step) { s.Op = history.Get })}},
		"members change places": {"in another order", []func(*history.History){
			edited(3, func(s *history.Step) { s.Members = []string{"a", "c", "b"} })}},
		"who was heard is taken for silent": {"who had asked for it", []func(*history.History){
			add(told(history.Get, "d", 8000, 5, "n", "a", "b", "c", "d"))}},
		"somebody vanishes at once": {"who had asked for it", []func(*history.History){
			without(of(history.Leave, "c"))}},
		"who was kicked comes back": {"who was kicked", []func(*history.History){
			add(told(history.Join, "e", 21_020, 14, "", "b", "e"))}},
		"a search begins though somebody is not ready": {"is not ready", []func(*history.History){
			edited(5, func(s *history.Step) { s.Unready = []string{"c"} })}},
		"a search has other players than its party": {"has the players", []func(*history.History){func(h *history.History) {
			for i := range h.Calls {
				if h.Calls[i].Ticket == "p" && h.Calls[i].Op == history.Create {
					h.Calls[i].Players = []string{"a", "b", "c"}
				}
			}
		}}},
		"a search goes on with other members": {"has other members since", []func(*history.History){
			edited(8, func(s *history.Step) { s.Ticket = "o" })}},
		"a search ends for a request that was refused": {"nobody asked for that", []func(*history.History){
			add(told(history.Get, "b", 20_010, 6, "", "a", "b", "c")),
			func(h *history.History) {
				for i := range h.Steps {
					if h.Steps[i].Op == history.Leave && h.Steps[i].Player == "c" {
						h.Steps[i].Status = 409
					}
				}
			}}},
		"a party searches twice": {"while o waits", []func(*history.History){func(h *history.History) {
			edit(h, 63, func(e *history.Event) { e.Position = 67 })
			slices.SortStableFunc(h.Events, func(a, b history.Event) int { return int(a.Position) - int(b.Position) })
		}}},
		"who left is matched": {"its search was over", []func(*history.History){func(h *history.History) {
			edit(h, 66, func(e *history.Event) { e.Tickets = []string{"o", "q"} })
			edit(h, 63, func(e *history.Event) { *e = history.Event{Kind: history.Full, Time: e.Time} })
		}}},
		"a search that was stopped is matched": {"its search was over", []func(*history.History){
			without(of(history.Leave, "a")),
			edited(10, func(s *history.Step) { s.Op, s.Ticket, s.Leader, s.Other = history.Stop, "", "a", "" }),
			func(h *history.History) { edit(h, 66, func(e *history.Event) { e.Time = 20_600 }) },
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := partied()
			for _, spoil := range c.spoil {
				spoil(h)
			}
			for _, p := range Check(h).Promises {
				if p.Number != 11 {
					continue
				}
				if !slices.ContainsFunc(p.Broken, func(b string) bool { return strings.Contains(b, c.want) }) {
					t.Errorf("not broken by %q: %q", c.want, p.Broken)
				}
			}
		})
	}
}

// What was written while writes were lost excuses a party.
func TestPartiesOfALossAreLeftOut(t *testing.T) {
	h := partied()
	h.Steps = append(h.Steps, told(history.Get, "b", 1250, 3, "", "a", "b"))
	h.Losses = append(h.Losses, history.Loss{Span: history.Span{From: at(1200), To: at(1300)},
		Projects: []string{project}})
	for _, p := range Check(h).Promises {
		if p.Number == 11 && len(p.Broken) > 0 {
			t.Error(p.Broken)
		}
	}
}
