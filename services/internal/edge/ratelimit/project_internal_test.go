package ratelimit

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// A bucket that is empty for long is looked at again after a while, and what is remembered has a bound.
func TestRefusalsAreForgotten(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	empty := problem.New(problem.Limited, "too many").Exceeds("api")
	empty.RetryAfter = time.Hour
	r := refusals{last: map[string]refusal{}}
	r.note("other errors", now, problem.New(problem.Unavailable, "the state store did not answer"))
	for i := range 2 * maxRefusals {
		r.note(fmt.Sprint(i), now, empty)
	}
	if len(r.last) != maxRefusals {
		t.Errorf("%d refusals are remembered, want %d", len(r.last), maxRefusals)
	}
	err, ok := errors.AsType[*problem.Error](r.check("0", now.Add(900*time.Millisecond)))
	if !ok || err.RetryAfter != time.Hour-900*time.Millisecond || err.Limit.Name != "api" {
		t.Errorf("refused with %v", err)
	}
	now = now.Add(maxRefusalTime)
	first := r.last["0"]
	r.note("late", now, empty)
	if len(r.last) != 1 || r.check("late", now) == nil {
		t.Errorf("%d refusals are remembered that are over", len(r.last))
	}
	r.last["0"] = first
	if err := r.check("0", now); err != nil {
		t.Errorf("refused for longer than it is remembered: %v", err)
	}
}
