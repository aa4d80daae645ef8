package contract

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a requirement waits for anything. It is much longer than things take, for busy machines.
const patience = 2 * time.Minute

// trial is the run of a requirement. It is used like a *testing.T, but keeps the failures: that the requirement is not
// met yet may be known.
type trial struct {
	*suite
	ctx      context.Context
	failures []string
	untried  string
	cleanups []func()

	mu sync.Mutex
}

// trial runs check.
func (s *suite) trial(t *testing.T, check func(*trial)) *trial {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	r := &trial{suite: s, ctx: ctx}
	done := make(chan struct{})
	go func() { // Fatalf ends this goroutine
		defer close(done)
		defer r.cleanup()
		check(r)
	}()
	<-done
	return r
}

// cleanup undoes what the trial did, in reverse order.
func (t *trial) cleanup() {
	for len(t.cleanups) > 0 {
		last := len(t.cleanups) - 1
		undo := t.cleanups[last]
		t.cleanups = t.cleanups[:last]
		undo()
	}
}

// Cleanup calls undo when the trial is over.
func (t *trial) Cleanup(undo func()) { t.cleanups = append(t.cleanups, undo) }

// Errorf notes a failure.
func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

// Fatalf notes a failure and ends the trial.
func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// skip ends the trial, since the target lacks something it needs.
func (t *trial) skip(reason string) {
	t.untried = reason
	runtime.Goexit()
}

// needs ends the trial unless there are tokens of these actors.
func (t *trial) needs(actors ...Actor) {
	for _, a := range actors {
		if a != Nobody && t.tokens[a] == "" {
			t.skip("there is no token of the " + string(a))
		}
	}
}

// eventually waits until ok is true.
func (t *trial) eventually(what string, ok func() bool) {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-deadline.C:
			t.Fatalf("still not after %v: %s", patience, what)
		case <-t.ctx.Done():
			t.Fatalf("%s: %v", what, context.Cause(t.ctx))
		}
	}
}

// pause waits for d.
func (t *trial) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-t.ctx.Done():
		return errors.Join(errors.New("the trial took too long"), context.Cause(t.ctx))
	}
}

// equal notes a failure unless two values are equal.
func equal[V comparable](t *trial, what string, got, want V) {
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// contains notes a failure unless a text has all parts, in any letter case.
func (t *trial) contains(what, text string, parts ...string) {
	for _, part := range parts {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(part)) {
			t.Errorf("%s: got %q, want %q in it", what, text, part)
		}
	}
}
