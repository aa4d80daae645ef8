package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"matchmaker.dev/services/test/quality/engine"
)

// Curve is an engine's waits and qualities as the bounds of skill change.
type Curve struct {
	Engine engine.Name
	// Points are the spread and the wait, the strictest bounds first.
	Points plotter.XYs
}

// Draw writes the curves of a world as an SVG file. Lower and further to the left is better.
func Draw(file, title string, curves []Curve) error {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = "mean difference of skill in a match"
	p.Y.Label.Text = "wait of the ninth of ten players, in seconds"
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for i, c := range curves {
		line, points, err := plotter.NewLinePoints(c.Points)
		if err != nil {
			return fmt.Errorf("curve of %s: %w", c.Engine, err)
		}
		line.Color, points.Color = plotutil.Color(i), plotutil.Color(i)
		line.Dashes = plotutil.Dashes(i)
		if c.Engine == engine.On("rules") {
			line.Width = vg.Points(2.5)
		}
		points.Shape = plotutil.Shape(i)
		p.Add(line, points)
		p.Legend.Add(string(c.Engine), line, points)
	}
	return p.Save(8*vg.Inch, 6*vg.Inch, file)
}
