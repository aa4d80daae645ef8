package guides

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// unity is a match definition, of which the guide says what it means: https://docs.unity.com/en-us/matchmaker,
// matchmaking-rules and relaxations.
type unity struct{ definition object }

func newUnity(text []byte) guide {
	var file object
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		panic(err)
	}
	return &unity{file["matchDefinition"].(object)}
}

func (u *unity) teams() (n int) {
	for _, team := range list(u.definition["teams"]) {
		n += int(number(team.(object)["teamCount"].(object)["max"]).Num().Int64())
	}
	return n
}

// allowed looks at a match of one shape of teams: those without players are not there.
func (u *unity) allowed(pool []ticket, sides [][]int, _ bool) bool {
	sides = slices.DeleteFunc(slices.Clone(sides), func(of []int) bool { return len(of) == 0 })
	tickets := slices.Concat(sides...)
	team := list(u.definition["teams"])[0].(object)
	now := clock{pool, tickets}
	if !now.inRange(team["teamCount"].(object), big.NewRat(int64(len(sides)), 1)) {
		return false
	}
	for _, side := range sides {
		if !now.inRange(team["playerCount"].(object), count(pool, side)) {
			return false
		}
		for _, rule := range list(team["teamRules"]) {
			if !now.passes(rule.(object), side) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(list(u.definition["matchRules"]), func(rule any) bool {
		return !now.passes(rule.(object), tickets)
	})
}

// clock is the tickets of a match, by whose ages rules relax.
type clock struct {
	pool    []ticket
	tickets []int
}

// due reports whether a relaxation is triggered: "the number of seconds (inclusive)", by the oldest, the youngest or
// the average age of the tickets in the match.
func (c clock) due(relaxation object) bool {
	var ages []*big.Rat
	for _, t := range c.tickets {
		ages = append(ages, big.NewRat(int64(c.pool[t].age), 1))
	}
	how := map[any]string{"Oldest": "max", "Youngest": "min", "Average": "avg"}[relaxation["ageType"]]
	return reduce(how, ages).Cmp(number(relaxation["atSeconds"])) >= 0
}

func (c clock) inRange(of object, n *big.Rat) bool {
	least := of["min"]
	for _, relaxation := range list(of["relaxations"]) {
		if r := relaxation.(object); c.due(r) {
			least = r["value"]
		}
	}
	return within(n, number(least), number(of["max"]))
}

// passes looks at the values of all players of some tickets.
func (c clock) passes(r object, tickets []int) bool {
	enabled, reference := r["enableRule"] != false, r["reference"]
	for _, relaxation := range list(r["relaxations"]) {
		switch of := relaxation.(object); {
		case !c.due(of):
		case of["type"] == "RuleControl.Enable":
			enabled = true
		case of["type"] == "RuleControl.Disable":
			enabled = false
		default:
			reference = of["value"]
		}
	}
	if !enabled {
		return true
	}
	source := r["source"].(string)
	var values []any
	for _, t := range tickets {
		for _, p := range c.pool[t].players {
			values = append(values, p.attributes[source[strings.LastIndex(source, ".")+1:]])
		}
	}
	return compares(r, values, reference) != (r["not"] == true)
}

func compares(r object, values []any, reference any) bool {
	every := func(is func(v any) bool) bool {
		return !slices.ContainsFunc(values, func(v any) bool { return !is(v) })
	}
	compared := func(is func(c int) bool) bool {
		return every(func(v any) bool { return is(number(v).Cmp(number(reference))) })
	}
	switch r["type"] {
	case "Difference": // "the difference between all values in a list is within a certain distance"
		var numbers []*big.Rat
		for _, v := range values {
			numbers = append(numbers, number(v))
		}
		return within(apart(numbers), nil, number(reference))
	case "Equality": // "all values in the list are equal", to the reference if there is one
		return every(func(v any) bool { return v == values[0] && (reference == nil || v == reference) })
	case "LessThan":
		return compared(func(c int) bool { return c < 0 })
	case "LessThanEqual":
		return compared(func(c int) bool { return c <= 0 })
	case "GreaterThan":
		return compared(func(c int) bool { return c > 0 })
	case "GreaterThanEqual":
		return compared(func(c int) bool { return c >= 0 })
	case "InList":
		return every(func(v any) bool { return slices.Contains(list(reference), v) })
	case "Intersection":
		var lists []any
		for _, v := range values {
			lists = append(lists, anyList(v))
		}
		return number(r["overlap"]).Cmp(big.NewRat(int64(len(list(common(lists)))), 1)) <= 0
	}
	panic(r["type"])
}

// unity makes a match definition. All players have all that it names: the guide does not say what becomes of others.
func (w world) unity(bool) object {
	least := 1 + w.IntN(2)
	players := object{"min": least, "max": least + w.IntN(2)}
	if w.chance(3) {
		players["relaxations"] = []any{object{"type": "RangeControl.ReplaceMin", "value": 1, "atSeconds": 20,
			"ageType": w.one("Oldest", "Youngest", "Average")}}
	}
	teams := 1 + w.IntN(2)
	team := object{"name": "team", "playerCount": players, "teamCount": object{"min": teams, "max": teams + w.IntN(2)}}
	if w.chance(3) {
		team["teamRules"] = []any{w.unityRule("team")}
	}
	rules := []any{}
	for i := range 1 + w.IntN(2) {
		rules = append(rules, w.unityRule(string(rune('a'+i))))
	}
	return object{"matchDefinition": object{"teams": []any{team}, "matchRules": rules}}
}

func (w world) unityRule(name string) object {
	r := object{"name": name}
	number, text := "Players.CustomData.skill", "Players.CustomData.mode"
	var other any // reference
	switch w.IntN(5) {
	case 0:
		r["type"], r["source"], r["reference"], other = "Difference", number, w.decimal(4), w.decimal(6)
	case 1:
		r["type"], r["source"] = "Equality", text
		if w.chance(2) {
			r["reference"] = w.one("x", "y")
		}
	case 2:
		r["type"] = w.one("LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual")
		r["source"], r["reference"], other = number, w.decimal(6), w.decimal(6)
	case 3:
		r["type"], r["source"], r["reference"] = "InList", text, []any{"x", w.one("y", "z")}
	case 4:
		r["type"], r["source"], r["overlap"] = "Intersection", "Players.CustomData.maps", 1+w.IntN(2)
	}
	if w.chance(5) {
		r["not"] = true
	}
	age := w.one("Oldest", "Youngest", "Average")
	relaxation := object{"ageType": age, "atSeconds": 5 + w.IntN(30)}
	switch {
	case w.chance(4):
		r["enableRule"], relaxation["type"] = false, "RuleControl.Enable"
	case w.chance(3):
		relaxation["type"] = "RuleControl.Disable"
	case other != nil && w.chance(2):
		relaxation["type"], relaxation["value"] = "ReferenceControl.Replace", other
	default:
		return r
	}
	r["relaxations"] = []any{relaxation}
	return r
}

func (w world) unityPool(n int, parties bool) []ticket {
	pool := w.flexmatchPool(n, parties)
	for _, t := range pool {
		for _, p := range t.players {
			p.attributes["skill"], p.attributes["mode"] = w.decimal(6), w.one("x", "x", "y")
			p.attributes["maps"] = w.strings("a", "b", "c")
		}
	}
	return pool
}
