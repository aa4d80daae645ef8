package mistake_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/services/test/chaos/mistake"
)

// The sources have the text that each mistake replaces, and each promise has a mistake.
func TestMistakesFitTheSources(t *testing.T) {
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	promises := map[int]bool{}
	for _, m := range mistake.All() {
		promises[m.Promise] = true
		dir := t.TempDir()
		if _, err := m.Overlay(root, dir); err != nil {
			t.Error(err)
			continue
		}
		sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			if _, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.AllErrors); err != nil {
				t.Errorf("mistake %s: %v", m.Name, err)
			}
		}
	}
	for n := 1; n <= 11; n++ {
		if !promises[n] {
			t.Errorf("no mistake breaks promise %d", n)
		}
	}
	if _, err := mistake.Of("none"); err == nil || !strings.Contains(err.Error(), "only early, state") {
		t.Errorf("Of(none) = %v, want the names of those that there are", err)
	}
}
