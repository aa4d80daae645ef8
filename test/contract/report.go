package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// report prints what became of each requirement, by name.
func (s *suite) report(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.outcomes, func(a, b line) int { return strings.Compare(a.name, b.name) })
	width, count := 0, map[outcome]int{}
	for _, l := range s.outcomes {
		width = max(width, len(l.name))
		count[l.outcome]++
	}
	var table strings.Builder
	for _, l := range s.outcomes {
		fmt.Fprintf(&table, "%-*s  %s", width, l.name, l.outcome)
		if l.reason != "" {
			reason, _, _ := strings.Cut(l.reason, "\n")
			fmt.Fprintf(&table, ": %.160s", reason)
		}
		table.WriteByte('\n')
	}
	fmt.Fprintf(&table, "%d requirements", len(s.outcomes))
	for _, v := range []outcome{passed, failed, notYet, notTried} {
		if count[v] > 0 {
			fmt.Fprintf(&table, ", %d %s", count[v], v)
		}
	}
	t.Logf("the contract of %s\n%s", s.URL, &table)
}
