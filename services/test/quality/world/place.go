package world

import (
	"math"
	"math/rand/v2"
)

// Regions is how many regions there are.
const Regions = 5

// region is where servers are.
type region struct {
	name      string
	lat, long float64
}

var regions = [Regions]region{
	{"frankfurt", 50.11, 8.68}, {"virginia", 38.95, -77.45}, {"oregon", 45.59, -122.60},
	{"singapore", 1.35, 103.82}, {"saopaulo", -23.55, -46.63},
}

// city is where players live, with the hours that its clock is before UTC.
type city struct {
	lat, long, offset float64
	weight            float64 // in millions of people
}

var cities = []city{
	{51.51, -0.13, 0, 9.6}, {48.86, 2.35, 1, 11.2}, {52.52, 13.41, 1, 3.6}, {40.42, -3.70, 1, 6.7}, {41.90, 12.50, 1, 4.3},
	{52.23, 21.01, 1, 1.8}, {59.33, 18.07, 1, 1.7},
	{41.01, 28.98, 3, 15.8}, {50.45, 30.52, 2, 3.0}, {44.43, 26.10, 2, 1.8},
	{40.71, -74.01, -5, 18.9}, {41.88, -87.63, -6, 8.9}, {29.76, -95.37, -6, 6.7}, {33.75, -84.39, -5, 6.1},
	{43.65, -79.38, -5, 6.3}, {34.05, -118.24, -8, 12.5}, {47.61, -122.33, -8, 3.5}, {19.43, -99.13, -6, 22.1},
	{-23.55, -46.63, -3, 22.6}, {-34.60, -58.38, -3, 15.4}, {-12.05, -77.04, -5, 11.2},
	{35.68, 139.69, 9, 37.2}, {37.57, 126.98, 9, 10.0}, {1.35, 103.82, 8, 6.0}, {-6.21, 106.85, 7, 11.2},
	{14.60, 120.98, 8, 14.7}, {28.61, 77.21, 5.5, 32.9}, {-33.87, 151.21, 10, 5.1},
}

// Europe is the cities of Europe, Everywhere all.
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

// pick draws a city by its weight.
func pick(r *rand.Rand, among []int) *city {
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

// distance is that of two places on earth, in km along a great circle.
func distance(lat1, long1, lat2, long2 float64) float64 {
	const radius, degree = 6371, math.Pi / 180
	a := math.Pow(math.Sin((lat2-lat1)*degree/2), 2) +
		math.Cos(lat1*degree)*math.Cos(lat2*degree)*math.Pow(math.Sin((long2-long1)*degree/2), 2)
	return 2 * radius * math.Asin(math.Sqrt(a))
}
