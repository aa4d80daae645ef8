package guides

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
)

// accelByte is a ruleset, of which the guide and the published code of its default match function say what it means:
// https://docs.accelbyte.io/gaming-services/services/play/matchmaking, configuring-match-rulesets and
// role-based-matchmaking; https://github.com/AccelByte/extend-core-matchmaker.
type accelByte struct{ set object }

func newAccelByte(text []byte) guide {
	a := &accelByte{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&a.set); err != nil {
		panic(err)
	}
	return a
}

func (a *accelByte) alliances() []any {
	return append([]any{a.set["alliance"]}, list(a.set["alliance_flexing_rule"])...)
}

func (a *accelByte) teams() (most int) {
	for _, alliance := range a.alliances() {
		most = max(most, int(number(alliance.(object)["max_number"]).Num().Int64()))
	}
	return most
}

// allowed looks at a match whose oldest ticket is the pivot, with which all others are compared. The guide does not say
// which of several is the oldest, whether values that any two share are shared by all, and whether a time is over at
// its last moment.
func (a *accelByte) allowed(pool []ticket, sides [][]int, sure bool) bool {
	sides = slices.DeleteFunc(slices.Clone(sides), func(of []int) bool { return len(of) == 0 })
	tickets, oldest := slices.Concat(sides...), 0
	for _, t := range tickets {
		oldest = max(oldest, pool[t].age)
	}
	may := func(pivot int) bool {
		return pool[pivot].age == oldest && a.around(pivot, pool, sides, tickets, sure)
	}
	if sure {
		return !slices.ContainsFunc(tickets, func(t int) bool { return pool[t].age == oldest && !may(t) })
	}
	return slices.ContainsFunc(tickets, may)
}

// over reports whether a time is over at an age: "longer than" it. sure asks whether it may not be.
func over(age int, seconds any, sure bool) bool {
	c := big.NewRat(int64(age), 1).Cmp(number(seconds))
	return c > 0 || !sure && c == 0
}

// active returns the rule with the longest duration that is over, or the first one.
func active(rules []any, age int, sure bool) object {
	now, longest := rules[0].(object), big.NewRat(-1, 1)
	for _, rule := range rules[1:] {
		if r := rule.(object); over(age, r["duration"], sure) && number(r["duration"]).Cmp(longest) >= 0 {
			now, longest = r, number(r["duration"])
		}
	}
	return now
}

func (a *accelByte) around(pivot int, pool []ticket, sides [][]int, tickets []int, sure bool) bool {
	fits := func(alliance object) bool {
		if !within(big.NewRat(int64(len(sides)), 1), number(alliance["min_number"]), number(alliance["max_number"])) {
			return false
		}
		return !slices.ContainsFunc(sides, func(side []int) bool {
			return !within(count(pool, side), number(alliance["player_min_number"]), number(alliance["player_max_number"])) ||
				!a.seats(pool, side)
		})
	}
	now, soon := active(a.alliances(), pool[pivot].age, true), active(a.alliances(), pool[pivot].age, false)
	if sure && (!fits(now) || !fits(soon)) || !sure && !fits(now) && !fits(soon) {
		return false
	}
	for _, t := range tickets {
		if t != pivot && !a.near(&pool[pivot], &pool[t], sure) {
			return false
		}
	}
	return a.options(pivot, pool, tickets, sure) && a.regional(pivot, pool, tickets, sure) &&
		!a.blocks(pool, sides, tickets, sure)
}

// seats reports whether each player of a team can have one of his roles, each role as often as its combination says.
func (a *accelByte) seats(pool []ticket, side []int) bool {
	combination, ok := a.set["alliance"].(object)["combination"].(object)
	if !ok {
		return true
	}
	roles := list(list(combination["alliances"])[0])
	taken := make([]int, len(roles))
	var players []player
	for _, t := range side {
		players = append(players, pool[t].players...)
	}
	var seat func(i int) bool
	seat = func(i int) bool {
		if i == len(players) {
			for r, role := range roles {
				of := role.(object)
				if !within(big.NewRat(int64(taken[r]), 1), number(of["min"]), number(of["max"])) {
					return false
				}
			}
			return true
		}
		wants, _ := players[i].attributes["role"].([]string)
		for r, role := range roles {
			if slices.Contains(wants, role.(object)["name"].(string)) {
				taken[r]++
				found := seat(i + 1)
				taken[r]--
				if found {
					return true
				}
			}
		}
		return false
	}
	return seat(0)
}

// near compares a ticket with the pivot: the average of its players, counting 0 for a missing attribute, is within what
// the rule allows for the pivot's age, and within what it allows for its own.
func (a *accelByte) near(pivot, t *ticket, sure bool) bool {
	average := func(of *ticket, attribute string) *big.Rat {
		var all []*big.Rat
		for _, p := range of.players {
			n := new(big.Rat)
			if has := p.attributes[attribute]; has != nil {
				n = number(has)
			}
			all = append(all, n)
		}
		return reduce("avg", all)
	}
	for _, rule := range list(a.set["matching_rule"]) {
		r := rule.(object)
		if r["criteria"] != "distance" {
			continue
		}
		attribute := r["attribute"].(string)
		steps := append([]any{r}, slices.DeleteFunc(slices.Clone(list(a.set["flexing_rule"])), func(step any) bool {
			return step.(object)["attribute"] != attribute
		})...)
		far := apart([]*big.Rat{average(pivot, attribute), average(t, attribute)})
		for _, one := range []*ticket{pivot, t} {
			now := far.Cmp(number(active(steps, one.age, true)["reference"])) <= 0
			soon := far.Cmp(number(active(steps, one.age, false)["reference"])) <= 0
			if sure && (!now || !soon) || !now && !soon {
				return false
			}
		}
	}
	return true
}

// options looks at what players choose. A ticket's players choose the same. If the pivot chooses nothing, others may or
// may not; if it does, all do.
func (a *accelByte) options(pivot int, pool []ticket, tickets []int, sure bool) bool {
	of := func(t int, name string) (values []any) {
		switch has := pool[t].players[0].attributes[name].(type) {
		case string:
			values = []any{has}
		case []string:
			values = list(anyList(has))
		}
		return values
	}
	options, _ := a.set["match_options"].(object)
	for _, option := range list(options["options"]) {
		o := option.(object)
		name := o["name"].(string)
		if o["type"] == "disable" {
			continue
		}
		var all []any
		for _, t := range tickets {
			values := of(t, name)
			if len(values) == 0 && (sure || len(of(pivot, name)) > 0) {
				return false
			}
			all = append(all, values)
		}
		if len(of(pivot, name)) == 0 {
			continue
		}
		if sure && len(list(common(all))) == 0 {
			return false
		}
		for i, t := range tickets {
			shared := len(list(common([]any{all[i], of(pivot, name)})))
			switch {
			case name == "cross_platform":
				for _, o := range []int{pivot, t} {
					for _, other := range tickets {
						one := o == pivot && other == t || o == t && other == pivot || sure
						if one && !slices.Contains(of(o, name), pool[other].players[0].attributes["current_platform"]) &&
							(sure || o != other) {
							return false
						}
					}
				}
			case shared == 0, o["type"] == "all" && shared < len(of(pivot, name)):
				return false
			}
		}
	}
	return true
}

// regional looks for a region that is near to the pivot and to each ticket: no more above the ticket's best one than
// the initial range and what was added since, and no more than the greatest latency. A ticket that has none is
// anywhere. That tickets are so where the file limits nothing is looser, as the verdict says.
func (a *accelByte) regional(pivot int, pool []ticket, tickets []int, sure bool) bool {
	rate, limited := a.set["region_expansion_rate_ms"]
	if !limited {
		return true
	}
	allowed := func(t int) (regions []string) {
		latency := pool[t].players[0].latency
		var all []*big.Rat
		for _, n := range latency {
			all = append(all, number(n))
		}
		if all == nil {
			return nil
		}
		// "ceil" of the age by the rate, less one
		times := new(big.Rat).Quo(big.NewRat(int64(pool[t].age)*1000, 1), number(rate))
		steps := new(big.Int).Quo(times.Num(), times.Denom()).Int64()
		if times.IsInt() && sure && steps > 0 {
			steps--
		}
		most := reduce("min", all)
		most.Add(most, number(a.set["region_latency_initial_range_ms"]))
		most.Add(most, new(big.Rat).Mul(big.NewRat(steps, 1), number(a.set["region_expansion_range_ms"])))
		for region, n := range latency {
			if number(n).Cmp(most) <= 0 && number(n).Cmp(number(a.set["region_latency_max_ms"])) <= 0 {
				regions = append(regions, region)
			}
		}
		return regions
	}
	regions := allowed(pivot)
	if len(regions) == 0 {
		return !sure
	}
	return slices.ContainsFunc(regions, func(region string) bool {
		return !slices.ContainsFunc(tickets, func(t int) bool {
			own := allowed(t)
			return !slices.Contains(own, region) && (sure || len(own) > 0)
		})
	})
}

// blocks reports whether a player blocks another player that it must not meet: of another ticket, or of its team. Our
// rules never match players of one ticket that block each other, as the guide says.
func (a *accelByte) blocks(pool []ticket, sides [][]int, tickets []int, sure bool) bool {
	groups, within := [][]int{tickets}, sure
	switch a.set["blocked_player_option"] {
	case "blockedPlayerCanMatch":
		return false
	case "blockedPlayerCanMatchOnDifferentTeam":
		groups, within = sides, true
	}
	for _, group := range groups {
		for _, t := range group {
			for _, p := range pool[t].players {
				blocked, _ := p.attributes["blocked"].([]string)
				for _, other := range group {
					for _, o := range pool[other].players {
						if slices.Contains(blocked, o.id) && (t != other || within && o.id != p.id) {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// accelByte makes a ruleset.
func (w world) accelByte(parties bool) object {
	alliance := func() object {
		teams, players := 1+w.IntN(2), 1+w.IntN(2)
		return object{"min_number": teams, "max_number": teams + w.IntN(2), "player_min_number": players,
			"player_max_number": players + w.IntN(2)}
	}
	set := object{"alliance": alliance()}
	if w.chance(4) {
		set["alliance"].(object)["combination"] = object{"has_combination": true, "alliances": []any{[]any{
			object{"name": "tank", "min": w.IntN(2), "max": 1}, object{"name": "healer", "min": 0, "max": 1 + w.IntN(2)},
		}}}
	} else if w.chance(3) {
		flexed := alliance()
		flexed["duration"] = 5 + w.IntN(30)
		set["alliance_flexing_rule"] = []any{flexed}
	}
	var rules, flexing []any
	for _, attribute := range []string{"skill", "level"}[:w.IntN(3)] {
		rule := object{"attribute": attribute, "criteria": "distance", "reference": w.decimal(4)}
		if w.chance(8) {
			rule["criteria"] = "average"
		}
		if w.chance(2) {
			rule["weight"], rule["normalizationMax"] = w.decimal(3), 5
		}
		rules = append(rules, rule)
		for range w.IntN(3) {
			flexing = append(flexing, object{"attribute": attribute, "criteria": rule["criteria"],
				"duration": 5 + w.IntN(30), "reference": w.decimal(6)})
		}
	}
	set["matching_rule"], set["flexing_rule"] = rules, flexing
	var options []any
	for i, name := range []string{"mode", "maps", "cross_platform", "region"} {
		if w.chance(4) {
			options = append(options, object{"name": name, "type": []string{"all", "any", "any", "disable"}[i]})
		}
	}
	if options != nil {
		set["match_options"] = object{"options": options}
	}
	if w.chance(2) {
		set["region_expansion_rate_ms"], set["region_expansion_range_ms"] = w.whole(2, 9)+"000", w.whole(5, 30)
		set["region_latency_initial_range_ms"], set["region_latency_max_ms"] = w.whole(1, 50), w.whole(60, 140)
	}
	if blocked := w.one("", "blockedPlayerCanMatch", "blockedPlayerCannotMatch",
		"blockedPlayerCanMatchOnDifferentTeam"); blocked != "" {
		set["blocked_player_option"] = blocked
	}
	return set
}

// accelBytePool makes tickets whose players have the same choices and latencies, as these are of tickets there.
func (w world) accelBytePool(n int, parties bool) []ticket {
	pool := w.flexmatchPool(n, parties)
	for i, t := range pool {
		first := t.players[0].attributes
		for _, name := range []string{"maps", "mode"} {
			if w.chance(12) {
				delete(first, name)
			}
		}
		maps, has := first["maps"].([]string)
		if first["cross_platform"] = append(w.strings("pc", "ps"), "xbox"); has && len(maps) == 0 {
			delete(first, "maps")
		}
		first["current_platform"] = w.one("pc", "ps", "xbox")
		latency := map[string]json.Number{}
		for _, region := range w.strings("eu", "us", "ap") {
			latency[region] = w.whole(5, 140)
		}
		for k := range t.players {
			p := &pool[i].players[k]
			for _, name := range []string{"mode", "maps", "cross_platform", "current_platform"} {
				if p.attributes[name] = first[name]; first[name] == nil {
					delete(p.attributes, name)
				}
			}
			p.latency, p.attributes["role"] = latency, w.strings("tank", "healer")
			if w.chance(6) {
				p.attributes["blocked"] = []string{fmt.Sprint("p", w.IntN(n), "-0")}
			}
		}
	}
	return pool
}
