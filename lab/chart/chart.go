// Package chart writes charts of lines as scalable vector graphics.
package chart

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Chart is lines over two axes. The Y axis begins at 0.
type Chart struct {
	X, Y  string // what is on the axes
	Lines []Line
}

// Line has the color and the dashes of its numbers, and with Dots a dot at each point. One between gaps always has one.
type Line struct {
	Name        string
	Color, Dash int
	Dots        bool
	Points      []Point
}

// Point is a place on a line, or a gap if one of its numbers is not finite.
type Point struct{ X, Y float64 }

func (p Point) isGap() bool { return !(math.Abs(p.X) < 1e300 && math.Abs(p.Y) < 1e300) }

var (
	colors = []string{"#0072b2", "#d55e00", "#009e73", "#b0509a", "#222222", "#b08000", "#4aa3df"}
	dashes = []string{"", "7 5", "1 5", "9 5 1 5"}
)

// The places of the axes. Below them each line has a row.
const (
	width, height            = 800., 400.
	left, right, top, bottom = 100., 776., 34., 352.
	row                      = 20.
)

// SVG returns the chart as an element of HTML or XML. It is empty without points.
func (c *Chart) SVG() string {
	var lines []Line
	x, y := axis{math.Inf(1), math.Inf(-1)}, axis{}
	for _, line := range c.Lines {
		empty := true
		for _, p := range line.Points {
			if !p.isGap() {
				x, y, empty = x.with(p.X), y.with(p.Y), false
			}
		}
		if !empty {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if about := 1e-7 * max(math.Abs(x.low), math.Abs(x.high)); x.high-x.low <= about {
		x = axis{x.low - max(0.5, about), x.high + max(0.5, about)}
	}
	if y == (axis{}) {
		y.high = 1
	}
	stepX, stepY := x.step(10), y.step(6)
	y = axis{stepY * math.Floor(y.low/stepY), stepY * math.Ceil(y.high/stepY)}

	var grid, texts, paths strings.Builder
	text := func(x, y float64, anchor, text string) {
		fmt.Fprintf(&texts, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, escaped(text))
	}
	for _, v := range x.multiples(stepX) {
		fmt.Fprintf(&grid, "M%.1f %gV%g", x.place(v, left, right), top, bottom)
		text(x.place(v, left, right), bottom+18, "middle", number(v))
	}
	for _, v := range y.multiples(stepY) {
		fmt.Fprintf(&grid, "M%g %.1fH%g", left, y.place(v, bottom, top), right)
		text(left-8, y.place(v, bottom, top)+4, "end", number(v))
	}
	text(8, top-16, "start", c.Y)
	text(right, bottom+38, "end", c.X)
	for i, line := range lines {
		below := height + row*float64(i)
		path, dots := fmt.Sprintf("M%g %gh40", left, below), ""
		if line.Dots {
			dots = fmt.Sprintf("M%g %gh0", left+20, below)
		}
		text(left+52, below+4, "start", line.Name)
		gap := true
		for k, p := range line.Points {
			if p.isGap() {
				gap = true
				continue
			}
			place := fmt.Sprintf("%.1f %.1f", x.place(p.X, left, right), y.place(p.Y, bottom, top))
			if gap {
				path += "M" + place
			} else {
				path += "L" + place
			}
			alone := gap && (k+1 == len(line.Points) || line.Points[k+1].isGap())
			if line.Dots || alone {
				dots += "M" + place + "h0"
			}
			gap = false
		}
		color := colors[line.Color%len(colors)]
		fmt.Fprintf(&paths, `<path d="%s" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", path, color,
			dashes[line.Dash%len(dashes)])
		if dots != "" {
			fmt.Fprintf(&paths, `<path d="%s" stroke="%s" stroke-width="7"/>`+"\n", dots, color)
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %[1]g %[2]g"
 fill="none" stroke-linecap="round" stroke-linejoin="round" font-family="sans-serif" font-size="13">
<rect width="100%%" height="100%%" fill="#fff"/>
<path d="%s" stroke="#ddd"/>
<path d="M%g %gV%gH%g" stroke="#222"/>
<g fill="#222">
%s</g>
%s</svg>
`, width, height+row*float64(len(lines)), grid.String(), left, top, bottom, right, texts.String(), paths.String())
}

// axis is from which number to which one.
type axis struct{ low, high float64 }

func (a axis) with(v float64) axis { return axis{min(a.low, v), max(a.high, v)} }

// place is where a number is between two places.
func (a axis) place(v, low, high float64) float64 { return low + (v-a.low)/(a.high-a.low)*(high-low) }

// step is 1, 2 or 5 times a power of ten, of which an axis has so many at most.
func (a axis) step(most float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10((a.high-a.low)/most)))
	for _, times := range []float64{1, 2, 5} {
		if (a.high-a.low)/(power*times) <= most {
			return power * times
		}
	}
	return 10 * power
}

func (a axis) multiples(step float64) (all []float64) {
	first := math.Ceil(a.low/step - 1e-6)
	for i := range int((a.high-a.low)/step) + 2 {
		if v := (first + float64(i)) * step; v <= a.high+step*1e-6 {
			all = append(all, v)
		}
	}
	return all
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }

// escaped is a text as XML, cut where it leaves the chart.
func escaped(text string) string {
	var b strings.Builder
	room := 76
	for i, r := range text {
		if room--; r >= 0x1100 { // a wide letter
			room--
		}
		if room < 0 {
			text = text[:i] + "…"
			break
		}
	}
	_ = xml.EscapeText(&b, []byte(text)) // it never fails
	return b.String()
}
