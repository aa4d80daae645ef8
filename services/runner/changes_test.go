package runner_test

import (
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// crowd creates tickets that no run can match, so many that a function keeps them.
func (w *world) crowd() {
	w.t.Helper()
	for i := range 1100 {
		w.ticket(float64(10_000+10*i), nil)
	}
}

// run does a run over all tickets.
func (w *world) run(function string) answer {
	w.t.Helper()
	return w.awaitAnswer(w.startRun(&pb.RunRequest{
		Project: project, Function: function, Config: "c", Position: w.position(), Budget: 20_000,
		Settings: []byte(`{"window":5,"widen":0}`),
	}))
}

// allBytes is less than a request with the whole crowd has, and more than one with what changed.
const allBytes = 1100 * 8 * 2

// An instance that has the tickets gets what changed. When it ends, the next one gets all tickets, and finds the same.
func TestInstanceGetsWhatChanged(t *testing.T) {
	w := newWorld(t)
	w.put(project, "duel", w.duel)
	one := quickSettings()
	one.MinInstances, one.MaxInstances = 1, 1
	_, stop := w.startRunner("runner-1", one)
	w.waitServing("duel", 1)
	w.crowd()
	expect := func(what string, all bool, proposals, tickets int) {
		t.Helper()
		a := w.run("duel")
		if a.error != "" || len(a.proposals) != proposals || a.stats.GetTickets() != int64(tickets) ||
			a.stats.GetBytes() >= allBytes != all {
			t.Fatalf("%s: %d proposals, %q, %v", what, len(a.proposals), a.error, a.stats)
		}
	}
	expect("the first run", true, 0, 1100)
	expect("nothing changed", false, 0, 1100)
	w.ticket(100, nil)
	w.ticket(101, nil)
	expect("two came", false, 1, 1102)
	expect("they were not claimed", false, 1, 1102)
	w.ticket(10_001, nil)
	expect("one came beside the crowd", false, 2, 1103)

	w.put(project, "duel", w.duel) // a new upload
	w.waitServing("duel", 2)
	expect("another generation", true, 2, 1103)
	expect("it has all", false, 2, 1103)
	stop()
	w.waitLeft("runner-1")
	w.startRunner("runner-2", one)
	w.waitServing("duel", 2)
	expect("another runner", true, 2, 1103)
	expect("it has all", false, 2, 1103)
}

// A function that overlooks matches when it works on changes gets all tickets from then on, and its log says so.
func TestFunctionThatOverlooksMatchesGetsAllTickets(t *testing.T) {
	w := newWorld(t)
	w.put(project, "deaf", w.deaf)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("deaf", 1)
	w.crowd()
	w.run("deaf")
	w.ticket(100, nil)
	w.ticket(100, nil)
	found := 0
	for i := 0; i < 300 && found == 0; i++ {
		found = len(w.run("deaf").proposals)
	}
	if found == 0 {
		t.Fatal("the tickets that came later are overlooked for good")
	}
	text := w.waitLogged("deaf", "overlooks matches")
	if !strings.Contains(text, `config "c"`) || !strings.Contains(text, "left over 1102 tickets and proposed 1 matches") {
		t.Error(text)
	}
	for range 3 {
		if a := w.run("deaf"); a.error != "" || len(a.proposals) != 1 || a.stats.GetBytes() < allBytes {
			t.Errorf("%d proposals, %q, %v", len(a.proposals), a.error, a.stats)
		}
	}
}

// A function that has no memory to keep its tickets gets all of them in each run.
func TestFunctionWithoutMemoryKeepsFewerTickets(t *testing.T) {
	w := newWorld(t)
	w.put(project, "deaf", w.deaf)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("deaf", 1)
	w.crowd()
	w.ticket(100, nil)
	w.ticket(100, nil)
	run := func() answer {
		return w.awaitAnswer(w.startRun(&pb.RunRequest{
			Project: project, Function: "deaf", Config: "c", Position: w.position(), Budget: 20_000,
			Settings: []byte(`{"eat":true}`),
		}))
	}
	if a := run(); !strings.Contains(a.error, "memory") {
		t.Fatalf("%q, %v", a.error, a.stats)
	}
	for range 2 {
		if a := run(); a.error != "" || len(a.proposals) != 1 {
			t.Errorf("%d proposals, %q", len(a.proposals), a.error)
		}
	}
	w.waitLogged("deaf", "it keeps no more than 551 tickets from now on")
}
