package provider

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Rules say which provider gives a match its server, and which projects may use which fleets and profiles.
type Rules struct {
	// Rules are tried in order; the first that fits decides.
	Rules []Rule
	// Default names the provider of matches that no rule fits, and DefaultProjects their projects; nil for all.
	Default         string
	DefaultProjects []string
	// Fleets are the fleets, by providers, of matches that name none.
	Fleets map[string]string
}

// Rule gives matches to a provider. It fits a match that has the same Profile and Fleet; an empty one fits any.
type Rule struct {
	Profile, Fleet string
	// Provider is the provider's name.
	Provider string
	// Projects may use what the rule fits; nil for all. What a rule fits is refused to projects that neither this rule
	// nor another one of the same Profile and Fleet names, whatever other rules say.
	Projects []string
}

func (r *Rule) fits(h Hosting) bool {
	return (r.Profile == "" || r.Profile == h.Profile) && (r.Fleet == "" || r.Fleet == h.Fleet)
}

// resembles is fits without regard to letter case, which some hosting systems do not regard either.
func (r *Rule) resembles(h Hosting) bool {
	return (r.Profile == "" || strings.EqualFold(r.Profile, h.Profile)) &&
		(r.Fleet == "" || strings.EqualFold(r.Fleet, h.Fleet))
}

func (r *Rule) like(other Rule) bool {
	return strings.EqualFold(r.Profile, other.Profile) && strings.EqualFold(r.Fleet, other.Fleet)
}

func allows(projects []string, project string) bool {
	return projects == nil || slices.Contains(projects, project)
}

// Of names the provider of a match. Of rules that fit, the first that names the project decides. When none does, the
// first that fits: the match may have a server from before the rules named projects.
func (r *Rules) Of(project string, h Hosting) string {
	name := ""
	for i := range r.Rules {
		rule := &r.Rules[i]
		switch {
		case !rule.fits(h):
		case allows(rule.Projects, project):
			return rule.Provider
		case name == "":
			name = rule.Provider
		}
	}
	return cmp.Or(name, r.Default)
}

// Check refuses hosting that a project may not use. The error is an *Error.
func (r *Rules) Check(project string, h Hosting) error {
	if h.Fleet == "" {
		h.Fleet = r.Fleets[r.Of(project, h)]
	}
	fitted := false
	for i := range r.Rules {
		rule := &r.Rules[i]
		fitted = fitted || rule.fits(h)
		if !rule.resembles(h) || allows(rule.Projects, project) {
			continue
		}
		if !slices.ContainsFunc(r.Rules, func(o Rule) bool { return rule.like(o) && allows(o.Projects, project) }) {
			return Fail(Refused, "the project may not use %s", used(rule, h))
		}
	}
	if !fitted && !allows(r.DefaultProjects, project) {
		return Fail(Refused, "the project may not use %s", used(&Rule{Profile: h.Profile, Fleet: h.Fleet}, h))
	}
	return nil
}

// used names what of the hosting a rule fits.
func used(rule *Rule, h Hosting) string {
	var parts []string
	if rule.Fleet != "" {
		parts = append(parts, "fleet "+h.Fleet)
	}
	if rule.Profile != "" {
		parts = append(parts, "profile "+h.Profile)
	}
	if parts == nil {
		return "the default fleet"
	}
	return strings.Join(parts, " with ")
}

// Open describes the rules that every project may use.
func (r *Rules) Open() []string {
	var open []string
	for i := range r.Rules {
		if rule := &r.Rules[i]; rule.Projects == nil {
			open = append(open, used(rule, Hosting{Profile: rule.Profile, Fleet: rule.Fleet}))
		}
	}
	if r.DefaultProjects == nil {
		open = append(open, "default")
	}
	return open
}

// Choice chooses one of several providers for each match. It is a Provider itself.
//
// The choice depends on the project and hosting of the Ref, which a match keeps for its whole life. When rules are
// removed or reordered while servers are out, another provider is asked to release them, which does not know them.
type Choice struct {
	Rules
	// Providers are all providers by their names.
	Providers map[string]Provider
}

func (c *Choice) of(r Ref) Provider { return c.Providers[c.Of(r.Project, r.Hosting)] }

// Allocate asks the provider of the match, if its project may use the match's hosting.
func (c *Choice) Allocate(ctx context.Context, r *Request) (Result, error) {
	if err := c.Check(r.Project, r.Hosting); err != nil {
		return Result{}, err
	}
	return c.of(r.Ref).Allocate(ctx, r)
}

// Poll asks each provider about its own matches.
func (c *Choice) Poll(ctx context.Context, refs []Ref) ([]Result, error) {
	return PollGroups(refs, len(refs)+1, c.of, func(p Provider, own []Ref) ([]Result, error) { return p.Poll(ctx, own) })
}

// PollGroups calls poll with the refs of each key, up to most of them at a time, and returns the results in the order
// of refs. Where one of several calls fails, the results of its refs are Unknown with its error.
func PollGroups[K comparable](
	refs []Ref, most int, key func(Ref) K, poll func(key K, some []Ref) ([]Result, error),
) ([]Result, error) {
	results, groups := make([]Result, len(refs)), map[K][]int{}
	for i, r := range refs {
		groups[key(r)] = append(groups[key(r)], i)
	}
	for k, group := range groups {
		for numbers := range slices.Chunk(group, most) {
			some := make([]Ref, len(numbers))
			for n, i := range numbers {
				some[n] = refs[i]
			}
			got, err := poll(k, some)
			if err != nil && len(some) == len(refs) {
				return nil, err
			}
			for n, i := range numbers {
				if results[i].Err = err; err == nil {
					results[i] = got[n]
				}
			}
		}
	}
	return results, nil
}

// Release asks the provider of the match.
func (c *Choice) Release(ctx context.Context, r Ref) error { return c.of(r).Release(ctx, r) }
