package report

import (
	"os"

	"matchmaker.dev/services/lab/chart"
	"matchmaker.dev/services/test/quality/engine"
)

// Curve is an engine's waits and qualities as the bounds of skill change.
type Curve struct {
	Engine engine.Name
	// Points are the spread and the wait, the strictest bounds first.
	Points []chart.Point
}

// Draw writes the curves of a world as an SVG file. Lower and further to the left is better.
func Draw(file, title string, curves []Curve) error {
	c := chart.Chart{X: "mean difference of skill in a match",
		Y: title + ": wait of the ninth of ten players, in seconds"}
	for i, curve := range curves {
		c.Lines = append(c.Lines,
			chart.Line{Name: string(curve.Engine), Color: i, Dash: i, Dots: true, Points: curve.Points})
	}
	return os.WriteFile(file, []byte(c.SVG()), 0o600)
}
