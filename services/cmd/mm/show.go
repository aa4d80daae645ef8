package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// show prints a result: value as JSON, or as the tables.
func (s *session) show(value any, tables ...grid) error {
	if s.Output == "json" {
		encoder := json.NewEncoder(s.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	}
	var rendered []string
	for _, g := range tables {
		if len(g.rows) > 0 {
			rendered = append(rendered, g.String())
		}
	}
	_, err := fmt.Fprintln(s.out, strings.Join(rendered, "\n\n"))
	return err
}

// showDeleted prints what is gone.
func (s *session) showDeleted(id string) error {
	var g grid
	g.add("deleted", id)
	return s.show(map[string]string{"deleted": id}, g)
}

// grid is a table. Without a head its first column names what the second holds.
type grid struct {
	head []any
	rows [][]any
}

// add appends a row, unless everything but its first cell is empty.
func (g *grid) add(cells ...any) {
	for i, cell := range cells {
		if text, ok := cell.(string); ok {
			cells[i] = plain(text)
		}
	}
	if slices.ContainsFunc(cells[1:], func(cell any) bool { return cell != "" && cell != nil }) {
		g.rows = append(g.rows, cells)
	}
}

// without is the table less the columns in which every cell is empty.
func (g grid) without() grid {
	for column := len(g.head) - 1; column >= 0; column-- {
		if slices.ContainsFunc(g.rows, func(row []any) bool { return row[column] != "" }) {
			continue
		}
		g.head = slices.Delete(g.head, column, column+1)
		for i, row := range g.rows {
			g.rows[i] = slices.Delete(row, column, column+1)
		}
	}
	return g
}

// String is the table without borders, for eyes and for awk.
func (g grid) String() string {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatUpper
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	t.AppendHeader(g.head)
	for _, row := range g.rows {
		t.AppendRow(row)
	}
	return t.Render()
}

// compact is JSON on one line.
func compact(text []byte) string {
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return string(text)
	}
	return line.String()
}

// moment is a time as a person reads it; empty for no time.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}
