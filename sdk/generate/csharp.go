package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/edge/openapi/document"
)

// csharp writes a model in C#: a class for each object, and for each operation a method that returns the request.
func csharp(m *Model) string {
	var b strings.Builder
	b.WriteString("// Code generated from openapi.yaml. DO NOT EDIT.\nusing System.Collections.Generic;\n\n" +
		"namespace Matchmaking.Api\n{\n")
	for _, s := range m.Schemas {
		fields, reads, writes := "", "", ""
		for _, f := range s.Fields {
			name := title(f.Name)
			if name == s.Name {
				name = "All" // C# has no member of its class's name
			}
			fields += fmt.Sprintf("%s    public %s %s;\n", csComment("    ", f.Doc), csType(f.Type, f.Optional), name)
			reads += fmt.Sprintf("        to.%s = %s;\n", name, csRead(f.Type, f.Optional, fmt.Sprintf("from[%q]", f.Name)))
			writes += fmt.Sprintf("        to.Set(%q, %s);\n", f.Name, csWrite(f.Type, name))
		}
		fmt.Fprintf(&b, "%[1]s  public sealed class %[2]s\n  {\n%[3]s\n    public static %[2]s Read(Json from)\n    {\n"+
			"        if (from.Kind != JsonKind.Object) return null;\n        var to = new %[2]s();\n%[4]s        return to;\n"+
			"    }\n\n    public Json Write()\n    {\n        var to = Json.Object();\n%[5]s        return to;\n    }\n  }\n\n",
			csComment("  ", s.Doc), s.Name, fields, reads, writes)
	}
	b.WriteString("  public static class PlayerMessages\n  {\n" +
		"    /// <summary>What a player may be told of a problem, by its code; null if it is not known.</summary>\n" +
		"    public static string Of(string problem)\n    {\n      switch (problem)\n      {\n")
	for _, name := range slices.Sorted(maps.Keys(m.Codes)) {
		fmt.Fprintf(&b, "        case %q: return %q;\n", name, m.Codes[name].Player)
	}
	b.WriteString("        default: return null;\n      }\n    }\n  }\n\n" +
		"  /// <summary>What is asked of the service.</summary>\n  public static class Requests\n  {\n")
	for i, o := range m.Operations {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(csComment("    ", o.Summary+".\n\n"+o.Doc) + csMethod(o))
	}
	return b.String() + "  }\n}\n"
}

func csMethod(o Operation) string {
	var arguments []string
	for _, f := range o.arguments() {
		arguments = append(arguments, csType(f.Type, false)+" "+camel(f.Name))
	}
	for _, f := range o.options() {
		arguments = append(arguments, csType(f.Type, true)+" "+camel(f.Name)+" = null")
	}
	path := fmt.Sprintf("%q", o.Path)
	for _, f := range o.Segments {
		path = strings.Replace(path, "{"+f.Name+"}", `" + AnyRequest.Segment(`+f.Name+`) + "`, 1)
	}
	answer, read := "Json", "a => a"
	if o.Answer != nil && !o.Stream && o.Answer.Kind == Object {
		answer, read = o.Answer.Name, "Api."+o.Answer.Name+".Read"
	}
	text := fmt.Sprintf("    public static Request<%[1]s> %[2]s(%[3]s)\n    {\n"+
		"      var r = new Request<%[1]s>(%[4]q, %[5]s, %[6]t, %[7]s);\n", answer, title(o.ID),
		strings.Join(arguments, ", "), o.Method, strings.TrimSuffix(path, ` + ""`), o.Repeatable, read)
	for _, f := range o.Query {
		text += fmt.Sprintf("      AnyRequest.Put(r.Query, %q, %s);\n", f.Name, camel(f.Name))
	}
	for _, f := range o.Headers {
		text += fmt.Sprintf("      AnyRequest.Put(r.Headers, %q, %s);\n", f.Name, camel(f.Name))
	}
	if o.Body != nil {
		text += "      r.Body = body.Write().ToString();\n"
	}
	return text + "      return r;\n    }\n"
}

func csType(t Type, optional bool) string {
	mark := ""
	if optional || t.Nullable {
		mark = "?"
	}
	switch t.Kind {
	case String, Bytes, Enum:
		return "string"
	case Number:
		return "double" + mark
	case Integer:
		return "long" + mark
	case Boolean:
		return "bool" + mark
	case Object:
		return t.Name
	case List:
		return "List<" + csType(t.Of[0], false) + ">"
	case Map:
		return "Dictionary<string, " + csType(t.Of[0], false) + ">"
	case OneOf, Any:
	}
	return "Json"
}

// csRead is the expression that reads a value of a JSON value.
func csRead(t Type, optional bool, from string) string {
	maybe := ""
	if optional || t.Nullable {
		maybe = "Maybe"
	}
	switch t.Kind {
	case String, Bytes, Enum:
		return from + ".String"
	case Number:
		return from + "." + maybe + "Number"
	case Integer:
		return from + "." + maybe + "Integer"
	case Boolean:
		return from + "." + maybe + "Boolean"
	case Object:
		return "Api." + t.Name + ".Read(" + from + ")"
	case List:
		return from + ".List(i => " + csRead(t.Of[0], false, "i") + ")"
	case Map:
		return from + ".Map(i => " + csRead(t.Of[0], false, "i") + ")"
	case OneOf, Any:
	}
	return from
}

// csWrite is the expression of the JSON value of a value.
func csWrite(t Type, from string) string {
	switch t.Kind {
	case Object:
		return from + "?.Write()"
	case List, Map:
		return "Json.Of(" + from + ", i => " + csWrite(t.Of[0], "i") + ")"
	case OneOf, Any:
		return from
	default:
		return "Json.Of(" + from + ")"
	}
}

// csComment is a text as the summary of what follows.
func csComment(indent, text string) string {
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.TrimSpace(text))
	if text == "" {
		return ""
	}
	var b strings.Builder
	for _, line := range document.Lines("<summary>"+text+"</summary>", 117-len(indent)) {
		b.WriteString(strings.TrimRight(indent+"/// "+line, " ") + "\n")
	}
	return b.String()
}
