package problem_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// TestLogTextNamesNobody: whatever an error is told of a caller, logs have what the code says, numbers and causes.
func TestLogTextNamesNobody(t *testing.T) {
	type own string
	name := "hidden-player"
	for _, tt := range []struct {
		err  error
		want string
	}{
		{problem.New(problem.Conflict, "player %q is not ready", name), "player … is not ready"},
		{problem.New(problem.Invalid, "Id: %.80q, %s, %v", name, own(name), []string{name}), "Id: …, …, …"},
		{problem.New(problem.Invalid, "%v: %v", errors.New(name), strings.NewReader(name)), "…: …"},
		{problem.New(problem.Limited, "%d in %v, %v a second (%s)", 3, 2*time.Second, 1.5, problem.Word("--rate")),
			"3 in 2s, 1.5 a second (--rate)"},
		{problem.New(problem.Invalid, "%s: %s", name, problem.New(problem.Invalid, "%q is no number", name)),
			"…: … is no number"},
		{fmt.Errorf("of %s: %w", name, problem.New(problem.NotFound, "player %q has no ticket", name)),
			"player … has no ticket"},
		{problem.Wrap(problem.Unavailable, fmt.Errorf("dial: %w", problem.New(problem.Invalid, "not %q", name)), "no %s",
			name),
			"no …: not …"},
		{problem.Wrap(problem.Unavailable, errors.New("dial tcp"), "no answer").Exceeds("x").After(time.Second),
			"no answer: dial tcp"},
		{errors.New("foreign"), "foreign"},
	} {
		if got := problem.LogText(tt.err); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
}
