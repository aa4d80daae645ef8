package policy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsNameMetricsThatExist: each metric that a document names is one of the code.
func TestDocumentsNameMetricsThatExist(t *testing.T) {
	known, found := metrics(t), 0
	for path, text := range documents(t) {
		for _, name := range regexp.MustCompile("`(matchmaker_[a-z_]+)[`{]").FindAllStringSubmatch(text, -1) {
			if found++; !isMetric(known, name[1]) {
				t.Errorf("%s names the metric %s, which the code does not have", path, name[1])
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d metrics were found in the documents", found)
	}
}

// TestEveryLimitStartsAtZero: package web counts the refusals of every limit from the start.
func TestEveryLimitStartsAtZero(t *testing.T) {
	_, rules, _ := strings.Cut(read(t, "services/internal/edge/web/metrics.go"), "var rules = []string{")
	rules, _, ended := strings.Cut(rules, "\n}\n")
	if !ended {
		t.Fatal("package web has no list of rules")
	}
	named, found := regexp.MustCompile(`(?:Exceeds\(|LimitError\(|Limit\{Name: )"([A-Za-z.-]+)"`), 0
	walk(t, func(path string) {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, limit := range named.FindAllStringSubmatch(read(t, path), -1) {
			if found++; !strings.Contains(rules, `"`+limit[1]+`"`) {
				t.Errorf("%s: package web does not start the rule %s at 0", path, limit[1])
			}
		}
	})
	if found < 20 {
		t.Errorf("only %d limits were found in the code", found)
	}
}

// metrics are the names that the code gives to instruments.
func metrics(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	literal := regexp.MustCompile(`"(matchmaker\.[a-z_.]+)"`)
	walk(t, func(path string) {
		if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
			for _, found := range literal.FindAllStringSubmatch(read(t, path), -1) {
				names[strings.ReplaceAll(found[1], ".", "_")] = true
			}
		}
	})
	return names
}

// isMetric reports whether an instrument is exported by a name, which ends in its unit and kind.
func isMetric(known map[string]bool, name string) bool {
	name = strings.TrimSuffix(name, "_total")
	for _, unit := range []string{"", "_seconds", "_bytes", "_ratio"} {
		if known[strings.TrimSuffix(name, unit)] {
			return true
		}
	}
	return false
}
