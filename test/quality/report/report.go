// Package report writes the measures of many runs as tables and curves.
package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"matchmaker.dev/services/internal/observe/statistics"
	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/test/quality/engine"
	"matchmaker.dev/services/test/quality/trial"
	"matchmaker.dev/services/test/quality/world"
)

// Results are the results of a world, by seed.
type Results struct {
	World   world.World
	Engines []engine.Name
	Runs    map[engine.Name][]*trial.Measures
	Bounds  []trial.Bound
	// Choices are the choices of the function beside the literal reading of a language.
	Choices map[world.Language][]*trial.Choice
}

// measure is a number of a run.
type measure struct {
	name   string
	digits int
	of     func(m *trial.Measures) float64
}

// of100 is a part in percent.
func of100(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

func wait(q float64) func(*trial.Measures) float64 {
	return func(m *trial.Measures) float64 { return m.Waits.At(q) }
}

var (
	p90       = measure{"wait p90", 1, wait(0.9)}
	abandoned = measure{"left %", 1, func(m *trial.Measures) float64 { return of100(m.Abandoned, m.Players) }}
	spread    = measure{"spread", 0, func(m *trial.Measures) float64 { return m.Spread.Mean() }}
	gap       = measure{"gap", 1, func(m *trial.Measures) float64 { return m.Gap.Mean() }}
)

// measures are the columns of the first table of a world.
func measures(g *world.Game) []measure {
	all := []measure{
		{"wait p50", 1, wait(0.5)}, p90, {"wait p99", 1, wait(0.99)}, abandoned, spread, gap,
		{"ends: wait p90", 1, func(m *trial.Measures) float64 { return m.Tail.Waits.At(0.9) }},
		{"ends: left %", 1, func(m *trial.Measures) float64 { return of100(m.Tail.Abandoned, len(m.Tail.Waits)) }},
		{"ends: spread", 0, func(m *trial.Measures) float64 { return m.TailSpread.Mean() }},
		{"favorite wins %", 1, func(m *trial.Measures) float64 { return 100 * m.Favored.Mean() }},
		{"uneven %", 1, func(m *trial.Measures) float64 { return of100(m.Uneven, m.Matches) }},
		{"ping", 0, func(m *trial.Measures) float64 { return m.Ping.Mean() }},
		{"ping over best", 0, func(m *trial.Measures) float64 { return m.PingOver.Mean() }},
	}
	if g.Size > 1 {
		all = append(all, measure{"parties differ %", 0, func(m *trial.Measures) float64 {
			return of100(m.PartiesOff, m.Matches)
		}})
	}
	if g.Roles != nil {
		all = append(all, measure{"roles differ %", 0, func(m *trial.Measures) float64 {
			return of100(m.RolesOff, m.Matches)
		}})
	}
	return append(all,
		measure{"estimates hold %", 1, func(m *trial.Measures) float64 { return of100(m.Held, m.Told) }},
		measure{"against the rules %", 1, func(m *trial.Measures) float64 { return of100(m.Violations, m.Matches) }})
}

// each is a measure of all runs of an engine, without those that have no number.
func (r *Results) each(name engine.Name, m measure) (all []float64) {
	for _, run := range r.Runs[name] {
		all = append(all, m.of(run))
	}
	return all
}

// interval returns the mean and half of its 95 % interval, by Student's distribution.
func interval(of []float64) (mean, half float64) {
	var all []float64
	for _, v := range of {
		if v == v {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return math.NaN(), 0
	}
	if len(all) == 1 {
		return all[0], 0
	}
	return statistics.Interval(all)
}

// cell is a mean with its interval.
func cell(of []float64, digits int) string {
	mean, half := interval(of)
	if mean != mean {
		return "–"
	}
	if half == 0 {
		return fmt.Sprintf("%.*f", digits, mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, half)
}

// table writes a table of Markdown.
func table(w io.Writer, head []string, rows [][]string) {
	line := func(cells []string) { _, _ = fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	rule := []string{"---"}
	for range head[1:] {
		rule = append(rule, "--:")
	}
	line(rule)
	for _, row := range rows {
		line(row)
	}
	_, _ = fmt.Fprintln(w)
}

// Write writes the tables of a world.
func (r *Results) Write(w io.Writer) {
	_, _ = fmt.Fprintf(w, "## %s\n\n%s. %d seeds.\n\n", r.World.Name, upper(r.World.About), len(r.Bounds))
	r.summary(w)
	r.pairs(w)
	r.choices(w)
	r.regret(w)
	var heads []string
	for i := range 10 {
		heads = append(heads, fmt.Sprint(i+1))
	}
	r.parts(w, "Wait p50, p90 with its interval, p99 (players who left, %) by decile of skill", heads,
		func(m *trial.Measures) []trial.Group { return m.Deciles[:] })
	r.parts(w, "The same by region", population.RegionNames(),
		func(m *trial.Measures) []trial.Group { return m.Regions[:] })
	if r.World.Game.Size > 1 {
		r.parts(w, "The same by size of party", heads[:r.World.Game.Size],
			func(m *trial.Measures) []trial.Group { return m.Parties })
	}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (r *Results) summary(w io.Writer) {
	all := measures(&r.World.Game)
	head := []string{"engine"}
	for _, m := range all {
		head = append(head, m.name)
	}
	var rows [][]string
	for _, name := range r.Engines {
		row := []string{string(name)}
		for _, m := range all {
			row = append(row, cell(r.each(name, m), m.digits))
		}
		rows = append(rows, row)
	}
	table(w, head, rows)
}

// pairs compares the function on the file of a language with the literal reading of the same file, seed by seed.
func (r *Results) pairs(w io.Writer) {
	all := []measure{p90, abandoned, spread, gap}
	head := []string{"rules, less the literal reading of the same file"}
	for _, m := range all {
		head = append(head, m.name)
	}
	var rows [][]string
	for _, l := range engine.Pairs(&r.World.Game) {
		ours, theirs := engine.On(l), engine.Literal(l)
		if len(r.Runs[ours]) == 0 || len(r.Runs[theirs]) == 0 {
			continue
		}
		row := []string{string(l)}
		for _, m := range all {
			a, b := r.each(ours, m), r.each(theirs, m)
			for i := range a {
				a[i] -= b[i]
			}
			row = append(row, cell(a, m.digits))
		}
		rows = append(rows, row)
	}
	if rows != nil {
		table(w, head, rows)
	}
}

// choices compares the matches that the function and a literal reading made of the same players.
func (r *Results) choices(w io.Writer) {
	head := []string{"of the same players: rules, less the literal reading", "matches", "others %", "spread", "gap",
		"better %", "worse %"}
	var rows [][]string
	for _, l := range engine.Pairs(&r.World.Game) {
		var all trial.Choice
		for _, one := range r.Choices[l] {
			all.Add(one)
		}
		if all.Other == 0 {
			continue
		}
		rows = append(rows, []string{string(l), strconv.Itoa(all.Moments),
			fmt.Sprintf("%.0f", of100(all.Other, all.Moments)), cell(all.Spread, 0), cell(all.Gap, 1),
			fmt.Sprintf("%.0f", of100(all.Better, all.Other)), fmt.Sprintf("%.0f", of100(all.Worse, all.Other))})
	}
	if rows != nil {
		table(w, head, rows)
	}
}

// regret is how far engines are from what hindsight says cannot be better.
func (r *Results) regret(w io.Writer) {
	bounds := []measure{
		{"mean wait", 1, func(m *trial.Measures) float64 { return m.Waits.Mean() }}, spread, abandoned,
	}
	limit := func(b trial.Bound) [3]float64 { return [3]float64{b.Wait, b.Spread, 100 * b.Abandoned} }
	head := []string{"above the bound of hindsight"}
	least := []string{"the bound itself"}
	for i, m := range bounds {
		head = append(head, m.name)
		var all []float64
		for _, b := range r.Bounds {
			all = append(all, limit(b)[i])
		}
		least = append(least, cell(all, m.digits))
	}
	rows := [][]string{least}
	for _, name := range r.Engines {
		row := []string{string(name)}
		for i, m := range bounds {
			all := r.each(name, m)
			for seed := range all {
				all[seed] -= limit(r.Bounds[seed])[i]
			}
			row = append(row, cell(all, m.digits))
		}
		rows = append(rows, row)
	}
	table(w, head, rows)
}

// parts are waits of parts of the players.
func (r *Results) parts(w io.Writer, title string, heads []string, of func(*trial.Measures) []trial.Group) {
	var rows [][]string
	for _, name := range r.Engines {
		row := []string{string(name)}
		for i := range heads {
			var p50, p90, p99, left []float64
			for _, m := range r.Runs[name] {
				if g := of(m)[i]; len(g.Waits) > 0 {
					p50, p90, p99 = append(p50, g.Waits.At(0.5)), append(p90, g.Waits.At(0.9)), append(p99, g.Waits.At(0.99))
					left = append(left, of100(g.Abandoned, len(g.Waits)))
				}
			}
			if len(p90) == 0 {
				row = append(row, "–")
				continue
			}
			row = append(row, fmt.Sprintf("%.0f, %s, %.0f (%.0f)", statistics.Mean(p50), cell(p90, 0), statistics.Mean(p99),
				statistics.Mean(left)))
		}
		rows = append(rows, row)
	}
	table(w, append([]string{title}, heads...), rows)
}
