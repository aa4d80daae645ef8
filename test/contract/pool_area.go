package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"matchmaker.dev/services/internal/match/pool/pooltest"
)

// pools lists the cases of the table that the index's tests use too, and requirements about several pools.
func pools() []requirement {
	var all []requirement
	for _, c := range pooltest.Cases() {
		all = append(all, requirement{name: "pools/" + c.Name, check: func(t *trial) { t.checkSelection(c) }})
	}
	return append(all,
		requirement{name: "pools/config without pools", check: func(t *trial) {
			lane := t.lanes.take()
			c := t.play(lane, nil, object{})
			delete(c, "pools")
			t.config(c)
			t.ticket(map[string]float64{"lane": lane}).result(t)
			t.ticket(map[string]float64{"lane": lane, "skill": 1}).result(t)
		}},
		requirement{name: "pools/several pools are roles", check: func(t *trial) {
			lane := t.lanes.take()
			t.config(t.play(lane, object{"roles": []string{"tank", "healer"}}, object{
				"tank":   []object{inLane(lane), {"attribute": "role", "min": 1, "max": 1}},
				"healer": []object{inLane(lane), {"attribute": "role", "min": 2, "max": 2}},
			}))
			role := func(n float64) ticket { return t.ticket(map[string]float64{"lane": lane, "role": n}) }
			first, second, other := role(1), role(1), role(3)
			role(2).result(t)
			// Either is first, since both may have come within a millisecond.
			if (first.read(t).Assignment == nil) == (second.read(t).Assignment == nil) {
				t.Errorf("one healer is in a match with both tanks, or with none")
			}
			other.mustWait(t)
			role(2).result(t)
			first.result(t)
			second.result(t)
			other.mustWait(t)
		}},
		requirement{name: "pools/one ticket in several pools is in one match", check: func(t *trial) {
			lane := t.lanes.take()
			t.config(t.play(lane, object{"roles": []string{"a", "b"}}, object{"a": []object{inLane(lane)},
				"b": []object{inLane(lane)}}))
			first := t.ticket(map[string]float64{"lane": lane})
			other := t.lanes.take()
			t.config(t.play(other, nil, nil))
			t.awaitCycles(map[string]float64{"lane": other})
			first.mustWait(t)
			second := t.ticket(map[string]float64{"lane": lane})
			first.result(t)
			second.result(t)
		}},
	)
}

// checkSelection makes the pool of a case with tickets.
func (t *trial) checkSelection(c pooltest.Case) {
	lane, aside := t.lanes.take(), t.lanes.take()
	filters := []object{inLane(lane)}
	for _, f := range c.Filters {
		filter := object{"attribute": f.GetAttribute()}
		if f.Min != nil {
			filter["min"] = f.GetMin()
		}
		if f.Max != nil {
			filter["max"] = f.GetMax()
		}
		filters = append(filters, filter)
		if f.Min != nil && f.Max != nil && f.GetMax() < f.GetMin() {
			t.invalid(configRequest(http.MethodPost, "", marshal(t, t.play(lane, nil, object{"main": []object{filter}}))),
				"badFilterRange", "pools.main[0]")
			return
		}
	}
	t.config(t.play(lane, nil, object{"main": filters}))
	in := func(lane float64, of pooltest.Ticket) map[string]float64 {
		attributes := map[string]float64{"lane": lane}
		maps.Copy(attributes, of)
		return attributes
	}
	var out []ticket
	for _, of := range c.Out {
		out = append(out, t.ticket(in(lane, of)))
	}
	for _, of := range c.In {
		t.ticket(in(lane, of)).result(t)
	}
	// The cycles that began after the last ticket was created are over.
	if len(c.In) > 0 {
		t.awaitCycles(in(lane, c.In[0]))
	} else {
		t.config(t.play(aside, nil, nil))
		t.awaitCycles(in(aside, nil))
	}
	for _, k := range out {
		k.mustWait(t)
	}
}

func segments() []requirement {
	const all = "a segmentation covers its filter exactly"
	segmentation := func(distribution, behaviour string, value int) object {
		return object{"DistributionType": distribution, "SegmentBehaviorType": behaviour, "Value": value, "Stddev": 10}
	}
	skill := func(s object) object { return object{"attribute": "skill", "min": 0, "max": 100, "segmentation": s} }
	requirements := []requirement{
		{name: "segmentation/both letter cases", check: func(t *trial) {
			t.checkSplit(object{"attribute": "skill", "min": 0, "max": 100, "segmentation": object{
				"distributionType": "Uniform", "segmentBehaviorType": "BucketCount", "value": 2,
			}})
		}},
		{name: "segmentation/combinations of two filters", check: func(t *trial) {
			lane := t.lanes.take()
			halves := segmentation("Uniform", "BucketCount", 2)
			t.config(t.play(lane, object{"size": 2}, object{"main": []object{
				inLane(lane), skill(halves), {"attribute": "level", "min": 0, "max": 10, "segmentation": halves},
			}}))
			at := func(skill, level float64) ticket {
				return t.ticket(map[string]float64{"lane": lane, "skill": skill, "level": level})
			}
			four := []ticket{at(10, 1), at(10, 9), at(90, 1), at(90, 9)}
			fifth := at(99, 9)
			four[3].result(t)
			fifth.result(t)
			for _, k := range four[:3] {
				k.mustWait(t)
			}
		}},
	}
	requirements = append(requirements, requirement{name: "segmentation/Normal, BucketSize", check: byPopulation})
	for name, s := range map[string]object{
		"Uniform, BucketCount": segmentation("Uniform", "BucketCount", 2), "Uniform, BucketSize": segmentation("Uniform",
			"BucketSize", 50),
		"Uniform, TargetPercentage": segmentation("Uniform", "TargetPercentage", 50),
		"Normal, BucketCount": segmentation("Normal", "BucketCount",
			2), "Normal, TargetPercentage": segmentation("Normal", "TargetPercentage", 50),
	} {
		requirements = append(requirements, requirement{name: "segmentation/" + name,
			check: func(t *trial) { t.checkSplit(skill(s)) }})
	}
	for name, s := range map[string]object{
		"Uniform": segmentation("Uniform", "BucketCount", 7), "Normal": segmentation("Normal", "BucketCount", 7),
		"Normal in tickets": segmentation("Normal", "BucketSize", 3),
	} {
		requirements = append(requirements, requirement{name: "segmentation/" + all + ": " + name,
			check: func(t *trial) { t.checkCoverage(skill(s)) }})
	}
	return requirements
}

// checkSplit checks a filter from 0 to 100 with two segments: only tickets of the same segment are matched.
func (t *trial) checkSplit(filter object) {
	lane := t.lanes.take()
	t.config(t.play(lane, object{"size": 2}, object{"main": []object{inLane(lane), filter}}))
	at := func(skill float64) ticket { return t.ticket(map[string]float64{"lane": lane, "skill": skill}) }
	low, high := at(49.9), at(50)
	other := at(50.1)
	high.result(t)
	other.result(t)
	low.mustWait(t)
	at(49.8).result(t)
	low.result(t)
}

// byPopulation checks a pool in segments of five tickets: it has two segments for ten tickets that are not matched, and
// one when they leave. Tickets that are matched alone get the number of tickets of their run.
func byPopulation(t *trial) {
	lane := t.lanes.take()
	t.config(t.play(lane, object{"count": true}, object{"main": []object{
		{"attribute": "crowd", "min": lane, "max": lane},
		{"attribute": "skill", "min": 0, "max": 100, "segmentation": object{
			"DistributionType": "Normal", "SegmentBehaviorType": "BucketSize", "Value": 5, "Stddev": 10,
		}},
	}}))
	var low, high []ticket
	for range 5 {
		low = append(low, t.ticket(map[string]float64{"crowd": lane, "skill": 20}))
		high = append(high, t.ticket(map[string]float64{"crowd": lane, "skill": 80}))
	}
	runsHave := func(want int) {
		t.eventually(fmt.Sprintf("a run has %d tickets", want), func() bool {
			var seen struct{ Tickets int }
			a := t.ticket(map[string]float64{"crowd": lane, "lane": lane, "skill": 20}).result(t)
			if err := json.Unmarshal(a.MatchProperties, &seen); err != nil {
				t.Fatalf("%v in %s", err, a.MatchProperties)
			}
			return seen.Tickets == want
		})
	}
	runsHave(len(low) + 1)
	for _, k := range append(low, high[1:]...) {
		t.do(http.StatusOK, k.delete())
	}
	runsHave(2)
	high[0].mustWait(t)
}

// checkCoverage checks a filter from 0 to 100: each ticket in it is matched, and none outside.
func (t *trial) checkCoverage(filter object) {
	lane := t.lanes.take()
	t.config(t.play(lane, nil, object{"main": []object{inLane(lane), filter}}))
	at := func(skill float64) ticket { return t.ticket(map[string]float64{"lane": lane, "skill": skill}) }
	out := []ticket{at(-0.0001), at(100), at(1000)}
	var in []ticket
	for skill := range 20 {
		in = append(in, at(float64(skill)*5))
	}
	for _, k := range append(in, at(99.99999)) {
		k.result(t)
	}
	t.awaitCycles(map[string]float64{"lane": lane, "skill": 50})
	for _, k := range out {
		k.mustWait(t)
	}
}
