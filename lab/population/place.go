// Package population generates players that come to play: when they come, with which attributes, from where and with
// which latencies, in parties of which sizes, and how long they wait before they leave. The same seed gives the same
// players again. Figures that are not asked for come from the sources that docs/quality.md names.
package population

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Regions is how many regions there are.
const Regions = 5

// Region is where servers are, in degrees.
type Region struct {
	Name      string
	Lat, Long float64
}

var regions = [Regions]Region{
	{"frankfurt", 50.11, 8.68}, {"virginia", 38.95, -77.45}, {"oregon", 45.59, -122.60},
	{"singapore", 1.35, 103.82}, {"saopaulo", -23.55, -46.63},
}

// RegionNames are the names of the regions.
func RegionNames() (names []string) {
	for _, r := range regions {
		names = append(names, r.Name)
	}
	return names
}

// KnownRegions are the regions with names of their own.
func KnownRegions() []Region { return slices.Clone(regions[:]) }

// City is where players live.
type City struct {
	Name string
	// Offset is how many hours its clock is before UTC.
	Offset    float64
	lat, long float64
	weight    float64 // in millions of people
}

var cities = []City{
	{"london", 0, 51.51, -0.13, 9.6}, {"paris", 1, 48.86, 2.35, 11.2}, {"berlin", 1, 52.52, 13.41, 3.6},
	{"madrid", 1, 40.42, -3.70, 6.7}, {"rome", 1, 41.90, 12.50, 4.3}, {"warsaw", 1, 52.23, 21.01, 1.8},
	{"stockholm", 1, 59.33, 18.07, 1.7}, {"istanbul", 3, 41.01, 28.98, 15.8}, {"kyiv", 2, 50.45, 30.52, 3.0},
	{"bucharest", 2, 44.43, 26.10, 1.8},
	{"newyork", -5, 40.71, -74.01, 18.9}, {"chicago", -6, 41.88, -87.63, 8.9}, {"houston", -6, 29.76, -95.37, 6.7},
	{"atlanta", -5, 33.75, -84.39, 6.1}, {"toronto", -5, 43.65, -79.38, 6.3}, {"losangeles", -8, 34.05, -118.24, 12.5},
	{"seattle", -8, 47.61, -122.33, 3.5}, {"mexico", -6, 19.43, -99.13, 22.1},
	{"saopaulo", -3, -23.55, -46.63, 22.6}, {"buenosaires", -3, -34.60, -58.38, 15.4}, {"lima", -5, -12.05, -77.04, 11.2},
	{"tokyo", 9, 35.68, 139.69, 37.2}, {"seoul", 9, 37.57, 126.98, 10.0}, {"singapore", 8, 1.35, 103.82, 6.0},
	{"jakarta", 7, -6.21, 106.85, 11.2}, {"manila", 8, 14.60, 120.98, 14.7}, {"delhi", 5.5, 28.61, 77.21, 32.9},
	{"sydney", 10, -33.87, 151.21, 5.1},
}

// Europe is the cities of Europe, Everywhere all, by their number.
var (
	Europe     = numbers(0, 10)
	Everywhere = numbers(0, len(cities))
)

func numbers(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// CityNames are the names of the cities, in the order of their numbers.
func CityNames() (names []string) {
	for _, c := range cities {
		names = append(names, c.Name)
	}
	return names
}

// Pick draws a city by its weight, among the cities with some numbers.
func Pick(r *rand.Rand, among []int) *City {
	sum := 0.0
	for _, i := range among {
		sum += cities[i].weight
	}
	at := r.Float64() * sum
	for _, i := range among {
		if at -= cities[i].weight; at < 0 {
			return &cities[i]
		}
	}
	return &cities[among[0]]
}

// Of latency: 13.5 ms for 1,000 km along the great circle, and a last mile.
const (
	lastMile, lastMileSigma = 12.0, 0.6
	msPerKm                 = 0.0135
	mostPing                = 400
)

// Pings draws the latencies of a player of a city to the regions that have names of their own, in ms.
func (c *City) Pings(r *rand.Rand) (pings [Regions]float64) {
	copy(pings[:], c.PingsTo(r, regions[:]))
	return pings
}

// PingsTo draws the latencies of a player of a city to regions, in ms.
func (c *City) PingsTo(r *rand.Rand, to []Region) []float64 {
	mile, pings := lastMile*math.Exp(lastMileSigma*r.NormFloat64()), make([]float64, len(to))
	for i := range to {
		km := distance(c.lat, c.long, to[i].Lat, to[i].Long)
		pings[i] = math.Round(math.Min(mostPing, (mile+msPerKm*km)*(1+0.05*math.Abs(r.NormFloat64()))))
	}
	return pings
}

// distance is the distance between two places on earth, in km along a great circle.
func distance(lat1, long1, lat2, long2 float64) float64 {
	const radius, degree = 6371, math.Pi / 180
	a := math.Pow(math.Sin((lat2-lat1)*degree/2), 2) +
		math.Cos(lat1*degree)*math.Cos(lat2*degree)*math.Pow(math.Sin((long2-long1)*degree/2), 2)
	return 2 * radius * math.Asin(math.Sqrt(a))
}

// Day is how many players there are at a local hour, as a part of the peak: they rise evenly from four in the morning
// until seven in the evening, stay for three hours, and go before midnight's end.
func Day(hour float64) float64 {
	const least = 0.15
	hour = math.Mod(hour+48, 24)
	switch {
	case hour < 4:
		return least + (1-least)*math.Max(0, (2-hour)/4)
	case hour < 19:
		return least + (1-least)*(hour-4)/15
	case hour < 22:
		return 1
	}
	return 1 - (1-least)*(hour-22)/4
}

// Of patience, in seconds: a Weibull distribution in which 40 in 100 have left after a minute, and a bound.
const (
	patienceScale, patienceShape = 146.8, 0.75
	MaxPatience                  = 900.0
)

// Patience draws how many seconds a player waits before he leaves.
func Patience(r *rand.Rand) float64 {
	return math.Min(MaxPatience, patienceScale*math.Pow(r.ExpFloat64(), 1/patienceShape))
}

// partySizes is how many tickets have so many players, from 1 on.
var partySizes = []float64{0.62, 0.23, 0.05, 0.03, 0.07}

// PartySizes is how many tickets have so many players, from 1 to the largest party, as parts of 1.
func PartySizes(largest int) []float64 { return scaled(partySizes[:largest]) }

// scaled are shares whose sum is 1.
func scaled(all []float64) []float64 {
	sum := 0.0
	for _, share := range all {
		sum += share
	}
	shares := make([]float64, len(all))
	for i := range all {
		shares[i] = all[i] / sum
	}
	return shares
}

// Choose draws a place of shares, whose sum is 1.
func Choose(r *rand.Rand, shares []float64) int {
	at := r.Float64()
	for i, share := range shares {
		if at -= share; at < 0 {
			return i
		}
	}
	return len(shares) - 1
}
