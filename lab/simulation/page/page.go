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
	add("%d tickets with %d players came in %s, of which at most %d waited; functions ran %d times", r.Tickets, r.Players,
		r.Scenario.Population.Duration, r.Largest, r.Runs)
	if r.Servers > 0 {
		add("at most %d game servers were in use", r.Servers)
	}
	if r.Full > 0 {
		add("%d times a match was not made since no game server was free", r.Full)
	}
	if r.Refused > 0 {
		add("%d matches got no server", r.Refused)
	}
	for _, f := range r.Fleets {
		if f.Servers+f.Full+f.Refused > 0 {
			add("%s: at most %d servers in use, %d times none was free, %d errors", cmp.Or(f.Name, "all other fleets"),
				f.Servers, f.Full, f.Refused)
		}
	}
	for _, what := range r.Overlooked {
		add("%s. It got all tickets in each run from then on", what)
	}
	if r.Asked > 0 {
		add("%d matches asked their players, of which %d were not accepted", r.Asked, r.Declined)
	}
	if r.Games > 0 {
		add("%d games could be filled, and %d tickets joined one", r.Games, r.Joined)
	}
	return notes
}
