package policy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTableOfLimits: docs/operations.md has limits with metrics that exist. The tests of cmd/matchmaker look for those
// that are flags.
func TestTableOfLimits(t *testing.T) {
	_, table, found := strings.Cut(documents(t)["docs/operations.md"], "\n## Limits\n")
	table, _, ended := strings.Cut(table, "\n## ")
	if !found || !ended {
		t.Fatal("docs/operations.md has no section Limits")
	}
	known := metrics(t)
	for _, name := range regexp.MustCompile(`matchmaker_[a-z_]+`).FindAllString(table, -1) {
		if !isMetric(known, name) {
			t.Errorf("the table of limits names the metric %s, which the code does not have", name)
		}
	}
	for n, row := range strings.Split(table, "\n") {
		if strings.HasPrefix(row, "|") && strings.Count(strings.ReplaceAll(row, `\|`, ""), "|") != 6 {
			t.Errorf("row %d of the table of limits has not five columns: %s", n, row)
		}
	}
	rules := read(t, "services/internal/web/metrics.go")
	for _, rule := range regexp.MustCompile(`rule="([a-z-]+)"`).FindAllStringSubmatch(table, -1) {
		if !strings.Contains(rules, `"`+rule[1]+`"`) {
			t.Errorf("the table of limits names the rule %s, which package web does not start at 0", rule[1])
		}
	}
	measured := regexp.MustCompile("`(matchmaker|http_server)_")
	for row := range strings.Lines(table) {
		columns := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
		if len(columns) != 5 || strings.HasPrefix(columns[0], " what ") || strings.HasPrefix(columns[0], " ---") {
			continue
		}
		if !measured.MatchString(columns[4]) {
			t.Errorf("the table of limits has no metric for %s", strings.TrimSpace(columns[0]))
		}
	}
}

// TestEveryLimitStartsAtZero: package web counts the refusals of every limit from the start.
func TestEveryLimitStartsAtZero(t *testing.T) {
	_, rules, _ := strings.Cut(read(t, "services/internal/web/metrics.go"), "var rules = []string{")
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

// isMetric tells whether an instrument is exported by a name, which ends in its unit and kind.
func isMetric(known map[string]bool, name string) bool {
	name = strings.TrimSuffix(name, "_total")
	for _, unit := range []string{"", "_seconds", "_bytes", "_ratio"} {
		if known[strings.TrimSuffix(name, unit)] {
			return true
		}
	}
	return false
}
