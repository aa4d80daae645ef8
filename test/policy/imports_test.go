package policy

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/platform/catalog"
)

// Services share what is in services/internal, so that each can be read, changed and run alone. Tests may bring two
// services together.
func TestServicesDoNotImportEachOther(t *testing.T) {
	eachImport(t, func(name, imported string) {
		from, to := serviceOf(name), serviceOf(imported)
		if from != "" && to != "" && from != to && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s imports %s: move what both need to services/internal", name, imported)
		}
	})
}

// What ships imports no test, and the server nothing that imitates: mm alone imports lab, and that at one place.
func TestServerImportsNeitherLabNorTest(t *testing.T) {
	eachImport(t, func(name, imported string) {
		folder, _, _ := strings.Cut(name, "/")
		switch {
		case strings.HasSuffix(name, "_test.go"), folder == "test":
		case strings.HasPrefix(imported, "services/test/"):
			t.Errorf("%s imports %s, which does not ship", name, imported)
		case imported == "services/lab" && path.Dir(name) == "services/cmd/mm", folder == "lab":
		case strings.HasPrefix(imported+"/", "services/lab/"):
			t.Errorf("%s imports %s: only mm imports package lab, and no other one of that module", name, imported)
		}
	})
}

// eachImport visits the imports of this repository's packages, as folders.
func eachImport(t *testing.T, visit func(name, imported string)) {
	t.Helper()
	found := 0
	walk(t, func(name string) {
		if path.Ext(name) != ".go" {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if folder, ours := strings.CutPrefix(imported, "matchmaker.dev/"); ours {
				found++
				visit(name, folder)
			}
		}
	})
	if found == 0 {
		t.Fatal("no import was found: this test looks in the wrong folder")
	}
}

// serviceOf is the service that a path belongs to, or "".
func serviceOf(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) > 1 && parts[0] == "services" && slices.Contains(catalog.Names(), parts[1]) {
		return parts[1]
	}
	return ""
}
