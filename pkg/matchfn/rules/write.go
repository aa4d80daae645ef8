package rules

import (
	"bytes"
	"math"
	"strconv"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Write returns a rule set in our own language. Parse reads it as the same rule set.
func Write(r *Rules) []byte {
	o := object{}
	o.text("name", r.Name)
	o.text("description", r.Description)
	if len(r.Numbers) > 0 {
		o.add("numbers", listOf(r.Numbers))
	}
	values := object{}
	for _, v := range r.Values {
		values.add(v.Name, valueOf(v))
	}
	o.object("values", values)
	teams := []any{}
	for _, t := range r.Teams {
		teams = append(teams, teamOf(t))
	}
	o.add("teams", teams)
	o.span("players", r.Players)
	o.roles(r)
	own := r.Rules
	if r.RegionValue != "" {
		regions := object{}
		if i := len(own) - 1; i >= 0 && own[i].Name == "regions" && own[i].Active == nil {
			if need, ok := own[i].Need.(*Latency); ok && need.Value == r.RegionValue {
				regions = need.bounds()
				own = own[:i]
			}
		}
		regions.add("from", r.RegionValue)
		if len(r.RegionNames) > 0 {
			regions.add("names", listOf(r.RegionNames))
		}
		regions.add("choose", string(r.Choose))
		o.add("regions", regions)
	}
	o.text("priority", r.Priority)
	var list []any
	for _, rule := range own {
		one := object{}
		one.text("name", rule.Name)
		one.bound("active", rule.Active)
		list = append(list, append(one, rule.Need.written()...))
	}
	o.list("rules", list)
	list = nil
	for _, p := range r.Prefer {
		one := object{}
		one.text("name", p.Name)
		one.add("weight", p.Weight)
		one.add("scale", p.Scale)
		if p.Need != nil {
			one.add("need", p.Need.written())
		} else {
			one.add("low", p.Amount.written())
		}
		list = append(list, one)
	}
	o.list("prefer", list)
	list = nil
	for _, order := range r.Order {
		list = append(list, orderOf(order))
	}
	o.list("order", list)
	if p := r.Patience; p != nil {
		o.add("patience", object{{"until", p.Until}, {"worth", p.Worth}, {"enough", p.Enough}})
	}
	o.object("backfill", backfillOf(r.Backfill))
	if s := r.Source; s != nil {
		source := object{}
		source.text("language", s.Language)
		source.text("document", s.Document)
		o.add("source", source)
	}
	return append(layout(nil, o, ""), '\n')
}

// roles writes the value of roles: its name, or an object if there is more to say.
func (o *object) roles(r *Rules) {
	if r.RoleMax == nil && r.RoleWeight == "" {
		o.text("roles", r.RoleValue)
		return
	}
	roles := object{{"from", r.RoleValue}}
	roles.bound("max", r.RoleMax)
	roles.text("weight", r.RoleWeight)
	o.object("roles", roles)
}

// object is an object with its members in order.
type object []member

type member struct {
	name  string
	value any
}

func (o *object) add(name string, value any) { *o = append(*o, member{name, value}) }

func (o *object) text(name, text string) {
	if text != "" {
		o.add(name, text)
	}
}

func (o *object) bound(name string, b *Bound) {
	if b != nil {
		o.add(name, boundOf(b))
	}
}

func (o *object) span(name string, s Range) {
	if s.Min != nil || s.Max != nil {
		o.add(name, spanOf(s))
	}
}

func (o *object) object(name string, of object) {
	if len(of) > 0 {
		o.add(name, of)
	}
}

func (o *object) list(name string, list []any) {
	if len(list) > 0 {
		o.add(name, list)
	}
}

// encode appends a value that is no object and no list, without package encoding/json: with what that needs, a match
// function that reads rules is a fifth larger.
func encode(text []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return document.Quote(text, v)
	case bool:
		return strconv.AppendBool(text, v)
	case float64:
		format := byte('f')
		if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
			format = 'e'
		}
		return strconv.AppendFloat(text, v, format, -1, 64)
	}
	return append(text, "null"...)
}

// layout appends a value: on one line where it fits, else with a line for each member or element.
func layout(text []byte, v any, indent string) []byte {
	const width = 100
	line := oneLine(nil, v)
	start := bytes.LastIndexByte(text, '\n') + 1
	var members []member
	open, end := "{", "}"
	switch v := v.(type) {
	case object:
		members = v
	case []any:
		open, end = "[", "]"
		for _, e := range v {
			members = append(members, member{"", e})
		}
	}
	if len(members) == 0 || indent != "" && len(text)-start+len(line) < width {
		return append(text, line...)
	}
	text = append(text, open...)
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, '\n'), indent...), "  "...)
		if open == "{" {
			text = append(encode(text, m.name), ": "...)
		}
		text = layout(text, m.value, indent+"  ")
	}
	return append(append(append(text, '\n'), indent...), end...)
}

func oneLine(text []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		text = append(text, '{')
		for i, m := range v {
			if i > 0 {
				text = append(text, ", "...)
			}
			text = append(encode(text, m.name), ": "...)
			text = oneLine(text, m.value)
		}
		return append(text, '}')
	case []any:
		text = append(text, '[')
		for i, e := range v {
			if i > 0 {
				text = append(text, ", "...)
			}
			text = oneLine(text, e)
		}
		return append(text, ']')
	}
	return encode(text, v)
}
