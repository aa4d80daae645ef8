package main

import (
	"maps"
	"slices"

	"matchmaker.dev/pkg/client"
)

// namedMeasure is a number that says how good a match is.
type namedMeasure struct {
	name  string
	value float64
}

// measuresOf lists what was measured of a match, by name: the function's measures first.
func measuresOf(own map[string]float64, attributes map[string]client.Difference) (all []namedMeasure) {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		all = append(all, namedMeasure{name, own[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		all = append(all, namedMeasure{name + " spread", attributes[name].Spread})
		if gap := attributes[name].Gap; gap != nil {
			all = append(all, namedMeasure{name + " gap", *gap})
		}
	}
	return all
}
