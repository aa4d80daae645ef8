package problem_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/problem"
)

// TestCodesAreAClosedSet: each code that is declared is defined and used, none is made elsewhere, and the first of each
// status is the general one.
func TestCodesAreAClosedSet(t *testing.T) {
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^\t([A-Z]\w+)(?: Code = iota)?$`).FindAllStringSubmatch(string(source), -1)
	if len(declared) != len(problem.Definitions()) || len(declared) < 40 {
		t.Fatalf("%d codes are declared, %d are defined", len(declared), len(problem.Definitions()))
	}
	used := map[string]bool{"Internal": true, "MethodNotAllowed": true} // package web knows them by their status
	err = filepath.WalkDir("../../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range regexp.MustCompile(`\bproblem\.([A-Z]\w+)`).FindAllSubmatch(text, -1) {
			used[string(name[1])] = true
		}
		if strings.Contains(string(text), "problem.Code(") {
			t.Errorf("%s makes a code of its own", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, d := range problem.Definitions() {
		constant, code := declared[i][1], problem.Code(i)
		switch general := code.Kind(); {
		case !used[constant]:
			t.Errorf("nothing uses %s", constant)
		case seen[d.Name] || !regexp.MustCompile(`^[a-z]+([A-Z][a-z]*)*$`).MatchString(d.Name):
			t.Errorf("%s is named %q", constant, d.Name)
		case general > code || general.Kind() != general || general.Status() != d.Status || general > problem.Unavailable:
			t.Errorf("%s is of the kind %s", constant, general)
		case !strings.HasSuffix(d.When, ".") || !strings.HasSuffix(d.Player, ".") || strings.ContainsAny(d.Player, "`_"):
			t.Errorf("%s: %q, %q", constant, d.When, d.Player)
		}
		seen[d.Name] = true
	}
}

// TestCodeOfAnyStatus: what gateways and net/http answer has a code, too.
func TestCodeOfAnyStatus(t *testing.T) {
	for code, statuses := range map[problem.Code][]int{
		problem.Internal: {500}, problem.Unavailable: {502, 503, 504}, problem.Unsupported: {415, 417, 501, 505},
		problem.TooLarge: {413, 431}, problem.Invalid: {400, 402, 418, 499}, problem.IdempotencyKeyReused: {422},
		problem.Limited: {429}, problem.MethodNotAllowed: {405},
	} {
		for _, status := range statuses {
			if got := problem.OfStatus(status); got != code {
				t.Errorf("%d %s: %s, want %s", status, http.StatusText(status), got, code)
			}
		}
	}
}
