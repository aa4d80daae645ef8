package rules

import (
	"fmt"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Limits of a rule set.
const (
	MaxTeams      = 200  // teams of a match, and shapes
	MaxPlayers    = 1000 // players of a match
	MaxValues     = 100
	MaxRules      = 200  // rules, preferences and orders each
	MaxConditions = 2000 // conditions and expressions in all
	MaxSteps      = 100  // of a bound
	MaxRegions    = 64   // names of regions
	// MaxElements is how many elements a set or a map of a player has at most. A ticket with a larger one is in no match:
	// part of it could say less than all, such as whom the player avoids.
	MaxElements = 256
)

// reader reads values of a document. It keeps the first error; after it, what it reads means nothing.
type reader struct {
	err   error
	nodes int
	clock Clock
}

func (r *reader) fail(n *document.Node, format string, args ...any) {
	if r.err == nil {
		r.err = n.Errorf("%s", fmt.Sprintf(format, args...))
	}
}

// is reports whether a value is there and of a kind. Null counts as absent. Another kind is an error.
func (r *reader) is(n *document.Node, kind document.Kind) bool {
	if n == nil || n.Kind == document.Null || r.err != nil {
		return false
	}
	if n.Kind != kind {
		r.fail(n, "must be %s, not %s", kind, n.Kind)
		return false
	}
	return true
}

// only refuses members of other names.
func (r *reader) only(n *document.Node, names ...string) {
	if !r.is(n, document.Object) {
		return
	}
	for _, m := range n.Members {
		if !slices.Contains(names, m.Name) {
			r.fail(m.Node, "there is no such member here, only %s", strings.Join(names, ", "))
			return
		}
	}
}

func (r *reader) text(n *document.Node, absent string) string {
	if !r.is(n, document.String) {
		return absent
	}
	if n.Text == "" || len(n.Text) > 256 {
		r.fail(n, "must have 1 to 256 bytes")
	}
	return n.Text
}

// word reads one of some words.
func (r *reader) word(n *document.Node, absent string, words ...string) string {
	s := r.text(n, absent)
	if n != nil && s != absent && !slices.Contains(words, s) {
		r.fail(n, "must be one of %s, not %q", strings.Join(words, ", "), s)
	}
	return s
}

func (r *reader) bool(n *document.Node) bool { return r.is(n, document.Bool) && n.True }

func (r *reader) number(n *document.Node, absent float64) float64 {
	if !r.is(n, document.Number) {
		return absent
	}
	return n.Number
}

func (r *reader) texts(n *document.Node) (all []string) {
	if !r.is(n, document.List) {
		return nil
	}
	for _, e := range n.Elements {
		if e.Kind == document.Null {
			r.fail(e, "must be a string, not null")
		}
		s := r.text(e, "")
		if slices.Contains(all, s) {
			r.fail(e, "%q is there twice", s)
		}
		all = append(all, s)
	}
	return all
}

// elements returns the elements of a list of at most so many.
func (r *reader) elements(n *document.Node, most int) []*document.Node {
	if !r.is(n, document.List) {
		return nil
	}
	if len(n.Elements) > most {
		r.fail(n, "has %d elements, and at most %d are allowed", len(n.Elements), most)
		return nil
	}
	return n.Elements
}

var clocks = []string{string(Oldest), string(Newest), string(Mean), string(Anchor)}

// bound reads a number or a schedule. own allows the clock of each ticket.
func (r *reader) bound(n *document.Node, own bool) *Bound {
	if n == nil || n.Kind == document.Null || r.err != nil {
		return nil
	}
	b := &Bound{Clock: r.clock}
	if n.Kind == document.Number {
		b.Start = n.Number
		return b
	}
	if n.Kind != document.Object {
		r.fail(n, "must be a number or an object with start, not %s", n.Kind)
		return nil
	}
	r.only(n, "start", "steps", "grow", "every", "until", "clock")
	words := clocks
	if own {
		words = append(slices.Clone(clocks), string(Own))
	}
	b.Clock = Clock(r.word(n.Get("clock"), string(r.clock), words...))
	start := n.Get("start")
	switch {
	case start == nil:
		r.fail(n, "has no start")
	case start.Kind == document.Null:
		b.Off = true
	case start.Kind == document.Bool:
		b.Start = truth(start.True)
	default:
		b.Start = r.number(start, 0)
	}
	if grow := n.Get("grow"); grow != nil {
		r.grow(n, b)
		return b
	}
	for _, name := range []string{"every", "until"} {
		if m := n.Get(name); m != nil {
			r.fail(m, "is only for a bound with grow")
		}
	}
	for _, s := range r.elements(n.Get("steps"), MaxSteps) {
		b.Steps = append(b.Steps, r.step(s))
		if i := len(b.Steps) - 1; i > 0 && b.Steps[i].After <= b.Steps[i-1].After {
			r.fail(s, "must be after more seconds than the step before")
		}
	}
	return b
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (r *reader) grow(n *document.Node, b *Bound) {
	if m := n.Get("steps"); m != nil {
		r.fail(m, "a bound has steps or grow, not both")
	}
	if b.Off {
		r.fail(n.Get("start"), "must be a number where the bound grows")
	}
	l := &Linear{Delta: r.number(n.Get("grow"), 0), Every: r.number(n.Get("every"), 0)}
	until := n.Get("until")
	if until == nil || until.Kind == document.Null {
		r.fail(n, "grows without an end: until says how far")
	}
	l.Limit = r.number(until, 0)
	if l.Every < 0 {
		r.fail(n.Get("every"), "must not be negative")
	}
	if l.Delta > 0 && l.Limit < b.Start || l.Delta < 0 && l.Limit > b.Start || l.Delta == 0 {
		r.fail(n.Get("grow"), "never gets from start to until")
	}
	b.Linear = l
}

// step reads [seconds, value], where the value may be null for off.
func (r *reader) step(n *document.Node) (s Step) {
	if !r.is(n, document.List) {
		if r.err == nil {
			r.fail(n, "must be a list of seconds and a number")
		}
		return s
	}
	if len(n.Elements) != 2 {
		r.fail(n, "must be a list of two: seconds, and a number or null for no bound")
		return s
	}
	at, value := n.Elements[0], n.Elements[1]
	if at.Kind != document.Number || at.Number < 0 {
		r.fail(at, "must be a number of seconds that is not negative")
	}
	s.After = at.Number
	switch value.Kind {
	case document.Null:
		s.Off = true
	case document.Bool:
		s.Value = truth(value.True)
	default:
		s.Value = r.number(value, 0)
	}
	return s
}

// span reads a range: a number for exactly that, or an object with min, max or both.
func (r *reader) span(n *document.Node) Range {
	if n == nil || n.Kind == document.Null || r.err != nil {
		return Range{}
	}
	if n.Kind == document.Number {
		return Range{&Bound{Clock: r.clock, Start: n.Number}, &Bound{Clock: r.clock, Start: n.Number}}
	}
	if n.Kind != document.Object {
		r.fail(n, "must be a number or an object with min and max, not %s", n.Kind)
		return Range{}
	}
	r.only(n, "min", "max")
	span := Range{r.bound(n.Get("min"), false), r.bound(n.Get("max"), false)}
	if span.Min == nil && span.Max == nil {
		r.fail(n, "has neither min nor max")
	}
	return span
}

// scope reads "match", "team", "anchor" or a list of names of teams.
func (r *reader) scope(n *document.Node, anchor bool) Scope {
	if n != nil && n.Kind == document.List {
		teams := r.texts(n)
		if len(teams) == 0 {
			r.fail(n, "names no team")
		}
		return Scope{InTeams, teams}
	}
	words := []string{string(InMatch), string(InTeam)}
	if anchor {
		words = append(words, string(BesideAnchor))
	}
	return Scope{Of: Of(r.word(n, string(InMatch), words...))}
}
