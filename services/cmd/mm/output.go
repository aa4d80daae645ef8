package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"go.yaml.in/yaml/v3"

	"matchmaker.dev/pkg/client"
)

// structured reports whether results are printed for programs.
func (s *session) structured() bool { return s.Output == "json" || s.Output == "yaml" }

// show prints a result: value as JSON or YAML, or the tables that have rows.
func (s *session) show(value any, tables ...grid) error {
	if s.structured() {
		return s.print(value)
	}
	var rendered []string
	for _, g := range tables {
		if s.Output != "wide" {
			g = g.narrow()
		}
		if len(g.rows) > 0 {
			rendered = append(rendered, g.String())
		}
	}
	if len(rendered) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(s.out, strings.Join(rendered, "\n\n"))
	return err
}

// orEmpty is a list whose JSON is [], not null.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

// print prints a value for programs.
func (s *session) print(value any) error {
	if s.Output == "yaml" {
		return writeYAML(s.out, value)
	}
	return s.printJSON(value, "  ")
}

// printNext prints one of many values for programs: a line of JSON, or a document of YAML.
func (s *session) printNext(value any) error {
	if s.Output != "yaml" {
		return s.printJSON(value, "")
	}
	if _, err := io.WriteString(s.out, "---\n"); err != nil {
		return err
	}
	return writeYAML(s.out, value)
}

// encode is the JSON of a value, with a line's end.
func encode(value any, indent string) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return text.Bytes(), err
}

// printJSON writes JSON that cannot control the terminal.
func (c console) printJSON(value any, indent string) error {
	text, err := encode(value, indent)
	if err != nil {
		return err
	}
	// The encoder escapes those below U+0020 alone.
	var safe []byte
	for _, r := range string(text) {
		if r < 0x7f || unicode.IsPrint(r) {
			safe = utf8.AppendRune(safe, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			safe = fmt.Appendf(safe, `\u%04x`, unit)
		}
	}
	_, err = c.out.Write(safe)
	return err
}

// showID prints the id of something. label is its name in the table, member its name in the JSON.
func (s *session) showID(label, member, id string) error {
	return s.showMembers(map[string]string{member: id}, label+"="+member)
}

// showDeletion shows how a deletion went. It succeeds where there was nothing to delete.
func (s *session) showDeletion(what, id string, err error) error {
	switch {
	case client.IsNotFound(err):
		return s.showNothingDeleted(what, id)
	case err != nil:
		return err
	}
	return s.showDeleted(id)
}

func (s *session) showDeleted(id string) error { return s.showID("deleted", "deleted", id) }

// showNothingDeleted says that there was nothing to delete.
func (s *session) showNothingDeleted(what, id string) error {
	s.note("there is no %s %s: nothing was deleted", what, id)
	if s.structured() {
		return s.print(map[string]any{"deleted": nil})
	}
	return nil
}

// grid is a table. Without a head it has two columns, names and values.
type grid struct {
	head []any
	rows [][]any
	// more is how many columns, the last ones, only a wide table has.
	more int
}

// narrow leaves out the columns of a wide table.
func (g grid) narrow() grid {
	if g.more == 0 {
		return g
	}
	less := grid{head: g.head[:len(g.head)-g.more]}
	for _, row := range g.rows {
		less.rows = append(less.rows, row[:len(row)-g.more])
	}
	return less
}

// add appends a row, unless everything but its first cell is empty.
func (g *grid) add(cells ...any) {
	for i, cell := range cells {
		if text, ok := cell.(string); ok {
			cells[i] = oneLine(text)
		}
	}
	if slices.ContainsFunc(cells[1:], func(cell any) bool { return cell != "" && cell != nil }) {
		g.rows = append(g.rows, cells)
	}
}

// withoutEmptyColumns removes the columns whose cells are all empty.
func (g grid) withoutEmptyColumns() grid {
	for column := len(g.head) - 1; column >= 0; column-- {
		if slices.ContainsFunc(g.rows, func(row []any) bool { return row[column] != "" }) {
			continue
		}
		if column >= len(g.head)-g.more {
			g.more--
		}
		g.head = slices.Delete(g.head, column, column+1)
		for i, row := range g.rows {
			g.rows[i] = slices.Delete(row, column, column+1)
		}
	}
	return g
}

// String is the table without borders, so that awk can read it too.
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

// formatTime returns "" for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}

// writeYAML writes what a value is as JSON, so that both have the same members in the same order.
func writeYAML(w io.Writer, value any) error {
	text, err := encode(value, "")
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	node, err := yamlNode(decoder)
	if err != nil {
		return err
	}
	out := yaml.NewEncoder(w)
	out.SetIndent(2)
	if err := out.Encode(node); err != nil {
		return err
	}
	return out.Close()
}

// yamlNode reads the next value.
func yamlNode(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	node := new(yaml.Node)
	switch is := token.(type) {
	case json.Number: // as it is written: a long integer keeps its digits
		return &yaml.Node{Kind: yaml.ScalarNode, Value: is.String()}, nil
	case json.Delim:
		node.Kind = yaml.MappingNode
		if is == '[' {
			node.Kind = yaml.SequenceNode
		}
		for d.More() { // in an object, names and values come in turn
			element, err := yamlNode(d)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, element)
		}
		_, err := d.Token() // the end
		return node, err
	}
	return node, node.Encode(token)
}
