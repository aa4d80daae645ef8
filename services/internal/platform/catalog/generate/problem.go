package main

import (
	"fmt"
	"strings"

	"matchmaker.dev/services/internal/edge/openapi/document"
)

// codesInDocument is the rest of the schema ProblemCode of the OpenAPI document.
func codesInDocument(d *document.Document) string {
	var b strings.Builder
	for _, c := range d.Components.Codes {
		b.WriteString("        - " + c.Name + "\n")
	}
	return "      enum:\n" + b.String()
}

// codes are the codes in the Go client, and in the service.
func codes(d *document.Document) (client, service string) {
	var named, rows, constants, definitions strings.Builder
	for i, c := range d.Components.Codes {
		name := goName(c.Name)
		fmt.Fprintf(&named, "\n%s%s Code = %q\n",
			comment("\t", fmt.Sprintf("Code%s, %d: %s", name, c.Value.Status, c.Value.When)), "Code"+name, c.Name)
		fmt.Fprintf(&rows, "{Code%s, %d, %q},\n", name, c.Value.Status, c.Value.Player)
		if constants.WriteString(name); i == 0 {
			constants.WriteString(" Code = iota")
		}
		constants.WriteString("\n")
		fmt.Fprintf(&definitions, "{%q, %d, %t, %q, %q},\n", c.Name, c.Value.Status, c.Value.Retry, c.Value.When,
			c.Value.Player)
	}
	client = "package client\n\n// The codes of this version. The first of each status is the general one.\nconst (" +
		named.String() + ")\n\n// codes are the codes with their status and what a player may be told.\n" +
		"var codes = [...]struct {code Code; status int; player string}{\n" + rows.String() + "}\n"
	return client, "package problem\n\n// The codes. The first of each status is the kind of the others.\nconst (\n" +
		constants.String() + ")\n\nvar definitions = [...]Definition{\n" + definitions.String() + "}\n"
}
