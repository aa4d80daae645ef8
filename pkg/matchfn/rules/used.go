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
