package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Model is what SDKs are made from: what clients and game servers ask of the service, and the objects that they send
// and get. It is the same for all languages.
type Model struct {
	Schemas    []Schema
	Operations []Operation
	// Codes are the codes of problems, by their names.
	Codes map[string]Code
}

// Code is what a code of a problem means.
type Code struct {
	Status int
	// Player is what a player may be told.
	Player string
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

// document is what the model is made from in the OpenAPI document.
type document struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Parameters map[string]parameter
		Responses  map[string]response
		Schemas    map[string]*schema
		Codes      map[string]Code `json:"x-codes"`
	}
}

type operation struct {
	OperationID          string
	Summary, Description string
	Deprecated           bool
	Repeatable           bool `json:"x-repeatable"`
	Security             []map[string]any
	Parameters           []parameter
	RequestBody          struct{ Content content }
	Responses            map[string]response
}

type parameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                *schema
}

type response struct {
	Ref     string `json:"$ref"`
	Content content
}

type content map[string]struct{ Schema *schema }

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 kinds
	AnyOf                []*schema
	ContentEncoding      string
	Description          string
	Required             []string
	Properties           map[string]*schema
	AdditionalProperties json.RawMessage
	Items                *schema
	Enum                 []any
}

// kinds is one name of a JSON type, or several.
type kinds []string

// UnmarshalJSON is called by package json.
func (k *kinds) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*k = kinds{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(k))
}

// reader makes a model.
type reader struct {
	document
	schemas map[string]Schema
	err     error
}

// callers have the operations that a model has: those whose token is one of these.
var callers = []string{"player", "server"}

// NewModel reads an OpenAPI document. Beside the objects of the operations it has those that are named.
func NewModel(text []byte, named ...string) (*Model, error) {
	r := &reader{schemas: map[string]Schema{}}
	if err := json.Unmarshal(text, &r.document); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	m := &Model{Codes: r.Components.Codes}
	for path, methods := range r.Paths {
		for _, method := range []string{"get", "put", "post", "delete"} {
			if methods[method] == nil {
				continue
			}
			var o operation
			if err := json.Unmarshal(methods[method], &o); err != nil {
				return nil, fmt.Errorf("openapi: %s %s: %w", method, path, err)
			}
			if !o.Deprecated && slices.ContainsFunc(o.Security, isForCallers) {
				m.Operations = append(m.Operations, r.operation(path, method, &o, methods["parameters"]))
			}
		}
	}
	for _, name := range named {
		r.typeOf(&schema{Ref: name}, "")
	}
	slices.SortFunc(m.Operations, func(a, b Operation) int { return cmp.Compare(a.ID, b.ID) })
	for _, name := range slices.Sorted(maps.Keys(r.schemas)) {
		m.Schemas = append(m.Schemas, r.schemas[name])
	}
	return m, r.err
}

func isForCallers(security map[string]any) bool {
	return slices.ContainsFunc(callers, func(c string) bool { _, ok := security[c]; return ok })
}

func (r *reader) operation(path, method string, o *operation, shared json.RawMessage) Operation {
	of := Operation{ID: o.OperationID, Summary: o.Summary, Doc: o.Description, Method: strings.ToUpper(method),
		Path: "v1" + path, Repeatable: o.Repeatable || method != "post"}
	if below, versioned := strings.CutPrefix(path, "/api/"); versioned {
		of.Path = below
	}
	var all []parameter
	if shared != nil {
		if err := json.Unmarshal(shared, &all); err != nil {
			r.err = fmt.Errorf("openapi: parameters of %s: %w", path, err)
		}
	}
	for _, p := range append(all, o.Parameters...) {
		if p.Ref != "" {
			p = r.Components.Parameters[referred(p.Ref)]
		}
		if p.Name == "X-Correlation-Id" {
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
		t := r.typeOf(body.Schema, "")
		of.Body = &t
	}
	for _, status := range []string{"201", "200"} {
		answer := o.Responses[status]
		if answer.Ref != "" {
			answer = r.Components.Responses[referred(answer.Ref)]
		}
		if _, stream := answer.Content["text/event-stream"]; stream {
			of.Stream = true
		}
		if body, ok := answer.Content["application/json"]; ok {
			t := r.typeOf(body.Schema, "")
			of.Answer = &t
		}
	}
	return of
}

// referred returns the name at the end of a reference.
func referred(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// typeOf is the type of a schema. An object that has no name in the document gets this one.
func (r *reader) typeOf(s *schema, name string) Type {
	if s == nil {
		return Type{Kind: Any}
	}
	if s.Ref != "" {
		name = referred(s.Ref)
		if s = r.Components.Schemas[name]; s == nil {
			r.err = fmt.Errorf("openapi: there is no schema %s", name)
			return Type{Kind: Any}
		}
	}
	kind, nullable := "", slices.Contains(s.Type, "null")
	if i := slices.IndexFunc(s.Type, func(k string) bool { return k != "null" }); i >= 0 {
		kind = s.Type[i]
	}
	t := Type{Kind: Kind(kind), Nullable: nullable}
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
		var values schema
		if json.Unmarshal(s.AdditionalProperties, &values) == nil {
			t.Of = []Type{r.typeOf(&values, name+"Value")}
		}
	case s.ContentEncoding == "base64":
		t.Kind = Bytes
	case kind == "":
		t.Kind = Any
	}
	return t
}

// oneOf is the type of alternatives, of which null is not counted.
func (r *reader) oneOf(alternatives []*schema, name string) Type {
	t := Type{Kind: OneOf}
	for _, s := range alternatives {
		if slices.Equal(s.Type, kinds{"null"}) {
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
func (r *reader) add(name string, s *schema) {
	if _, known := r.schemas[name]; known {
		return
	}
	of := Schema{Name: name, Doc: s.Description}
	r.schemas[name] = of // before its members, which may have it
	optional := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Properties)),
		func(member string) bool { return slices.Contains(s.Required, member) })
	for _, member := range append(slices.Clone(s.Required), optional...) {
		p := s.Properties[member]
		f := Field{Name: member, Type: r.typeOf(p, name+strings.ToUpper(member[:1])+member[1:]),
			Optional: !slices.Contains(s.Required, member)}
		if f.Doc = p.Description; f.Doc == "" && p.Ref != "" && f.Type.Kind != Object {
			f.Doc = r.Components.Schemas[referred(p.Ref)].Description
		}
		of.Fields = append(of.Fields, f)
	}
	r.schemas[name] = of
}
