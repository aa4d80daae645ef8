package accelbyte

import (
	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
)

// regional are the members that limit latencies.
var regional = []string{"region_latency_initial_range_ms", "region_expansion_rate_ms", "region_expansion_range_ms",
	"region_latency_max_ms", "region_latency_rule_weight", "disable_bidirectional_latency_after_ms"}

func regions(r *lenient.Reader, o *lenient.Object) Regions {
	g := Regions{At: o.Node}
	for i, to := range []**float64{&g.Initial, &g.Rate, &g.Range, &g.Max, &g.Weight, &g.OneSided} {
		if *to = o.Number(regional[i]); *to != nil && (**to < 0 || **to > maxMillis) {
			r.Fail(o.Node, "%q must be from 0 to %v", regional[i], maxMillis)
		} else if *to != nil && **to == 0 && to != &g.Weight {
			*to = nil
		}
	}
	return g
}

// limited reports whether the file says anything of latencies.
func (g Regions) limited() bool {
	return g.Initial != nil || g.Max != nil || g.Rate != nil || g.Range != nil
}

// What AccelByte takes where the file does not say it.
const (
	usualRate   = 5000.0
	usualRange  = 50.0
	usualWeight = 1.0
)

func (x *translator) regions() {
	g := x.set.Regions
	if !g.limited() {
		x.Say(g.At, "regions", t.Looser, "the file limits no latency, so tickets need none; where tickets have some, "+
			"AccelByte matches those that have a region in common near the best of each: say region_latency_max_ms")
		return
	}
	value := x.Regions(LatencyValue, rules.Average)
	or := func(n *float64, usual float64) float64 {
		if n == nil {
			return usual
		}
		return *n
	}
	initial, most := or(g.Initial, 0), or(g.Max, maxMillis)
	need := &rules.Latency{Value: value, From: rules.Least, Over: &rules.Bound{
		Clock: rules.Own, Start: initial, Linear: &rules.Linear{
			Delta: or(g.Range, usualRange), Every: or(g.Rate, usualRate) / 1000, Limit: max(most, initial),
		},
	}}
	if g.Max != nil {
		need.Max = rules.Fixed(most)
	}
	why := "tickets bring the latencies as a map by region, and a ticket without one is in no match; AccelByte matches " +
		"tickets that have none, or none that is low enough, with any"
	if g.Rate == nil {
		why += "; the limit expands every 5 s, as AccelByte's published code does without region_expansion_rate_ms"
	}
	if g.OneSided != nil {
		why += "; all tickets keep to their own limit, also when the oldest has waited long"
	}
	x.Rule("latency", nil, need)
	if weight := or(g.Weight, usualWeight); weight > 0 {
		x.Rules.Prefer = append(x.Rules.Prefer, rules.Preference{
			Name: "near region", Weight: weight, Scale: max(min(most, 1000), 1), Amount: &rules.LatencyOf{Value: value},
		})
	}
	x.Say(g.At, "regions", t.Stricter, "%s", why)
}
