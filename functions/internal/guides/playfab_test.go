package guides

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
)

// playfab is a queue, of which the guide says what it means:
// https://learn.microsoft.com/gaming/playfab/features/multiplayer/matchmaking/config-queues.
type playfab struct{ queue object }

func newPlayfab(text []byte) guide {
	of := &playfab{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&of.queue); err != nil {
		panic(err)
	}
	return of
}

func (q *playfab) teams() int { return max(1, len(list(q.queue["Teams"]))) }

// allowed is what the guide says. It says that differences and latencies are "less than" the number, which may mean
// that they are that at most; and it does not say which limit counts between tickets that waited differently long.
func (q *playfab) allowed(pool []ticket, sides [][]int, sure bool) bool {
	tickets := slices.Concat(sides...)
	// "It doesn't return a match found until it matches at least one other ticket."
	if len(sides) != q.teams() || len(tickets) < 2 {
		return false
	}
	players := count(pool, tickets)
	if !within(players, number(q.queue["MinMatchSize"]), number(q.queue["MaxMatchSize"])) {
		return false
	}
	for i, team := range list(q.queue["Teams"]) {
		t := team.(object)
		if !within(count(pool, sides[i]), number(t["MinTeamSize"]), number(t["MaxTeamSize"])) {
			return false
		}
	}
	for _, rule := range list(q.queue["Rules"]) {
		if !holds(rule.(object), pool, sides, tickets, sure) {
			return false
		}
	}
	return true
}

func count(pool []ticket, tickets []int) *big.Rat {
	n := 0
	for _, t := range tickets {
		n += len(pool[t].players)
	}
	return big.NewRat(int64(n), 1)
}

// under reports whether a number is less than a limit, or perhaps at most.
func under(n, limit *big.Rat, sure bool) bool {
	return n.Cmp(limit) < 0 || !sure && n.Cmp(limit) == 0
}

func holds(r object, pool []ticket, sides [][]int, tickets []int, sure bool) bool {
	path := ""
	if a, ok := r["Attribute"].(object); ok {
		path = a["Path"].(string)
	}
	of := func(t int) (values []any) { // without players that match any
		for _, p := range pool[t].players {
			v := p.attributes[path]
			if v == nil && r["AttributeNotSpecifiedBehavior"] != "MatchAny" {
				v = r["DefaultAttributeValue"]
			}
			if v != nil {
				values = append(values, v)
			}
		}
		return values
	}
	numbers := func(tickets ...int) (all []*big.Rat) {
		for _, t := range tickets {
			for _, v := range of(t) {
				all = append(all, number(v))
			}
		}
		return all
	}
	switch r["Type"] {
	case "StringEqualityRule":
		seen := map[any]bool{}
		for _, t := range tickets {
			for _, v := range of(t) {
				seen[v] = true
			}
		}
		return len(seen) <= 1
	case "DifferenceRule":
		return differs(r, pool, tickets, sure, func(t int) []*big.Rat { return numbers(t) })
	case "SetIntersectionRule":
		var lists []any
		for _, t := range tickets {
			for _, v := range of(t) {
				lists = append(lists, anyList(v))
			}
		}
		return len(lists) == 0 || len(list(common(lists))) >= int(number(r["MinIntersectionSize"]).Num().Int64())
	case "MatchTotalRule":
		sum := new(big.Rat)
		for _, n := range numbers(tickets...) {
			sum.Add(sum, n)
		}
		return within(sum, number(r["Min"]), number(r["Max"]))
	case "RegionSelectionRule":
		return slices.ContainsFunc([]string{"eu", "us", "ap"}, func(region string) bool {
			return !slices.ContainsFunc(tickets, func(t int) bool {
				return slices.ContainsFunc(pool[t].players, func(p player) bool {
					n, ok := p.latency[region]
					return !ok || number(n).Sign() < 0 || !under(number(n), number(r["MaxLatency"]), sure)
				})
			})
		})
	case "TeamDifferenceRule":
		var averages []*big.Rat
		for _, side := range sides {
			averages = append(averages, reduce("avg", numbers(side...)))
		}
		return under(apart(averages), number(r["Difference"]), sure)
	case "TeamSizeBalanceRule":
		var sizes []*big.Rat
		for _, side := range sides {
			sizes = append(sizes, count(pool, side))
		}
		return within(apart(sizes), nil, number(r["Difference"]))
	}
	panic(r["Type"])
}

// apart is how far the greatest is above the least.
func apart(of []*big.Rat) *big.Rat {
	return new(big.Rat).Sub(slices.MaxFunc(of, (*big.Rat).Cmp), slices.MinFunc(of, (*big.Rat).Cmp))
}

// anyList is a list of strings as JSON has it.
func anyList(of any) any {
	texts, is := of.([]string)
	if !is {
		return of
	}
	all := []any{}
	for _, s := range texts {
		all = append(all, s)
	}
	return all
}

// differs looks at any two tickets, whose players' values are merged.
func differs(r object, pool []ticket, tickets []int, sure bool, of func(t int) []*big.Rat) bool {
	how := map[any]string{"Average": "avg", "Min": "min", "Max": "max", nil: "avg"}[r["MergeFunction"]]
	for i, a := range tickets {
		for _, b := range tickets[:i] {
			x, y := of(a), of(b)
			if len(x) == 0 || len(y) == 0 {
				continue
			}
			limit := grown(r, pool[a].age)
			if other := grown(r, pool[b].age); (other.Cmp(limit) < 0) == sure {
				limit = other
			}
			if !under(apart([]*big.Rat{reduce(how, x), reduce(how, y)}), limit, sure) {
				return false
			}
		}
	}
	return true
}

// grown is the difference that a ticket may have: "a value grows over time, using a fixed change after each time
// interval", and "never expands beyond" the limit.
func grown(r object, age int) *big.Rat {
	limit := number(r["Difference"])
	e, ok := r["Expansion"].(object)
	if !ok {
		return limit
	}
	times := age / int(number(e["SecondsBetweenExpansions"]).Num().Int64())
	limit = new(big.Rat).Add(limit, new(big.Rat).Mul(number(e["Delta"]), big.NewRat(int64(times), 1)))
	if most := number(e["Limit"]); limit.Cmp(most) > 0 {
		return most
	}
	return limit
}

// playfab makes a queue. With parties, tickets have several players with the same strings and lists: the guide does not
// say how the values of a ticket's players are merged, nor what becomes of a ticket without an attribute where the rule
// does not say how to treat it.
func (w world) playfab(parties bool) object {
	least := 2 + w.IntN(2)
	queue := object{"Name": "random", "MinMatchSize": least, "MaxMatchSize": least + w.IntN(2)}
	teams := w.chance(2)
	if teams {
		var all []any
		for _, name := range []string{"red", "blue"} {
			all = append(all, object{"Name": name, "MinTeamSize": 1, "MaxTeamSize": 1 + w.IntN(2)})
		}
		queue["Teams"] = all
		queue["MinMatchSize"], queue["MaxMatchSize"] = 2, 2+w.IntN(3)
	}
	var rules []any
	for range 1 + w.IntN(3) {
		r := w.playfabRule(parties, teams)
		r["Name"], r["Weight"] = "rule"+string(rune('a'+len(rules))), 1
		rules = append(rules, r)
	}
	queue["Rules"] = rules
	return queue
}

func (w world) playfabRule(parties, teams bool) object {
	missing := func(r object, path string, value any) object {
		r["Attribute"] = object{"Path": path, "Source": "User"}
		if r["AttributeNotSpecifiedBehavior"] = w.one("MatchAny", "UseDefault"); w.chance(3) || parties {
			r["AttributeNotSpecifiedBehavior"] = "UseDefault"
		}
		if r["AttributeNotSpecifiedBehavior"] == "UseDefault" {
			r["DefaultAttributeValue"] = value
		}
		return r
	}
	n := 5
	if teams {
		n = 7
	}
	switch w.IntN(n) {
	case 0:
		return missing(object{"Type": "StringEqualityRule"}, "mode", "x")
	case 1:
		r := missing(object{"Type": "DifferenceRule", "Difference": w.decimal(3)}, "skill", w.decimal(4))
		if w.chance(2) {
			r["MergeFunction"] = w.one("Average", "Min", "Max")
		}
		if w.chance(2) {
			r["Expansion"] = object{"Type": "Linear", "Delta": json.Number("0.3"), "Limit": json.Number("4.5"),
				"SecondsBetweenExpansions": 1 + w.IntN(9)}
		}
		return r
	case 2:
		return missing(object{"Type": "SetIntersectionRule", "MinIntersectionSize": 1 + w.IntN(2)}, "maps", []any{"a", "b"})
	case 3:
		least := w.IntN(6)
		return missing(object{"Type": "MatchTotalRule", "Min": least, "Max": least + w.IntN(8)}, "level", w.whole(0, 3))
	case 4:
		return object{"Type": "RegionSelectionRule", "MaxLatency": w.whole(30, 120), "Path": "latency"}
	case 5:
		return object{"Type": "TeamSizeBalanceRule", "Difference": w.IntN(2)}
	}
	return object{"Type": "TeamDifferenceRule", "Difference": w.decimal(3), "DefaultAttributeValue": w.decimal(4),
		"Attribute": object{"Path": "skill", "Source": "User"}}
}

func (w world) playfabPool(n int, parties bool) []ticket {
	pool := w.flexmatchPool(n, parties)
	for _, t := range pool {
		for i := range t.players {
			p := &t.players[i]
			p.attributes["level"] = w.whole(0, 4)
			for _, name := range []string{"mode", "maps"} {
				if p.attributes[name] = t.players[0].attributes[name]; p.attributes[name] == nil {
					delete(p.attributes, name)
				}
			}
		}
	}
	return pool
}
