package contract

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// requirement is one thing that users were promised.
type requirement struct {
	// name is its area, a slash, and what it is about in a few words.
	name  string
	check func(*trial)
	// notYet says what is missing where the service does not keep the promise yet.
	// The requirement is tried all the same, and must fail: a promise that is kept is to be counted.
	notYet string
}

// verdict is what became of a requirement.
type verdict string

const (
	passed   verdict = "passed"
	failed   verdict = "FAILED"
	notYet   verdict = "not yet"
	notTried verdict = "not tried"
)

// suite is a run of all requirements.
type suite struct {
	Target
	checker *checker
	tokens  map[Actor]string
	// puppet is the name of the match function that the requirements use.
	puppet string
	// salt makes names that no earlier run used.
	salt  string
	lanes lanes

	mu       sync.Mutex
	verdicts []line
}

type line struct {
	name    string
	verdict verdict
	reason  string
}

// Run tries all requirements, those that can be side by side.
func Run(t *testing.T, target Target) {
	s := newSuite(t, target)
	t.Cleanup(func() { s.report(t) })
	t.Run("requirement", func(t *testing.T) {
		for _, r := range together() {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				s.try(t, r)
			})
		}
	})
	for _, r := range alone() {
		t.Run(r.name, func(t *testing.T) { s.try(t, r) })
	}
}

// together are the requirements that do not get in each other's way.
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

// alone are those that use up what all others need.
func alone() []requirement { return limits() }

func newSuite(t *testing.T, target Target) *suite {
	t.Helper()
	if target.HTTP == nil {
		transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second, ExpectContinueTimeout: patience}
		t.Cleanup(transport.CloseIdleConnections)
		target.HTTP = &http.Client{Transport: transport}
	}
	checker, err := newChecker(t.Context())
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

// try tries a requirement, and says what became of it.
func (s *suite) try(t *testing.T, r requirement) {
	got := s.trial(t, r.check)
	v, reason := s.judge(r, got)
	s.note(line{r.name, v, reason})
	story := strings.Join(append([]string{reason}, got.failures...), "\n")
	switch v {
	case failed:
		t.Error(story)
	case notYet, notTried:
		t.Skip(string(v) + ": " + story)
	case passed:
	}
}

// judge says what became of a requirement, and why.
func (s *suite) judge(r requirement, got *trial) (v verdict, reason string) {
	switch {
	case len(got.failures) > 0 && r.notYet != "":
		return notYet, r.notYet
	case len(got.failures) > 0:
		return failed, got.failures[0]
	case got.untried != "" && s.Complete:
		return failed, "it could not be tried: " + got.untried
	case got.untried != "":
		return notTried, got.untried
	case r.notYet != "":
		return failed, "it is met, and must no longer be marked as not yet"
	}
	return passed, ""
}

func (s *suite) note(l line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verdicts = append(s.verdicts, l)
}
