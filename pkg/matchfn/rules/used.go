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
	var all []Condition
	switch c := need.(type) {
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
	case *Compare:
		useIn(c.Left, used)
		useIn(c.Right, used)
	case *Latency:
		used[c.Value] = true
	case *Avoid:
		used[c.Value], used[c.ID] = true, true
	case *All:
		all = c.Of
	case *AnyOf:
		all = c.Of
	case *One:
		all = c.Of
	case *Not:
		use(c.Of, used)
	}
	for _, c := range all {
		use(c, used)
	}
}

func useIn(e Expression, used map[string]bool) {
	switch e := e.(type) {
	case *StatOf:
		used[e.Value] = true
	case *Reduce:
		useIn(e.Of, used)
	case *Arithmetic:
		useIn(e.Left, used)
		useIn(e.Right, used)
	case *Abs:
		useIn(e.Of, used)
	case *LatencyOf:
		used[e.Value] = true
	case *OddsOf:
		used[e.Value], used[e.Deviation] = true, true
	}
}

// Natural returns the names of the values that are never negative: latencies, how reluctantly players take roles, the
// weights of that, and deviations. A negative number counts as missing.
func Natural(r *Rules) map[string]bool {
	natural := map[string]bool{r.RegionValue: true, r.RoleWeight: true}
	if v := r.ValueOf(r.RoleValue); v != nil && v.Kind == Map {
		natural[r.RoleValue] = true
	}
	for _, rule := range r.Rules {
		naturalIn(rule.Need, natural)
	}
	for _, p := range r.Prefer {
		naturalIn(p.Need, natural)
		naturalOf(p.Amount, natural)
	}
	delete(natural, "")
	return natural
}

func naturalIn(need Condition, natural map[string]bool) {
	var all []Condition
	switch c := need.(type) {
	case *Compare:
		naturalOf(c.Left, natural)
		naturalOf(c.Right, natural)
	case *Latency:
		natural[c.Value] = true
	case *All:
		all = c.Of
	case *AnyOf:
		all = c.Of
	case *One:
		all = c.Of
	case *Not:
		naturalIn(c.Of, natural)
	}
	for _, c := range all {
		naturalIn(c, natural)
	}
}

func naturalOf(e Expression, natural map[string]bool) {
	switch e := e.(type) {
	case *Reduce:
		naturalOf(e.Of, natural)
	case *Arithmetic:
		naturalOf(e.Left, natural)
		naturalOf(e.Right, natural)
	case *Abs:
		naturalOf(e.Of, natural)
	case *LatencyOf:
		natural[e.Value] = true
	case *OddsOf:
		natural[e.Deviation] = true
	}
}
