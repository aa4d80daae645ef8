// Package policy holds the rules that no linter knows, as tests.
package policy

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// maxColumns is the width of documents. Tables, code and links are exempt.
const maxColumns = 120

// documents returns the repository's Markdown files by their path below root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	walk(t, func(path string) {
		if filepath.Ext(path) == ".md" {
			texts[path] = read(t, path)
		}
	})
	if texts["README.md"] == "" {
		t.Fatal("README.md is missing: this test looks in the wrong folder")
	}
	return texts
}

// walk visits the repository's files, without what is built or installed.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	skipped := map[string]bool{".git": true, "bin": true, "node_modules": true, ".matchmaker": true}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped[entry.Name()]:
			return filepath.SkipDir
		case entry.Type().IsRegular():
			below, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			visit(filepath.ToSlash(below))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}

var (
	fence  = regexp.MustCompile("(?ms)^```.*?^```$")
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	notURL = regexp.MustCompile(`^[^:]*$`)
)

func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	texts := documents(t)
	for path, text := range texts {
		for _, found := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if !notURL.MatchString(found[1]) {
				continue
			}
			file, anchor, _ := strings.Cut(found[1], "#")
			target := path
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(path), file))
			}
			if !exists(target) {
				t.Errorf("%s: the link %s leads nowhere", path, found[1])
				continue
			}
			if anchor != "" && texts[target] != "" && !anchors(texts[target])[anchor] {
				t.Errorf("%s: %s has no heading for the link %s", path, target, found[1])
			}
		}
	}
}

var target = regexp.MustCompile("`make ([a-z]+)")

// TestDocumentsNameWhatExists: targets of the Makefile, and the values that docs/production.md shows.
func TestDocumentsNameWhatExists(t *testing.T) {
	makefile, texts := read(t, "Makefile"), documents(t)
	for path, text := range texts {
		for _, found := range target.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+found[1]+":") {
				t.Errorf("%s: there is no target %s", path, found[1])
			}
		}
	}
	if guide := read(t, "deploy/values/guide.yaml"); !strings.Contains(texts["docs/production.md"],
		"```yaml\n"+guide+"```\n") {
		t.Error("docs/production.md does not show deploy/values/guide.yaml as it is")
	}
}

var (
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the names by which a page's headings are linked to.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-")] = true
	}
	return all
}

var (
	pathName = regexp.MustCompile("`([a-z]+(?:/[a-z_]+)*/[a-z_]+\\.(?:go|lua|yaml|proto|md))`")
	promise  = regexp.MustCompile(`(?m)^\| (\d+) \| `)
	shows    = regexp.MustCompile(`(?m)^// Promises? (\d+(?:, \d+)*)\.\nfunc (?:\([^)]*\) )?Test`)
)

// TestArchitectureNamesWhatExists: the files in which each step lives.
func TestArchitectureNamesWhatExists(t *testing.T) {
	for _, found := range pathName.FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1) {
		if !exists(found[1]) && !exists("services/"+found[1]) && !exists("services/internal/"+found[1]) {
			t.Errorf("ARCHITECTURE.md names the file %s, which does not exist", found[1])
		}
	}
}

// TestPromisesHaveTests: the comment of a test ends in the promises of ARCHITECTURE.md that it shows.
func TestPromisesHaveTests(t *testing.T) {
	tests := map[string]int{}
	for _, row := range promise.FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1) {
		tests[row[1]] = 0
	}
	if len(tests) == 0 {
		t.Fatal("ARCHITECTURE.md has no promises")
	}
	walk(t, func(path string) {
		if filepath.Ext(path) != ".go" {
			return
		}
		for _, found := range shows.FindAllStringSubmatch(read(t, path), -1) {
			for _, number := range strings.Split(found[1], ", ") {
				if _, there := tests[number]; !there {
					t.Errorf("%s: a test names promise %s, which ARCHITECTURE.md does not have", path, number)
				}
				tests[number]++
			}
		}
	})
	for number, n := range tests {
		if n == 0 {
			t.Errorf("no test names promise %s", number)
		}
	}
}

var (
	named     = regexp.MustCompile("`--([a-z-]+)`(?: \\(|, )([0-9][0-9.,]*) ?(s|min|h|days|MiB|GiB)?\\b")
	byDefault = regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| ([0-9.]+)(ms|s|m|h)? \\|")
)

// TestDocumentsNameDefaults: a value behind a setting is its default in docs/reference.md, whose sizes are in MiB.
func TestDocumentsNameDefaults(t *testing.T) {
	units := map[string]float64{"": 1, "ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "days": 86400, "MiB": 1,
		"GiB": 1 << 30}
	texts, defaults, found := documents(t), map[string]float64{}, 0
	value := func(found []string) float64 {
		n, _ := strconv.ParseFloat(strings.ReplaceAll(found[2], ",", ""), 64)
		return n * units[found[3]]
	}
	for _, row := range byDefault.FindAllStringSubmatch(texts["docs/reference.md"], -1) {
		defaults[row[1]] = value(row)
	}
	for path, text := range texts {
		for _, says := range named.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) {
			if n, there := defaults[says[1]]; there {
				if found++; value(says) != n {
					t.Errorf("%s says %s, and docs/reference.md another default", path, says[0])
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d settings with a value were found in the documents", found)
	}
}

func TestDocumentsAreNarrow(t *testing.T) {
	for path, text := range documents(t) {
		lines := bufio.NewScanner(strings.NewReader(text))
		code := false
		for n := 1; lines.Scan(); n++ {
			line := lines.Text()
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			exempt := code || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") || strings.Contains(line, "](")
			if columns := len([]rune(line)); columns > maxColumns && !exempt {
				t.Errorf("%s:%d has %d columns, more than %d", path, n, columns, maxColumns)
			}
		}
	}
}
