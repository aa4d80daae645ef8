package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/edge/openapi/document"
)

// Model is what SDKs are made from: what clients and game servers ask of the service, and the objects that they send
// and get. It is the same for all languages.
type Model struct {
	Schemas    []Schema
	Operations []Operation
	// Codes are the codes of problems, by their names.
	Codes map[string]document.Code
}

// Schema is an object with members.
type Schema struct {
	Name, Doc string
	Fields    []Field
}

// Field is a member of an object, or a parameter of an operation.
type Field struct {
	// Name is as it is sent.
	Name, Doc string
	Type      Type
	Optional  bool
}

// Kind is the form of a value.
type Kind string

// The kinds. Name is set for an Object, Of for a List and a Map, Values for an Enum. Any is JSON of any form.
const (
	String, Number, Integer, Boolean Kind = "string", "number", "integer", "boolean"
	Bytes, Enum, List, Map           Kind = "bytes", "enum", "list", "map"
	Object, OneOf, Any               Kind = "object", "oneOf", "any"
)

// Type is the type of a value.
type Type struct {
	Kind     Kind
	Name     string
	Of       []Type
	Values   []string
	Nullable bool
}

// Operation is a request.
type Operation struct {
	ID, Summary, Doc string
	// Method and Path are what is asked; Path is below {url}/{project}/matchmaking/api, with names in braces.
	Method, Path string
	// In the path, in the query, and in headers.
	Segments, Query, Headers []Field
	Body, Answer             *Type
	// Stream: the answer is server-sent events.
	Stream bool
	// Repeatable: to send a request twice has the same effect as to send it once.
	Repeatable bool
}

// arguments are what a request must have, in the order of its function's arguments, and options what it may have.
func (o *Operation) arguments() []Field {
	list := slices.DeleteFunc(slices.Concat(o.Segments, o.Query), isOptional)
	if o.Body != nil {
		list = append(list, Field{Name: "body", Type: *o.Body})
	}
	return append(list, slices.DeleteFunc(slices.Clone(o.Headers), isOptional)...)
}

func (o *Operation) options() []Field {
	return slices.DeleteFunc(slices.Concat(o.Query, o.Headers), func(f Field) bool { return !f.Optional })
}

func isOptional(f Field) bool { return f.Optional }

// inOrder returns schemas with those first that others have members of.
func inOrder(schemas []Schema) (list []Schema) {
	var add func(name string)
	add = func(name string) {
		i := slices.IndexFunc(schemas, func(s Schema) bool { return s.Name == name })
		if slices.ContainsFunc(list, func(s Schema) bool { return s.Name == name }) {
			return
		}
		for _, f := range schemas[i].Fields {
			for t := f.Type; ; t = t.Of[0] {
				if t.Kind == Object {
					add(t.Name)
				}
				if len(t.Of) == 0 {
					break
				}
			}
		}
		list = append(list, schemas[i])
	}
	for _, s := range schemas {
		add(s.Name)
	}
	return list
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// reader makes a model.
type reader struct {
	*document.Document
	schemas map[string]Schema
	err     error
}

// NewModel reads an OpenAPI document. Beside the objects of the operations it has those that are named.
func NewModel(text []byte, named ...string) (*Model, error) {
	doc, err := document.Read(text)
	if err != nil {
		return nil, err
	}
	r := &reader{Document: doc, schemas: map[string]Schema{}}
	m := &Model{Codes: map[string]document.Code{}}
	for _, c := range doc.Components.Codes {
		m.Codes[c.Name] = *c.Value
	}
	for _, p := range doc.Paths {
		for method, o := range p.Value.Operations() {
			if !o.Deprecated && slices.ContainsFunc(o.Callers(), isCaller) {
				m.Operations = append(m.Operations, r.operation(p.Name, strings.ToUpper(method), o, p.Value.Parameters))
			}
		}
	}
	for _, name := range named {
		r.typeOf(&document.Schema{Ref: name}, "")
	}
	slices.SortFunc(m.Operations, func(a, b Operation) int { return cmp.Compare(a.ID, b.ID) })
	for _, name := range slices.Sorted(maps.Keys(r.schemas)) {
		m.Schemas = append(m.Schemas, r.schemas[name])
	}
	return m, r.err
}

// isCaller reports whether a model has the operations for this kind of token.
func isCaller(kind string) bool { return kind == "player" || kind == "server" }

func (r *reader) operation(path, method string, o *document.Operation, shared []document.Parameter) Operation {
	of := Operation{ID: o.ID, Summary: o.Summary, Doc: o.Description, Method: method, Path: document.Address(path),
		Repeatable: o.Repeatable || method != http.MethodPost}
	for _, p := range slices.Concat(shared, o.Parameters) {
		if p = r.Parameter(p); p.Name == "X-Correlation-Id" {
			continue // it may be at each request
		}
		f := Field{Name: p.Name, Doc: p.Description, Type: r.typeOf(p.Schema, ""), Optional: !p.Required}
		switch p.In {
		case "path":
			of.Segments = append(of.Segments, f)
		case "query":
			of.Query = append(of.Query, f)
		default:
			of.Headers = append(of.Headers, f)
		}
	}
	if body, ok := o.RequestBody.Content["application/json"]; ok {
		of.Body = new(r.typeOf(body.Schema, ""))
	}
	content := r.Content(o)
	_, of.Stream = content["text/event-stream"]
	if body, ok := content["application/json"]; ok {
		of.Answer = new(r.typeOf(body.Schema, ""))
	}
	return of
}

// typeOf is the type of a schema. An object that has no name in the document gets this one.
func (r *reader) typeOf(s *document.Schema, name string) Type {
	if s == nil {
		return Type{Kind: Any}
	}
	if s.Ref != "" {
		name = document.Referred(s.Ref)
		if s = r.Components.Schemas.Find(name); s == nil {
			r.err = fmt.Errorf("openapi: there is no schema %s", name)
			return Type{Kind: Any}
		}
	}
	kind := s.Type.Other()
	t := Type{Kind: Kind(kind), Nullable: s.Type.Nullable()}
	switch {
	case len(s.AnyOf) > 0:
		return r.oneOf(s.AnyOf, name)
	case len(s.Properties) > 0:
		t.Kind, t.Name = Object, name
		r.add(name, s)
	case len(s.Enum) > 0:
		t.Kind = Enum
		for _, v := range s.Enum {
			t.Values = append(t.Values, fmt.Sprint(v))
		}
	case kind == "array":
		t.Kind, t.Of = List, []Type{r.typeOf(s.Items, name+"Item")}
	case kind == "object":
		t.Kind, t.Of = Map, []Type{{Kind: Any}}
		if values := s.AdditionalProperties.Schema; values != nil {
			t.Of = []Type{r.typeOf(values, name+"Value")}
		}
	case s.ContentEncoding == "base64":
		t.Kind = Bytes
	case kind == "":
		t.Kind = Any
	}
	return t
}

// oneOf is the type of alternatives, of which null is not counted.
func (r *reader) oneOf(alternatives []*document.Schema, name string) Type {
	t := Type{Kind: OneOf}
	for _, s := range alternatives {
		if slices.Equal(s.Type, document.Kinds{"null"}) {
			t.Nullable = true
			continue
		}
		t.Of = append(t.Of, r.typeOf(s, name))
	}
	if len(t.Of) == 1 {
		only := t.Of[0]
		only.Nullable = only.Nullable || t.Nullable
		return only
	}
	return t
}

// add adds an object. What it must have stands first, in the order of the document.
func (r *reader) add(name string, s *document.Schema) {
	if _, known := r.schemas[name]; known {
		return
	}
	of := Schema{Name: name, Doc: s.Description}
	r.schemas[name] = of // before its members, which may have it
	var optional []string
	for _, p := range s.Properties {
		if !slices.Contains(s.Required, p.Name) {
			optional = append(optional, p.Name)
		}
	}
	slices.Sort(optional)
	for _, member := range slices.Concat(s.Required, optional) {
		p := s.Properties.Find(member)
		f := Field{Name: member, Type: r.typeOf(p, name+title(member)),
			Optional: !slices.Contains(s.Required, member)}
		if f.Doc = p.Description; f.Doc == "" && p.Ref != "" && f.Type.Kind != Object {
			f.Doc = r.Components.Schemas.Find(document.Referred(p.Ref)).Description
		}
		of.Fields = append(of.Fields, f)
	}
	r.schemas[name] = of
}
