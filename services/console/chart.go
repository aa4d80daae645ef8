package console

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
)

// The size of a plot in its own units, and the room for its labels.
const (
	plotWidth, plotHeight = 480.0, 170.0
	plotLeft, plotRight   = 40.0, 8.0
	plotTop, plotBottom   = 8.0, 20.0
)

// plot is a picture that a template draws as SVG.
type plot struct {
	// Label describes it to screen readers.
	Label  string
	Legend []legend
	Shapes []shape
	Grid   []mark
	Ticks  []mark
	// Hits say what is where, for the pointer.
	Hits  []hit
	Empty bool
}

type legend struct{ Class, Name string }

type shape struct{ Class, Path string }

// mark is a label on an axis. Time is set where it is a time.
type mark struct {
	X, Y string
	Text string
	Time time.Time
}

type hit struct{ X, Y, W, H, Class, Text string }

// line is a curve over time.
type line struct {
	Name, Class string
	Points      []point
}

type point struct {
	At    time.Time
	Value float64 // NaN where there is none
}

func px(v float64) string { return fmt.Sprintf("%.1f", v) }

// ceiling is a round number that is no less than a value, and in how many parts an axis up to it is divided.
func ceiling(v float64) (top float64, parts int) {
	if !(v > 0) {
		return 1, 2
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []struct {
		by    float64
		parts int
	}{{1, 4}, {2, 4}, {3, 3}, {4, 4}, {5, 5}, {6, 3}, {8, 4}, {10, 4}} {
		if top = step.by * unit; top >= v {
			return top, step.parts
		}
	}
	return top, 4
}

// grid adds the lines and labels of the values.
func (p *plot) grid(top float64, parts int, text func(float64) string) {
	for i := range parts + 1 {
		v := top * float64(i) / float64(parts)
		p.Grid = append(p.Grid, mark{Y: px(yOf(v, top)), Text: text(v)})
	}
}

func yOf(v, top float64) float64 {
	return plotHeight - plotBottom - (plotHeight-plotBottom-plotTop)*min(max(v/top, 0), 1)
}

// timePlot draws curves of slots of time.
func timePlot(label string, from, to time.Time, text func(float64) string, lines ...line) *plot {
	p := &plot{Label: label}
	greatest, slots := 0.0, map[time.Time][]string{}
	for _, l := range lines {
		for _, one := range l.Points {
			if !math.IsNaN(one.Value) {
				greatest = max(greatest, one.Value)
				slots[one.At] = append(slots[one.At], strings.TrimSpace(l.Name+" "+text(one.Value)))
			}
		}
		if len(lines) > 1 {
			p.Legend = append(p.Legend, legend{l.Class, l.Name})
		}
	}
	if p.Empty = len(slots) == 0; p.Empty {
		return p
	}
	top, parts := ceiling(greatest)
	p.grid(top, parts, text)
	width, days := plotWidth-plotLeft-plotRight, to.Sub(from) > 48*time.Hour
	xOf := func(t time.Time) float64 {
		return plotLeft + width*min(max(float64(t.Sub(from))/float64(to.Sub(from)), 0), 1)
	}
	for _, l := range lines {
		p.curve(l, top, xOf)
	}
	for i := range 5 {
		at := from.Add(to.Sub(from) * time.Duration(i) / 4)
		tick := mark{X: px(xOf(at)), Text: at.UTC().Format("15:04"), Time: at}
		if days { // of UTC
			tick.Text, tick.Time = at.UTC().Format("2 Jan"), time.Time{}
		}
		p.Ticks = append(p.Ticks, tick)
	}
	format := "15:04"
	if days {
		format = "2 Jan 15:04"
	}
	half := max(width*float64(slotTime)/float64(to.Sub(from)), 4)
	for at, texts := range slots {
		p.Hits = append(p.Hits, hit{X: px(xOf(at) - half/2), Y: px(plotTop), W: px(half),
			H: px(plotHeight - plotTop - plotBottom), Text: at.UTC().Format(format) + " UTC: " + strings.Join(texts, ", ")})
	}
	return p
}

// curve adds a line, with gaps where there are no values, and what is below it.
func (p *plot) curve(l line, top float64, xOf func(time.Time) float64) {
	var path, area strings.Builder
	first, last := math.NaN(), 0.0
	end := func() {
		if !math.IsNaN(first) {
			fmt.Fprintf(&area, "L%s %sL%s %sZ", px(last), px(yOf(0, top)), px(first), px(yOf(0, top)))
		}
		first = math.NaN()
	}
	for _, one := range l.Points {
		if math.IsNaN(one.Value) {
			end()
			continue
		}
		letter := "L"
		if last = xOf(one.At); math.IsNaN(first) {
			letter, first = "M", last
		}
		step := letter + px(last) + " " + px(yOf(one.Value, top))
		path.WriteString(step)
		area.WriteString(step)
	}
	end()
	p.Shapes = append(p.Shapes, shape{"area " + l.Class, area.String()}, shape{"line " + l.Class, path.String()})
}

// calibrationPlot draws how often favorites won, a column for each bucket of odds, and what was predicted, as a line.
func calibrationPlot(label string, buckets []client.OddsBucket) *plot {
	p := &plot{Label: label, Empty: len(buckets) == 0}
	if p.Empty {
		return p
	}
	p.Legend = []legend{{"one", "won"}, {"two", "predicted"}}
	p.grid(1, 4, percent)
	xOf := func(odds float64) float64 { return plotLeft + (plotWidth-plotLeft-plotRight)*(2*odds-1) }
	for _, b := range buckets {
		left, right, top := px(xOf(b.From)+2), px(xOf(b.From+0.05)-2), px(yOf(b.Won, 1))
		p.Shapes = append(p.Shapes, shape{"line one", "M" + left + " " + top + "L" + right + " " + top},
			shape{"area one", "M" + left + " " + px(yOf(0, 1)) + "V" + top + "H" + right + "V" + px(yOf(0, 1)) + "Z"})
		p.Hits = append(p.Hits, hit{X: px(xOf(b.From)), Y: px(plotTop), W: px(xOf(b.From+0.05) - xOf(b.From)),
			H: px(plotHeight - plotTop - plotBottom), Text: fmt.Sprintf("%s: predicted %s, won %s",
				plural(b.Pairs, "pair", "pairs"), percent(b.Predicted), percent(b.Won))})
	}
	p.Shapes = append(p.Shapes, shape{"line two", "M" + px(xOf(0.5)) + " " + px(yOf(0.5, 1)) + "L" + px(xOf(1)) + " " +
		px(yOf(1, 1))})
	for odds := 0.5; odds < 1.01; odds += 0.1 {
		p.Ticks = append(p.Ticks, mark{X: px(xOf(odds)), Text: percent(odds)})
	}
	return p
}

// sharePlot draws which share of the tickets had a match after how long.
func sharePlot(label string, of map[string]*client.SimulatedConfig) *plot {
	p := &plot{Label: label}
	longest := 0.0
	for _, s := range of {
		if wait := s.Wait(0.95); wait != nil {
			longest = max(longest, *wait)
		}
		p.Empty = p.Empty || s.Tickets == 0
	}
	top, parts := ceiling(longest)
	p.grid(1, 4, percent)
	const right = 24.0 // half of the last label is there
	xOf := func(wait float64) float64 { return plotLeft + (plotWidth-plotLeft-right)*min(wait/top, 1) }
	for i := range parts + 1 {
		wait := top * float64(i) / float64(parts)
		p.Ticks = append(p.Ticks, mark{X: px(xOf(wait)), Text: seconds(wait)})
	}
	for _, l := range []legend{{"one", "present"}, {"two", "tried"}} {
		s := of[l.Name]
		if s == nil {
			continue
		}
		p.Legend = append(p.Legend, l)
		share, path := 0.0, "M"+px(plotLeft)+" "+px(yOf(0, 1))
		for i, wait := range s.Waits {
			if wait > top {
				break
			}
			share = float64(s.Matched) / float64(s.Tickets) * float64(i) / max(1, float64(len(s.Waits)-1))
			path += "L" + px(xOf(wait)) + " " + px(yOf(share, 1))
			if i%4 == 0 {
				p.Hits = append(p.Hits, hit{X: px(xOf(wait) - 4), Y: px(yOf(share, 1) - 4), W: "8", H: "8",
					Text: l.Name + ": " + percent(share) + " within " + seconds(wait)})
			}
		}
		p.Shapes = append(p.Shapes, shape{"line " + l.Class, path + "L" + px(xOf(top)) + " " + px(yOf(share, 1))})
	}
	return p
}

// histogram counts values in columns of the same width, with the least values of some below.
func histogram(label string, values []float64, name func(float64) string) *plot {
	p := &plot{Label: label, Empty: len(values) == 0}
	if p.Empty {
		return p
	}
	low, high := slices.Min(values), slices.Max(values)
	counts := make([]float64, 20)
	step := (high - low) / float64(len(counts))
	if step == 0 {
		counts = counts[:1]
	}
	for _, v := range values {
		counts[min(int((v-low)/max(step, math.SmallestNonzeroFloat64)), len(counts)-1)]++
	}
	top, parts := ceiling(slices.Max(counts))
	p.grid(top, parts, number1)
	width, every := (plotWidth-plotLeft-plotRight)/float64(len(counts)), 3
	if len([]rune(name(low))) > 8 || len([]rune(name(high))) > 8 {
		every = 4
	}
	gap := min(width*0.12, 3)
	for i, n := range counts {
		x, y, least := plotLeft+width*float64(i), yOf(n, top), name(low+step*float64(i))
		p.Hits = append(p.Hits, hit{px(x + gap), px(y), px(width - 2*gap), px(yOf(0, top) - y), "bar",
			least + ": " + number(n)})
		if i%every == 0 {
			p.Ticks = append(p.Ticks, mark{X: px(x + width/2), Text: least})
		}
	}
	return p
}

// spark is a small curve without axes.
func spark(points []point) string {
	greatest := 1e-9
	for _, p := range points {
		greatest = max(greatest, p.Value)
	}
	var b strings.Builder
	for i, p := range points {
		x := float64(i) * 100 / max(1, float64(len(points)-1))
		fmt.Fprintf(&b, "%c%s %s", "LM"[1-min(i, 1)], px(x), px(22-20*p.Value/greatest))
	}
	return b.String()
}

// span is a bar from p10 to p90 with a mark at p50, on a scale from 0 to 100.
type span struct{ X, W, Mid string }

func spanOf(low, mid, high, least, most float64) span {
	scale := func(v float64) float64 {
		if most <= least {
			return 0
		}
		return 100 * min(max((v-least)/(most-least), 0), 1)
	}
	return span{px(scale(low)), px(max(scale(high)-scale(low), 0.5)), px(min(scale(mid), 99.2))}
}
