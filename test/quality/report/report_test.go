package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/services/lab/chart"
)

// The interval is from a table of Student's distribution.
func TestInterval(t *testing.T) {
	mean, half := interval([]float64{1, 2, 3, 4, math.NaN()})
	if want := 3.182 * math.Sqrt(5.0/3) / 2; mean != 2.5 || math.Abs(half-want) > 0.001 {
		t.Errorf("%g ± %g, not 2.5 ± %g", mean, half, want)
	}
	if got := cell([]float64{7}, 1); got != "7.0" {
		t.Errorf("a single run is %s", got)
	}
	if got := cell([]float64{math.NaN()}, 1); got != "–" {
		t.Errorf("no number is %s", got)
	}
}

func TestCurvesAreDrawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "world.svg")
	err := Draw(file, "world", []Curve{
		{"rules", []chart.Point{{X: 100, Y: 30}, {X: 200, Y: 20}}}, {"open match", []chart.Point{{X: 400, Y: 5}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "<svg") || !strings.Contains(string(text), "open match") {
		t.Error(err, len(text))
	}
}
