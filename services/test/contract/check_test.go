package contract

import (
	"net/http"
	"strings"
	"testing"
)

func TestCheckerFindsWrongAnswers(t *testing.T) {
	c, err := newChecker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const missing = `{"type":"https://httpstatuses.io/404","title":"Not Found","status":404,"detail":"d",
		"instance":null,"extensions":{"correlationId":"id"}}`
	problem := header("Content-Type", mediaProblem, "X-Correlation-Id", "id")
	plain := header("Content-Type", "application/json", "X-Correlation-Id", "id")
	for name, test := range map[string]struct {
		method, path string
		answer       answer
		wrong        string // "" when the answer is good
	}{
		"a ticket that was created": {"POST", "/p/matchmaking/api/v1/tickets",
			answer{201, plain, []byte(`{"id":"x","status":null}`)}, ""},
		"a member too many": {"POST", "/p/matchmaking/api/v1/tickets",
			answer{201, plain, []byte(`{"id":"x","status":null,"more":1}`)}, "more"},
		"a member too few": {"POST", "/p/matchmaking/api/v1/tickets", answer{201, plain, []byte(`{"id":"x"}`)},
			"status"},
		"another letter case": {"POST", "/p/matchmaking/api/v1/tickets",
			answer{201, plain, []byte(`{"Id":"x","status":null}`)}, "id"},
		"another status": {"POST", "/p/matchmaking/api/v1/tickets",
			answer{200, plain, []byte(`{"id":"x","status":null}`)}, "status is not supported"},
		"another content type": {"POST", "/p/matchmaking/api/v1/tickets",
			answer{201, header("Content-Type", "text/plain", "X-Correlation-Id", "id"), []byte(`x`)}, "text/plain"},
		"no correlation id": {"POST", "/p/matchmaking/api/v1/tickets",
			answer{201, header("Content-Type", "application/json"), []byte(`{"id":"x","status":null}`)}, "X-Correlation-Id"},
		"a body that should not be": {"DELETE", "/p/matchmaking/api/v1/tickets?id=x", answer{200, plain, []byte(`{}`)},
			"has a body"},
		"no body": {"DELETE", "/p/matchmaking/api/v1/tickets?id=x",
			answer{200, header("X-Correlation-Id", "id"), nil}, ""},
		"a problem": {"GET", "/p/matchmaking/api/v1/tickets?id=x", answer{404, problem, []byte(missing)}, ""},
		"a problem of another status": {"GET", "/p/matchmaking/api/v1/tickets?id=x", answer{404, problem,
			[]byte(strings.Replace(missing, `"status":404`, `"status":400`, 1))}, "of status 400"},
		"a problem with another id": {"GET", "/p/matchmaking/api/v1/tickets?id=x", answer{404, problem,
			[]byte(strings.Replace(missing, `"id"`, `"other"`, 1))}, "correlation id"},
		"a challenge is missing": {"GET", "/p/matchmaking/api/v1/tickets?id=x", answer{401, problem,
			[]byte(strings.NewReplacer("404", "401", "Not Found", "Unauthorized").Replace(missing))}, "WWW-Authenticate"},
		"an unknown path": {"GET", "/p/matchmaking/api/v1/nothing", answer{404, problem, []byte(missing)},
			""},
		"an unknown path that is there": {"GET", "/p/matchmaking/api/v1/nothing", answer{200, plain, []byte(`{}`)},
			"not supported"},
		"backfill at the root": {"POST", "/api/v2/backfill", answer{201, plain, []byte(`{"Id":"x"}`)}, ""},
		"backfill beside the base": {"POST", "/p/matchmaking/api/v2/backfill",
			answer{201, plain, []byte(`{"id":"x"}`)}, "Id"},
		"backfill below the base": {"POST", "/p/matchmaking/api/v1/api/v2/backfill",
			answer{201, plain, []byte(`{"Id":"x"}`)}, ""},
		"a folder before a function's name": {"POST", "/p/matchmaking/api/v1/functions/actions/restart",
			answer{200, plain, []byte(`{"functions":[]}`)}, ""},
		"a method without Allow": {"PATCH", "/p/matchmaking/api/v1/tickets", answer{405, problem,
			[]byte(strings.NewReplacer("404", "405", "Not Found", "Method Not Allowed").Replace(missing))}, "Allow"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := http.NewRequestWithContext(t.Context(), test.method, "http://host"+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = c.check(in, test.answer)
			switch {
			case test.wrong == "" && err != nil:
				t.Error(err)
			case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
				t.Errorf("got %v, want something about %q", err, test.wrong)
			}
		})
	}
}

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
