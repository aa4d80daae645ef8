package page

import (
	"bytes"
	"html/template"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"matchmaker.dev/services/simulation"
)

// figure is a plot: the lines of each result.
type figure struct {
	title, about, x, y string
	lines              func(r *simulation.Result) []line
}

// line is points with a name.
type line struct {
	name   string
	points plotter.XYs
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
			var all plotter.XYs
			for _, p := range r.Parts(over) {
				all = append(all, plotter.XY{X: (p.From + p.To) / 2 / 3600, Y: float64(p.Players) / (p.To - p.From)})
			}
			return []line{{"", all}}
		}},
}

// over is how many points a line over the time has.
const over = 96

func points(x, y []float64) (all plotter.XYs) {
	for i := range x {
		all = append(all, plotter.XY{X: x[i], Y: y[i]})
	}
	return all
}

// quantiles are lines of the median and the ninth of ten.
func quantiles(of []simulation.Sample, x func(i int) float64) []line {
	lines := []line{{name: "p50"}, {name: "p90"}}
	for i := range of {
		for k, v := range of[i].Quantiles(0.5, 0.9) {
			if !math.IsNaN(v) {
				lines[k].points = append(lines[k].points, plotter.XY{X: x(i), Y: v})
			}
		}
	}
	return lines
}

// draw draws a plot, or nothing if there is nothing to show.
func (f *figure) draw(results []*simulation.Result) (template.HTML, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text, p.Legend.Top = f.x, f.y, true
	p.Add(plotter.NewGrid())
	p.Y.Min = 0
	empty := true
	for i, r := range results {
		for k, l := range f.lines(r) {
			if len(l.points) == 0 {
				continue
			}
			drawn, err := plotter.NewLine(l.points)
			if err != nil {
				return "", err
			}
			drawn.Color, drawn.Dashes, drawn.Width = plotutil.Color(i), plotutil.Dashes(k), vg.Points(1.5)
			p.Add(drawn)
			p.Legend.Add(strings.TrimSpace(r.Scenario.Name+" "+l.name), drawn)
			empty = false
		}
	}
	if empty {
		return "", nil
	}
	canvas := vgsvg.New(8*vg.Inch, 4.5*vg.Inch)
	p.Draw(draw.New(canvas))
	var text bytes.Buffer
	if _, err := canvas.WriteTo(&text); err != nil {
		return "", err
	}
	_, svg, _ := strings.Cut(text.String(), "<svg")
	return template.HTML("<svg" + svg), nil //nolint:gosec // the library escapes the texts of its graphics
}
