package rules_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/rules"
)

var update = flag.Bool("update", false, "write the golden files")

// The rule sets of testdata are explained in their golden files.
func TestRulesAreExplained(t *testing.T) {
	for _, name := range []string{"five", "everything", "roles"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := rules.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, golden := rules.Explain(r).String(), filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// Every part of every published example has words.
func TestNothingIsLeftOut(t *testing.T) {
	for _, language := range dialects.Languages() {
		files, err := filepath.Glob(filepath.Join("..", "dialects", "testdata", language, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no examples: %v", language, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			imported, err := dialects.Import(language, text, "")
			if err != nil {
				t.Fatal(err)
			}
			sections := rules.Explain(imported.Rules)
			lines := 0
			for _, s := range sections {
				for _, l := range s.Lines {
					lines++
					if l != strings.TrimRight(l, " :") && !strings.HasSuffix(l, "hold:") && !strings.HasSuffix(l, "holds:") ||
						strings.Contains(l, "  of") || strings.Contains(l, "%!") || strings.Contains(l, "[]") {
						t.Errorf("%s: %q", file, l)
					}
				}
			}
			if want := len(imported.Rules.Rules) + len(imported.Rules.Prefer) + len(imported.Rules.Values); lines < want {
				t.Errorf("%s: %d lines, want at least %d", file, lines, want)
			}
		}
	}
}
