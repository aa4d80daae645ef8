package population

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Population says which players come. The zero value of a member asks for nothing; Duration and Rate are required.
type Population struct {
	Duration time.Duration
	// Rate is how many players come a second, on average.
	Rate float64
	// Daily is set if fewer come at night, by the clock of each city. Hour is the hour in UTC at which the time begins.
	Daily bool
	Hour  float64
	// Cities are the numbers of the cities where players live; all if there are none.
	Cities []int
	// Attributes are the attributes of each player. A ticket has the mean of its players.
	Attributes map[string]Distribution
	// Within bounds, per attribute, how far party members may differ from the first; unlisted attributes are
	// independent.
	Within map[string]float64
	// Parties is how many tickets have so many players, from 1 on, in any unit. Each has one if it is empty.
	Parties []float64
	// Values are the properties of each player: the JSON values of which it has one, all equally likely.
	Values map[string][][]byte
	// Latency is the property with the latencies of a player to Regions, as the function rules reads it; "" for none.
	Latency string
	Regions []Region
	// Patience is for how many seconds a player waits before leaving. Without it no player leaves.
	Patience Distribution
	Queues   []string
}

// Limits of a population.
const (
	MaxDuration = 31 * 24 * time.Hour
	MaxRate     = 100_000
	MaxParty    = 64
	mostTickets = 100_000_000
)

// Validate names the member that makes no sense.
func (p *Population) Validate() error {
	switch {
	case p.Duration < time.Second || p.Duration > MaxDuration:
		return fmt.Errorf("duration: from 1s to %s is expected", MaxDuration)
	case !(p.Rate > 0 && p.Rate <= MaxRate):
		return fmt.Errorf("rate: more than 0 and at most %d players a second are expected", MaxRate)
	case p.Rate*p.Duration.Seconds() > mostTickets:
		return fmt.Errorf("rate: %.0f players come in all, at most %d are allowed", p.Rate*p.Duration.Seconds(), mostTickets)
	case !(p.Hour >= 0 && p.Hour < 24):
		return errors.New("hour: from 0 to less than 24 is expected")
	case len(p.Parties) > MaxParty:
		return fmt.Errorf("parties: at most %d sizes are allowed", MaxParty)
	case len(p.Parties) > 0 && !(sum(p.Parties) > 0),
		slices.ContainsFunc(p.Parties, func(n float64) bool { return !(n >= 0 && n <= maxParameter) }):
		return errors.New("parties: numbers of 0 or more are expected, of which one is more than 0")
	}
	for name, most := range p.Within {
		if _, is := p.Attributes[name]; !is {
			return fmt.Errorf("within: %q is none of the attributes", name)
		}
		if !(most >= 0 && most <= maxParameter) {
			return fmt.Errorf("within: %q: a number of 0 or more is expected", name)
		}
	}
	for i, r := range p.Regions {
		switch same := func(o Region) bool { return o.Name == r.Name }; {
		case r.Name == "" || slices.ContainsFunc(p.Regions[:i], same):
			return fmt.Errorf("regions: %q is empty or there twice", r.Name)
		case !(math.Abs(r.Lat) <= 90 && math.Abs(r.Long) <= 180):
			return fmt.Errorf("regions: %s: a latitude of at most 90 and a longitude of at most 180 are expected", r.Name)
		}
	}
	for name, values := range p.Values {
		if len(values) == 0 || len(p.Regions) > 0 && name == p.Latency {
			return fmt.Errorf("values: %q has no value, or is the latencies", name)
		}
	}
	return nil
}

func sum(all []float64) (n float64) {
	for _, one := range all {
		n += one
	}
	return n
}

// Arrival is a ticket that comes.
type Arrival struct {
	// At is since the beginning, in whole milliseconds.
	At time.Duration
	// Patience is for how long it waits before it leaves; 0 for any time.
	Patience time.Duration
	// Ticket has neither id nor time of creation.
	Ticket *pb.Ticket
	// Latency is the worst latency of its players to each region, in ms; nil if it was not asked for.
	Latency map[string]float64
}

// Crowd generates the tickets of a population in the order of their arrival.
type Crowd struct {
	*Population
	cities                       []int
	parties                      []float64
	peak                         float64 // tickets a second, at the peak of all cities
	at                           float64 // of the last ticket, in seconds
	tickets                      int
	arrivals, sizes, leave, ping *rand.Rand
	near                         *rand.Rand
	names                        []string
	draws                        []func() float64
	within                       []float64 // of each attribute; not a number where there is no bound
	valueNames                   []string
	values                       []*rand.Rand // of each value
}

// Generate begins. The same population and seed give the same tickets.
func (p *Population) Generate(seed uint64) *Crowd {
	c := &Crowd{
		Population: p, cities: p.Cities, parties: []float64{1},
		arrivals: Stream(seed, "arrivals"), sizes: Stream(seed, "parties"), leave: Stream(seed, "patience"),
		ping: Stream(seed, "latency"), near: Stream(seed, "within"),
	}
	if len(c.cities) == 0 {
		c.cities = Everywhere
	}
	if len(p.Parties) > 0 {
		c.parties = scaled(p.Parties)
	}
	mean := 0.0
	for i, share := range c.parties {
		mean += share * float64(i+1)
	}
	c.peak = p.Rate / mean / c.meanDay()
	for _, name := range slices.Sorted(maps.Keys(p.Attributes)) {
		c.names = append(c.names, name)
		c.draws = append(c.draws, p.Attributes[name].Sampler(seed, "attribute "+name))
		within := math.NaN()
		if most, is := p.Within[name]; is {
			within = most
		}
		c.within = append(c.within, within)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Values)) {
		c.valueNames, c.values = append(c.valueNames, name), append(c.values, Stream(seed, "value "+name))
	}
	return c
}

// meanDay is how many players there are on average, as a part of the peak.
func (c *Crowd) meanDay() float64 {
	if !c.Daily {
		return 1
	}
	const steps = 1000
	all, weights := 0.0, 0.0
	for _, i := range c.cities {
		weights += cities[i].weight
		for step := range steps {
			hours := (float64(step) + 0.5) / steps * c.Duration.Hours()
			all += cities[i].weight * Day(c.Hour+hours+cities[i].Offset) / steps
		}
	}
	return all / weights
}

// Split divides the time until an end into n parts in which about as many come, and returns where the others than the
// first begin.
func (p *Population) Split(n int, until time.Duration) (begins []time.Duration) {
	const steps = 10_000
	c := p.Generate(0)
	var sums [steps + 1]float64
	for step := range steps {
		hour := c.Hour + (float64(step)+0.5)/steps*until.Hours()
		sums[step+1] = sums[step] + c.level(hour)
	}
	for i := 1; i < n; i++ {
		step, _ := slices.BinarySearch(sums[:], sums[steps]*float64(i)/float64(n))
		begins = append(begins, (until * time.Duration(step) / steps).Truncate(time.Millisecond))
	}
	return begins
}

// level is how many come at an hour in UTC, in any unit.
func (c *Crowd) level(hour float64) (sum float64) {
	if !c.Daily {
		return 1
	}
	for _, i := range c.cities {
		sum += cities[i].weight * Day(hour+cities[i].Offset)
	}
	return sum
}

// Next returns the next ticket, and false when all have come.
func (c *Crowd) Next() (*Arrival, bool) {
	for {
		// A Poisson process at the greatest rate is thinned by the hour of each city.
		c.at += c.arrivals.ExpFloat64() / c.peak
		if c.at >= c.Duration.Seconds() {
			return nil, false
		}
		city := Pick(c.arrivals, c.cities)
		if c.Daily && c.arrivals.Float64() > Day(c.Hour+c.at/3600+city.Offset) {
			continue
		}
		return c.arrival(city), true
	}
}

func (c *Crowd) arrival(city *City) *Arrival {
	c.tickets++
	owner := strconv.Itoa(c.tickets)
	a := &Arrival{
		At:     time.Duration(math.Floor(1000*c.at)) * time.Millisecond,
		Ticket: &pb.Ticket{Owner: owner, AttributeNames: c.names, Queues: c.Queues},
	}
	if !c.Patience.IsZero() {
		a.Patience = max(time.Millisecond, Seconds(c.Patience.Draw(c.leave)))
	}
	n := 1 + Choose(c.sizes, c.parties)
	values := make([]float64, len(c.draws))
	var leader []float64
	for i := range n {
		one := &pb.Player{Id: owner, AttributeNames: c.names, AttributeValues: make([]float64, len(c.draws))}
		if i > 0 {
			one.Id += "." + strconv.Itoa(i+1)
		}
		for k, draw := range c.draws {
			if within := c.within[k]; i > 0 && within >= 0 {
				one.AttributeValues[k] = leader[k] + within*(2*c.near.Float64()-1)
			} else {
				one.AttributeValues[k] = draw()
			}
			values[k] += one.AttributeValues[k] / float64(n)
		}
		if i == 0 {
			leader = one.AttributeValues
		}
		properties := c.latencies(a, city)
		for i, name := range c.valueNames {
			if properties == nil {
				properties = map[string][]byte{}
			}
			properties[name] = c.Values[name][c.values[i].IntN(len(c.Values[name]))]
		}
		if n == 1 {
			a.Ticket.Properties = properties
			continue
		}
		one.Properties = properties
		a.Ticket.Players = append(a.Ticket.Players, one)
	}
	a.Ticket.AttributeValues = values
	return a
}

// latencies draws the latencies of one of a ticket's players.
func (c *Crowd) latencies(a *Arrival, city *City) map[string][]byte {
	if len(c.Regions) == 0 {
		return nil
	}
	pings, latencies := city.PingsTo(c.ping, c.Regions), make(map[string]float64, len(c.Regions))
	if a.Latency == nil {
		a.Latency = make(map[string]float64, len(c.Regions))
	}
	for i, r := range c.Regions {
		latencies[r.Name] = pings[i]
		a.Latency[r.Name] = max(a.Latency[r.Name], pings[i])
	}
	if c.Latency == "" {
		return nil
	}
	text, err := json.Marshal(latencies)
	if err != nil {
		return nil // numbers are finite, and can be written
	}
	return map[string][]byte{c.Latency: text}
}

// mostSeconds is a long time: so that no sample overflows.
const mostSeconds = 1e9

// Seconds is a time of so many seconds, 0 if they are negative.
func Seconds(n float64) time.Duration {
	return time.Duration(min(max(0, n), mostSeconds) * float64(time.Second))
}
