package guides

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
)

// world makes random rule sets and tickets, as far as the guides say what they mean.
type world struct{ *rand.Rand }

func (w world) chance(n int) bool { return w.IntN(n) == 0 }

func (w world) one(of ...string) string { return of[w.IntN(len(of))] }

// decimal is a number with one decimal, which fractions of two do not say exactly.
func (w world) decimal(most int) json.Number {
	return json.Number(fmt.Sprintf("%d.%d", w.IntN(most), w.IntN(10)))
}

func (w world) whole(least, most int) json.Number {
	return json.Number(fmt.Sprint(least + w.IntN(most-least+1)))
}

// flexmatch makes a rule set. With parties, tickets have several players. It leaves out what the guide does not say:
// how often a party counts in averages of teams and in contains, and numbers compared with each other.
func (w world) flexmatch(parties bool) object {
	set := object{"ruleLanguageVersion": "1.0", "name": "random"}
	attributes := []any{
		object{"name": "skill", "type": "number"}, object{"name": "level", "type": "number", "default": 1},
		object{"name": "mode", "type": "string"}, object{"name": "map", "type": "string", "default": "a"},
		object{"name": "maps", "type": "string_list"},
		object{"name": "roles", "type": "string_list", "default": []any{"tank"}},
	}
	var teams []any
	var names []string
	for _, name := range []string{"red", "blue"}[:1+w.IntN(2)] {
		least := 1 + w.IntN(2)
		team := object{"name": name, "minPlayers": least, "maxPlayers": least + w.IntN(2)}
		if teams = append(teams, team); w.chance(4) {
			team["quantity"] = 2
		} else {
			names = append(names, name)
		}
	}
	set["teams"] = teams
	var rules, expansions []any
	for i := range 1 + w.IntN(3) {
		r, grows := w.rule(names, parties)
		r["name"] = fmt.Sprint("rule", i)
		if rules = append(rules, r); grows != "" && w.chance(3) {
			expansions = append(expansions, object{
				"target": fmt.Sprintf("rules[%s].%s", r["name"], grows),
				"steps": []any{object{"waitTimeSeconds": 10, "value": w.grown(r[grows])},
					object{"waitTimeSeconds": 25, "value": w.grown(r[grows])}},
			})
		}
	}
	if w.chance(4) {
		expansions = append(expansions, object{"target": "teams[red].minPlayers",
			"steps": []any{object{"waitTimeSeconds": 20, "value": 1}}})
	}
	if statement := w.statement(rules); statement != "" {
		rules = append(rules, object{"name": "all", "type": "compound", "statement": statement})
	}
	set["rules"] = rules
	if len(expansions) > 0 {
		set["expansions"] = expansions
		set["algorithm"] = object{"strategy": "exhaustiveSearch", "expansionAgeSelection": w.one("newest", "oldest")}
	}
	set["playerAttributes"] = attributes
	return set
}

// grown is a number that an expansion sets.
func (w world) grown(was any) any {
	if _, is := was.(int); is {
		return w.IntN(4)
	}
	return w.decimal(6)
}

// statement combines rules that may be combined.
func (w world) statement(rules []any) string {
	var names []string
	for _, rule := range rules {
		if r := rule.(object); r["type"] != "batchDistance" && r["type"] != "latency" {
			names = append(names, r["name"].(string))
		}
	}
	switch {
	case !w.chance(3) || len(names) == 0:
		return ""
	case len(names) == 1:
		return "not(" + names[0] + ")"
	case len(names) == 2:
		return fmt.Sprintf("%s(%s, %s)", w.one("and", "or", "xor"), names[0], names[1])
	}
	return fmt.Sprintf("or(and(%s, %s), not(%s))", names[0], names[1], names[2])
}

// rule makes a rule, and says which of its numbers may grow.
func (w world) rule(teams []string, parties bool) (r object, grows string) {
	all := "teams[*].players"
	some := all
	if len(teams) > 0 && w.chance(2) {
		some = "teams[" + teams[0] + "].players"
	}
	number := w.one("skill", "level")
	flat := "flatten(" + all + ".attributes[" + number + "])"
	aggregation := w.one("", "avg", "min", "max")
	defer func() {
		if aggregation != "" {
			r["partyAggregation"] = aggregation
		}
	}()
	switch w.IntN(9) {
	case 0:
		return object{"type": "batchDistance", "batchAttribute": number, "maxDistance": w.decimal(5)}, "maxDistance"
	case 1:
		aggregation = ""
		return object{"type": "batchDistance", "batchAttribute": w.one("mode", "map")}, ""
	case 2:
		measured, reference := flat, w.one("min("+flat+")", "max("+flat+")")
		if !parties {
			measured = w.one(flat, "avg("+all+".attributes["+number+"])", "max("+all+".attributes["+number+"])")
			reference = w.one(reference, "avg("+flat+")", "median("+flat+")")
		}
		limit := w.one("maxDistance", "minDistance")
		return object{"type": "distance", "measurements": []any{measured}, "referenceValue": reference,
			limit: w.decimal(4)}, limit
	case 3:
		measured := w.one(flat, "min("+flat+")", "max("+flat+")")
		if !parties {
			measured = w.one(measured, "sum("+flat+")", "avg("+all+".attributes["+number+"])", "median("+flat+")")
		}
		return object{"type": "comparison", "measurements": []any{measured},
			"operation": w.one("<", "<=", "=", "!=", ">", ">="), "referenceValue": w.decimal(8)}, "referenceValue"
	case 4:
		aggregation = ""
		if len(teams) < 2 {
			return object{"type": "comparison", "measurements": []any{"count(flatten(" + all + "))"},
				"operation": w.one("=", "<=", ">="), "referenceValue": 2 + w.IntN(3)}, "referenceValue"
		}
		return object{"type": "comparison", "measurements": []any{"count(teams[red].players)"},
			"operation": w.one("=", "<=", ">="), "referenceValue": "count(teams[blue].players)"}, ""
	case 5:
		aggregation = ""
		measured := "flatten(" + all + ".attributes[" + w.one("mode", "map") + "])"
		return object{"type": "comparison", "measurements": []any{measured}, "operation": w.one("=", "!=")}, ""
	case 6:
		r := object{"type": "latency", "maxLatency": w.whole(20, 120)}
		if w.chance(3) {
			r["maxDistance"], r["distanceReference"] = w.whole(5, 60), w.one("min", "avg")
		}
		return r, "maxLatency"
	case 7:
		aggregation = w.one("", "union", "intersection")
		return object{"type": "collection", "operation": "intersection", "minCount": 1 + w.IntN(2),
			"measurements": []any{"flatten(" + all + ".attributes[" + w.one("maps", "roles") + "])"}}, "minCount"
	}
	aggregation = w.one("", "union", "intersection")
	lists := w.one("maps", "roles")
	limit := w.one("minCount", "maxCount")
	measured := "flatten(" + all + ".attributes[" + lists + "])"
	if some != all {
		measured = some + ".attributes[" + lists + "]"
	}
	if parties || w.chance(2) {
		return object{"type": "collection", "operation": "reference_intersection_count", "measurements": []any{measured},
			"referenceValue": []any{"a", "tank"}, limit: 1 + w.IntN(2)}, limit
	}
	return object{"type": "collection", "operation": "contains", "measurements": []any{measured},
		"referenceValue": w.one("a", "tank"), limit: 1 + w.IntN(2)}, limit
}

func (w world) strings(of ...string) []string {
	return slices.DeleteFunc(of, func(string) bool { return w.chance(3) })
}

// flexmatchPool makes tickets. Now and then a player lacks something.
func (w world) flexmatchPool(n int, parties bool) (pool []ticket) {
	for i := range n {
		t := ticket{age: w.IntN(40)}
		players := 1
		if parties {
			players += w.IntN(2)
		}
		for k := range players {
			p := player{id: fmt.Sprint("p", i, "-", k), latency: map[string]json.Number{}, attributes: map[string]any{
				"skill": w.decimal(6), "level": w.decimal(4), "mode": w.one("x", "y"), "map": w.one("a", "b"),
				"maps": w.strings("a", "b", "c"), "roles": w.strings("tank", "healer", "a"),
			}}
			for _, region := range w.strings("eu", "us", "ap") {
				p.latency[region] = w.whole(5, 140)
				if w.chance(20) {
					p.latency[region] = "-5"
				}
			}
			for _, name := range []string{"skill", "level", "mode", "map", "maps", "roles"} {
				if w.chance(25) {
					delete(p.attributes, name)
				}
			}
			if w.chance(12) {
				p.latency = nil
			}
			t.players = append(t.players, p)
		}
		pool = append(pool, t)
	}
	return pool
}
