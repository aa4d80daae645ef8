// Package page writes what simulations found as one HTML file: tables, and plots as vector graphics. The file loads
// nothing.
package page

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/lab/simulation"
)

//go:embed page.html
var text string

// section is a plot with what it shows.
type section struct {
	Title, About string
	Plot         template.HTML
}

type row struct {
	Name  string
	Cells []string
}

type content struct {
	Title     string
	Scenarios []string
	Notes     []string
	Rows      []row
	Compared  bool
	Sections  []section
}

// Write writes the report of one result, or of two of which the second is compared with the first.
func Write(w io.Writer, results []*simulation.Result) error {
	c := content{Compared: len(results) == 2}
	for _, r := range results {
		c.Scenarios = append(c.Scenarios, r.Scenario.Name)
		c.Notes = append(c.Notes, Notes(r)...)
	}
	c.Title = strings.Join(c.Scenarios, " and ")
	for _, line := range Table(results) {
		c.Rows = append(c.Rows, row{line[0], line[1:]})
	}
	for _, one := range plots {
		if plot := one.draw(results); plot != "" {
			c.Sections = append(c.Sections, section{one.title, one.about, plot})
		}
	}
	t, err := template.New("page").Parse(text)
	if err != nil {
		return err
	}
	return t.Execute(w, c)
}

// Table is the numbers of one result, or of two and their difference with its interval. What is not known is left out.
func Table(results []*simulation.Result) (rows [][]string) {
	if len(results) == 2 {
		for _, d := range simulation.Compare(results[0], results[1]) {
			if math.IsNaN(d.First) && math.IsNaN(d.Second) {
				continue
			}
			difference := ""
			if !math.IsNaN(d.Mean) {
				difference = fmt.Sprintf("%+.*f ± %.*f", d.Digits, d.Mean, d.Digits, d.Half)
			}
			rows = append(rows, []string{d.Name, number(d.First, d.Digits), number(d.Second, d.Digits), difference})
		}
		return rows
	}
	whole := results[0].Whole()
	for _, n := range simulation.Numbers() {
		if v := n.Of(whole); !math.IsNaN(v) {
			rows = append(rows, []string{n.Name, number(v, n.Digits)})
		}
	}
	return rows
}

func number(v float64, digits int) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// Notes are what else is to be known of a result.
func Notes(r *simulation.Result) (notes []string) {
	add := func(format string, args ...any) {
		notes = append(notes, r.Scenario.Name+": "+fmt.Sprintf(format, args...))
	}
	many := format.Plural[int]
	add("%s with %s came in %s, of which at most %d waited; functions ran %s", many(r.Tickets, "ticket"),
		many(r.Players, "player"), r.Scenario.Population.Duration, r.Largest, many(r.Runs, "time"))
	if r.Servers > 0 {
		add("in use at once: at most %s", many(r.Servers, "game server"))
	}
	if r.Full > 0 {
		add("%s a match was not made since no game server was free", many(r.Full, "time"))
	}
	if r.Refused > 0 {
		add("%s got no server", many(r.Refused, "match"))
	}
	for _, f := range r.Fleets {
		if f.Servers+f.Full+f.Refused > 0 {
			add("%s: at most %s in use, %s none was free, %s", cmp.Or(f.Name, "all other fleets"),
				many(f.Servers, "server"), many(f.Full, "time"), many(f.Refused, "error"))
		}
	}
	for _, what := range r.Overlooked {
		add("%s. It got all tickets in each run from then on", what)
	}
	if r.Asked > 0 {
		add("%s asked their players; not accepted: %d", many(r.Asked, "match"), r.Declined)
	}
	if r.Games > 0 {
		add("%s could be filled, and %s joined one", many(r.Games, "game"), many(r.Joined, "ticket"))
	}
	return notes
}
