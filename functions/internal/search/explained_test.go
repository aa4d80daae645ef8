package search_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// without is a rule set without the rule that a reason names, without roles, or without a limit for running games, or
// with bounds as wide as they get.
func without(r *rules.Rules, reason *search.Reason) *rules.Rules {
	less, name := *r, reason.Name
	if reason.Kind == search.Widens {
		return widened(r, name)
	}
	if name == "roles" {
		less.Teams = slices.Clone(r.Teams)
		for i := range less.Teams {
			less.Teams[i].Roles = nil
		}
		return &less
	}
	if nowhere, regional := search.Regionless(r); regional && name == "regions" {
		return &nowhere
	}
	switch name {
	case "backfill.open":
		less.Backfill.Open = nil
		return &less
	case "backfill.active":
		less.Backfill.Active = nil
		return &less
	}
	for i, rule := range r.Rules {
		if rule.Name == name || rule.Name == "" && name == "rules["+strconv.Itoa(i)+"]" {
			less.Rules = slices.Delete(slices.Clone(r.Rules), i, i+1)
			return &less
		}
	}
	return nil
}

// widened is a rule set in which the sizes or copies of teams, or how many players there are, may be what they are at
// any time; nil if they never change.
func widened(r *rules.Rules, name string) *rules.Rules {
	less, changes := *r, false
	less.Teams = slices.Clone(r.Teams)
	widen := func(of *rules.Range) {
		for _, end := range [2]struct {
			bound *rules.Bound
			set   **rules.Bound
			most  bool
		}{{of.Min, &of.Min, false}, {of.Max, &of.Max, true}} {
			if end.bound.Constant() {
				continue
			}
			low, high, _ := end.bound.Over(0, math.Inf(1))
			if changes = true; end.most {
				low = high
			}
			*end.set = rules.Fixed(low)
		}
	}
	switch name {
	case "players":
		widen(&less.Players)
	case "size", "copies":
		for i := range less.Teams {
			if name == "size" {
				widen(&less.Teams[i].Size)
			} else {
				widen(&less.Teams[i].Copies)
			}
		}
	}
	if !changes {
		return nil
	}
	return &less
}

// explained checks what is said of the tickets that are left over in a pool. Matches that there would be must be
// allowed, and have the ticket. Where the reference finds that a rule alone keeps a ticket from a match, that is said,
// unless there is little work.
func explained(r *rules.Rules, pool []judge.Ticket, work int) (alone, none int, err error) {
	found := search.Search(r, tickets(pool), nil, plenty)
	left := map[uint32]bool{}
	for i := range pool {
		left[uint32(i)] = true
	}
	for _, m := range found {
		for _, team := range m.Teams {
			for _, t := range team.Tickets {
				delete(left, t)
			}
		}
	}
	var asked []uint32
	for i := range pool {
		asked = append(asked, uint32(i))
	}
	of := map[uint32][]search.Reason{}
	for _, reason := range search.Explain(r, tickets(pool), nil, found, asked, work) {
		if !left[reason.Ticket] {
			return 0, 0, fmt.Errorf("ticket %d is in a match, and has the reason %+v", reason.Ticket, reason)
		}
		of[reason.Ticket] = append(of[reason.Ticket], reason)
	}
	for t := range left {
		if len(of[t]) == 0 {
			return 0, 0, fmt.Errorf("ticket %d has no reason", t)
		}
		for i, reason := range of[t] {
			switch {
			case reason.Kind == search.WorkEnded:
				return 0, 0, fmt.Errorf("ticket %d could be in the match %+v that the search did not find", t, reason.Match)
			case reason.Kind == search.NoneAlone && i > 0 || reason.Candidates >= len(left):
				return 0, 0, fmt.Errorf("ticket %d has the reasons %+v", t, of[t])
			case reason.Kind == search.RoleLacks && i > 0: // what `roles` lack, without which there is a match
				for _, role := range reason.Roles {
					if of[t][0].Name != "roles" || role.Takers >= role.Needs {
						return 0, 0, fmt.Errorf("ticket %d has the reasons %+v", t, of[t])
					}
				}
			case work >= plenty && (reason.Kind == search.RoleLacks || reason.Kind == search.Undecided || reason.Looked > 0):
				return 0, 0, fmt.Errorf("ticket %d has the reasons %+v in spite of much work", t, of[t])
			}
			if reason.Match == nil {
				continue
			}
			alone++
			less := without(r, &reason)
			if less == nil {
				return 0, 0, fmt.Errorf("there is no rule %q", reason.Name)
			}
			m := judged(*reason.Match)
			if err := judge.Check(less, pool, m); err != nil {
				return 0, 0, fmt.Errorf("without %s there is no match %+v of ticket %d: %w", reason.Name, m, t, err)
			}
			has := false
			for _, team := range reason.Match.Teams {
				has = has || slices.Contains(team.Tickets, t)
				for _, other := range team.Tickets {
					if !left[other] {
						return 0, 0, fmt.Errorf("the match of ticket %d takes ticket %d from another", t, other)
					}
				}
			}
			if !has {
				return 0, 0, fmt.Errorf("the match %+v is without ticket %d", m, t)
			}
		}
		if of[t][0].Kind == search.NoneAlone || of[t][0].Kind == search.TooFew {
			none++
			if err := noneAlone(r, pool, left, t); err != nil {
				return 0, 0, err
			}
		}
	}
	return alone, none, nil
}

// noneAlone returns an error if the reference finds a match with a ticket when one rule is left out.
func noneAlone(r *rules.Rules, pool []judge.Ticket, left map[uint32]bool, t uint32) error {
	var rest []judge.Ticket
	at := -1
	for i, one := range pool {
		if uint32(i) == t {
			at = len(rest)
		}
		if left[uint32(i)] {
			rest = append(rest, one)
		}
	}
	var all []rules.Rules
	for i := range r.Rules {
		less := *r
		less.Rules = slices.Delete(slices.Clone(r.Rules), i, i+1)
		all = append(all, less)
	}
	if nowhere, regional := search.Regionless(r); regional {
		all = append(all, nowhere)
	}
	for _, name := range []string{"size", "copies", "players"} {
		if wide := widened(r, name); wide != nil {
			all = append(all, *wide)
		}
	}
	for i := range all {
		m, ok, _ := judge.Find(&all[i], rest, *parts)
		if !ok || !slices.ContainsFunc(m.Teams, func(team judge.Team) bool { return slices.Contains(team.Tickets, at) }) {
			continue
		}
		return fmt.Errorf("no rule alone is to keep ticket %d from a match, but without number %d of the rules, regions and "+
			"sizes there is %+v", t, i, m)
	}
	return nil
}

// waits lets sizes, copies and players of some rule sets change with the time, and returns the rules as text.
func (w world) waits(r *rules.Rules) []byte {
	fewer := func(of *rules.Range) {
		if of.Max == nil || !of.Max.Constant() || of.Max.Off {
			return
		}
		least := 0.0
		if of.Min != nil {
			least = min(of.Min.Start, of.Max.Start)
		}
		of.Min = &rules.Bound{Clock: rules.Oldest, Start: of.Max.Start, Steps: []rules.Step{
			{After: float64(1 + w.IntN(60)), Value: least},
		}}
	}
	switch w.IntN(8) {
	case 0:
		for i := range r.Teams {
			fewer(&r.Teams[i].Size)
		}
	case 1:
		for i := range r.Teams {
			fewer(&r.Teams[i].Copies)
		}
	case 2:
		fewer(&r.Players)
	}
	return rules.Write(r)
}
