package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"matchmaker.dev/services/cmd/mm/format"
)

// column is a member of the JSON of a result: "queue", "server.region" for one of an object in it, or "match=id" under
// another head. "age:s" has a unit, "ended:time" and, in milliseconds, "created:ms" are times, and "queue:(none)" says
// what an empty cell has. "+created" is for wide tables alone. What the JSON leaves out is an empty cell.
type column struct {
	head, path, form string
	wide             bool
}

func columnsOf(text string) (all []column) {
	for one := range strings.SplitSeq(text, ", ") {
		var c column
		one, c.form, _ = strings.Cut(one, ":")
		one, c.wide = strings.CutPrefix(one, "+")
		c.head, c.path, _ = strings.Cut(one, "=")
		c.path = cmp.Or(c.path, c.head)
		all = append(all, c)
	}
	return all
}

// tableOf is a table with a row for each element of a list.
func tableOf[T any](list []T, columns string) grid {
	var g grid
	all := columnsOf(columns)
	for _, c := range all {
		g.head = append(g.head, c.head)
		if c.wide {
			g.more++
		}
	}
	for _, element := range list {
		members := membersOf(element)
		var cells []any
		for _, c := range all {
			cells = append(cells, c.of(members))
		}
		g.add(cells...)
	}
	return g.withoutEmptyColumns()
}

// showList prints a list as a table, unless there is an error.
func showList[T any](s *session, columns string) func(list []T, err error) error {
	return func(list []T, err error) error {
		if err != nil {
			return err
		}
		return s.show(list, tableOf(list, columns))
	}
}

// addMembers adds a row for each member of an object.
func (g *grid) addMembers(of any, members string) {
	values := membersOf(of)
	for _, c := range columnsOf(members) {
		g.add(c.head, c.of(values))
	}
}

// showMembers prints an object, as a table with a row for each member.
func (s *session) showMembers(of any, members string) error {
	var g grid
	g.addMembers(of, members)
	return s.show(of, g)
}

// membersOf returns the members of a value whose JSON is an object. Other values have none.
func membersOf(of any) (members map[string]json.RawMessage) {
	object, _ := encode(of, "") // types of answers have JSON
	_ = json.Unmarshal(object, &members)
	return members
}

// of is the cell of a JSON object with these members.
func (c column) of(members map[string]json.RawMessage) any {
	names := strings.Split(c.path, ".")
	value := members[names[0]]
	for _, name := range names[1:] {
		value = membersOf(value)[name]
	}
	if cell := c.cell(value); cell != "" || !strings.HasPrefix(c.form, "(") {
		return cell
	}
	return c.form
}

// cell writes a value. A number with a fraction has four digits.
func (c column) cell(value json.RawMessage) any {
	var decoded any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	_ = decoder.Decode(&decoded) // nothing for what is not there
	switch v := decoded.(type) {
	case json.Number:
		return c.number(v)
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil && c.form == "time" {
			return formatTime(at)
		}
		return v
	case bool:
		if v {
			return "yes"
		}
	case []any:
		words := fmt.Sprint(v)
		return words[1 : len(words)-1]
	case map[string]any:
		return format.JSON(value)
	}
	return ""
}

// number writes a number, a time in milliseconds, or a number with a unit.
func (c column) number(n json.Number) any {
	whole, err := n.Int64()
	switch {
	case err == nil && c.form == "":
		return whole
	case c.form == "ms" && whole == 0:
		return ""
	case c.form == "ms":
		return formatTime(time.UnixMilli(whole))
	}
	float, _ := n.Float64() // JSON has no others
	return strings.TrimSpace(format.Number(float) + " " + c.form)
}
