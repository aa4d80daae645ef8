package mistake

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua/parse"

	"matchmaker.dev/services/test/chaos/overlay"
)

const root = "../../.."

var inScript = regexp.MustCompile(`(?m)^ *-- mistake ([a-z]+): `)

// Each mistake is in the sources, as code that can be parsed, and each promise has one.
func TestMistakesFitTheSources(t *testing.T) {
	found := map[string]bool{}
	edits, err := Edits(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := overlay.Write(dir, edits); err != nil {
		t.Fatal(err)
	}
	for _, e := range edits.Edits {
		if name := inGo.FindStringSubmatch(e[1]); name != nil {
			found[name[1]] = true
		}
	}
	planted, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range planted {
		if _, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.AllErrors); err != nil {
			t.Error(err)
		}
	}
	err = each(root, ".lua", func(name, text string) {
		for _, mark := range inScript.FindAllStringSubmatch(text, -1) {
			found[mark[1]] = true
			text := strings.ReplaceAll(text, strings.TrimLeft(mark[0], " "), "")
			if _, err := lua.Parse(strings.NewReader(text), name); err != nil {
				t.Errorf("mistake %s: %v", mark[1], err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	promises := map[int]bool{}
	for _, m := range All() {
		promises[m.Promise] = true
		if !found[m.Name] {
			t.Errorf("no source has the mistake %q", m.Name)
		}
		delete(found, m.Name)
	}
	if !found["*"] {
		t.Error("no source plants the mistakes of scripts")
	}
	delete(found, "*")
	for name := range found {
		t.Errorf("the sources have a mistake %q that is not known", name)
	}
	for n := 1; n <= 11; n++ {
		if !promises[n] {
			t.Errorf("no mistake breaks promise %d", n)
		}
	}
	if _, err := Of("none"); err == nil || !strings.Contains(err.Error(), "only early, state") {
		t.Errorf("Of(none) = %v, want the names of those that there are", err)
	}
}
