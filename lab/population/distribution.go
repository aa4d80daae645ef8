package population

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Distribution is a distribution of random numbers. The zero Distribution always yields 0.
type Distribution struct{ draw func(*rand.Rand) float64 }

// maxParameter bounds the absolute value of a distribution's parameters, so that all samples are finite.
const maxParameter = 1e300

const supported = "known are normal:MEAN:STDDEV, uniform:MIN:MAX, choice:A,B,…, exponential:MEAN, " +
	"lognormal:MEDIAN:SIGMA, weibull:SCALE:SHAPE and a number"

// kind is a kind of distribution with so many parameters.
type kind struct {
	parameters int
	form       string // what is expected, for errors
	valid      func(p []float64) bool
	of         func(p []float64) func(*rand.Rand) float64
}

var kinds = map[string]kind{
	"normal": {2, "normal:MEAN:STDDEV is expected, with STDDEV of 0 or more, as in normal:1500:300",
		func(p []float64) bool { return p[1] >= 0 },
		func(p []float64) func(*rand.Rand) float64 {
			return func(r *rand.Rand) float64 { return p[0] + p[1]*r.NormFloat64() }
		}},
	"uniform": {2, "uniform:MIN:MAX is expected, with MAX of MIN or more, as in uniform:0:60",
		func(p []float64) bool { return p[1] >= p[0] },
		func(p []float64) func(*rand.Rand) float64 {
			return func(r *rand.Rand) float64 { return p[0] + (p[1]-p[0])*r.Float64() }
		}},
	"exponential": {1, "exponential:MEAN is expected, with MEAN of 0 or more, as in exponential:90",
		func(p []float64) bool { return p[0] >= 0 },
		func(p []float64) func(*rand.Rand) float64 {
			return func(r *rand.Rand) float64 { return p[0] * r.ExpFloat64() }
		}},
	"lognormal": {2, "lognormal:MEDIAN:SIGMA is expected, with MEDIAN of 0 or more and SIGMA from 0 to 10, " +
		"as in lognormal:2:0.5",
		func(p []float64) bool { return p[0] >= 0 && p[0] <= 1e100 && p[1] >= 0 && p[1] <= 10 },
		func(p []float64) func(*rand.Rand) float64 {
			return func(r *rand.Rand) float64 { return p[0] * math.Exp(p[1]*r.NormFloat64()) }
		}},
	"weibull": {2, "weibull:SCALE:SHAPE is expected, with SCALE of 0 or more and SHAPE from 0.1 to 100, " +
		"as in weibull:147:0.75",
		func(p []float64) bool { return p[0] >= 0 && p[0] <= 1e100 && p[1] >= 0.1 && p[1] <= 100 },
		func(p []float64) func(*rand.Rand) float64 {
			return func(r *rand.Rand) float64 { return p[0] * math.Pow(r.ExpFloat64(), 1/p[1]) }
		}},
}

// ParseDistribution parses normal:MEAN:STDDEV, uniform:MIN:MAX (MAX excluded), exponential:MEAN,
// lognormal:MEDIAN:SIGMA, weibull:SCALE:SHAPE, choice:A,B,… (each element is equally likely; one may be repeated), or
// a number.
func ParseDistribution(text string) (Distribution, error) {
	name, rest, parameters := strings.Cut(text, ":")
	if !parameters {
		name, rest = "choice", text
	}
	separator := ":"
	if name == "choice" {
		separator = ","
	}
	var numbers []float64
	for word := range strings.SplitSeq(rest, separator) {
		n, err := strconv.ParseFloat(word, 64)
		if math.Abs(n) > maxParameter && !math.IsInf(n, 0) {
			return Distribution{}, fmt.Errorf("%s is out of range: numbers must be from -%g to %[2]g", word, maxParameter)
		}
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return Distribution{}, fmt.Errorf("%q is no finite number; %s", word, supported)
		}
		numbers = append(numbers, n)
	}
	if name == "choice" {
		return Distribution{func(r *rand.Rand) float64 { return numbers[r.IntN(len(numbers))] }}, nil
	}
	k, known := kinds[name]
	if !known {
		return Distribution{}, fmt.Errorf("there is no distribution %q: %s", name, supported)
	}
	if len(numbers) != k.parameters || !k.valid(numbers) {
		return Distribution{}, errors.New(k.form)
	}
	return Distribution{k.of(numbers)}, nil
}

// IsZero reports whether the distribution is not given.
func (d Distribution) IsZero() bool { return d.draw == nil }

// Draw returns a number.
func (d Distribution) Draw(r *rand.Rand) float64 {
	if d.draw == nil {
		return 0
	}
	return d.draw(r)
}

// Sampler returns a function that draws the numbers called name. Each name has a random stream of its own, so that
// adding an attribute does not change the others.
func (d Distribution) Sampler(seed uint64, name string) func() float64 {
	r := Stream(seed, name)
	return func() float64 { return d.Draw(r) }
}

// Stream returns the random numbers of a seed that are called name.
func Stream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))                  // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64())) //nolint:gosec // reproducible test data
}
