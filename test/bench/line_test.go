package main

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// lineOf is a line of a shape "load" with a reading "p50" for each round.
func lineOf(values, beside []float64, busy ...string) *line {
	l := &line{Shape: "load", Name: "p50", Unit: millis}
	for i, value := range values {
		r := &reading{name: "p50", unit: millis, value: value}
		if beside != nil {
			r.than("an empty pool", beside[i]).atMost(1.3)
		}
		because := ""
		if i < len(busy) {
			because = busy[i]
		}
		l.add(r, because)
	}
	return l
}

func TestAimIsJudgedByTheMedianOfTheRoundsRatios(t *testing.T) {
	// The medians alone are 12 and 10: 1.2 times.
	l := lineOf([]float64{12, 30, 11}, []float64{10, 11, 8})
	if got := l.aim(); got != "≤ 1.3: missed" {
		t.Errorf("ratios %v: %q", l.times(), got)
	}
	if got := lineOf([]float64{12, 30, 9}, []float64{10, 11, 8}).aim(); got != "≤ 1.3: met" {
		t.Errorf("a ratio of 1.2: %q", got)
	}
	if got := lineOf([]float64{math.Inf(1)}, []float64{10}).aim(); got != "≤ 1.3: missed" {
		t.Errorf("a queue that grows: %q", got)
	}
	at := &line{}
	for _, value := range []float64{4, 5, 6} {
		r := &reading{value: value}
		r.than("a bare handler", 10).atLeast(0.5)
		at.add(r, "")
	}
	if got := at.aim(); got != "≥ 0.5: met" {
		t.Errorf("a ratio of 0.5: %q", got)
	}
}

func TestBusyMachineIsNotJudged(t *testing.T) {
	l := lineOf([]float64{1, 1, 1}, []float64{10, 10, 10}, "", "others took 50 %")
	if got := l.aim(); got != "≤ 1.3: not judged, machine busy in 1 of 3" {
		t.Errorf("%q", got)
	}
	if got := lineOf([]float64{1}, nil, "others took 50 %").aim(); got != "machine busy in 1 of 1" {
		t.Errorf("without an aim: %q", got)
	}
	r := &record{Binaries: []*binary{{Lines: []*line{lineOf([]float64{1}, nil), l}}}}
	if r.busy() != 1 || r.verdict() == nil {
		t.Errorf("%d lines, verdict %v", r.busy(), r.verdict())
	}
	r.Binaries[0].Lines = r.Binaries[0].Lines[:1]
	if err := r.verdict(); err != nil {
		t.Errorf("a quiet machine: %v", err)
	}
	r.Failed = []string{"burst: too few connections"}
	if r.verdict() == nil {
		t.Error("a shape failed, and all is well")
	}
}

func TestRecordKeepsQueuesThatGrow(t *testing.T) {
	want := lineOf([]float64{1.5, math.Inf(1)}, []float64{1, 2})
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got line
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("%s became %+v", text, got)
	}
}
