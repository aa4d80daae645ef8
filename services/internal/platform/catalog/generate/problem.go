package main

import (
	"fmt"
	"strings"

	"matchmaker.dev/services/internal/edge/problem"
)

// codesInDocument is the rest of the schema ProblemCode of the OpenAPI document, and x-codes behind it.
func codesInDocument() string {
	var names []string
	var b strings.Builder
	for _, d := range problem.Definitions() {
		names = append(names, d.Name)
		fmt.Fprintf(&b, "    %s:\n      status: %d\n      retry: %t\n      when: %q\n      player: %q\n",
			d.Name, d.Status, d.Retry, d.When, d.Player)
	}
	return "      enum:\n        - " + strings.Join(names, "\n        - ") + "\n  x-codes:\n" + b.String()
}

// codesOfClient are the codes in the Go client.
func codesOfClient() string {
	var constants, rows strings.Builder
	for _, d := range problem.Definitions() {
		name := "Code" + goName(d.Name)
		fmt.Fprintf(&constants, "\n%s%s Code = %q\n", comment("\t", fmt.Sprintf("%s, %d: %s", name, d.Status, d.When)), name,
			d.Name)
		fmt.Fprintf(&rows, "{%s, %d, %q},\n", name, d.Status, d.Player)
	}
	return "package client\n\n// The codes of this version. The first of each status is the general one.\nconst (" +
		constants.String() + ")\n\n// codes are the codes with their status and what a player may be told.\n" +
		"var codes = [...]struct {code Code; status int; player string}{\n" + rows.String() + "}\n"
}
