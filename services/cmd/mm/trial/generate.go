package trial

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

// Distribution is how numbers are drawn. The zero Distribution draws 0.
type Distribution struct{ draw func(*rand.Rand) float64 }

// greatest is how far from 0 the numbers of a distribution may be, so that what is drawn is finite.
const greatest = 1e300

// ParseDistribution reads normal:MEAN:STDDEV, uniform:MIN:MAX (MAX excluded), choice:A,B,… (each as
// often as it is named), or a number.
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
		if math.Abs(n) > greatest && !math.IsInf(n, 0) {
			return Distribution{}, fmt.Errorf("%s is out of range: numbers must be from -%g to %[2]g", word, greatest)
		}
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return Distribution{}, fmt.Errorf("%q is no finite number; known are normal:MEAN:STDDEV, uniform:MIN:MAX, choice:A,B,… and a number", word)
		}
		numbers = append(numbers, n)
	}
	switch kind {
	case "choice":
		return Distribution{func(r *rand.Rand) float64 { return numbers[r.IntN(len(numbers))] }}, nil
	case "normal":
		if len(numbers) != 2 || numbers[1] < 0 {
			return Distribution{}, errors.New("normal:MEAN:STDDEV is expected, with STDDEV of 0 or more, as in normal:1500:300")
		}
		return Distribution{func(r *rand.Rand) float64 { return numbers[0] + numbers[1]*r.NormFloat64() }}, nil
	case "uniform":
		if len(numbers) != 2 || numbers[1] < numbers[0] {
			return Distribution{}, errors.New("uniform:MIN:MAX is expected, with MAX of MIN or more, as in uniform:0:60")
		}
		return Distribution{func(r *rand.Rand) float64 { return numbers[0] + (numbers[1]-numbers[0])*r.Float64() }}, nil
	}
	return Distribution{}, fmt.Errorf("there is no distribution %q: known are normal:MEAN:STDDEV, uniform:MIN:MAX, choice:A,B,… and a number", kind)
}

// from returns what draws the numbers called name. Each name has its own stream of them, so
// that one more attribute changes none of the others.
func (d Distribution) from(seed uint64, name string) func() float64 {
	if d.draw == nil {
		return func() float64 { return 0 }
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))                // never fails
	r := rand.New(rand.NewPCG(seed, h.Sum64())) //nolint:gosec // made-up tickets that can be made up again
	return func() float64 { return d.draw(r) }
}

// Crowd is tickets to make up.
type Crowd struct {
	Size       int
	Attributes map[string]Distribution
	Wait       Distribution // in seconds; what falls below 0 is 0
	Seed       uint64
	Now        time.Time
}

// Generate makes the tickets: always the same ones of the same crowd.
func (c Crowd) Generate() []*pb.Ticket {
	draws := map[string]func() float64{}
	for name, d := range c.Attributes {
		draws[name] = d.from(c.Seed, "attribute "+name)
	}
	wait := c.Wait.from(c.Seed, "wait")
	tickets := make([]*pb.Ticket, c.Size)
	digits := len(strconv.Itoa(c.Size))
	for i := range tickets {
		t := &pb.Ticket{Id: fmt.Sprintf("t%0*d", digits, i+1), Created: since(c.Now, max(0, wait()))}
		values := map[string]float64{}
		for name, draw := range draws {
			values[name] = draw()
		}
		set(t, values)
		tickets[i] = t
	}
	return tickets
}
