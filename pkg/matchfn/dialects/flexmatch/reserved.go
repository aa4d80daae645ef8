package flexmatch

import "matchmaker.dev/pkg/matchfn/dialects/lenient"

// reserved refuses attributes that have the names of what players have besides, if a rule needs that: players cannot
// have both under one name. A string of the name id would be the player's id where the player has no such attribute.
func (r *reader) reserved(set *RuleSet) {
	latency, ids := "", ""
	for _, rule := range set.Rules {
		if rule.Type == "latency" {
			latency = rule.Name
		}
		for _, e := range rule.Measurements {
			if e.Path().ID {
				ids = rule.Name
			}
		}
		if rule.Reference != nil && rule.Reference.Expr != nil && rule.Reference.Expr.Path().ID {
			ids = rule.Name
		}
	}
	for _, a := range set.Attributes {
		switch {
		case a.Name == LatencyValue && latency != "":
			r.Fail(lenient.Member(a.At, "name"), "players have their latencies under the name %q, which the rule %q needs: "+
				"give the attribute another name", a.Name, latency)
		case a.Name == IDValue && ids != "":
			r.Fail(lenient.Member(a.At, "name"), "players have their ids under the name %q, which the rule %q needs: "+
				"give the attribute another name", a.Name, ids)
		case a.Name == IDValue && a.Type == "string":
			r.Fail(lenient.Member(a.At, "name"), "players have their ids under the name %q: give the attribute "+
				"another name", a.Name)
		}
	}
}
