package rules

// Used returns the names of the values that rules, roles and regions need. A ticket that lacks one of them, and whose
// Missing is Reject, is in no match.
func Used(r *Rules) map[string]bool {
	used := map[string]bool{}
	for _, t := range r.Teams {
		if len(t.Roles) > 0 {
			used[r.RoleValue] = true
		}
	}
	if r.RegionValue != "" {
		used[r.RegionValue] = true
	}
	for _, rule := range r.Rules {
		use(rule.Need, used)
	}
	delete(used, "")
	return used
}

func use(need Condition, used map[string]bool) {
	note := func(of parts) {
		for _, name := range of.values {
			used[name] = true
		}
	}
	Walk(need, func(c Condition) { note(c.parts()) }, func(e Expression) { note(e.parts()) })
}

// Walk calls with a condition, with the conditions in it, and with the expressions that they compare.
func Walk(need Condition, with func(Condition), of func(Expression)) {
	if need == nil {
		return
	}
	with(need)
	for _, e := range need.parts().expressions {
		WalkExpression(e, of)
	}
	for _, c := range need.parts().conditions {
		Walk(c, with, of)
	}
}

// WalkExpression calls with an expression and the expressions in it.
func WalkExpression(e Expression, with func(Expression)) {
	if e == nil {
		return
	}
	with(e)
	for _, of := range e.parts().expressions {
		WalkExpression(of, with)
	}
}

// Natural returns the names of the values that are never negative: latencies, how reluctantly players take roles, the
// weights of that, and deviations. A negative number counts as missing.
func Natural(r *Rules) map[string]bool {
	natural := map[string]bool{r.RegionValue: true, r.RoleWeight: true}
	if v := r.ValueOf(r.RoleValue); v != nil && v.Kind == Map {
		natural[r.RoleValue] = true
	}
	condition := func(c Condition) {
		if c, is := c.(*Latency); is {
			natural[c.Value] = true
		}
	}
	expression := func(e Expression) {
		switch e := e.(type) {
		case *LatencyOf:
			natural[e.Value] = true
		case *OddsOf:
			natural[e.Deviation] = true
		}
	}
	for _, rule := range r.Rules {
		Walk(rule.Need, condition, expression)
	}
	for _, p := range r.Prefer {
		Walk(p.Need, condition, expression)
		WalkExpression(p.Amount, expression)
	}
	delete(natural, "")
	return natural
}
