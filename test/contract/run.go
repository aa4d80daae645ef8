package contract

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/openapi/openapitest"
)

// requirement is one promise of the API.
type requirement struct {
	// name is its area, a slash, and its topic in a few words.
	name  string
	check func(*trial)
	// notYet says what is missing when the service does not meet the requirement yet. It must fail then, so that the text
	// is removed when the service meets it.
	notYet string
}

// outcome is the outcome of a requirement.
type outcome string

const (
	passed   outcome = "passed"
	failed   outcome = "FAILED"
	notYet   outcome = "not yet"
	notTried outcome = "not tried"
)

// suite is a run of all requirements.
type suite struct {
	Target
	checker *openapitest.Checker
	tokens  map[Actor]string
	// puppet is the name of the match function of the requirements.
	puppet string
	// salt makes names unique to a run.
	salt  string
	lanes lanes

	mu       sync.Mutex
	outcomes []line
}

type line struct {
	name    string
	outcome outcome
	reason  string
}

// Run runs all requirements, most of them in parallel.
func Run(t *testing.T, target Target) {
	s := newSuite(t, target)
	t.Cleanup(func() { s.report(t) })
	t.Run("requirement", func(t *testing.T) {
		for _, r := range together() {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				s.run(t, r)
			})
		}
	})
	for _, r := range alone() {
		t.Run(r.name, func(t *testing.T) { s.run(t, r) })
	}
}

// together lists the requirements that can run in parallel.
func together() []requirement {
	var all []requirement
	for _, area := range [][]requirement{
		ticketCreation(), ticketRefusals(), ticketReading(),
		configs(), configRefusals(), configConditions(),
		functions(), functionRefusals(),
		backfill(), filling(), access(), problems(), bodies(),
		assignments(), pools(), segments(),
	} {
		all = append(all, area...)
	}
	return all
}

// alone lists the areas that use up limits, which others need.
func alone() []requirement { return limits() }

func newSuite(t *testing.T, target Target) *suite {
	t.Helper()
	if target.HTTP == nil {
		transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second,
			ExpectContinueTimeout: patience}
		t.Cleanup(transport.CloseIdleConnections)
		target.HTTP = &http.Client{Transport: transport}
	}
	checker, err := openapitest.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	s := &suite{Target: target, checker: checker, tokens: map[Actor]string{}, salt: fmt.Sprintf("%x", now.UnixMilli())}
	s.lanes.next.Store(now.UnixMilli())
	for _, a := range Actors() {
		token, err := target.Token(a)
		if err != nil {
			t.Fatalf("the token of the %s: %v", a, err)
		}
		s.tokens[a] = token
	}
	if s.tokens[Developer] != "" {
		s.uploadPuppet(t)
	}
	return s
}

// run runs a requirement and notes its outcome.
func (s *suite) run(t *testing.T, r requirement) {
	got := s.trial(t, r.check)
	v, reason := s.judge(r, got)
	s.note(line{r.name, v, reason})
	text := strings.Join(append([]string{reason}, got.failures...), "\n")
	switch v {
	case failed:
		t.Error(text)
	case notYet, notTried:
		t.Skip(string(v) + ": " + text)
	case passed:
	}
}

// judge returns the outcome of a requirement, and the reason.
func (s *suite) judge(r requirement, got *trial) (v outcome, reason string) {
	switch {
	case len(got.failures) > 0 && r.notYet != "":
		return notYet, r.notYet
	case len(got.failures) > 0:
		return failed, got.failures[0]
	case got.untried != "" && s.Complete:
		return failed, "it was not tried: " + got.untried
	case got.untried != "":
		return notTried, got.untried
	case r.notYet != "":
		return failed, "it is met: remove its text of notYet"
	}
	return passed, ""
}

func (s *suite) note(l line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes = append(s.outcomes, l)
}
