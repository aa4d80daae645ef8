package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// page prints a record in Markdown.
type page struct {
	Record string        `arg:"" help:"The file of --json." type:"existingfile"`
	Line   []string      `help:"Only the lines of these names, in this order: 'steady: 500/s, no server: p50'." sep:"none" placeholder:"NAME"`
	Stay   time.Duration `help:"From a ticket of a player to its next one, for the table of players at the same time." default:"20m"`
	Into   string        `help:"Replace what is between the marks in this file, instead of printing." type:"existingfile"`
}

// The marks around numbers in a document.
const (
	beginMark = "<!-- numbers of make bench -->\n"
	endMark   = "<!-- end of the numbers -->\n"
)

// Run is called by kong.
func (p *page) Run(out io.Writer) error {
	text, err := os.ReadFile(p.Record)
	if err != nil {
		return err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	numbers, err := r.page(p.Line)
	if err == nil && len(p.Line) == 0 && len(r.Binaries) == 1 {
		numbers += r.Binaries[0].players(p.Stay, r.Machine.Processors)
	}
	if err != nil || p.Into == "" {
		fmt.Fprint(out, numbers)
		return err
	}
	document, err := os.ReadFile(p.Into)
	if err != nil {
		return err
	}
	replaced, err := replace(string(document), numbers)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Into, err)
	}
	return os.WriteFile(p.Into, []byte(replaced), 0o600) //nolint:gosec // the author names the file
}

// replace puts numbers between the marks of a document.
func replace(document, numbers string) (string, error) {
	before, rest, begins := strings.Cut(document, beginMark)
	_, after, ends := strings.Cut(rest, endMark)
	if !begins || !ends {
		return "", fmt.Errorf("no lines %q and %q", strings.TrimSpace(beginMark), strings.TrimSpace(endMark))
	}
	return before + beginMark + numbers + endMark + after, nil
}

// page is a sentence about the machine, and the lines of these names; all when there are none. Lines that were measured
// while the machine was too busy say nothing: they are left out, and the page names their shapes.
func (r *record) page(names []string) (string, error) {
	if len(r.Failed) > 0 {
		return "", errFailed
	}
	shown, left := *r, []string{}
	shown.Binaries = nil
	for _, b := range r.Binaries {
		quiet := *b
		quiet.Lines = nil
		for _, l := range b.Lines {
			if len(l.Busy) == 0 {
				quiet.Lines = append(quiet.Lines, l)
			} else if !slices.Contains(left, l.Shape) {
				left = append(left, l.Shape)
			}
		}
		if len(quiet.Lines) == 0 {
			return "", errBusyMachine
		}
		shown.Binaries = append(shown.Binaries, &quiet)
	}
	if len(names) > 0 {
		if len(r.Binaries) != 1 {
			return "", errors.New("names are for records of one binary")
		}
		chosen := *shown.Binaries[0]
		chosen.Lines = nil
		for _, name := range names {
			n := slices.IndexFunc(shown.Binaries[0].Lines, func(l *line) bool { return l.Shape+": "+l.Name == name })
			if n < 0 {
				return "", fmt.Errorf("there is no line %q that was measured on a quiet machine", name)
			}
			chosen.Lines = append(chosen.Lines, shown.Binaries[0].Lines[n])
		}
		shown.Binaries, left = []*binary{&chosen}, nil
	}
	t := shown.table(func(*line) bool { return true })
	where := fmt.Sprintf("%s, version %s, %s.", r.Started.UTC().Format("2006-01-02"), r.Binaries[0].Version, r.Machine)
	numbers := fmt.Sprintf("%s\n\n%s\n", wrapped(where), t.RenderMarkdown())
	if len(left) > 0 {
		numbers += fmt.Sprintf("\n%s\n",
			wrapped("Not here, since the machine was too busy meanwhile: lines of "+strings.Join(left, ", ")+"."))
	}
	return numbers, nil
}

// fewestMachines: one may fail.
const fewestMachines = 2

// players is a table of what players take that are there at the same time and come with each stay once: a ticket
// costs what it did at the next lower rate that was measured. A machine has so many processors. It is empty when none
// was measured.
func (b *binary) players(stay time.Duration, machine int) string {
	each := map[int]float64{} // µs of a ticket by the rate
	for _, l := range b.Lines {
		rate, is := strings.CutSuffix(l.Name, "/s, a server each: processor time a ticket")
		n, err := strconv.Atoi(strings.ReplaceAll(rate, ",", ""))
		if cost := median(l.Values); l.Shape == "steady" && is && err == nil && !math.IsInf(cost, 0) && len(l.Busy) == 0 {
			each[n] = cost
		}
	}
	if len(each) == 0 {
		return ""
	}
	rates := slices.Sorted(maps.Keys(each))
	t := table.NewWriter()
	t.AppendHeader(table.Row{"players at the same time", "tickets a second", "processor time a ticket", "processors",
		"machines"})
	for _, players := range []int{10_000, 100_000, 1_000_000, 5_000_000} {
		rate := float64(players) / stay.Seconds()
		after, is := slices.BinarySearch(rates, int(rate))
		if !is {
			after = max(0, after-1)
		}
		cost := each[rates[after]]
		processors := rate * cost / 1e6
		machines := max(fewestMachines, math.Ceil(2*processors/float64(machine)))
		t.AppendRow(table.Row{count(players), digits(rate), show(cost, micros), digits(processors), count(int(machines))})
	}
	about := fmt.Sprintf("A player comes again after %g minutes, match and menus included: players at the same time are "+
		"tickets a second times that. Each match gets a server. A ticket takes what it does at the next lower rate above. "+
		"Machines are like this one, with half of their %d processors free, and at least %d.", stay.Minutes(), machine,
		fewestMachines)
	return fmt.Sprintf("\n%s\n\n%s\n", wrapped(about), t.RenderMarkdown())
}

// columns is how wide lines of documents are at most.
const columns = 120

// wrapped is a text in lines.
func wrapped(words string) string {
	lines := strings.Split(text.WrapSoft(words, columns), "\n") // filled up with spaces
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
