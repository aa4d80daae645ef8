package dryrun

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Distribution is a distribution of random numbers. The zero Distribution always yields 0.
type Distribution struct{ draw func(*rand.Rand) float64 }

// maxParameter bounds the absolute value of a distribution's parameters, so that all samples are finite.
const maxParameter = 1e300

const supported = "known are normal:MEAN:STDDEV, uniform:MIN:MAX, choice:A,B,… and a number"

// ParseDistribution parses normal:MEAN:STDDEV, uniform:MIN:MAX (MAX excluded), choice:A,B,… (each element is equally
// likely; one may be repeated), or a number.
func ParseDistribution(text string) (Distribution, error) {
	kind, rest, parameters := strings.Cut(text, ":")
	if !parameters {
		kind, rest = "choice", text
	}
	separator := ":"
	if kind == "choice" {
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
	switch kind {
	case "choice":
		return Distribution{func(r *rand.Rand) float64 { return numbers[r.IntN(len(numbers))] }}, nil
	case "normal":
		if len(numbers) != 2 || numbers[1] < 0 {
			return Distribution{}, errors.New(
				"normal:MEAN:STDDEV is expected, with STDDEV of 0 or more, as in normal:1500:300")
		}
		return Distribution{func(r *rand.Rand) float64 { return numbers[0] + numbers[1]*r.NormFloat64() }}, nil
	case "uniform":
		if len(numbers) != 2 || numbers[1] < numbers[0] {
			return Distribution{}, errors.New("uniform:MIN:MAX is expected, with MAX of MIN or more, as in uniform:0:60")
		}
		return Distribution{func(r *rand.Rand) float64 { return numbers[0] + (numbers[1]-numbers[0])*r.Float64() }}, nil
	}
	return Distribution{}, fmt.Errorf("there is no distribution %q: %s", kind, supported)
}

// sampler returns a function that draws the numbers called name. Each name has a random stream of its own, so that
// adding an attribute does not change the others.
func (d Distribution) sampler(seed uint64, name string) func() float64 {
	if d.draw == nil {
		return func() float64 { return 0 }
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))                // never fails
	r := rand.New(rand.NewPCG(seed, h.Sum64())) //nolint:gosec // reproducible test data
	return func() float64 { return d.draw(r) }
}

// Generator generates tickets.
type Generator struct {
	Count      int
	Attributes map[string]Distribution
	Wait       Distribution // in seconds; negative samples count as 0
	Seed       uint64
	Now        time.Time
}

// Tickets returns the tickets. The same Generator always returns the same ones.
func (g Generator) Tickets() []*pb.Ticket {
	draws := map[string]func() float64{}
	for name, d := range g.Attributes {
		draws[name] = d.sampler(g.Seed, "attribute "+name)
	}
	wait := g.Wait.sampler(g.Seed, "wait")
	tickets := make([]*pb.Ticket, g.Count)
	digits := len(strconv.Itoa(g.Count))
	for i := range tickets {
		t := &pb.Ticket{Id: fmt.Sprintf("t%0*d", digits, i+1), Created: createdAt(g.Now, max(0, wait()))}
		values := map[string]float64{}
		for name, draw := range draws {
			values[name] = draw()
		}
		setAttributes(t, values)
		tickets[i] = t
	}
	return tickets
}
