package page

import (
	"html/template"
	"strings"

	"matchmaker.dev/services/lab/chart"
	"matchmaker.dev/services/lab/simulation"
)

// figure is a plot: the lines of each result.
type figure struct {
	title, about, x, y string
	lines              func(r *simulation.Result) []line
}

// line is points with a name.
type line struct {
	name   string
	points []chart.Point
}

var plots = []figure{
	{"Wait against quality",
		"The matches by how long their players waited, in twenty parts from the shortest waits to the longest: the mean " +
			"spread of the measured attribute in each. Lower is better.",
		"mean wait of a match, s", "mean spread of a match", func(r *simulation.Result) []line {
			waits, spreads := r.Tradeoff(20)
			return []line{{"", points(waits, spreads)}}
		}},
	{"Waits by decile", "The players by the measured attribute, from the lowest tenth to the highest.",
		"tenth of the players", "wait, s", func(r *simulation.Result) []line {
			waits, _ := r.Deciles()
			return quantiles(waits, func(i int) float64 { return float64(i + 1) })
		}},
	{"Waits over the time", "The players by when they came.", "hours since the beginning", "wait, s",
		func(r *simulation.Result) []line {
			parts := r.Parts(over)
			waits := make([]simulation.Sample, len(parts))
			for i := range parts {
				waits[i] = parts[i].Waits
			}
			return quantiles(waits, func(i int) float64 { return (parts[i].From + parts[i].To) / 2 / 3600 })
		}},
	{"Players over the time", "How many came.", "hours since the beginning", "players a second",
		func(r *simulation.Result) []line {
			var all []chart.Point
			for _, p := range r.Parts(over) {
				all = append(all, chart.Point{X: (p.From + p.To) / 2 / 3600, Y: float64(p.Players) / (p.To - p.From)})
			}
			return []line{{"", all}}
		}},
}

// over is how many points a line over the time has.
const over = 96

func points(x, y []float64) (all []chart.Point) {
	for i := range x {
		all = append(all, chart.Point{X: x[i], Y: y[i]})
	}
	return all
}

// quantiles are lines of the median and the ninth of ten.
func quantiles(of []simulation.Sample, x func(i int) float64) []line {
	lines := []line{{name: "p50"}, {name: "p90"}}
	for i := range of {
		for k, v := range of[i].Quantiles(0.5, 0.9) {
			lines[k].points = append(lines[k].points, chart.Point{X: x(i), Y: v})
		}
	}
	return lines
}

// draw draws a plot, or nothing if there is nothing to show.
func (f *figure) draw(results []*simulation.Result) template.HTML {
	c := chart.Chart{X: f.x, Y: f.y}
	for i, r := range results {
		for k, l := range f.lines(r) {
			name := strings.TrimSpace(r.Scenario.Name + " " + l.name)
			c.Lines = append(c.Lines, chart.Line{Name: name, Color: i, Dash: k, Points: l.points})
		}
	}
	return template.HTML(c.SVG()) //nolint:gosec // it escapes its texts
}
