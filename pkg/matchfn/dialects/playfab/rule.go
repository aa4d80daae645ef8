package playfab

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
)

const (
	pairs = "each pair of tickets keeps to the limits of both, by their own waits"
	short = "it counts by the ticket that has waited shortest, so that no ticket gets more than its own limit"
)

// rule translates a rule, and says how well.
func (x *translator) rule(rule *Rule, name string) (t.Verdict, string, error) {
	if rule.Optional != nil && *rule.Optional == 0 {
		return x.sorts(rule, name)
	}
	switch rule.Type {
	case "DifferenceRule":
		return x.difference(rule, name)
	case "StringEqualityRule":
		active, err := rule.active()
		if err != nil {
			return "", "", err
		}
		need := &rules.Same{Value: x.value(rule, rules.String, rules.Each), Scope: whole}
		x.Rule(name, active, need)
		if active != nil {
			x.prefer(rule, name, 1, nil, need)
			return t.Exact, short, nil
		}
		return t.Exact, "", nil
	case "MatchTotalRule":
		return x.total(rule, name)
	case "SetIntersectionRule":
		return x.intersection(rule, name)
	case "RegionSelectionRule":
		return x.region(rule, name)
	case "TeamDifferenceRule", "TeamSizeBalanceRule":
		return x.teams(rule, name)
	}
	return x.similarity(rule, name)
}

// sorts translates a rule that is optional from the beginning: what it would ask for is a preference alone. A rule of
// regions is left out, as a match must have a region where one is preferred.
func (x *translator) sorts(rule *Rule, name string) (t.Verdict, string, error) {
	later, before, mark := *rule, len(x.Rules.Rules), x.Mark()
	later.Optional, later.Expansion = new(float64(lenient.MaxSeconds)), nil
	if rule.Type != "RegionSelectionRule" && rule.Weight > 0 {
		if _, _, err := x.rule(&later, name); err == nil {
			x.Rules.Rules = x.Rules.Rules[:before]
			return t.Exact, "it is optional from the beginning, so it only sorts", nil
		}
		x.Reset(mark)
	}
	return t.Exact, "it is optional from the beginning, so it is left out", nil
}

func (x *translator) difference(rule *Rule, name string) (t.Verdict, string, error) {
	most, err := rule.bound(rule.Difference, rules.Own, 1)
	if err != nil {
		return "", "", err
	}
	party := map[string]rules.Merge{"Average": rules.Average, "Min": rules.Least, "Max": rules.Greatest}[rule.Merge]
	value := x.value(rule, rules.Number, party)
	x.Rule(name, nil, &rules.Spread{Value: value, Max: most, Scope: whole})
	x.prefer(rule, name, rule.Difference, t.Breadth(value), nil)
	why := fmt.Sprintf("a difference of exactly %v is allowed; PlayFab says that it must be less", rule.Difference)
	if !most.Constant() {
		why += "; " + pairs
	}
	return t.Looser, why, nil
}

func (x *translator) total(rule *Rule, name string) (t.Verdict, string, error) {
	if rule.Expansion != nil && rule.Expansion.Linear {
		return "", "", errors.New("a total has custom expansions only")
	}
	low, high := *rule, *rule
	low.Optional, high.Optional = nil, nil // the sum is bounded until the rule is optional for all
	if e := rule.Expansion; e != nil {
		of := *e
		of.Overrides = e.MaxOverrides
		high.Expansion = &of
	}
	least, err := low.bound(rule.Min, rules.Oldest, 0)
	if err != nil {
		return "", "", err
	}
	most, err := high.bound(rule.Max, rules.Oldest, 0)
	if err != nil {
		return "", "", err
	}
	value := x.value(rule, rules.Number, rules.Each)
	active := rule.optional()
	x.Rule(name, active, &rules.Total{Value: value, Sum: rules.Range{Min: least, Max: most}, Scope: whole})
	if active != nil || !least.Constant() || !most.Constant() || least.Start != most.Start {
		x.prefer(rule, name, math.Abs(rule.Max), &rules.Abs{Of: &rules.Arithmetic{
			Op: '-', Left: &rules.Literal{Bound: most}, Right: &rules.StatOf{Stat: rules.StatSum, Value: value, Scope: whole},
		}}, nil)
	}
	why := ""
	if !least.Constant() || !most.Constant() {
		why = "its limits count by the ticket that has waited longest"
	}
	if active != nil {
		why = join(why, "it is optional for tickets that have all waited so long")
	}
	if rule.Default == nil && !rule.MatchAny {
		return t.Stricter, join(why, "a player without the attribute is in no match; PlayFab does not say how it counts"), nil
	}
	return t.Exact, why, nil
}

func (x *translator) intersection(rule *Rule, name string) (t.Verdict, string, error) {
	least, err := rule.bound(rule.MinIntersection, rules.Newest, -1)
	if err != nil {
		return "", "", err
	}
	value := x.value(rule, rules.Set, rules.Each)
	x.Rule(name, nil, &rules.Share{Value: value, Min: least, Scope: whole})
	x.preferShared(rule, name, value, least)
	if !least.Constant() {
		return t.Exact, short, nil
	}
	return t.Exact, "", nil
}

// moreShared is how many elements count that are shared beyond those that must be.
const moreShared = 8

// preferShared adds what PlayFab sorts lists by: n shared elements cost 1/(n+1). That is the sum of 1/k - 1/(k+1) over
// all k greater than n, so each number of elements is a preference of its own.
func (x *translator) preferShared(rule *Rule, name, value string, least *rules.Bound) {
	low, _, off := least.Over(0, math.Inf(1))
	if off || !(low >= 0) {
		low = 0
	}
	for k := math.Ceil(low) + 1; k <= math.Max(math.Ceil(low), math.Ceil(rule.MinIntersection))+moreShared; k++ {
		if k > rules.MaxElements {
			return
		}
		part := *rule
		part.Weight /= k * (k + 1)
		x.prefer(&part, name, 1, nil, &rules.Share{Value: value, Min: rules.Fixed(k), Scope: whole})
	}
}

func (x *translator) region(rule *Rule, name string) (t.Verdict, string, error) {
	most, err := rule.bound(rule.MaxLatency, rules.Own, 1)
	if err != nil {
		return "", "", err
	}
	value := x.Regions(rule.Path, rules.Each)
	x.Rule(name, nil, &rules.Latency{Value: value, Max: most, From: rules.Least})
	x.prefer(rule, name, rule.MaxLatency, &rules.LatencyOf{Value: value}, nil)
	const why = "tickets bring the latencies as a map by region, not as a list; a latency of exactly the limit is allowed"
	if _, _, off := most.Over(0, math.Inf(1)); off {
		return t.Stricter, why + "; while it does not count, the match still needs a region of which all have a latency", nil
	}
	return t.Exact, why, nil
}

func (x *translator) teams(rule *Rule, name string) (t.Verdict, string, error) {
	if len(x.queue.Teams) == 0 {
		return "", "", errors.New("the queue has no teams")
	}
	most, err := rule.bound(rule.Difference, rules.Newest, 1)
	if err != nil {
		return "", "", err
	}
	gap := &rules.Gap{Stat: rules.StatCount, Max: most}
	verdict, why := t.Exact, ""
	if rule.Type == "TeamDifferenceRule" {
		gap.Stat, gap.Value = rules.StatAverage, x.value(rule, rules.Number, rules.Each)
		x.prefer(rule, name, rule.Difference, t.TeamGap(gap.Stat, gap.Value), nil)
		verdict = t.Looser
		why = fmt.Sprintf("a difference of exactly %v is allowed; PlayFab says that it must be less", rule.Difference)
	}
	if rule.Type == "TeamSizeBalanceRule" && lenient.Member(rule.At, "Weight") != nil { // the API has none
		x.prefer(rule, name, rule.Difference, t.TeamGap(gap.Stat, ""), nil)
	}
	x.Rule(name, nil, gap)
	if !most.Constant() {
		why = join(why, short)
	}
	return verdict, why, nil
}

func (x *translator) similarity(rule *Rule, name string) (t.Verdict, string, error) {
	if len(x.queue.Teams) == 0 {
		return "", "", errors.New("the queue has no teams")
	}
	size := x.queue.Teams[0].Max
	for _, team := range x.queue.Teams {
		if team.Max != size {
			return "", "", errors.New("the teams have different sizes, so that a large ticket is another size in each")
		}
	}
	active, err := rule.active()
	if err != nil {
		return "", "", err
	}
	need := &rules.Premade{Players: rules.Fixed(float64((size + 1) / 2))}
	x.Rule(name, active, need)
	why := fmt.Sprintf("a ticket of %d players or more is large", (size+1)/2)
	if active != nil {
		x.prefer(rule, name, 1, nil, need)
		why = join(why, short)
	}
	return t.Exact, why, nil
}

// prefer adds what PlayFab sorts by.
func (x *translator) prefer(rule *Rule, name string, of float64, amount rules.Expression, need rules.Condition) {
	if rule.Weight > 0 {
		x.Rules.Prefer = append(x.Rules.Prefer, rules.Preference{
			Name: name, Weight: rule.Weight, Scale: scale(of), Amount: amount, Need: need,
		})
	}
}

func scale(of float64) float64 {
	if of > 0 {
		return of
	}
	return 1
}

func join(a, b string) string { return strings.TrimPrefix(a+"; "+b, "; ") }
