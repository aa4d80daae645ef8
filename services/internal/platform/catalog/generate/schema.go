package main

import (
	"fmt"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/edge/openapi/document"
)

// resolve follows references, and takes the one alternative that is not null.
func (t *types) resolve(s *document.Schema) (of *document.Schema, name string, nullable bool) {
	for {
		nullable = nullable || s.Type.Nullable()
		switch {
		case s.Ref != "":
			name = document.Referred(s.Ref)
			if s = t.Components.Schemas.Find(name); s == nil {
				return new(document.Schema), name, nullable
			}
		case len(s.AnyOf) == 2 && s.AnyOf[1].Type.Nullable():
			s, nullable = s.AnyOf[0], true
		default:
			return s, name, nullable
		}
	}
}

// goType is the Go type of a schema, without the pointer of what may be absent.
func (t *types) goType(s *document.Schema) string {
	of, name, _ := t.resolve(s)
	kind := of.Type.Other()
	switch {
	case name != "" && t.Components.Schemas.Find(name) == nil:
		t.err = fmt.Errorf("there is no schema %s", name)
		return "any"
	case len(of.Properties) > 0 && name == "":
		t.err = fmt.Errorf("an object in another one, with the member %s, needs a schema of its own", of.Properties[0].Name)
		return "any"
	case len(of.Properties) > 0:
		t.need(name)
		return name
	case kind == "array":
		if _, _, nullable := t.resolve(of.Items); nullable {
			return "[]*" + t.goType(of.Items)
		}
		return "[]" + t.goType(of.Items)
	case kind == "object" && of.AdditionalProperties.Schema != nil:
		return "map[string]" + t.goType(of.AdditionalProperties.Schema)
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
	*document.Document
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
		texts[t.needed[i]] = t.structure(t.needed[i], t.Components.Schemas.Find(t.needed[i]))
	}
	var b strings.Builder
	for _, s := range t.Components.Schemas {
		b.WriteString(texts[s.Name])
	}
	return b.String()
}

// structure is the type of an object.
func (t *types) structure(name string, s *document.Schema) string {
	var b strings.Builder
	b.WriteString("\n" + comment("", name+": "+s.Description))
	fmt.Fprintf(&b, "type %s struct {\n", name)
	for _, p := range s.Properties {
		text := p.Value.Description
		if of, _, _ := t.resolve(p.Value); text == "" && len(of.Properties) == 0 {
			text = of.Description
		}
		b.WriteString(comment("\t", text))
		fmt.Fprintf(&b, "\t%s %s\n", goName(p.Name), t.field(name, s, p))
	}
	b.WriteString("}\n")
	return b.String()
}

// field is the type and the tag of a member.
func (t *types) field(owner string, s *document.Schema, p document.Named[document.Schema]) string {
	if slices.Contains(t.undecoded, owner+"."+p.Name) {
		return fmt.Sprintf("json.RawMessage `json:\"%s,omitzero\"`", p.Name)
	}
	goType, optional := t.goType(p.Value), !slices.Contains(s.Required, p.Name)
	of, _, nullable := t.resolve(p.Value)
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
	return fmt.Sprintf("%s `json:\"%s%s\"`", goType, p.Name, omit)
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
	var b strings.Builder
	for _, line := range document.Lines(text, 116-4*len(indent)) {
		b.WriteString(strings.TrimRight(indent+"// "+line, " ") + "\n")
	}
	return b.String()
}
