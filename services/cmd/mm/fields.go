package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

// fieldFlags are the attributes and properties of a ticket or backfill ticket.
type fieldFlags struct {
	Attribute []attribute `sep:"none" placeholder:"NAME=NUMBER" help:"Number that pools filter by. May be repeated."`
	Property  []property  `sep:"none" placeholder:"NAME=TEXT|@FILE" help:"Bytes for the match function. May be repeated."`
	Value     []value     `sep:"none" placeholder:"NAME=VALUE" help:"Property that rules read: a JSON number, string, list of strings or object of numbers, or else text. May be repeated."`
}

func (f fieldFlags) read() (attributes map[string]float64, properties map[string][]byte, err error) {
	attributes, properties = map[string]float64{}, map[string][]byte{}
	for _, a := range f.Attribute {
		if _, ok := attributes[a.name]; ok {
			return nil, nil, usageError(fmt.Sprintf("--attribute %s is given twice", a.name))
		}
		attributes[a.name] = a.value
	}
	for _, p := range f.Property {
		if _, ok := properties[p.name]; ok {
			return nil, nil, usageError(fmt.Sprintf("--property %s is given twice", p.name))
		}
		if properties[p.name], err = p.bytes(); err != nil {
			return nil, nil, fmt.Errorf("--property %s: %w", p.name, err)
		}
	}
	for _, v := range f.Value {
		if _, ok := properties[v.name]; ok {
			return nil, nil, usageError(fmt.Sprintf("--value %s is given twice, or is a --property", v.name))
		}
		properties[v.name] = v.text
	}
	return attributes, properties, nil
}

// addFields adds attributes, and the lengths of properties: their values may be long and private.
func (g *grid) addFields(attributes map[string]float64, properties map[string][]byte) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		g.add("attribute "+name, number(attributes[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		g.add("property "+name, format.Plural(len(properties[name]), "byte"))
	}
}

// attribute is NAME=NUMBER.
type attribute struct {
	name  string
	value float64
}

// UnmarshalText is called by the parser.
func (a *attribute) UnmarshalText(text []byte) error {
	name, value, ok := strings.Cut(string(text), "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is not NAME=NUMBER, such as skill=1200", text)
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return fmt.Errorf("%s must be a finite number, not %q", name, value)
	}
	a.name, a.value = name, n
	return nil
}

// property is NAME=TEXT, or NAME=@FILE.
type property struct{ name, value string }

// UnmarshalText is called by the parser.
func (p *property) UnmarshalText(text []byte) error {
	name, value, ok := strings.Cut(string(text), "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is neither NAME=TEXT nor NAME=@FILE", text)
	}
	p.name, p.value = name, value
	return nil
}

// value is NAME=VALUE.
type value struct {
	name string
	text []byte
}

// UnmarshalText is called by the parser.
func (v *value) UnmarshalText(text []byte) error {
	name, of, ok := strings.Cut(string(text), "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is not NAME=VALUE, such as roles='[\"tank\"]'", text)
	}
	var is any
	if json.Unmarshal([]byte(of), &is) != nil {
		is = of
	}
	properties, err := client.Values{name: is}.Properties()
	v.name, v.text = name, properties[name]
	return err
}

func (p property) bytes() ([]byte, error) {
	if file, ok := strings.CutPrefix(p.value, "@"); ok {
		return os.ReadFile(file)
	}
	return []byte(p.value), nil
}
