package e2e

import (
	"net/http"
	"testing"
)

// drain: asked to stop, every process finishes what it has in hand and ends in
// good order. That of a ticket that waits, in a ranked project, is the answer to a GET that is held.
func drain(t *testing.T, p *project, waits *ticket) {
	t.Helper()
	held := waits.holdGet(t)
	p.s.stop(t, p.s.names()...)
	if got := <-held; got.status != http.StatusOK || got.ticket(t).Assignment != nil {
		t.Errorf("a GET that was held got %v, want 200 and no assignment", got)
	}
}
