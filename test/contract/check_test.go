package contract

import (
	"strings"
	"testing"
)

func TestTheOutcomeOfARequirementIsThatOfItsTrial(t *testing.T) {
	good := func(*trial) {}
	bad := func(t *trial) {
		t.Errorf("first")
		end := t.Fatalf // revive knows that Fatalf does not return, which is tested here
		end("second")
		t.Errorf("after the end")
	}
	skipped := func(t *trial) { t.needs(Player) }
	for name, test := range map[string]struct {
		requirement
		complete bool
		want     outcome
		failures int
	}{
		"good":                              {requirement{check: good}, true, passed, 0},
		"bad":                               {requirement{check: bad}, false, failed, 2},
		"bad as known":                      {requirement{check: bad, notYet: "known"}, false, notYet, 2},
		"better than known":                 {requirement{check: good, notYet: "known"}, false, failed, 0},
		"no token":                          {requirement{check: skipped}, false, notTried, 0},
		"no token, but all should be there": {requirement{check: skipped}, true, failed, 0},
	} {
		s := &suite{Target: Target{Complete: test.complete}}
		undone := false
		got := s.trial(t, func(t *trial) {
			t.Cleanup(func() { undone = true })
			test.check(t)
		})
		v, reason := s.judge(test.requirement, got)
		if v != test.want || len(got.failures) != test.failures || (v == passed) != (reason == "") {
			t.Errorf("%s: got %s (%q) and the failures %q, want %s", name, v, reason, got.failures, test.want)
		}
		if !undone {
			t.Errorf("%s: the cleanup was not called", name)
		}
	}
}

func TestNamesOfRequirementsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range append(together(), alone()...) {
		if seen[r.name] || !strings.Contains(r.name, "/") || r.check == nil {
			t.Errorf("the requirement %q is not unique, is in no area, or checks nothing", r.name)
		}
		seen[r.name] = true
	}
}
