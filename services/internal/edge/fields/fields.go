// Package fields is what tickets and backfill tickets carry: attributes, which functions query, and properties, which
// only functions understand.
package fields

import (
	"maps"
	"slices"

	"matchmaker.dev/services/internal/edge/problem"
)

// Values is the attributes and properties of a request.
type Values struct {
	Attributes map[string]float64 `json:"attributes"`
	Properties map[string][]byte  `json:"properties"`
}

// Empty tells whether there are no attributes and no properties.
func (p *Values) Empty() bool { return len(p.Attributes)+len(p.Properties) == 0 }

// Created is the attribute that the service sets itself.
const Created = "created"

// Check is an Invalid error that names the member when a payload is outside the limits.
func (p *Values) Check(l Limits) error { return p.check("", l) }

// check is Check for values that are at this path, which ends in a dot or is empty.
func (p *Values) check(at string, l Limits) error {
	if n := len(p.Attributes); n > l.Attributes {
		return problem.New(problem.Invalid, "%sattributes: %d of them, at most %d are allowed", at, n, l.Attributes).
			Exceeds("max-attributes")
	}
	if n := len(p.Properties); n > l.Properties {
		return problem.New(problem.Invalid, "%sproperties: %d of them, at most %d are allowed", at, n, l.Properties).
			Exceeds("max-properties")
	}
	for name := range p.Attributes {
		if name == Created {
			return problem.New(problem.Invalid,
				"%sattributes.created: the service sets this attribute itself; choose another name", at)
		}
		if err := checkName(at+"attributes", name, l.Name); err != nil {
			return err
		}
	}
	for name := range p.Properties {
		if err := checkName(at+"properties", name, l.Name); err != nil {
			return err
		}
	}
	return nil
}

// Columns are the attributes as parallel lists, sorted by name: equal payloads have equal columns.
func (p *Values) Columns() (names []string, values []float64) {
	names = slices.AppendSeq(make([]string, 0, len(p.Attributes)), maps.Keys(p.Attributes))
	slices.Sort(names)
	values = make([]float64, len(names))
	for i, name := range names {
		values[i] = p.Attributes[name]
	}
	return names, values
}

// Attributes is the inverse of Columns.
func Attributes(names []string, values []float64) map[string]float64 {
	attributes := make(map[string]float64, len(names))
	for i, name := range names {
		attributes[name] = values[i]
	}
	return attributes
}

func checkName(field, name string, most int) error {
	switch {
	case name == "":
		return problem.New(problem.Invalid, "%s: a name is empty", field)
	case len(name) > most:
		return problem.New(problem.Invalid, "%s.%.40s…: the name has %d bytes, at most %d are allowed", field, name,
			len(name), most).Exceeds("name-length")
	}
	return nil
}
