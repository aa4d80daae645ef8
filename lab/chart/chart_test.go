package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/services/lab/chart"
)

// drawn is what an SVG file has.
type drawn struct {
	texts []string // with their anchors: "end 5"
	paths []string
}

// draw fails the test unless a chart is XML whose numbers are finite and whose texts are in the picture.
func draw(t *testing.T, c *chart.Chart) (d drawn) {
	t.Helper()
	svg := c.SVG()
	reader := xml.NewDecoder(strings.NewReader(svg))
	anchor := ""
	for {
		token, err := reader.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			anchor = ""
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "text-anchor":
					anchor = a.Value
				case "d":
					d.paths = append(d.paths, a.Value)
				}
			}
		case xml.CharData:
			if anchor != "" {
				d.texts = append(d.texts, anchor+" "+string(token))
			}
		case xml.EndElement:
			anchor = ""
		}
	}
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(svg, bad) {
			t.Errorf("%s is in %s", bad, svg)
		}
	}
	return d
}

// ticks are the numbers at an axis: "middle" below the X axis, and "end" beside the Y axis.
func (d *drawn) ticks(anchor string) (all []string) {
	for _, text := range d.texts {
		if number, is := strings.CutPrefix(text, anchor+" "); is && strings.Trim(number, "0123456789.e+-") == "" {
			all = append(all, number)
		}
	}
	return all
}

func line(values ...float64) []chart.Line {
	l := chart.Line{Name: "a"}
	for i := 0; i < len(values); i += 2 {
		l.Points = append(l.Points, chart.Point{X: values[i], Y: values[i+1]})
	}
	return []chart.Line{l}
}

func TestAxesHaveRoundNumbers(t *testing.T) {
	nan, fifth := math.NaN(), 0.2
	for name, c := range map[string]struct {
		lines []chart.Line
		x, y  string
	}{
		"a day":       {line(0, 31.2, 23.9, 3), "0 5 10 15 20", "0 10 20 30 40"},
		"tenths":      {line(1, 0.31, 10, 0.9), "1 2 3 4 5 6 7 8 9 10", "0 0.2 0.4 0.6 0.8 1"},
		"thousandths": {line(0.0021, 1, 0.0034, 6), "0.0022 0.0024 0.0026 0.0028 0.003 0.0032 0.0034", "0 1 2 3 4 5 6"},
		"rounding":    {line(3*fifth, 1, 2, 1), "0.6 0.8 1 1.2 1.4 1.6 1.8 2", "0 0.2 0.4 0.6 0.8 1"},
		"less than 0": {line(-7, -20, 8, 15), "-6 -4 -2 0 2 4 6 8", "-20 -10 0 10 20"},
		"one point":   {line(5, 3), "4.5 4.6 4.7 4.8 4.9 5 5.1 5.2 5.3 5.4 5.5", "0 0.5 1 1.5 2 2.5 3"},
		"zeros":       {line(0, 0, 1, 0), "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1", "0 0.2 0.4 0.6 0.8 1"},
		"gaps": {line(nan, 7, 0, nan, 1, 1, math.Inf(1), 3, 6, 2, 3, math.Inf(-1)), "1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6",
			"0 0.5 1 1.5 2"},
		"great": {line(0, 0, 6e299, 4e12), "0 1e+299 2e+299 3e+299 4e+299 5e+299 6e+299",
			"0 1e+12 2e+12 3e+12 4e+12"},
		"far and near": {line(1e9, 1, 1e9+1e-5, 1),
			"999999900 999999950 1000000000 1000000050 1000000100", "0 0.2 0.4 0.6 0.8 1"},
	} {
		d := draw(t, &chart.Chart{X: "x", Y: "y", Lines: c.lines})
		if x, y := strings.Join(d.ticks("middle"), " "), strings.Join(d.ticks("end"), " "); x != c.x || y != c.y {
			t.Errorf("%s: %s below and %s beside, not %s and %s", name, x, y, c.x, c.y)
		}
	}
}

func TestLinesGoThroughTheirPoints(t *testing.T) {
	c := chart.Chart{Lines: line(0, 0, 5, 10, 7, math.NaN(), 10, 5)}
	c.Lines = append(c.Lines, chart.Line{Name: "empty"}, chart.Line{Name: "b", Color: 1, Dash: 1, Dots: true,
		Points: []chart.Point{{X: 2, Y: 2}, {X: 3, Y: 3}}})
	d := draw(t, &c)
	// After the grid and the axes each line has a sample of 40 in the legend, and its points.
	want := []string{
		"M100 400h40M100.0 352.0L438.0 34.0M776.0 193.0", "M776.0 193.0h0",
		"M100 420h40M235.2 288.4L302.8 256.6", "M120 420h0M235.2 288.4h0M302.8 256.6h0",
	}
	if !slices.Equal(d.paths[2:], want) {
		t.Errorf("%q, not %q", d.paths[2:], want)
	}
	if slices.Contains(d.texts, "start empty") {
		t.Error("a line without points is in the legend")
	}
}

func TestLinesCanBeTold(t *testing.T) {
	var c chart.Chart
	for i := range 20 {
		c.Lines = append(c.Lines, chart.Line{Color: i, Dash: i, Points: []chart.Point{{}}})
	}
	seen := map[string]bool{}
	for style := range strings.SplitSeq(c.SVG(), "<path") {
		if _, style, _ = strings.Cut(style, `" stroke=`); strings.Contains(style, "dasharray") {
			seen[style] = true
		}
	}
	if len(seen) != 20 {
		t.Errorf("20 lines have %d styles", len(seen))
	}
}

func TestTextsAreText(t *testing.T) {
	lines := line(1, 1)
	lines[0].Name = "<b>&\"' \x00 " + strings.Repeat("漢", 100)
	d := draw(t, &chart.Chart{X: "<x>", Y: strings.Repeat("y", 200), Lines: lines})
	for _, want := range []string{"end <x>", "start " + strings.Repeat("y", 76) + "…",
		"start <b>&\"' \uFFFD " + strings.Repeat("漢", 33) + "…"} {
		if !slices.Contains(d.texts, want) {
			t.Errorf("no %q in %q", want, d.texts)
		}
	}
}

func TestChartOfNothingIsEmpty(t *testing.T) {
	for _, lines := range [][]chart.Line{nil, line(), line(math.NaN(), 1, 1, math.Inf(1))} {
		c := chart.Chart{Lines: lines}
		if svg := c.SVG(); svg != "" {
			t.Errorf("%v: %s", lines, svg)
		}
	}
}
