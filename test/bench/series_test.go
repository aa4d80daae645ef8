package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/test/launch"
)

// quiet is a machine on which only we do something, busy one on which others take a fifth.
func quiet(n int) launch.Processors {
	d := time.Duration(n) * time.Second
	return launch.Processors{All: 10 * d, Busy: 5 * d, Ours: 5 * d}
}

func busy(n int) launch.Processors {
	p := quiet(n)
	p.Busy += time.Duration(n) * 2 * time.Second
	return p
}

// newSeries measures with a machine of which now tells what it did.
func newSeries(rounds int, now func(n int) launch.Processors, binaries ...string) *series {
	n := 0
	s := &series{options: &options{Rounds: rounds, Seed: 5, Again: true}, errs: io.Discard, took: map[string]times{},
		record: record{Rounds: rounds}, processors: func() launch.Processors { n++; return now(n) }}
	for _, version := range binaries {
		s.Binaries = append(s.Binaries, &binary{Matchmaker: "bin/" + version, Version: version})
	}
	return s
}

func TestBinariesAreMeasuredInTurns(t *testing.T) {
	s := newSeries(3, quiet, "old", "new")
	var turns []string
	err := s.shape(t.Context(), shape{name: "load", measure: func(r *round, _ context.Context) error {
		turns = append(turns, fmt.Sprint(r.binary.Matchmaker, " ", r.seed()))
		r.add("p50", millis, map[string]float64{"old": 10, "new": 5}[r.Version]+float64(r.number))
		return nil
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"bin/old 5", "bin/new 5", "bin/new 6", "bin/old 6", "bin/old 7", "bin/new 7"}
	if !slices.Equal(turns, want) {
		t.Errorf("turns %q, want %q", turns, want)
	}
	var out strings.Builder
	s.print(&out, func(*line) bool { return true })
	// Medians of 11 and 6, and ratios of the rounds from 5/10 to 7/12.
	for _, cell := range []string{"A: old", "B: new", "11.0 ms", "10.0–12.0", "6.00 ms", "0.55", "0.50–0.58"} {
		if !strings.Contains(out.String(), cell) {
			t.Errorf("no %q in\n%s", cell, out.String())
		}
	}
}

func TestBusyRoundIsMeasuredAgain(t *testing.T) {
	measured := 0
	one := shape{name: "load", measure: func(r *round, _ context.Context) error {
		measured++
		r.add("p50", millis, float64(measured))
		return nil
	}}
	// Others do something in the first round only.
	s := newSeries(2, func(n int) launch.Processors {
		if n == 1 {
			return quiet(1)
		}
		p := quiet(n)
		p.Busy += 3 * time.Second
		return p
	}, "dev")
	if err := s.shape(t.Context(), one, nil); err != nil {
		t.Fatal(err)
	}
	l := s.Binaries[0].find("load", "p50")
	if !slices.Equal(l.Values, numbers{2, 3}) || len(l.Busy) != 0 || s.verdict() != nil {
		t.Errorf("values %v, busy %q, verdict %v", l.Values, l.Busy, s.verdict())
	}
	measured = 0
	s = newSeries(2, busy, "dev")
	if err := s.shape(t.Context(), one, nil); err != nil {
		t.Fatal(err)
	}
	l = s.Binaries[0].find("load", "p50")
	if measured != 4 || len(l.Values) != 2 || len(l.Busy) != 2 || !errors.Is(s.verdict(), errBusyMachine) {
		t.Errorf("measured %d times: values %v, busy %q, verdict %v", measured, l.Values, l.Busy, s.verdict())
	}
	measured = 0
	s = newSeries(2, busy, "dev")
	s.Again = false
	if err := s.shape(t.Context(), one, nil); err != nil || measured != 2 {
		t.Errorf("without --again measured %d times, %v", measured, err)
	}
}

func TestLateGeneratorIsABusyMachine(t *testing.T) {
	s := newSeries(1, quiet, "dev")
	measured := 0
	err := s.shape(t.Context(), shape{name: "load", measure: func(r *round, _ context.Context) error {
		measured++
		r.checkLate(growth{late: 2 * mostLateness})
		r.add("p50", millis, 1)
		return nil
	}}, nil)
	if l := s.Binaries[0].find("load", "p50"); err != nil || measured != 2 || len(l.Busy) != 1 ||
		!strings.Contains(l.Busy[0], "200ms") {
		t.Errorf("measured %d times: %+v %v", measured, l, err)
	}
}

func TestTimeThatIsLeft(t *testing.T) {
	s := newSeries(5, quiet, "old", "new")
	first, second := shape{name: "a", takes: time.Minute}, shape{name: "b", takes: 30 * time.Second}
	if got := s.left([]shape{first, second}, 0); got != 15*time.Minute {
		t.Errorf("at first %v, want 10 and 5 minutes", got)
	}
	s.took["a"] = times{20 * time.Second, 40 * time.Second, 30 * time.Second}
	if got := s.left([]shape{first, second}, 3); got != 7*30*time.Second+5*time.Minute {
		t.Errorf("after three rounds of half a minute %v", got)
	}
}
