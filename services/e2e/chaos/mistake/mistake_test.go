package mistake

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMistakes: every patch says what is wrong, and fits the sources.
func TestMistakes(t *testing.T) {
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	names, err := Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			m, err := Read(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Says) < 20 || !strings.HasSuffix(m.Says, ".") {
				t.Errorf("the patch says %q: want a sentence", m.Says)
			}
			overlay, err := m.Overlay(t.Context(), root, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(overlay)
			if err != nil {
				t.Fatal(err)
			}
			var made struct{ Replace map[string]string }
			if err := json.Unmarshal(text, &made); err != nil {
				t.Fatal(err)
			}
			for file, copied := range made.Replace {
				if same(t, file, copied) {
					t.Errorf("%s is as it was", file)
				}
				if strings.HasSuffix(file, ".go") {
					if _, err := parser.ParseFile(token.NewFileSet(), copied, nil, parser.AllErrors); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

func TestUnknownMistake(t *testing.T) {
	if _, err := Read("none"); err == nil || !strings.Contains(err.Error(), `no mistake "none", only`) {
		t.Errorf("Read() = %v, want the names of those that there are", err)
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	one, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(one, other)
}
