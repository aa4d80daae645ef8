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
	r := stream(seed, name)
	return func() float64 { return d.draw(r) }
}

// stream is the random stream called name.
func stream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))                  // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64())) //nolint:gosec // reproducible test data
}

// IsSet tells whether it is not the zero Distribution.
func (d Distribution) IsSet() bool { return d.draw != nil }

// Generator generates tickets.
type Generator struct {
	Count      int
	Attributes map[string]Distribution
	// Properties are the values that each of them may have, all equally likely.
	Properties map[string][][]byte
	// Players is how many players each ticket has: rounded, at least 1, at most MaxPlayers. Attributes and properties are
	// then drawn for each player, and a ticket's attributes are the means of its players'. The zero Distribution makes
	// tickets of their owners alone, who have no names.
	Players Distribution
	Wait    Distribution // in seconds; negative samples count as 0
	Seed    uint64
	Now     time.Time
}

// MaxPlayers is the most players of a ticket that a service may be set to take.
const MaxPlayers = 1000

// Tickets returns the tickets. The same Generator always returns the same ones.
func (g Generator) Tickets() []*pb.Ticket {
	draw := g.drawer()
	wait := g.Wait.sampler(g.Seed, "wait")
	players := g.Players.sampler(g.Seed, "players")
	tickets := make([]*pb.Ticket, g.Count)
	digits := len(strconv.Itoa(g.Count))
	for i := range tickets {
		t := &pb.Ticket{Id: fmt.Sprintf("t%0*d", digits, i+1), Created: createdAt(g.Now, max(0, wait()))}
		if g.Players.IsSet() {
			addPlayers(t, int(min(max(1, math.Round(players())), MaxPlayers)), draw)
		} else {
			values, properties := draw()
			setAttributes(t, values)
			t.Properties = properties
		}
		tickets[i] = t
	}
	return tickets
}

// drawer returns a function that draws the attributes and the properties of one player.
func (g Generator) drawer() func() (map[string]float64, map[string][]byte) {
	attributes := map[string]func() float64{}
	for name, d := range g.Attributes {
		attributes[name] = d.sampler(g.Seed, "attribute "+name)
	}
	properties := map[string]func() []byte{}
	for name, values := range g.Properties {
		r := stream(g.Seed, "property "+name)
		properties[name] = func() []byte { return values[r.IntN(len(values))] }
	}
	return func() (map[string]float64, map[string][]byte) {
		numbers, texts := map[string]float64{}, map[string][]byte{}
		for name, draw := range attributes {
			numbers[name] = draw()
		}
		for name, draw := range properties {
			texts[name] = draw()
		}
		return numbers, texts
	}
}

// addPlayers adds players to a ticket, and their means as its attributes.
func addPlayers(t *pb.Ticket, count int, draw func() (map[string]float64, map[string][]byte)) {
	means := map[string]float64{}
	for n := range count {
		values, properties := draw()
		one := new(pb.Ticket) // a player has attributes as a ticket has
		setAttributes(one, values)
		t.Players = append(t.Players, &pb.Player{
			Id: fmt.Sprintf("%s-%d", t.GetId(), n+1), AttributeNames: one.GetAttributeNames(),
			AttributeValues: one.GetAttributeValues(), Properties: properties,
		})
		for name, value := range values {
			means[name] += value / float64(count)
		}
	}
	setAttributes(t, means)
}
