package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// page prints a record in Markdown.
type page struct {
	Record string   `arg:"" help:"The file of --json." type:"existingfile"`
	Line   []string `help:"Only the lines of these names, in this order: 'steady: 500/s, no server: p50'." sep:"none" placeholder:"NAME"`
	Into   string   `help:"Replace what is between the marks in this file, instead of printing." type:"existingfile"`
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
