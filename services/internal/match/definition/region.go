package definition

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-json-experiment/json"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// longestRegion is how many bytes the name of a region has at most, and longestLatency a property that is read.
const longestRegion, longestLatency = 64, 4 << 10

// RegionOf is the region to which the players of a ticket have the least latency on average, of those to which each of
// them has one, by what beacons prove or, without such a rule, by the property latency. It is empty if there is none,
// or if only properties, which are not to be seen, say it. A player without the property has the ticket's.
func RegionOf(settings *pb.ProjectSettings, t *pb.Ticket, seen bool) (region string) {
	name, byAttributes, proven := "", false, map[string]float64{}
	for _, rule := range settings.GetProperties() {
		if rule.GetSetBy() == ByBeacon {
			name = cmp.Or(name, rule.GetName())
		}
	}
	for _, rule := range settings.GetAttributes() {
		if rule.GetSetBy() != ByBeacon {
			continue
		}
		byAttributes = true
		if at, has := slices.BinarySearch(t.GetAttributeNames(), rule.GetName()); has {
			proven[rule.GetClaim()] = t.GetAttributeValues()[at]
		}
	}
	if !seen || name == "" && byAttributes {
		return leastOf([]map[string]float64{proven})
	}
	read := func(properties map[string][]byte, or map[string]float64) (one map[string]float64) {
		text := properties[cmp.Or(name, "latency")]
		if len(text) > longestLatency || json.Unmarshal(text, &one) != nil || len(one) == 0 {
			return or
		}
		return one
	}
	all := make([]map[string]float64, max(1, len(t.GetPlayers())))
	all[0] = read(t.GetProperties(), nil)
	own := all[0]
	for i, p := range t.GetPlayers() {
		all[i] = read(p.GetProperties(), own)
	}
	return leastOf(all)
}

// leastOf is the region that has the least sum, of those that all have.
func leastOf(all []map[string]float64) (region string) {
	least := math.Inf(1)
	for name := range all[0] {
		sum := 0.0
		for _, one := range all {
			latency, has := one[name]
			if sum += latency; !has || latency < 0 {
				sum = math.Inf(1)
			}
		}
		if (sum < least || sum == least && name < region) && len(name) <= longestRegion {
			region, least = name, sum
		}
	}
	return region
}
