//go:build amd64 || arm64

package sandbox_test

import (
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
)

// TestUseOfInstancesIsMeasured: the most memory of any instance, as the kernel reports it, and what one wrote to its
// standard error. Ended instances do not count.
func TestUseOfInstancesIsMeasured(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	if use := b.MostUsed(); use != (sandbox.Use{}) {
		t.Errorf("without instances: %+v", use)
	}
	m := load(t, b, reactor(echo()).bytes())
	one, _ := start(t, b, m)
	two, _ := start(t, b, m)
	use := b.MostUsed()
	for what, got := range map[string][2]int{
		"address space": {int(use.Addresses), kilobytes(t, one.Pid(), "VmSize") << 10},
		"page tables":   {int(use.PageTables), kilobytes(t, one.Pid(), "VmPTE") << 10},
	} {
		// The two differ a little.
		if got[0] < got[1]*3/4 || got[0] > got[1]*4/3 || got[0] == 0 {
			t.Errorf("%s: %d, one of the instances has %d", what, got[0], got[1])
		}
	}
	if use.Threads < 2 || use.Threads > 30 || use.Errors != 0 {
		t.Errorf("%+v", use)
	}
	one.Close()
	two.Close()
	deadline := time.After(time.Minute)
	for b.MostUsed() != (sandbox.Use{}) {
		select {
		case <-deadline:
			t.Fatalf("after all ended: %+v", b.MostUsed())
		case <-time.After(time.Millisecond):
		}
	}
}
