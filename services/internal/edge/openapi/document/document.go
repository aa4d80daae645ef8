// Package document reads the OpenAPI document, as far as code is generated from it.
package document

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is the document.
type Document struct {
	Paths      Ordered[Path]
	Components struct {
		Parameters map[string]Parameter
		Responses  map[string]Response
		Schemas    Ordered[Schema]
		// Codes are the codes of problems.
		Codes Ordered[Code] `yaml:"x-codes"`
	}
}

// Path is a path of the document.
type Path struct {
	Parameters             []Parameter
	Get, Put, Post, Delete *Operation
}

// Operation is a method of a path.
type Operation struct {
	ID          string `yaml:"operationId"`
	Summary     string
	Description string
	Deprecated  bool
	Security    []map[string]any
	Parameters  []Parameter
	// Repeatable: to send a request twice has the same effect as to send it once.
	Repeatable  bool `yaml:"x-repeatable"`
	RequestBody struct {
		Content map[string]Media
	} `yaml:"requestBody"`
	Responses map[string]Response
}

// Parameter is a parameter of an operation, or a reference to one.
type Parameter struct {
	Ref                   string `yaml:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                *Schema
}

// Response is an answer, or a reference to one.
type Response struct {
	Ref     string `yaml:"$ref"`
	Content map[string]Media
}

// Media is the contents of a body of one type.
type Media struct{ Schema *Schema }

// Code is what a code of a problem means.
type Code struct {
	Status int
	// Retry: the same request may succeed later.
	Retry bool
	// When is a sentence for developers, and Player what a player may be told.
	When, Player string
}

// Schema is a JSON schema.
type Schema struct {
	Ref                  string    `yaml:"$ref"`
	Type                 Kinds     `yaml:"type"`
	AnyOf                []*Schema `yaml:"anyOf"`
	Format               string
	ContentEncoding      string `yaml:"contentEncoding"`
	Description          string
	Deprecated           bool
	Required             []string
	Properties           Ordered[Schema]
	AdditionalProperties Optional `yaml:"additionalProperties"`
	Items                *Schema
	MinItems             int `yaml:"minItems"`
	Minimum              *float64
	Enum                 []any
}

// Ordered is a mapping in the order of the document.
type Ordered[T any] []Named[T]

// Named is an element of it.
type Named[T any] struct {
	Name  string
	Value *T
}

// UnmarshalYAML is called by package yaml, as are those below.
func (o *Ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i < len(n.Content); i += 2 {
		one := Named[T]{n.Content[i].Value, new(T)}
		if err := n.Content[i+1].Decode(one.Value); err != nil {
			return err
		}
		*o = append(*o, one)
	}
	return nil
}

// Find returns the value of a name, nil when there is none.
func (o Ordered[T]) Find(name string) *T {
	if i := slices.IndexFunc(o, func(n Named[T]) bool { return n.Name == name }); i >= 0 {
		return o[i].Value
	}
	return nil
}

// Kinds is one name of a JSON type, or several.
type Kinds []string

// UnmarshalYAML reads both forms.
func (k *Kinds) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*k = Kinds{n.Value}
		return nil
	}
	return n.Decode((*[]string)(k))
}

// Nullable reports whether null is one of the types.
func (k Kinds) Nullable() bool { return slices.Contains(k, "null") }

// Other is the type that is not null, "" when there is none.
func (k Kinds) Other() string {
	if i := slices.IndexFunc(k, func(one string) bool { return one != "null" }); i >= 0 {
		return k[i]
	}
	return ""
}

// Optional is a schema, or false for none.
type Optional struct{ *Schema }

// UnmarshalYAML reads both forms.
func (o *Optional) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return nil
	}
	o.Schema = new(Schema)
	return n.Decode(o.Schema)
}

// Read reads a document.
func Read(text []byte) (*Document, error) {
	d := new(Document)
	if err := yaml.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return d, nil
}

// Referred returns the name at the end of a reference.
func Referred(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// Operations are the path's operations, with the names of their methods as package http has them.
func (p *Path) Operations() iter.Seq2[string, *Operation] {
	return func(yield func(string, *Operation) bool) {
		for i, o := range []*Operation{p.Get, p.Put, p.Post, p.Delete} {
			if o != nil && !yield([]string{"Get", "Put", "Post", "Delete"}[i], o) {
				return
			}
		}
	}
}

// Callers are the kinds of token that the operation accepts.
func (o *Operation) Callers() (kinds []string) {
	for _, security := range o.Security {
		kinds = slices.AppendSeq(kinds, maps.Keys(security))
	}
	return kinds
}

// Address is a path as clients append it to the address of a project's API.
func Address(path string) string {
	if below, versioned := strings.CutPrefix(path, "/api/"); versioned {
		return below
	}
	return "v1" + path
}

// Parameter follows the reference of a parameter.
func (d *Document) Parameter(p Parameter) Parameter {
	if p.Ref == "" {
		return p
	}
	return d.Components.Parameters[Referred(p.Ref)]
}

// Content is the content of an operation's answer that is success.
func (d *Document) Content(o *Operation) map[string]Media {
	for _, status := range []string{"200", "201", "202"} {
		r, ok := o.Responses[status]
		if r.Ref != "" {
			r = d.Components.Responses[Referred(r.Ref)]
		}
		if ok {
			return r.Content
		}
	}
	return nil
}

// Lines breaks a text into lines that have room for so many bytes. An empty line is between paragraphs.
func Lines(text string, room int) (lines []string) {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && len(line)+1+len(word) > room {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		lines = append(lines, line)
	}
	return lines
}
