package definition_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/services/internal/match/definition"
)

// What "mm rules check" takes, a config takes, and what it refuses for its depth, a config refuses.
func TestSettingsAreAsDeepAsRuleSets(t *testing.T) {
	for deep, good := range map[int]bool{17: true, document.MaxDepth: true, document.MaxDepth + 1: false} {
		text := strings.Repeat(`{"any":[`, deep/2) + strings.Repeat("[", deep%2) + strings.Repeat("]", deep%2) +
			strings.Repeat("]}", deep/2)
		r := definition.NewReader(jsontext.Value(text), definition.Limits{})
		r.Settings("matchmaking.config")
		if err := r.Err(); err == nil != good {
			t.Errorf("%d deep: %v", deep, err)
		}
		if _, err := document.Parse([]byte(text)); err == nil != good {
			t.Errorf("%d deep, as a rule set: %v", deep, err)
		}
	}
}
