package registry

import (
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/problem"
)

func TestParseName(t *testing.T) {
	long := strings.Repeat("a", 64)
	for raw, want := range map[string]string{
		"a": "a", "7": "7", "Duel": "duel", "a.b-c_d": "a.b-c_d", "a..b": "a..b", long: long,
	} {
		if got, err := parseName(raw); err != nil || got != want {
			t.Errorf("%q: got %q, %v", raw, got, err)
		}
	}
	for _, raw := range []string{
		"", ".", "..", "-a", "a-", "_a", "a.", "a b", "a/b", "a%2fb", "ä", "\u212a", "a\x00b", "a~b", long + "a", "a\xff",
	} {
		got, err := parseName(raw)
		if err == nil {
			t.Errorf("%q: got %q", raw, got)
		} else if problem.KindOf(err) != problem.Invalid || !strings.HasPrefix(err.Error(), "name: ") {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
