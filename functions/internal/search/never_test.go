package search_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// sized is a number that the sizes of teams bound, or one near such numbers.
func (w world) sized(depth int, teams []any) any {
	n := 6
	if depth > 2 {
		n = 3
	}
	switch w.IntN(n) {
	case 0:
		return w.IntN(7) - 1
	case 1, 2:
		return w.in(object{w.one("count", "tickets", "party").(string): "players"}, false, teams)
	case 3:
		inner := object{w.one("count", "tickets", "party").(string): "players", "in": "team"}
		return object{w.one("avg", "sum", "min", "max", "median", "stddev", "count").(string): inner}
	case 4:
		return object{"max": object{"abs": w.sized(depth+1, teams)}}
	}
	return object{w.one("plus", "minus", "times", "over").(string): []any{
		w.sized(depth+1, teams), w.sized(depth+1, teams)}}
}

// tight is a condition that the sizes of teams often exclude.
func (w world) tight(depth int, teams []any) object {
	n := 13
	if depth > 2 {
		n = 9
	}
	switch w.IntN(n) {
	case 5:
		return w.in(object{"share": w.one("maps", "modes", "mode"), "min": w.bound(3, false)}, true, teams)
	case 6:
		return w.in(object{w.one("same", "different").(string): w.one("mode", "skill", "level")}, false, teams)
	case 7:
		return w.alike(teams)
	case 8:
		bound := float64(w.IntN(22)-4) / 10
		return object{"compare": []any{w.odds(), w.one("<", "<=", "=", "!=", ">=", ">"), bound}}
	case 9:
		one := w.tight(depth+1, teams)
		return object{w.one("all", "any").(string): []any{one, object{"not": w.one(one, w.tight(depth+1, teams))}}}
	case 0:
		return w.in(object{"holders": "roles", "of": "tank", "count": w.ends(5)}, false, teams)
	case 1:
		return object{"gap": w.one("count", "tickets", "party"), "max": w.bound(2, false)}
	case 2:
		o := object{"overlap": w.one("maps", "modes", "mode"), "with": []any{"a", "b"}[:1+w.IntN(2)], "count": w.ends(3)}
		return w.in(o, false, teams)
	case 3:
		return w.in(object{"total": "skill", "sum": w.ends(12)}, false, teams)
	case 4:
		return object{"compare": []any{w.sized(0, teams), w.one("<", "<=", "=", "!=", ">=", ">"), w.sized(0, teams)}}
	case 10:
		return object{"not": w.tight(depth+1, teams)}
	}
	var of []any
	for range 1 + w.IntN(3) {
		of = append(of, w.tight(depth+1, teams))
	}
	return object{w.one("all", "any", "one").(string): of}
}

// alike compares two statistics, often of the same numbers.
func (w world) alike(teams []any) object {
	value, scope := w.one("skill", "level"), w.in(object{}, false, teams)["in"]
	if w.chance(4) {
		reduced := object{w.one("avg", "max").(string): value, "in": "team"}
		side := func() object { return object{w.one("avg", "min", "max", "median", "stddev").(string): reduced} }
		return object{"compare": []any{side(), w.one("<", "<=", "=", "!=", ">=", ">"), side()}}
	}
	side := func() any {
		if w.chance(8) {
			return w.IntN(3) - 1
		}
		o := object{w.one("avg", "min", "max", "median", "stddev", "each").(string): value}
		if scope != nil && !w.chance(8) {
			o["in"] = scope
		}
		return o
	}
	return object{"compare": []any{side(), w.one("<", "<=", "=", "!=", ">=", ">"), side()}}
}

// ends is a range whose ends may be the wrong way round, always or at some times.
func (w world) ends(most int) object {
	o := object{}
	if !w.chance(4) {
		o["min"] = w.bound(most, false)
	}
	if len(o) == 0 || !w.chance(4) {
		o["max"] = w.bound(most, false)
	}
	return o
}

// cramped is a random rule set, with which perhaps nothing can match.
func (w world) cramped() []byte {
	values := object{
		"skill": object{"type": "number", "default": 2}, "maps": object{"type": "set", "missing": w.one("reject", "any")},
		"modes": object{"type": "set", "from": "maps", "default": []any{}}, "roles": object{"type": "set", "missing": "any"},
		"level": object{"type": "number", "from": "skill", "party": "avg", "missing": w.one("reject", "any")},
		"mode":  object{"type": "string", "missing": w.one("reject", "any")},
		"lead": object{"type": "number", "from": "skill", "party": "max", "once": w.chance(2),
			"missing": w.one("reject", "any")},
		"mean":  object{"type": "number", "from": "skill", "party": "sum"},
		"sigma": object{"type": "number", "missing": w.one("reject", "any")},
		"doubt": object{"type": "number", "from": "sigma", "party": "max", "once": w.chance(2)},
	}
	var teams, names []any
	for _, name := range []any{"red", "blue"}[:1+w.IntN(2)] {
		low := w.IntN(3)
		team := object{"name": name, "size": object{"min": low, "max": max(1, low) + w.IntN(2)}}
		if w.chance(3) {
			team["size"] = w.ends(3)
			for _, end := range []string{"min", "max"} {
				if team["size"].(object)[end] == nil {
					team["size"].(object)[end] = w.IntN(3)
				}
			}
		}
		if w.chance(2) {
			team["copies"] = w.one(2, object{"min": 0, "max": 2}, object{"min": 1, "max": 2}, object{"min": 0, "max": 1})
		}
		if w.chance(4) {
			team["roles"] = w.one(object{"tank": 2}, object{"tank": w.ends(2), "healer": object{"max": 1}})
		}
		teams, names = append(teams, team), append(names, name)
	}
	all := object{"values": values, "teams": teams}
	if w.chance(3) {
		all["players"] = w.ends(4)
	}
	var rules []any
	for range w.IntN(3) {
		rule := w.tight(0, names)
		if w.chance(5) {
			rule["active"] = object{"start": w.chance(2), "steps": []any{[]any{w.IntN(20), w.chance(2)}}}
		}
		rules = append(rules, rule)
	}
	if w.chance(3) {
		value := w.one("mode", "lead", "level")
		same, different := w.in(object{"same": value}, true, names), w.in(object{"different": value}, false, names)
		rules = append(rules, same, different)
	}
	all["rules"] = rules
	text, _ := json.MarshalIndent(all, "", "  ")
	return text
}

// No rule set that allows a match of a pool is refused because nothing can match.
func TestWhatCanMatchIsNotRefused(t *testing.T) {
	for name, of := range map[string]struct {
		number uint64
		rules  func(world) []byte
		times  int
		// refused is how many of a hundred cases are refused at least, matching how many have a match.
		refused, matching int
	}{
		"any rules":     {21, world.rules, 1, 2, 20},
		"cramped rules": {22, world.cramped, 5, 100, 40},
	} {
		t.Run(name, func(t *testing.T) {
			counts := each(t, func(i int) (o outcome) {
				o.count = map[string]int{}
				for again := range uint64(of.times) {
					random := rand.New(rand.NewPCG(*seed+uint64(i), of.number<<8+again))
					text := of.rules(world{random})
					kind, m := refusal(text, world{random}.pool(1+random.IntN(min(*most, 6))))
					if o.count[kind]++; m != nil {
						o.failed = func(*testing.T) string {
							return fmt.Sprintf("seed %d: %s, and %+v is a match\n%s", *seed+uint64(i), kind, *m, text)
						}
						return o
					}
				}
				return o
			})
			t.Logf("%d rule sets are refused, %d have a match", counts["refused"], counts["matches"])
			few := counts["refused"] < *cases*of.refused/100 || counts["matches"] < *cases*of.matching/100
			if *cases >= 200 && few {
				t.Errorf("the cases say little: %d rule sets are refused, %d have a match", counts["refused"], counts["matches"])
			}
		})
	}
}

// refusal reports whether a rule set is refused because nothing can match, or else has a match of a pool; and if both,
// the match.
func refusal(text []byte, pool []judge.Ticket) (string, *judge.Match) {
	n, err := document.Parse(text)
	if err != nil {
		return err.Error(), nil
	}
	r, err := rules.Unchecked(n)
	if err != nil {
		return "", nil
	}
	problems := rules.Check(r)
	for _, p := range problems {
		if !strings.HasSuffix(p.Text, "nothing can match") {
			return "", nil // wrong in another way: the reference does not take it
		}
	}
	m, found, _ := judge.Find(r, pool, *parts)
	switch {
	case len(problems) > 0 && found:
		return problems[0].String(), &m
	case len(problems) > 0:
		return "refused", nil
	case found:
		return "matches", nil
	}
	return "", nil
}
