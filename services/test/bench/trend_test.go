package main

import (
	"math"
	"math/rand/v2"
	"testing"
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
