package search_test

import (
	"encoding/json"
	"math/rand/v2"

	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// world makes random rule sets and tickets.
type world struct{ *rand.Rand }

type object = map[string]any

func (w world) one(of ...any) any   { return of[w.IntN(len(of))] }
func (w world) chance(n int) bool   { return w.IntN(n) == 0 }
func (w world) number(most int) any { return w.IntN(most + 1) }

// bound is a number, or one that changes with the time.
func (w world) bound(most int, own bool) any {
	if w.chance(2) {
		return w.number(most)
	}
	clocks := []any{"oldest", "newest", "mean", "anchor"}
	if own {
		clocks = append(clocks, "each")
	}
	if w.chance(3) {
		start := w.IntN(most + 1)
		return object{"start": start, "grow": 1 + w.IntN(3), "every": w.IntN(3), "until": start + 5 + w.IntN(most+1),
			"clock": w.one(clocks...)}
	}
	last := any(w.IntN(most + 1))
	if w.chance(3) {
		last = nil
	}
	first := 1 + w.IntN(20)
	steps := []any{[]any{first, w.number(most)}, []any{first + 1 + w.IntN(20), last}}
	return object{"start": w.number(most), "steps": steps, "clock": w.one(clocks...)}
}

func (w world) span(most int) any {
	switch w.IntN(4) {
	case 0:
		return object{"min": w.number(most)}
	case 1:
		return object{"max": w.bound(most, false)}
	}
	low := w.IntN(most + 1)
	return object{"min": low, "max": low + w.IntN(most+1)}
}

func (w world) in(o object, anchor bool, teams []any) object {
	words := []any{nil, "match", "team"}
	if anchor {
		words = append(words, "anchor")
	} else {
		words = append(words, []any{w.one(teams...)})
	}
	if in := w.one(words...); in != nil {
		o["in"] = in
	}
	return o
}

func (w world) value(kind string) any {
	return w.one(map[string][]any{
		"number": {"skill", "lead", "mean"}, "string": {"mode", "id"}, "set": {"maps", "both", "blocked"},
	}[kind]...)
}

func (w world) condition(depth int, regions bool, teams []any) object {
	n := 14
	if depth > 1 {
		n = 11
	}
	switch w.IntN(n) {
	case 0:
		return w.in(object{"same": w.value("string")}, true, teams)
	case 1:
		return w.in(object{"different": w.value("string")}, false, []any{teams[0]})
	case 2, 3:
		return w.in(object{"spread": w.value("number"), "max": w.bound(6, true)}, true, teams)
	case 4:
		return w.in(object{"share": w.value("set"), "min": w.bound(2, false)}, true, teams)
	case 5:
		o := object{"overlap": w.value("set"), "count": w.span(2)}
		o[w.one("union", "intersection").(string)] = w.value("set")
		if w.chance(2) {
			delete(o, "union")
			delete(o, "intersection")
			o["with"] = []any{"a", "b"}
			o["count"] = object{"max": w.number(2)}
		}
		return w.in(o, false, teams)
	case 6:
		return w.in(object{"holders": "roles", "of": w.one("tank", "healer", "nobody"), "count": w.span(3)}, false, teams)
	case 7:
		return w.in(object{"total": w.value("number"), "sum": w.span(12)}, false, teams)
	case 8:
		o := object{"gap": w.one("skill", "mean", "count"), "max": w.bound(3, false)}
		if o["gap"] != "count" && w.chance(2) {
			o["stat"] = w.one("sum", "min", "max", "median", "stddev")
		}
		return o
	case 9:
		if w.chance(3) {
			return object{"compare": []any{w.odds(), w.one("<", "<=", "=", "!=", ">=", ">"), w.part()}}
		}
		return object{"compare": []any{w.expression(0, regions, teams), w.one("<", "<=", "=", "!=", ">=", ">"),
			w.expression(0, regions, teams)}}
	case 10:
		if regions && w.chance(2) {
			return object{"latency": "ping", w.one("max", "over", "apart").(string): w.number(6)}
		}
		if w.chance(2) {
			return w.in(object{"avoid": "blocked"}, false, teams)
		}
		return object{"premade": w.bound(3, false)}
	case 11:
		return object{"not": w.condition(depth+1, regions, teams)}
	}
	var of []any
	for range 1 + w.IntN(2) {
		of = append(of, w.condition(depth+1, regions, teams))
	}
	return object{w.one("all", "any", "one").(string): of}
}

// odds look at skills with and without uncertainty.
func (w world) odds() object {
	o := object{w.one("favorite", "quality").(string): w.value("number"), "beta": w.one(0.5, 1, 4)}
	if w.chance(2) {
		o["deviation"] = w.one("sigma", "doubt", "lead")
	}
	return o
}

// part is a number from 0 to 1, or one that changes with the time.
func (w world) part() any {
	n := float64(w.IntN(21)) / 20
	if w.chance(2) {
		return n
	}
	return object{"start": n, "steps": []any{[]any{1 + w.IntN(30), float64(w.IntN(21)) / 20}}}
}

func (w world) expression(depth int, regions bool, teams []any) any {
	n := 6
	if depth > 1 {
		n = 2
	}
	switch w.IntN(n) {
	case 0:
		return w.bound(6, false)
	case 1, 2:
		if w.chance(5) {
			return w.odds()
		}
		if w.chance(3) {
			return w.in(object{w.one("count", "tickets", "party").(string): "players"}, false, teams)
		}
		stat := w.one("avg", "sum", "min", "max", "median", "count", "each").(string)
		return w.in(object{stat: w.value("number")}, false, teams)
	case 3:
		stat := w.one("avg", "sum", "min", "max", "count").(string)
		return object{stat: object{"abs": w.expression(depth+1, regions, teams)}}
	case 4:
		if regions {
			return object{"max": object{"latency": "ping"}}
		}
	}
	return object{w.one("plus", "minus", "times", "over").(string): []any{
		w.expression(depth+1, regions, teams), w.expression(depth+1, regions, teams)}}
}

// rules is a rule set in our language.
func (w world) rules() []byte {
	missing := func() any { return w.one("reject", "any") }
	values := object{
		"skill": object{"type": "number", "default": 2},
		"lead": object{
			"type": "number", "from": "skill", "party": w.one("max", "min"), "once": w.chance(2), "missing": missing(),
		},
		"mean":  object{"type": "number", "from": "skill", "party": w.one("avg", "sum"), "missing": missing()},
		"sigma": object{"type": "number", "missing": missing()},
		"doubt": object{
			"type": "number", "from": "sigma", "party": w.one("avg", "max"), "once": w.chance(2), "missing": missing(),
		},
		"mode": object{"type": "string", "missing": missing()},
		"id":   object{"type": "string", "missing": "any"},
		"maps": object{"type": "set", "missing": missing()},
		"both": object{
			"type": "set", "from": "maps", "party": w.one("union", "intersection"), "once": w.chance(2), "missing": missing(),
		},
		"roles":   object{"type": "set", "missing": missing()},
		"likes":   object{"type": "map", "missing": missing()},
		"blocked": object{"type": "set", "missing": "any"},
	}
	regions := w.chance(3)
	var teams, names []any
	fewer := object{"start": 1, "steps": []any{[]any{9, 0}}}
	for _, name := range []any{"red", "blue"}[:1+w.IntN(2)] {
		low := w.IntN(3)
		team := object{"name": name, "size": object{"min": low, "max": max(1, low) + w.IntN(2)}}
		if w.chance(2) {
			team["copies"] = w.one(2, object{"min": 0, "max": 2}, object{"min": 1, "max": 2})
		}
		if w.chance(3) {
			team["roles"] = w.one(object{"tank": 1, "healer": object{"max": 2}}, object{"tank": nil, "healer": object{"min": 1}},
				object{"tank": object{"min": w.bound(1, false)}, "healer": object{"min": fewer}},
				object{"tank": object{"max": 1}, "healer": object{"max": 1}, "a": object{"max": 1}, "b": object{"max": 1},
					"c": nil, "d": object{"max": 1}})
		}
		teams, names = append(teams, team), append(names, name)
	}
	all := object{"values": values, "teams": teams}
	reluctant := w.chance(3)
	if reluctant {
		all["roles"] = object{"from": "likes", "max": w.opens(), "weight": w.one("skill", nil)}
	}
	if regions {
		values["ping"] = object{"type": "map", "party": w.one("each", "max", "avg"), "missing": missing()}
		all["regions"] = object{"from": "ping", "max": w.bound(8, true)}
		if w.chance(4) {
			all["regions"] = object{"from": "ping"}
		}
	}
	if w.chance(4) {
		all["players"] = object{"min": 2, "max": 2 + w.IntN(3)}
	}
	if w.chance(5) {
		all["priority"] = "skill"
	}
	var rules []any
	for range w.IntN(4) {
		rule := w.condition(0, regions, names)
		if w.chance(5) {
			rule["active"] = object{"start": w.chance(2), "steps": []any{[]any{w.IntN(20), w.chance(2)}}}
		}
		rules = append(rules, rule)
	}
	all["rules"] = rules
	if regions && len(rules) == 2 {
		all["regions"].(object)["names"] = []any{"us", "asia"}
	}
	if w.chance(3) {
		all["prefer"] = []any{object{"low": w.expression(1, regions, names)}}
	}
	if reluctant && w.chance(2) {
		all["prefer"] = []any{object{"low": object{"max": w.in(object{"reluctance": "players"}, false, names)}}}
	}
	text, _ := json.MarshalIndent(all, "", "  ")
	return text
}

// opens is up to which number roles are taken.
func (w world) opens() any {
	b := w.bound(4, false)
	if of, ok := b.(object); ok {
		of["clock"] = "each"
	}
	return b
}

func (w world) texts(of ...string) []string {
	list := []string{}
	for _, one := range of {
		if w.chance(2) {
			list = append(list, one)
		}
	}
	return list
}

func (w world) pool(n int) (pool []judge.Ticket) {
	players := 0
	for range n {
		t := judge.Ticket{Age: float64(w.IntN(40))}
		for range 1 + w.IntN(3)*w.IntN(2) {
			players++
			p := judge.Player{"id": string(rune('A' + players)), "skill": float64(w.IntN(9)), "mode": w.one("x", "x", "y"),
				"maps": w.texts("a", "b", "c"), "roles": w.texts("tank", "healer")}
			ping := map[string]float64{}
			for _, region := range w.texts("eu", "us") {
				ping[region] = float64(w.IntN(10))
			}
			p["ping"] = ping
			likes := map[string]float64{}
			for _, role := range w.texts("tank", "healer", "tank", "healer", "a", "b") {
				likes[role] = float64(w.IntN(6))
			}
			p["likes"] = likes
			if !w.chance(4) {
				p["sigma"] = float64(w.IntN(4))
			}
			if w.chance(3) {
				p["blocked"] = w.texts("A", "B", "C", "D")
			}
			if w.chance(6) {
				delete(p, w.one("skill", "mode", "maps", "roles", "likes", "ping").(string))
			}
			if w.chance(20) {
				p["mode"] = 5.0 // of another kind
			}
			t.Players = append(t.Players, p)
		}
		pool = append(pool, t)
	}
	return pool
}
