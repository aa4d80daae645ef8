package search

import (
	"cmp"
	"slices"
)

// examination is what was found out of a ticket with a variant of the rules.
type examination struct {
	known    bool // whether a sample was looked at
	complete bool // whether nothing was left out
	lacking  int  // how many players there are too few, whatever the rules
	// Of so many other tickets that were looked at, so many fit. With each variant they are the same.
	looked, fit int
	counted     bool // whether all candidates were counted
	candidates  int
	match       *Match
	soon        float64 // within which time a nearer match is expected, 0 if the search does not wait for one
	join        *Match
	granted     int // how much work there was
	roles       []Lack
}

// count is how many tickets fit, and of how many others; 0 for all.
func (v *examination) count() (candidates, looked int) {
	switch {
	case v.counted:
		return v.candidates, 0
	case v.known && v.looked > 0:
		return v.fit, v.looked
	}
	return -1, 0
}

// admits reports whether more tickets fit than with all rules.
func (v *examination) admits(whole *examination) bool {
	if v.counted && whole.counted {
		return v.candidates > whole.candidates
	}
	return v.known && whole.known && v.fit > whole.fit
}

// reasonsOf are the reasons of a ticket: those first without which there is a match or a game.
func (e *explainer) reasonsOf(t uint32, all []variant, of func(variant int) *examination) (reasons []Reason) {
	whole := of(0)
	candidates, looked := whole.count()
	said := Reason{Ticket: t, Candidates: candidates, Looked: looked}
	if said.Match = whole.match; said.Match != nil {
		if said.Kind = WorkEnded; whole.soon > 0 {
			said.Kind, said.Soon = Waits, whole.soon
		}
		return []Reason{said}
	}
	if whole.join != nil {
		return []Reason{{Ticket: t, Kind: WorkEnded, Candidates: -1, Join: whole.join}}
	}
	alone, sure, few := false, whole.complete, whole.lacking > 0
	for i := 1; i < len(all); i++ {
		v := of(i)
		alone, sure, few = alone || v.match != nil || v.join != nil, sure && v.complete, few && (v.complete || v.lacking > 0)
		if v.match != nil || all[i].kind == RuleStops && v.admits(whole) {
			n, looked := v.count()
			reasons = append(reasons, Reason{
				Ticket: t, Kind: all[i].kind, Name: all[i].name, Candidates: n, Looked: looked, Match: v.match,
			})
		}
		if v.join != nil {
			reasons = append(reasons, Reason{Ticket: t, Kind: all[i].kind, Name: all[i].name, Candidates: -1, Join: v.join})
		}
	}
	slices.SortStableFunc(reasons, func(a, b Reason) int {
		if first := a.Match != nil || a.Join != nil; first != (b.Match != nil || b.Join != nil) {
			if first {
				return -1
			}
			return 1
		}
		return cmp.Compare(e.about(&b), e.about(&a))
	})
	first := func(kind Kind) {
		said.Kind = kind
		reasons = slices.Insert(reasons, 0, said)
	}
	said.Roles = whole.roles
	switch {
	case alone && reasons[0].Name == "roles" && len(said.Roles) > 0:
		said.Kind, said.Candidates, said.Looked = RoleLacks, -1, 0
		reasons = slices.Insert(reasons, 1, said)
	case alone:
	case few:
		said.Players, said.Roles = whole.lacking, e.lacks
		if first(TooFew); sure && len(e.games.Running) > 0 {
			said.Players, said.Roles = 0, nil
			first(NoneAlone)
		}
	case sure:
		first(NoneAlone)
	case len(said.Roles) > 0:
		said.Candidates, said.Looked = -1, 0
		first(RoleLacks)
	case len(reasons) == 0:
		first(Undecided)
	}
	return reasons[:min(len(reasons), mostReasons)]
}

// about estimates how many candidates a reason has, from a sample.
func (e *explainer) about(r *Reason) int {
	if r.Looked == 0 {
		return r.Candidates
	}
	return r.Candidates * len(e.others) / r.Looked
}
