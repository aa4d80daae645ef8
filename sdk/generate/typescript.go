package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/edge/openapi/document"
)

// typescript writes a model in TypeScript: an interface for each object, and for each operation a function that returns
// the request.
func typescript(m *Model) string {
	var b strings.Builder
	b.WriteString(`// Code generated from openapi.yaml. DO NOT EDIT.
import { segment } from './segment.js'

/** What is asked of the service, and answered with a T. */
export interface Request<T> {
  method: string
  /** Below {url}/{project}/matchmaking/api/. */
  path: string
  query: Record<string, unknown>
  headers: Record<string, string | undefined>
  body?: unknown
  /** To send it twice has the same effect as to send it once. */
  repeatable: boolean
  /** Only the type counts. */
  answer?: T
}
`)
	for _, s := range m.Schemas {
		fmt.Fprintf(&b, "\n%sexport interface %s {\n", tsComment("", s.Doc), s.Name)
		for _, f := range s.Fields {
			b.WriteString(tsComment("  ", f.Doc) + "  " + tsField(f.Name, f) + "\n")
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n/** What a player may be told of a problem, by its code. */\n" +
		"export const playerMessages: Record<string, string> = {\n")
	for _, name := range slices.Sorted(maps.Keys(m.Codes)) {
		fmt.Fprintf(&b, "  %s: %q,\n", name, m.Codes[name].Player)
	}
	b.WriteString("}\n")
	for _, o := range m.Operations {
		b.WriteString("\n" + tsComment("", o.Summary+".\n\n"+o.Doc) + tsFunction(o))
	}
	return b.String()
}

// tsFunction is the function of an operation.
func tsFunction(o Operation) string {
	var arguments, query, headers, options []string
	path := o.Path
	for _, f := range o.Segments {
		arguments = append(arguments, f.Name+": string")
		path = strings.Replace(path, "{"+f.Name+"}", "${segment("+f.Name+")}", 1)
	}
	take := func(f Field) string {
		name := camel(f.Name)
		if f.Optional {
			options = append(options, tsField(name, f))
			return "o." + name
		}
		arguments = append(arguments, name+": "+tsType(f.Type))
		return name
	}
	for _, f := range o.Query {
		query = append(query, tsKey(f.Name)+": "+take(f))
	}
	body := ""
	if o.Body != nil {
		arguments = append(arguments, "body: "+tsType(*o.Body))
		body = "\n  body,"
	}
	for _, f := range o.Headers {
		headers = append(headers, tsKey(f.Name)+": "+take(f))
	}
	if len(options) > 0 {
		arguments = append(arguments, "o: {\n  "+strings.Join(options, "\n  ")+"\n} = {}")
	}
	answer := "void"
	switch {
	case o.Stream:
		answer = "ReadableStream<Uint8Array>"
	case o.Answer != nil:
		answer = tsType(*o.Answer)
	}
	return fmt.Sprintf("export const %s = (%s): Request<%s> => ({\n  method: '%s',\n  path: `%s`,\n  query: {%s},\n"+
		"  headers: {%s},%s\n  repeatable: %t,\n})\n", o.ID, strings.Join(arguments, ", "), answer, o.Method, path,
		tsList(query), tsList(headers), body, o.Repeatable)
}

// tsList is the members of an object, in one line if they are few.
func tsList(list []string) string {
	switch {
	case len(list) == 0:
		return ""
	case len(list) > 2:
		return "\n    " + strings.Join(list, ",\n    ") + ",\n  "
	}
	return " " + strings.Join(list, ", ") + " "
}

func tsField(name string, f Field) string {
	if f.Optional {
		return tsKey(name) + "?: " + tsType(f.Type) + " | undefined"
	}
	return strings.Replace(tsKey(name)+": "+tsType(f.Type), ": \n", ":\n", 1)
}

// tsKey is the name of a member, in quotes where it is no word.
func tsKey(name string) string {
	if strings.Contains(name, "-") {
		return "'" + name + "'"
	}
	return name
}

// camel is the name of an argument: X-On-Behalf-Of is onBehalfOf.
func camel(name string) string {
	words := strings.Split(strings.TrimPrefix(name, "X-"), "-")
	for i, w := range words {
		if i > 0 {
			words[i] = strings.ToUpper(w[:1]) + strings.ToLower(w[1:])
		} else {
			words[i] = strings.ToLower(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

func tsType(t Type) string {
	if t.Nullable {
		t.Nullable = false
		return tsType(t) + " | null"
	}
	switch t.Kind {
	case String, Bytes:
		return "string"
	case Number, Integer:
		return "number"
	case Boolean:
		return "boolean"
	case Object:
		return t.Name
	case List:
		if of := tsType(t.Of[0]); !strings.Contains(of, "|") {
			return of + "[]"
		}
		return "Array<" + tsType(t.Of[0]) + ">"
	case Map:
		return "Record<string, " + tsType(t.Of[0]) + ">"
	case Enum:
		if values := "'" + strings.Join(t.Values, "' | '") + "'"; len(values) < 80 {
			return values
		}
		return "\n    | '" + strings.Join(t.Values, "'\n    | '") + "'"
	case OneOf:
		var all []string
		for _, of := range t.Of {
			all = append(all, tsType(of))
		}
		return strings.Join(all, " | ")
	case Any:
	}
	return "unknown"
}

// tsComment is a text as a comment, in lines of at most 120 columns.
func tsComment(indent, text string) string {
	const width = 120
	lines := document.Lines(text, width-len(indent)-len(" * "))
	switch {
	case len(lines) == 0:
		return ""
	case len(lines) == 1 && len(indent)+len(lines[0])+len("/**  */") <= width:
		return indent + "/** " + lines[0] + " */\n"
	}
	var b strings.Builder
	b.WriteString(indent + "/**\n")
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
	}
	b.WriteString(indent + " */\n")
	return b.String()
}
