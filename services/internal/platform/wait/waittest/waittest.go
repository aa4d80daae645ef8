// Package waittest waits for conditions in tests.
package waittest

import (
	"testing"
	"time"
)

// patience is longer than any condition takes on a machine that does much else.
const patience = 2 * time.Minute

// Until returns when ok is true, which what says.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("not after %v: %s", patience, what)
		}
	}
}
