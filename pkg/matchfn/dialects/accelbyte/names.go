package accelbyte

import "matchmaker.dev/pkg/matchfn/dialects/lenient"

// names refuses names under which players would have to have two different things.
func names(r *lenient.Reader, set *RuleSet) {
	has := map[string]string{}
	if set.Regions.limited() {
		has[LatencyValue] = "their latencies by region"
	}
	if set.Alliance.Roles != nil {
		has[RoleValue] = "the roles that they take"
	}
	if set.Blocked != "" && set.Blocked != "blockedPlayerCanMatch" {
		has[BlockedValue], has[IDValue] = "the ids that they block", "their id"
	}
	problem := func(name, what string) string {
		before, known := has[name]
		if has[name] = what; known && before != what {
			return before
		}
		return ""
	}
	for _, rule := range set.Rules {
		if rule.Criteria != distance {
			continue
		}
		if other := problem(rule.Attribute, "a number"); other != "" {
			r.Fail(rule.At, "players have %s under the name %q, and the rule needs a number", other, rule.Attribute)
		}
	}
	for _, o := range set.Options {
		what := map[string]string{"all": "a string", "any": "a list of strings"}[o.Type]
		if what == "" {
			continue
		}
		if other := problem(o.Name, what); other != "" {
			r.Fail(o.At, "players have %s under the name %q, and the option needs %s", other, o.Name, what)
		}
		if o.Name != crossPlatform || o.Type != "any" {
			continue
		}
		if other := problem(currentPlatform, "a string"); other != "" {
			r.Fail(o.At, "players have %s under the name %q, and the option needs a string there", other, currentPlatform)
		}
	}
}
