package runner

import (
	"slices"
	"testing"
	"time"
)

func TestPauseDoublesUntilARunIsAnswered(t *testing.T) {
	e := newEnv(Options{Now: time.Now})
	s := newSlot(&version{f: &function{env: e}})
	for _, want := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond} {
		if got := s.backoff.NextBackOff(); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	for range 20 {
		s.backoff.NextBackOff()
	}
	if got := s.backoff.NextBackOff(); got != 5*time.Second {
		t.Errorf("the longest pause is %v", got)
	}
	s.backoff.Reset()
	if got := s.backoff.NextBackOff(); got != 100*time.Millisecond {
		t.Errorf("after an answer: %v", got)
	}
}

func TestTimestampsSort(t *testing.T) {
	at := time.UnixMilli(1_795_322_921_228)
	e := &env{Options: Options{Now: func() time.Time { return at }}}
	var stamps []string
	for n := range 100 {
		stamps = append(stamps, e.timestamp())
		if n == 50 {
			at = at.Add(-time.Hour) // a clock that is set back
		}
	}
	at = at.Add(24 * time.Hour)
	stamps = append(stamps, e.timestamp())
	if !slices.IsSorted(stamps) || len(slices.Compact(slices.Clone(stamps))) != len(stamps) {
		t.Errorf("the timestamps are %q", stamps)
	}
}
