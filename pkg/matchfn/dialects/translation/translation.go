// Package translation is what becomes of a rule set of another language: our rules, and a verdict for each rule.
package translation

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Verdict compares what our rules allow with what the original allows.
type Verdict string

const (
	// Exact means that both allow the same matches.
	Exact Verdict = "exact"
	// Stricter means that ours refuse some matches that the original allows.
	Stricter Verdict = "stricter"
	// Looser means that ours allow some matches that the original refuses.
	Looser Verdict = "looser"
	// Refused means that ours do not say it at all.
	Refused Verdict = "refused"
	// Note is about what is no rule, such as hosting.
	Note Verdict = "note"
)

// Line is the verdict on a part of the file.
type Line struct {
	// Place is the path in the file, such as rules[2]; Row its line, 0 if it is not known.
	Place   string  `json:"place"`
	Row     int     `json:"line"`
	Name    string  `json:"name,omitempty"`
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"`
}

func (l Line) String() string {
	text := l.where() + ": " + string(l.Verdict)
	if l.Why != "" {
		text += ": " + l.Why
	}
	return text
}

// Translation is a rule set and how it came to be.
type Translation struct {
	Rules *rules.Rules
	Lines []Line
}

// Refused returns an error that names what our rules do not say, or nil.
func (t *Translation) Refused() error {
	var refused []string
	for _, l := range t.Lines {
		if l.Verdict == Refused {
			refused = append(refused, l.String())
		}
	}
	if refused == nil {
		return nil
	}
	return errors.New(strings.Join(refused, "; "))
}

// Builder makes a translation.
type Builder struct {
	Rules  *rules.Rules
	Lines  []Line
	values map[string]string // names, by what they are
	taken  map[string]bool
	places places
}

// New returns a builder of an empty rule set.
func New(name string) *Builder {
	if len(name) > 256 {
		name = name[:256]
	}
	return &Builder{
		Rules:  &rules.Rules{Name: strings.ToValidUTF8(name, ""), Choose: rules.ByWorst},
		values: map[string]string{}, taken: map[string]bool{},
	}
}

// Say adds a verdict on a part of the file. What was added since the verdict before is from that part.
func (b *Builder) Say(at *document.Node, name string, verdict Verdict, format string, args ...any) {
	l := Line{Name: name, Verdict: verdict, Why: fmt.Sprintf(format, args...), Place: "the file", Row: 1}
	if at != nil {
		l.Row = at.Line
		if at.Path != "" {
			l.Place = at.Path
		}
	}
	b.Lines = append(b.Lines, l)
	b.places.said(b.Rules, l)
}

// Value adds a value if there is no equal one yet, and returns its name: that under which players have it, or one that
// tells how it differs from the others of this name.
func (b *Builder) Value(v rules.Value) string {
	key := fmt.Sprintf("%q %s %s %v %s %#v", v.From, v.Kind, v.Party, v.Once, v.Missing, v.Default)
	if name, ok := b.values[key]; ok {
		return name
	}
	name := v.From
	if b.taken[name] {
		name += " " + string(v.Party)
		if v.Once {
			name += " once"
		}
	}
	for i := 2; b.taken[name]; i++ {
		name = fmt.Sprintf("%s %d", v.From, i)
	}
	b.values[key], b.taken[name], v.Name = name, true, name
	if v.Kind == rules.Number && !slices.Contains(b.Rules.Numbers, v.From) {
		b.Rules.Numbers = append(b.Rules.Numbers, v.From)
	}
	b.Rules.Values = append(b.Rules.Values, v)
	return name
}

// Mark returns the state of the values, for Reset.
func (b *Builder) Mark() int { return len(b.Rules.Values) }

// Reset forgets the values since a mark, when a rule is refused.
func (b *Builder) Reset(mark int) {
	for key, name := range b.values {
		for _, v := range b.Rules.Values[mark:] {
			if v.Name == name {
				delete(b.values, key)
				delete(b.taken, name)
			}
		}
	}
	b.Rules.Values = b.Rules.Values[:mark]
	b.Rules.Numbers = slices.DeleteFunc(b.Rules.Numbers, func(name string) bool {
		return !slices.ContainsFunc(b.Rules.Values, func(v rules.Value) bool {
			return v.Kind == rules.Number && v.From == name
		})
	})
	if b.Rules.ValueOf(b.Rules.RegionValue) == nil {
		b.Rules.RegionValue = ""
	}
}

// Regions says that matches have a region, and returns the value with the latencies. All rules use the same.
func (b *Builder) Regions(from string, party rules.Merge) string {
	if b.Rules.RegionValue == "" {
		b.Rules.RegionValue = b.Value(rules.Value{From: from, Kind: rules.Map, Party: party, Missing: rules.Reject})
	}
	return b.Value(rules.Value{From: from, Kind: rules.Map, Party: party, Missing: rules.Reject})
}

// Rule adds a rule.
func (b *Builder) Rule(name string, active *rules.Bound, need rules.Condition) {
	b.Rules.Rules = append(b.Rules.Rules, rules.Rule{Name: name, Active: active, Need: need})
}

// Done checks the rules. What no match can satisfy is an error, which names the part of the file. What none can satisfy
// from some time on is said.
func (b *Builder) Done() (*Translation, error) {
	if problems := rules.Check(b.Rules); len(problems) > 0 {
		l, why := b.places.find(problems[0])
		if l.Place == "" {
			return nil, errors.New(why)
		}
		return nil, fmt.Errorf("%s: %s", l.where(), why)
	}
	if n := max(len(b.Rules.Rules), len(b.Rules.Prefer), len(b.Rules.Order)); n > rules.MaxRules {
		return nil, fmt.Errorf("the file becomes %d rules or preferences, and at most %d are allowed", n, rules.MaxRules)
	}
	b.later()
	return &Translation{Rules: b.Rules, Lines: b.Lines}, nil
}

// All returns the condition that all of some hold.
func All(of ...rules.Condition) rules.Condition {
	if len(of) == 1 {
		return of[0]
	}
	return &rules.All{Of: of}
}

// TeamGap returns by how much a statistic of the teams differs.
func TeamGap(stat rules.Stat, value string) rules.Expression {
	of := &rules.StatOf{Stat: stat, Value: value, Scope: rules.Scope{Of: rules.InTeam}}
	return &rules.Arithmetic{Op: '-', Left: &rules.Reduce{Stat: rules.StatMax, Of: of},
		Right: &rules.Reduce{Stat: rules.StatMin, Of: of}}
}

// Breadth returns by how much the players of the match differ.
func Breadth(value string) rules.Expression {
	whole := rules.Scope{Of: rules.InMatch}
	return &rules.Arithmetic{Op: '-', Left: &rules.StatOf{Stat: rules.StatMax, Value: value, Scope: whole},
		Right: &rules.StatOf{Stat: rules.StatMin, Value: value, Scope: whole}}
}
