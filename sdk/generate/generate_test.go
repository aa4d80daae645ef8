package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/internal/edge/openapi"
	"matchmaker.dev/services/internal/edge/openapi/document"
)

func TestFilesAreGenerated(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: run 'make verify FIX=1':\n%s", name, diff)
		}
	}
}

// TestServicesInMemoryRefuse checks the codes with which they do: a game's test gets the service's.
func TestServicesInMemoryRefuse(t *testing.T) {
	text, err := openapi.JSON()
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewModel(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"typescript/src/fake.ts", "cpp/src/fake.cc", "csharp/src/FakeService.cs"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		all := regexp.MustCompile(`[rR]efuse\((\d+), ['"](\w+)['"]\)`).FindAllSubmatch(text, -1)
		for _, found := range all {
			if code := m.Codes[string(found[2])]; strconv.Itoa(code.Status) != string(found[1]) {
				t.Errorf("%s: %s, want %+v", name, found[0], code)
			}
		}
		if len(all) < 10 {
			t.Errorf("%s: %d refusals", name, len(all))
		}
	}
}

const sample = `{
	"paths": {
		"/things/{thingId}": {
			"parameters": [{"name": "thingId", "in": "path", "required": true, "schema": {"type": "string"}}],
			"put": {"operationId": "putThing", "summary": "Put it", "security": [{"player": []}],
				"parameters": [{"$ref": "#/components/parameters/Prefer"}],
				"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
				"responses": {"200": {"$ref": "#/components/responses/Thing"}}},
			"delete": {"operationId": "oldThing", "deprecated": true, "security": [{"player": []}]},
			"get": {"operationId": "studioThing", "security": [{"developer": []}]}
		}
	},
	"components": {
		"x-codes": {"notFound": {"status": 404, "when": "it is not there", "player": "It is gone."}},
		"parameters": {"Prefer": {"name": "Prefer", "in": "header", "schema": {"type": "string"}}},
		"responses": {"Thing": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}},
		"schemas": {"Thing": {"required": ["name"], "properties": {
			"amount": {"type": ["integer", "null"]}, "name": {"type": "string"},
			"inner": {"properties": {"kind": {"enum": ["a", "b"]}}},
			"next": {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}]},
			"raw": {"type": "string", "contentEncoding": "base64"},
			"all": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
			"free": {"type": "object", "additionalProperties": false}
		}}}
	}
}`

func TestModelOfADocument(t *testing.T) {
	m, err := NewModel([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	thing := Type{Kind: Object, Name: "Thing"}
	free := Type{Kind: Map, Of: []Type{{Kind: Any}}}
	want := &Model{
		Codes: map[string]document.Code{"notFound": {Status: 404, When: "it is not there", Player: "It is gone."}},
		Schemas: []Schema{
			{Name: "Thing", Fields: []Field{
				{Name: "name", Type: Type{Kind: String}},
				{Name: "all", Type: Type{Kind: Map, Of: []Type{{Kind: List, Of: []Type{{Kind: Number}}}}}, Optional: true},
				{Name: "amount", Type: Type{Kind: Integer, Nullable: true}, Optional: true},
				{Name: "free", Type: free, Optional: true},
				{Name: "inner", Type: Type{Kind: Object, Name: "ThingInner"}, Optional: true},
				{Name: "next", Type: Type{Kind: Object, Name: "Thing", Nullable: true}, Optional: true},
				{Name: "raw", Type: Type{Kind: Bytes}, Optional: true},
			}},
			{Name: "ThingInner", Fields: []Field{
				{Name: "kind", Type: Type{Kind: Enum, Values: []string{"a", "b"}}, Optional: true},
			}},
		},
		Operations: []Operation{{
			ID: "putThing", Summary: "Put it", Method: "PUT", Path: "v1/things/{thingId}", Repeatable: true,
			Segments: []Field{{Name: "thingId", Type: Type{Kind: String}}},
			Headers:  []Field{{Name: "Prefer", Type: Type{Kind: String}, Optional: true}},
			Body:     &thing, Answer: &thing,
		}},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if _, err := NewModel([]byte(sample), "Other"); err == nil || !strings.Contains(err.Error(), "no schema Other") {
		t.Errorf("a schema that is not there: %v", err)
	}
}
