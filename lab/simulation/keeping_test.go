package simulation_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/lab/simulation"
)

// A function that works on changes gets them where many tickets wait, as from a runner. It proposes the same.
func TestFunctionGetsWhatChanged(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 0, "widen": 0.001}`, 200, 40*time.Second)
	s.Population.Patience = distribution(t, "exponential:30")
	r := run(t, s, 1)
	if r.Largest < 2000 || r.Kept < r.Runs/2 || r.Kept >= r.Runs {
		t.Errorf("%d of %d runs got what changed, of at most %d tickets", r.Kept, r.Runs, r.Largest)
	}
	if n := count(r, simulation.Matched); n < 400 || len(r.Waits) != r.Tickets {
		t.Errorf("%d are matched, %d of %d ended", n, len(r.Waits), r.Tickets)
	}
	// Both windows are at least the distance.
	for _, m := range r.Matches {
		if m.Wait*0.001+1e-3 < m.Spread {
			t.Fatalf("%+v", m)
		}
	}
	if testing.Short() {
		return
	}
	again := run(t, s, 1)
	if len(again.Matches) != len(r.Matches) || again.Kept != r.Kept {
		t.Errorf("%d matches and %d kept, and then %d and %d", len(r.Matches), r.Kept, len(again.Matches), again.Kept)
	}
}

// line is tickets that come one after the other.
type line struct{ tickets []*population.Arrival }

func (l *line) come(at time.Duration, skill float64, queues ...string) {
	l.tickets = append(l.tickets, &population.Arrival{At: at, Ticket: &pb.Ticket{Queues: queues,
		Owner: strconv.Itoa(len(l.tickets)), AttributeNames: []string{"skill"}, AttributeValues: []float64{skill}}})
}

func (l *line) Next() (*population.Arrival, bool) {
	if len(l.tickets) == 0 {
		return nil, false
	}
	first := l.tickets[0]
	l.tickets = l.tickets[1:]
	return first, true
}

// One that overlooks matches when it works on changes gets all tickets from then on, and the result says so.
func TestOverlookingIsFound(t *testing.T) {
	t.Parallel()
	s := duels(t, `{}`, 1, 30*time.Second)
	s.Configs[0].Function, s.Functions = "deaf", map[string][]byte{"deaf": modules(t).deaf}
	s.Service.WaitLimit = 40 * time.Second
	var crowd line
	for i := range 1100 { // no ticket can be matched, and the function keeps all
		crowd.come(0, float64(i))
	}
	crowd.come(time.Second, 5000)
	crowd.come(time.Second, 5000)
	for i := range 1200 { // others let it run
		crowd.come(2*time.Second+time.Duration(i)*20*time.Millisecond, float64(-1-i))
	}
	r, err := simulation.Run(t.Context(), simulation.Options{Box: modules(t).box, Scenario: s, Source: &crowd})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(r, simulation.Matched); n != 2 {
		t.Errorf("%d are matched", n)
	}
	if len(r.Overlooked) != 1 || !strings.Contains(r.Overlooked[0], "function deaf: ") || r.Kept == 0 || r.Kept == r.Runs {
		t.Errorf("%q, %d of %d runs", r.Overlooked, r.Kept, r.Runs)
	}
}
