package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"matchmaker.dev/services/internal/edge/openapi/document"
	"matchmaker.dev/services/internal/platform/catalog"
)

const root = "../../../../.."

func TestFilesAreGenerated(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: run 'make generate':\n%s", name, diff)
		}
	}
}

// TestSchemasWithoutANameAreRefused: each object has a schema, whose name is its type's name in every language.
func TestSchemasWithoutANameAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`type: object
properties: {inner: {type: object, properties: {a: {type: string}}}}`: "with the member a, needs a schema of its own",
		`type: object
properties: {other: {$ref: '#/components/schemas/Other'}}`: "there is no schema Other",
		`type: object
properties: {text: {type: [string, 'null']}, when: {type: string, format: date-time}}`: "",
	} {
		doc, err := document.Read([]byte("components:\n  schemas:\n    One:\n      " +
			strings.ReplaceAll(text, "\n", "\n      ")))
		if err != nil {
			t.Fatal(err)
		}
		made := &types{Document: doc, needed: []string{"One"}}
		if made.write(); made.err == nil && want != "" || made.err != nil && (want == "" ||
			!strings.Contains(made.err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, made.err, want)
		}
	}
}

// TestCallsWithAQuery: a parameter of the path counts as one of the operation, and one that is required is an argument.
func TestCallsWithAQuery(t *testing.T) {
	doc, err := document.Read([]byte(`
paths:
  /changes:
    parameters:
      - {name: shared, in: query, description: For both. For HTTP., schema: {type: number}}
    get:
      operationId: listChanges
      summary: List
      security: [developer: [], support: []]
      parameters:
        - {name: must, in: query, required: true, description: It must be there., schema: {type: string}}`))
	if err != nil {
		t.Fatal(err)
	}
	const allowed = "\n//\n// The token must be a developer's; the role Support is enough.\n"
	text := (&types{Document: doc}).methods(nil)
	for _, want := range []string{"struct {\n\t// For both.\nShared time.Duration\n}", allowed,
		"must string, q ChangeQuery)", `query: url.Values{"must": {must}}`, `map[string]any{` + "\n" + `"shared": q.Shared,` + "\n})"} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %q:\n%s", want, text)
		}
	}
	all := doc.Paths[0].Value.Get
	all.Security = append(all.Security, map[string]any{"player": nil})
	if text := (&types{Document: doc}).methods(nil); strings.Contains(text, "Support") {
		t.Errorf("others may call it too:\n%s", text)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestComposeHasEveryService: each is a container with its command, and a name of its own in traces.
func TestComposeHasEveryService(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Command     []string
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal(read(t, "docker-compose.yml"), &compose); err != nil {
		t.Fatal(err)
	}
	var got []string
	for name, s := range compose.Services {
		if s.Environment["OTEL_SERVICE_NAME"] == "matchmaker-"+name && slices.Equal(s.Command, []string{name}) {
			got = append(got, name)
		}
	}
	same(t, "docker-compose.yml", got)
}

func TestChartHasValuesOfEveryService(t *testing.T) {
	var values struct{ Services map[string]any }
	if err := yaml.Unmarshal(read(t, "deploy/helm/matchmaker/values.yaml"), &values); err != nil {
		t.Fatal(err)
	}
	same(t, "values.yaml", keys(values.Services))
	var schema struct {
		Properties struct {
			Services struct {
				Properties map[string]any
				Required   []string
			}
		}
	}
	if err := json.Unmarshal(read(t, "deploy/helm/matchmaker/values.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	same(t, "values.schema.json", keys(schema.Properties.Services.Properties))
	same(t, "values.schema.json, required", schema.Properties.Services.Required)
}

func keys(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}

func same(t *testing.T, where string, got []string) {
	t.Helper()
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(catalog.Names())); !slices.Equal(got, want) {
		t.Errorf("%s has the services %v, the catalog has %v", where, got, want)
	}
}

// TestDocumentsStartEveryService: on the port that the catalog has, with the files that it needs.
func TestDocumentsStartEveryService(t *testing.T) {
	text := string(read(t, "docs/running.md"))
	for _, s := range catalog.Services() {
		line := regexp.MustCompile(`(?m)^bin/matchmaker ` + s.Name + ` .*$`).FindString(text)
		if !strings.Contains(line+" ", fmt.Sprintf(" --listen :%d ", s.Port)) {
			t.Errorf("%s: %q does not listen on port %d", s.Name, line, s.Port)
		}
		for flag, needed := range map[string]bool{"--issuers": s.Issuers, "--hosting-keys": s.HostingKeys,
			"--server-keys": s.Hosting, "--seat-keys": s.Seats} {
			if strings.Contains(line, flag) != needed {
				t.Errorf("%s: %q has %s: %v, want %v", s.Name, line, flag, !needed, needed)
			}
		}
	}
}
