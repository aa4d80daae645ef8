package definition

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/go-json-experiment/json"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// longestRegion is how many bytes the name of a region has at most.
const longestRegion = 64

// RegionOf is the region to which the players of a ticket have the least latency on average, of those to which each of
// them has one, by what beacons prove or, without such a rule, by the property latency. It is empty if there is none.
func RegionOf(settings *pb.ProjectSettings, t *pb.Ticket) (region string) {
	name, proven := "", map[string]float64{}
	for _, rule := range settings.GetProperties() {
		if rule.GetSetBy() == ByBeacon {
			name = cmp.Or(name, rule.GetName())
		}
	}
	for _, rule := range settings.GetAttributes() {
		at, has := slices.BinarySearch(t.GetAttributeNames(), rule.GetName())
		if has && rule.GetSetBy() == ByBeacon {
			proven[rule.GetClaim()] = t.GetAttributeValues()[at]
		}
	}
	if name == "" && len(proven) > 0 {
		return leastOf([]map[string]float64{proven})
	}
	all := []map[string]float64{}
	read := func(properties map[string][]byte) {
		var one map[string]float64
		if json.Unmarshal(properties[cmp.Or(name, "latency")], &one) == nil && len(one) > 0 {
			all = append(all, one)
		}
	}
	read(t.GetProperties())
	for _, p := range t.GetPlayers() {
		read(p.GetProperties())
	}
	if len(all) == 0 {
		return ""
	}
	return leastOf(all)
}

// leastOf is the region that has the least sum, of those that all have.
func leastOf(all []map[string]float64) (region string) {
	least := math.Inf(1)
	for _, name := range slices.Sorted(maps.Keys(all[0])) {
		sum := 0.0
		for _, one := range all {
			latency, has := one[name]
			if sum += latency; !has || latency < 0 {
				sum = math.Inf(1)
			}
		}
		if sum < least && len(name) <= longestRegion {
			region, least = name, sum
		}
	}
	return region
}
