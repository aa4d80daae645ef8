package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is what is generated from in the OpenAPI document.
type document struct {
	Paths      ordered[path]
	Components struct {
		Parameters map[string]parameter
		Responses  map[string]response
		Schemas    ordered[schema]
	}
}

// schema is a JSON schema, as far as Go types depend on it.
type schema struct {
	Ref                  string    `yaml:"$ref"`
	Type                 kinds     `yaml:"type"`
	AnyOf                []*schema `yaml:"anyOf"`
	Format               string
	ContentEncoding      string `yaml:"contentEncoding"`
	Description          string
	Deprecated           bool
	Required             []string
	Properties           ordered[schema]
	AdditionalProperties optional `yaml:"additionalProperties"`
	Items                *schema
	MinItems             int `yaml:"minItems"`
	Minimum              *float64
	Enum                 []any
}

// ordered is a mapping in the order of the document.
type ordered[T any] []named[T]

type named[T any] struct {
	name  string
	value *T
}

func (o *ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i < len(n.Content); i += 2 {
		one := named[T]{n.Content[i].Value, new(T)}
		if err := n.Content[i+1].Decode(one.value); err != nil {
			return err
		}
		*o = append(*o, one)
	}
	return nil
}

func (o ordered[T]) find(name string) *T {
	if i := slices.IndexFunc(o, func(n named[T]) bool { return n.name == name }); i >= 0 {
		return o[i].value
	}
	return nil
}

// kinds is one name of a JSON type, or several.
type kinds []string

func (k *kinds) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*k = kinds{n.Value}
		return nil
	}
	return n.Decode((*[]string)(k))
}

// optional is a schema, or false for none.
type optional struct{ *schema }

func (o *optional) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return nil
	}
	o.schema = new(schema)
	return n.Decode(o.schema)
}

// referred returns the name at the end of a reference.
func referred(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// resolve follows references, and takes the one alternative that is not null.
func (d *document) resolve(s *schema) (of *schema, name string, nullable bool) {
	for {
		nullable = nullable || slices.Contains(s.Type, "null")
		switch {
		case s.Ref != "":
			name = referred(s.Ref)
			if s = d.Components.Schemas.find(name); s == nil {
				return new(schema), name, nullable
			}
		case len(s.AnyOf) == 2 && slices.Contains(s.AnyOf[1].Type, "null"):
			s, nullable = s.AnyOf[0], true
		default:
			return s, name, nullable
		}
	}
}

// goType is the Go type of a schema, without the pointer of what may be absent.
func (t *types) goType(s *schema) string {
	of, name, _ := t.resolve(s)
	kind := ""
	if i := slices.IndexFunc(of.Type, func(k string) bool { return k != "null" }); i >= 0 {
		kind = of.Type[i]
	}
	switch {
	case name != "" && t.Components.Schemas.find(name) == nil:
		t.err = fmt.Errorf("there is no schema %s", name)
		return "any"
	case len(of.Properties) > 0 && name == "":
		t.err = fmt.Errorf("an object in another one, with the member %s, needs a schema of its own", of.Properties[0].name)
		return "any"
	case len(of.Properties) > 0:
		t.need(name)
		return name
	case kind == "array":
		if _, _, nullable := t.resolve(of.Items); nullable {
			return "[]*" + t.goType(of.Items)
		}
		return "[]" + t.goType(of.Items)
	case kind == "object" && of.AdditionalProperties.schema != nil:
		return "map[string]" + t.goType(of.AdditionalProperties.schema)
	case kind == "object":
		return t.object
	case kind == "string" && of.Format == "date-time":
		return t.time
	case kind == "string" && of.ContentEncoding == "base64":
		return "[]byte"
	case kind == "integer" && of.Format != "":
		return of.Format
	}
	if goType := map[string]string{
		"integer": "int", "number": "float64", "boolean": "bool", "string": "string",
	}[kind]; goType != "" {
		return goType
	}
	if len(of.Enum) > 0 {
		return "string"
	}
	return "json.RawMessage"
}

// types are the Go types of some schemas.
type types struct {
	*document
	// object is the type of an object that the API does not describe, and time of a time.
	object, time string
	// undecoded are members whose JSON is kept as it comes.
	undecoded []string
	// nulls: what is null is a nil pointer, and otherwise zero.
	nulls  bool
	needed []string
	err    error
}

// need adds a schema.
func (t *types) need(name string) {
	if !slices.Contains(t.needed, name) {
		t.needed = append(t.needed, name)
	}
}

// write writes the types of the schemas that are needed, and of those that they need, in the order of the document.
func (t *types) write() string {
	texts := map[string]string{}
	for i := 0; i < len(t.needed); i++ {
		texts[t.needed[i]] = t.structure(t.needed[i], t.Components.Schemas.find(t.needed[i]))
	}
	var b strings.Builder
	for _, s := range t.Components.Schemas {
		b.WriteString(texts[s.name])
	}
	return b.String()
}

// structure is the type of an object.
func (t *types) structure(name string, s *schema) string {
	var b strings.Builder
	b.WriteString("\n" + comment("", name+": "+s.Description))
	fmt.Fprintf(&b, "type %s struct {\n", name)
	for _, p := range s.Properties {
		text := p.value.Description
		if of, _, _ := t.resolve(p.value); text == "" && len(of.Properties) == 0 {
			text = of.Description
		}
		b.WriteString(comment("\t", text))
		fmt.Fprintf(&b, "\t%s %s\n", goName(p.name), t.field(name, s, p))
	}
	b.WriteString("}\n")
	return b.String()
}

// field is the type and the tag of a member.
func (t *types) field(owner string, s *schema, p named[schema]) string {
	if slices.Contains(t.undecoded, owner+"."+p.name) {
		return fmt.Sprintf("json.RawMessage `json:\"%s,omitzero\"`", p.name)
	}
	goType, optional := t.goType(p.value), !slices.Contains(s.Required, p.name)
	of, _, nullable := t.resolve(p.value)
	switch isStruct := len(of.Properties) > 0; {
	case isStruct && (optional || nullable),
		optional && goType == "float64",
		optional && of.Minimum != nil && *of.Minimum == 0 && strings.HasPrefix(goType, "int"),
		t.nulls && nullable && !optional && goType == "string":
		goType = "*" + goType
	}
	omit := ""
	switch {
	case optional && of.MinItems > 0:
		omit = ",omitempty"
	case optional:
		omit = ",omitzero"
	}
	return fmt.Sprintf("%s `json:\"%s%s\"`", goType, p.name, omit)
}

// goName is the Go name of a member.
func goName(name string) string {
	name = strings.ToUpper(name[:1]) + name[1:]
	for _, word := range []struct{ api, golang string }{
		{"Id", "ID"}, {"Udp", "UDP"}, {"Url", "URL"}, {"Md5Hash", "MD5"}, {"Etag", "ETag"},
		{"Matchproperties", "MatchProperties"},
	} {
		if rest, ok := strings.CutSuffix(name, word.api); ok {
			return rest + word.golang
		}
	}
	return name
}

// comment is a text as a comment, with lines that are as long as the others of this repository.
func comment(indent, text string) string {
	const width = 119
	var b strings.Builder
	line := ""
	end := func() {
		if line != "" {
			b.WriteString(indent + "//" + line + "\n")
		}
		line = ""
	}
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if b.Len() > 0 {
			b.WriteString(indent + "//\n")
		}
		for _, word := range strings.Fields(paragraph) {
			if len(line)+len(word)+4*len(indent) > width-3 {
				end()
			}
			line += " " + word
		}
		end()
	}
	return b.String()
}
