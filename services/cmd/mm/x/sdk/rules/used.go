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
	walk(need, func(c Condition) {
		switch c := c.(type) {
		case *Same:
			used[c.Value] = true
		case *Spread:
			used[c.Value] = true
		case *Share:
			used[c.Value] = true
		case *Overlap:
			used[c.Value], used[c.Other] = true, true
		case *Holders:
			used[c.Value] = true
		case *Total:
			used[c.Value] = true
		case *Gap:
			used[c.Value] = true
		case *Latency:
			used[c.Value] = true
		case *Avoid:
			used[c.Value], used[c.ID] = true, true
		}
	}, func(e Expression) {
		switch e := e.(type) {
		case *StatOf:
			used[e.Value] = true
		case *LatencyOf:
			used[e.Value] = true
		case *OddsOf:
			used[e.Value], used[e.Deviation] = true, true
		}
	})
}

// walk calls with a condition, with those in it, and with the expressions that they compare.
func walk(need Condition, with func(Condition), of func(Expression)) {
	var all []Condition
	with(need)
	switch c := need.(type) {
	case *Compare:
		walkIn(c.Left, of)
		walkIn(c.Right, of)
	case *All:
		all = c.Of
	case *AnyOf:
		all = c.Of
	case *One:
		all = c.Of
	case *Not:
		all = []Condition{c.Of}
	}
	for _, c := range all {
		walk(c, with, of)
	}
}

// walkIn calls with an expression and those in it.
func walkIn(e Expression, with func(Expression)) {
	with(e)
	switch e := e.(type) {
	case *Reduce:
		walkIn(e.Of, with)
	case *Arithmetic:
		walkIn(e.Left, with)
		walkIn(e.Right, with)
	case *Abs:
		walkIn(e.Of, with)
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
		walk(rule.Need, condition, expression)
	}
	for _, p := range r.Prefer {
		walk(p.Need, condition, expression)
		walkIn(p.Amount, expression)
	}
	delete(natural, "")
	return natural
}
