package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// record is all that a run of this program measured.
type record struct {
	Started time.Time
	Minutes float64
	Machine machine
	Rounds  int
	// Binaries are measured in turns.
	Binaries []*binary
	// Failed says which shapes could not be measured, and why.
	Failed []string `json:",omitempty"`
}

// binary is one of the servers that are compared.
type binary struct {
	Matchmaker, Function, Version string
	Lines                         []*line
}

// line returns the line of a reading, and begins it if there is none.
func (b *binary) line(shape string, r *reading) *line {
	if l := b.find(shape, r.name); l != nil {
		return l
	}
	l := &line{Shape: shape, Name: r.name, Unit: r.unit}
	b.Lines = append(b.Lines, l)
	return l
}

// find returns nil when there is no such line.
func (b *binary) find(shape, name string) *line {
	for _, l := range b.Lines {
		if l.Shape == shape && l.Name == name {
			return l
		}
	}
	return nil
}

// busy tells in how many lines the machine was too busy.
func (r *record) busy() (n int) {
	for _, b := range r.Binaries {
		for _, l := range b.Lines {
			if len(l.Busy) > 0 {
				n++
			}
		}
	}
	return n
}

func (r *record) save(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// print prints the lines that are wanted: one binary's beside their limits, several binaries' beside each other.
func (r *record) print(out io.Writer, wanted func(*line) bool) {
	fmt.Fprintln(out, r.table(wanted).Render())
}

func (r *record) table(wanted func(*line) bool) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	if len(r.Binaries) > 1 {
		r.compare(t, wanted)
		return t
	}
	t.AppendHeader(table.Row{"measure", fmt.Sprintf("median of %d", r.Rounds), "range", "beside", "times", "range", "aim"})
	for _, l := range r.Binaries[0].Lines {
		if !wanted(l) {
			continue
		}
		row := table.Row{l.Shape + ": " + l.Name, show(median(l.Values), l.Unit), spread(l.Values)}
		if l.Limit == "" {
			row = append(row, "", "", "")
		} else {
			times := l.times()
			row = append(row, l.Limit+": "+show(median(l.Beside), l.Unit), digits(median(times)), spread(times))
		}
		t.AppendRow(append(row, l.aim()))
	}
	return t
}

// compare has a column for each binary, and how many times the first one's value each other one's is.
func (r *record) compare(t table.Writer, wanted func(*line) bool) {
	header := table.Row{"measure"}
	for i, b := range r.Binaries {
		header = append(header, fmt.Sprintf("%c: %s", 'A'+i, b.Version), "range")
	}
	for i := range r.Binaries[1:] {
		header = append(header, fmt.Sprintf("%c / A", 'B'+i), "range")
	}
	t.AppendHeader(append(header, ""))
	base := r.Binaries[0]
	for _, l := range base.Lines {
		if !wanted(l) {
			continue
		}
		row := table.Row{l.Shape + ": " + l.Name}
		var times table.Row
		mark := ""
		for _, b := range r.Binaries {
			other := b.find(l.Shape, l.Name)
			if other == nil { // it failed
				row, times = append(row, "", ""), append(times, "", "")
				continue
			}
			row = append(row, show(median(other.Values), l.Unit), spread(other.Values))
			if mark == "" {
				mark = other.mark()
			}
			if b != base {
				times = append(times, digits(median(other.Values)/median(l.Values)), spread(ratios(other.Values, l.Values)))
			}
		}
		t.AppendRow(append(slices.Concat(row, times), mark))
	}
}
