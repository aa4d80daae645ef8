package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// cppHeader writes a model in C++: a struct for each object, and the functions that cppSource has.
func cppHeader(m *Model) string {
	var b strings.Builder
	b.WriteString("// Code generated from openapi.yaml. DO NOT EDIT.\n#pragma once\n\n" +
		"#include \"matchmaker/request.h\"\n\nnamespace matchmaker::api {\n")
	for _, s := range inOrder(m.Schemas) {
		fmt.Fprintf(&b, "\n%sstruct %s {\n", tsComment("", s.Doc), s.Name)
		visits := ""
		for _, f := range s.Fields {
			t := cppType(f.Type, f.Optional)
			if t == "double" || t == "bool" || t == "std::int64_t" {
				t += " " + f.Name + "{}"
			} else {
				t += " " + f.Name
			}
			b.WriteString(tsComment("  ", f.Doc) + "  " + t + ";\n")
			visits += fmt.Sprintf("    v(%q, %s);\n", f.Name, f.Name)
		}
		b.WriteString("  template <class V> void visit(V&& v) {\n" + visits + "  }\n};\n")
	}
	b.WriteString("\n/** What a player may be told of a problem, by its code; null if it is not known. */\n" +
		"const char* playerMessage(const std::string& problem);\n")
	for _, o := range m.Operations {
		b.WriteString("\n")
		if options := cppOptions(o); options != "" {
			fmt.Fprintf(&b, "struct %s {\n%s};\n", title(o.ID)+"Options", options)
		}
		b.WriteString(tsComment("", o.Summary+".\n\n"+o.Doc) + cppSignature(o, " = {}") + ";\n")
	}
	return b.String() + "\n}  // namespace matchmaker::api\n"
}

// cppSource writes the functions that return requests.
func cppSource(m *Model) string {
	var b strings.Builder
	b.WriteString("// Code generated from openapi.yaml. DO NOT EDIT.\n#include \"matchmaker/api.h\"\n\n" +
		"namespace matchmaker::api {\n\nconst char* playerMessage(const std::string& problem) {\n" +
		"  static const struct {\n    const char* code;\n    const char* text;\n  } messages[] = {\n")
	for _, name := range slices.Sorted(maps.Keys(m.Codes)) {
		fmt.Fprintf(&b, "      {%q, %q},\n", name, m.Codes[name].Player)
	}
	b.WriteString("  };\n  for (const auto& m : messages) {\n    if (problem == m.code) return m.text;\n  }\n" +
		"  return nullptr;\n}\n")
	for _, o := range m.Operations {
		path := fmt.Sprintf("%q", o.Path)
		for _, f := range o.Segments {
			path = strings.Replace(path, "{"+f.Name+"}", `" + segment(`+f.Name+`) + "`, 1)
		}
		path = strings.TrimSuffix(path, ` + ""`)
		fmt.Fprintf(&b, "\n%s {\n  AnyRequest r{%q, %s, %t, {}, {}, {}};\n", cppSignature(o, ""), o.Method, path,
			o.Repeatable)
		put := func(where string, f Field) {
			name := camel(f.Name)
			if f.Optional {
				name = "o." + name
			}
			fmt.Fprintf(&b, "  put(r.%s, %q, %s);\n", where, f.Name, name)
		}
		for _, f := range o.Query {
			put("query", f)
		}
		for _, f := range o.Headers {
			put("headers", f)
		}
		if o.Body != nil {
			b.WriteString("  r.body = write(body).text();\n")
		}
		fmt.Fprintf(&b, "  return Request<%s>(std::move(r));\n}\n", cppAnswer(o))
	}
	return b.String() + "\n}  // namespace matchmaker::api\n"
}

func cppSignature(o Operation, standard string) string {
	var arguments []string
	for _, f := range o.arguments() {
		arguments = append(arguments, "const "+cppType(f.Type, false)+"& "+camel(f.Name))
	}
	if cppOptions(o) != "" {
		arguments = append(arguments, "const "+title(o.ID)+"Options& o"+standard)
	}
	return fmt.Sprintf("Request<%s> %s(%s)", cppAnswer(o), o.ID, strings.Join(arguments, ", "))
}

func cppOptions(o Operation) string {
	text := ""
	for _, f := range o.options() {
		text += "  " + cppType(f.Type, true) + " " + camel(f.Name) + ";\n"
	}
	return text
}

func cppAnswer(o Operation) string {
	if o.Stream || o.Answer == nil {
		return "Json"
	}
	return cppType(*o.Answer, false)
}

func cppType(t Type, optional bool) string {
	if (optional || t.Nullable) && t.Kind != Any && t.Kind != OneOf {
		t.Nullable = false
		return "std::optional<" + cppType(t, false) + ">"
	}
	switch t.Kind {
	case String, Bytes, Enum:
		return "std::string"
	case Number:
		return "double"
	case Integer:
		return "std::int64_t"
	case Boolean:
		return "bool"
	case Object:
		return t.Name
	case List:
		return "std::vector<" + cppType(t.Of[0], false) + ">"
	case Map:
		return "std::map<std::string, " + cppType(t.Of[0], false) + ">"
	case OneOf, Any:
	}
	return "Json"
}
