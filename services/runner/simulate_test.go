package runner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// simulate asks for a simulation, and returns its parts.
func (w *world) simulate(run string, sides ...*pb.SimulationSide) <-chan *pb.RunPart {
	w.t.Helper()
	return w.simulateFor(60_000, run, sides...)
}

func (w *world) simulateFor(budget int64, run string, sides ...*pb.SimulationSide) <-chan *pb.RunPart {
	w.t.Helper()
	parts := make(chan *pb.RunPart, 1000)
	r, err := w.bus.StartRun(w.t.Context(), &pb.RunRequest{Run: run, Project: project, Function: "duel", Budget: budget,
		Simulation: &pb.Simulation{Sides: sides, Limit: 20_000}}, func(p bus.Part) { parts <- p.RunPart })
	w.must(err)
	w.t.Cleanup(r.Stop)
	return parts
}

// lastOf is the last part of a simulation. seen is how many came before it, with progress.
func (w *world) lastOf(parts <-chan *pb.RunPart) (last *pb.RunPart, seen int) {
	w.t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case p := <-parts:
			if p.GetLast() {
				return p, seen
			}
			if p.GetSimulated() != nil {
				seen++
			}
		case <-deadline:
			w.t.Fatal("the simulation does not end")
		}
	}
}

func side(settings, function string) *pb.SimulationSide {
	return &pb.SimulationSide{Configs: []*pb.Config{{Id: "ranked", Function: function, Settings: []byte(settings)}}}
}

// A runner plays the tickets that came to it, whether they wait or have left, and not those from before.
func TestSimulationOfTicketsThatCame(t *testing.T) {
	w := newWorld(t)
	w.ticket(1500, nil) // it was there before, with a time of long ago
	w.put(project, "duel", w.duel)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("duel", 1)
	last, _ := w.lastOf(w.simulate("early", side(`{}`, "duel")))
	if !strings.Contains(last.GetError(), "no ticket of its queue came") || last.GetSimulated().GetRecordedSince() == 0 {
		t.Fatalf("before the first ticket: %v", last)
	}
	w.come(20)
	wide := side(`{"attribute":"skill","window":1000}`, "duel")
	last, seen := w.lastOf(w.simulate("both", wide, wide))
	sides := last.GetSimulated().GetSides()
	if last.GetError() != "" || len(sides) != 2 || !proto.Equal(sides[0], sides[1]) || seen == 0 {
		t.Fatalf("%d parts, then %v", seen, last)
	}
	if s := sides[0]; s.GetTickets() != 20 || s.GetTickets() != s.GetMatched()+s.GetWaiting() || s.GetLeft() != 0 {
		t.Errorf("%v", s)
	}
	if last.GetStats().GetCharge() <= 0 {
		t.Error("it cost nothing")
	}
	if last, _ = w.lastOf(w.simulate("missing", side(`{}`, "missing"))); !strings.Contains(last.GetError(),
		"configs.ranked: function missing: this function") {
		t.Errorf("without the function: %v", last)
	}
}

// A simulation ends that is not wanted any more, and the next one has its turn.
func TestUnaskedSimulationEnds(t *testing.T) {
	w := newWorld(t)
	w.put(project, "duel", w.duel)
	w.put(project, "guest", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("duel", 1)
	w.waitServing("guest", 1)
	w.come(2)
	hang := w.simulate("hang", side(`{"do":"hang"}`, "guest"))
	next := w.simulate("next", side(`{}`, "duel"))
	for p := range hang { // it was taken
		if p.GetSimulated() != nil {
			break
		}
	}
	w.bus.Poke(t.Context(), project, &pb.Poke{Unasked: "hang"})
	if last, _ := w.lastOf(hang); !strings.Contains(last.GetError(), "canceled") {
		t.Errorf("%v", last)
	}
	if last, _ := w.lastOf(next); last.GetError() != "" || last.GetSimulated().GetSides()[0].GetTickets() != 2 {
		t.Errorf("%v", last)
	}
}

// A simulation that is cut short says why.
func TestSimulationsThatAreCutShort(t *testing.T) {
	w := newWorld(t)
	w.put(project, "duel", w.duel)
	w.put(project, "guest", w.guest)
	s := quickSettings()
	s.Drain = time.Hour // a simulation is not waited for
	_, stop := w.startRunner("runner-1", s)
	w.waitServing("duel", 1)
	w.waitServing("guest", 1)
	w.come(2)
	hang := side(`{"do":"hang"}`, "guest")
	if last, _ := w.lastOf(w.simulateFor(500, "late", hang)); last.GetError() != "it took too long" {
		t.Errorf("%v", last)
	}
	hangs := w.simulate("hang", hang)
	for p := range hangs { // it was taken
		if p.GetSimulated() != nil {
			break
		}
	}
	stop()
	if last, _ := w.lastOf(hangs); !strings.Contains(last.GetError(), "does not serve the function any more") {
		t.Errorf("%v", last)
	}
}

// come creates tickets now, and returns when the runner has them.
func (w *world) come(n int) {
	w.t.Helper()
	for i := range n {
		w.must(w.tickets.Create(w.t.Context(), project, &pb.Ticket{Id: fmt.Sprint("new-", i), Owner: fmt.Sprint("ada-", i),
			Created:        w.store.Now().UnixMilli(),
			AttributeNames: []string{"skill"}, AttributeValues: []float64{1500 + float64(i)}}))
	}
	w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "duel", Position: w.position(), Budget: 20_000,
		Settings: []byte(`{}`)}))
}
