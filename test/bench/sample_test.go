package main

import (
	"math"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   float64
	}{
		"one":            {[]float64{7}, 7},
		"odd":            {[]float64{9, 1, 5}, 5},
		"even":           {[]float64{4, 1, 2, 9}, 3},
		"one outlier":    {[]float64{5, math.Inf(1), 4, 6, 5}, 5},
		"most are grown": {[]float64{5, math.Inf(1), math.Inf(1)}, math.Inf(1)},
		"all are grown":  {[]float64{math.Inf(1), math.Inf(1)}, math.Inf(1)},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

func TestQuantile(t *testing.T) {
	values := times{5, 1, 4, 2, 3}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 5, 1: 5} {
		if got := values.quantile(q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if got := (times{}).quantile(0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestShow(t *testing.T) {
	for want, c := range map[string]struct {
		value float64
		unit  string
	}{
		"8.46 ms":     {8.456, millis},
		"0.00 s":      {0.001, seconds},
		"21.5 ms":     {21.54, millis},
		"999 µs":      {999.4, micros},
		"1,000 µs":    {999.6, micros},
		"7,050/s":     {7050, perSec},
		"1,000,007/s": {1_000_007, perSec},
		"100":         {99.9, ""},
		"10.0":        {9.99, ""},
		"-0.50 MiB":   {-0.5, mib},
		"-1,200 MiB":  {-1200, mib},
		"too much":    {math.Inf(1), millis},
	} {
		if got := show(c.value, c.unit); got != want {
			t.Errorf("%v %s is %q, want %q", c.value, c.unit, got, want)
		}
	}
	if got := spread([]float64{3, 1, 2}); got != "1.00–3.00" {
		t.Errorf("the range is %q", got)
	}
	if got := spread([]float64{3, math.Inf(1)}); got != "3.00–∞" {
		t.Errorf("the range is %q", got)
	}
}
