package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestTrend(t *testing.T) {
	for name, test := range map[string]struct {
		line func(i int, noise float64) float64
		want bool
	}{
		"level":                   {func(int, float64) float64 { return 100 }, false},
		"level and noisy":         {func(_ int, noise float64) float64 { return 100 + 20*noise }, false},
		"up and down":             {func(i int, _ float64) float64 { return 100 + 30*math.Sin(float64(i)) }, false},
		"falling":                 {func(i int, _ float64) float64 { return 100 - float64(i) }, false},
		"growing":                 {func(i int, _ float64) float64 { return 100 + float64(i) }, true},
		"growing and noisy":       {func(i int, noise float64) float64 { return 100 + float64(i) + 5*noise }, true},
		"growing by next to none": {func(i int, _ float64) float64 { return 100 + float64(i)/100 }, false},
		"small and growing":       {func(i int, _ float64) float64 { return float64(i) / 20 }, true},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		samples := make([]float64, soakSamples-soakWarm)
		for i := range samples {
			samples[i] = test.line(i, random.NormFloat64())
		}
		slope, error95 := trend(samples)
		if got := isGrowing(samples, slope, error95); got != test.want {
			t.Errorf("%s: %v, want %v (%f ± %f)", name, got, test.want, slope, error95)
		}
	}
}

// What is stored for the results of 100 tickets/s in 60 s is a tenth of what 1,000/s are in as long, and so on.
func TestSoakIsReckonedUp(t *testing.T) {
	l := newLines()
	for name, mib := range map[string]float64{"all": 10, "t:*": 3, "resolved": 1, "m:*": 2, "ended": 1, "feed": 3} {
		for range soakSamples {
			l.values["redis: "+name] = append(l.values["redis: "+name], mib)
		}
	}
	// Of results 4 MiB are stored for 200/s in 60 s, and of servers 3 MiB for 100/s in 120 s.
	const want = 3 + 4*(1000.0/200)*(600.0/60) + 3*(1000.0/100)*(1860.0/120)
	if got := l.reckon(100, time.Minute); math.Abs(got-want) > 1e-6 {
		t.Errorf("%f MiB, want %f", got, want)
	}
}
