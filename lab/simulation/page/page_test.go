package page_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/lab/simulation"
	"matchmaker.dev/services/lab/simulation/page"
)

// result is one of a scenario of 1,000 players in 1,000 seconds, who wait for so long.
func result(name string, wait float64) *simulation.Result {
	r := &simulation.Result{Tickets: 1000, Players: 1000, Runs: 7, Servers: 3, Asked: 5, Declined: 2, Games: 3, Joined: 4,
		Scenario: &simulation.Scenario{Name: name, Population: population.Population{Duration: 1000 * time.Second},
			Measure: simulation.Measure{Attribute: "skill"}}}
	for i := range 1000 {
		at, value := float64(i)+0.5, float64(i%100)
		r.Waits = append(r.Waits, simulation.Wait{Arrived: at, Seconds: wait + value/100, Value: value, Players: 1,
			Outcome: simulation.Outcome(i % 2)})
		r.Matches = append(r.Matches, simulation.Match{At: at, Wait: wait + value/100, Spread: value, Gap: math.NaN(),
			Latency: math.NaN(), Players: 2})
	}
	return r
}

func TestReportIsOneFile(t *testing.T) {
	var b strings.Builder
	if err := page.Write(&b, []*simulation.Result{result("<narrow>", 1), result("wide", 2)}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"<title>Simulation of &lt;narrow&gt; and wide</title>",
		"<td>wait p50, s</td><td>1.50</td><td>2.50</td><td>&#43;1.00 ± 0.00</td>",
		"Wait against quality", "Waits by decile", "Waits over the time", "Players over the time",
		"wide: 3 games could be filled, and 4 tickets joined one",
		"&lt;narrow&gt;: 5 matches asked their players; not accepted: 2", "<td>left, %</td><td>50.00</td>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the report", want)
		}
	}
	if n := strings.Count(text, "<svg"); n != 4 || strings.Count(text, "</svg>") != n {
		t.Errorf("%d plots", n)
	}
	// It loads nothing, and names of scenarios are text.
	for _, no := range []string{"<narrow>", "<script", "src=", "href=", "<?xml", "gap of teams", "NaN"} {
		if strings.Contains(text, no) {
			t.Errorf("%q is in the report", no)
		}
	}
}

// Without an attribute there is nothing to say about quality.
func TestPlotsOfNothingAreLeftOut(t *testing.T) {
	r := result("alone", 1)
	for i := range r.Waits {
		r.Waits[i].Value = math.NaN()
	}
	r.Matches = nil
	var b strings.Builder
	if err := page.Write(&b, []*simulation.Result{r}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "decile") || strings.Contains(text, "against quality") ||
		strings.Count(text, "<svg") != 2 || strings.Contains(text, "difference") {
		t.Error(text)
	}
}
