package search

import (
	"slices"
	"strconv"

	"matchmaker.dev/pkg/matchfn/rules"
)

// variant is a rule set without one of its rules, or with bounds as wide as they get; the first has all of them.
type variant struct {
	name  string // empty with all rules
	rules rules.Rules
	kind  Kind // of the reason
	// joins is set if matches are the same as with all rules.
	joins bool
}

func variants(r *rules.Rules, games bool) (all []variant) {
	whole := *r
	whole.Prefer = nil // a better match may be without the ticket
	add := func(name string, change func(less *rules.Rules)) *variant {
		less := whole
		change(&less)
		all = append(all, variant{name: name, rules: less})
		return &all[len(all)-1]
	}
	add("", func(*rules.Rules) {})
	nowhere, regional := regionless(&whole)
	for i, rule := range r.Rules {
		if regional && rule.Name == regionsRule && i == len(r.Rules)-1 {
			continue // below
		}
		add(nameOf(r, i), func(less *rules.Rules) {
			less.Rules = slices.Delete(slices.Clone(r.Rules), i, i+1)
		})
	}
	if regional {
		add(regionsRule, func(less *rules.Rules) { *less = nowhere })
	}
	if slices.ContainsFunc(r.Teams, func(t rules.Team) bool { return len(t.Roles) > 0 }) {
		add("roles", func(less *rules.Rules) {
			less.Teams = slices.Clone(r.Teams)
			for i := range less.Teams {
				less.Teams[i].Roles = nil
			}
		})
	}
	if games && r.Backfill.Open != nil {
		add("backfill.open", func(less *rules.Rules) { less.Backfill.Open = nil }).joins = true
	}
	if games && r.Backfill.Active != nil {
		add("backfill.active", func(less *rules.Rules) { less.Backfill.Active = nil }).joins = true
	}
	widen := func(name string, of func(t *rules.Team) *rules.Range) {
		if !slices.ContainsFunc(r.Teams, func(t rules.Team) bool { return varies(*of(&t)) }) {
			return
		}
		add(name, func(less *rules.Rules) {
			less.Teams = slices.Clone(r.Teams)
			for i := range less.Teams {
				one := of(&less.Teams[i])
				*one = widest(*one)
			}
		}).kind = Widens
	}
	widen("size", func(t *rules.Team) *rules.Range { return &t.Size })
	widen("copies", func(t *rules.Team) *rules.Range { return &t.Copies })
	if varies(r.Players) {
		add("players", func(less *rules.Rules) { less.Players = widest(r.Players) }).kind = Widens
	}
	return all
}

// nameOf is how reasons name a rule: with its number if it has no name, or shares it.
func nameOf(r *rules.Rules, i int) string {
	name, number := r.Rules[i].Name, "rules["+strconv.Itoa(i)+"]"
	if name == "" {
		return number
	}
	for j := range r.Rules {
		if j != i && r.Rules[j].Name == name {
			return name + " (" + number + ")"
		}
	}
	return name
}

// varies reports whether a range changes with the time.
func varies(r rules.Range) bool { return !r.Min.Constant() || !r.Max.Constant() }

// widest is a range as wide as it gets with the time.
func widest(r rules.Range) rules.Range {
	if r.Min != nil {
		r.Min = rules.Fixed(float64(atLeast(r.Min)))
	}
	if r.Max != nil {
		r.Max = rules.Fixed(float64(ever(r.Max)))
	}
	return r
}

// regionsRule is the name of the rule that has what regions say of latencies.
const regionsRule = "regions"

// regionless is a rule set without regions, and without the rules about latencies, of which there are none then. It is
// not known for rules that say of latencies and of something else.
func regionless(r *rules.Rules) (less rules.Rules, known bool) {
	if r.RegionValue == "" {
		return *r, false
	}
	less = *r
	less.RegionValue = ""
	less.Rules = slices.DeleteFunc(slices.Clone(r.Rules), func(rule rules.Rule) bool {
		_, is := rule.Need.(*rules.Latency)
		return is
	})
	for name := range rules.Used(&less) {
		if v := r.ValueOf(name); v != nil && v.Kind == rules.Map && name != r.RoleValue {
			return *r, false
		}
	}
	return less, true
}

// tooLarge says that no team or no match ever takes so many players of a ticket.
func tooLarge(r *rules.Rules, t uint32, players int) (reason Reason, large bool) {
	team := largestTeam(r)
	reason = Reason{Ticket: t, Kind: TooLarge, Name: "team", Candidates: -1, Players: players}
	if players <= team {
		reason.Name = "match"
	}
	return reason, players > together(r)
}

// largestTeam is how many players a team has at most, at any time.
func largestTeam(r *rules.Rules) (players int) {
	for i := range r.Teams {
		if atMost(r.Teams[i].Copies.Max) > 0 {
			players = max(players, atMost(r.Teams[i].Size.Max))
		}
	}
	return players
}
