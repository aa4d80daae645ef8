package e2e

import (
	"net/http"
	"testing"
)

// drain: all processes stop in good order, and a GET that is held for a waiting ticket is answered.
func drain(t *testing.T, p *project, waits *ticket) {
	t.Helper()
	held, _ := waits.holdGet(t)
	p.s.stop(t, p.s.names()...)
	if got := <-held; got.status != http.StatusOK || got.ticket(t).Assignment != nil {
		t.Errorf("a GET that was held got %v, want 200 and no assignment", got)
	}
}
