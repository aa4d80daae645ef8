package main

import (
	"context"
	"os"
	"path/filepath"
)

// schemaFile is the name of the schema of rule sets.
func (r *release) schemaFile() string { return "rules_" + r.number() + ".schema.json" }

// schema copies the JSON Schema of rule sets, which editors read.
func (r *release) schema(context.Context) error {
	text, err := os.ReadFile(filepath.Join(r.source, "pkg", "matchfn", "rules", "schema", "schema.json"))
	if err != nil {
		return err
	}
	r.made = append(r.made, part{name: r.schemaFile()})
	return os.WriteFile(filepath.Join(r.out, r.schemaFile()), text, 0o644) //nolint:gosec // for all
}
