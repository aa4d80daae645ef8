package flexmatch

import (
	"fmt"
	"strings"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

const maxStatement = 2000 // bytes

// Statement is a function of rules, or a rule.
type Statement struct {
	Op   string // and, or, not, xor; empty for a rule
	Args []*Statement
	Rule *Rule
}

func (r *reader) compound(o *lenient.Object, rule *Rule) {
	n := o.Need("statement")
	if n == nil {
		return
	}
	text := r.Text(n)
	if len(text) > maxStatement {
		r.Fail(n, "the statement has %d bytes, and at most %d are allowed", len(text), maxStatement)
		return
	}
	var err error
	if rule.Statement, err = r.statement(text, 0); err != nil {
		r.Fail(n, "%v", err)
	}
}

// parts are how many parts functions of rules have.
var parts = map[string][2]int{"and": {2, rules.MaxRules}, "or": {2, rules.MaxRules}, "xor": {2, 2}, "not": {1, 1}}

func (r *reader) statement(text string, depth int) (*Statement, error) {
	call := callForm.FindStringSubmatch(text)
	if call == nil {
		return r.part(strings.TrimSpace(text))
	}
	n, known := parts[call[1]]
	args, closed := split(call[2])
	switch {
	case depth >= maxCalls:
		return nil, fmt.Errorf("statements are nested more than %d deep", maxCalls)
	case !known:
		return nil, fmt.Errorf("in %q: %q is not a function: there are and, or, not, xor", text, call[1])
	case !closed:
		return nil, fmt.Errorf("in %q, parentheses are not in pairs", text)
	case len(args) < n[0] && n[0] < n[1]:
		return nil, fmt.Errorf("%s has %d parts, and at least %d are expected", call[1], len(args), n[0])
	case len(args) < n[0] || len(args) > n[1]:
		return nil, fmt.Errorf("%s has %d parts, and %d are expected", call[1], len(args), n[1])
	}
	s := &Statement{Op: call[1]}
	for _, arg := range args {
		part, err := r.statement(arg, depth+1)
		if err != nil {
			return nil, err
		}
		s.Args = append(s.Args, part)
	}
	return s, nil
}

// split splits a list at the commas that are in no parentheses, and reports whether these are in pairs.
func split(text string) (parts []string, closed bool) {
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return nil, false
			}
		case ',':
			if depth == 0 {
				parts, from = append(parts, text[from:i]), i+1
			}
		}
	}
	return append(parts, text[from:]), depth == 0
}

// part finds a rule that a statement names.
func (r *reader) part(name string) (*Statement, error) {
	rule := r.names[name]
	if rule == nil {
		return nil, fmt.Errorf("no rule %q is before this one", name)
	}
	switch rule.Type {
	case "batchDistance", "distanceSort", "absoluteSort":
		return nil, fmt.Errorf("%q is a %s rule, which cannot be part of a compound rule", name, rule.Type)
	}
	rule.Part = true
	return &Statement{Rule: rule}, nil
}

// expansion reads how something grows with time, and adds it to what grows.
func (r *reader) expansion(n *document.Node, set *RuleSet) {
	o := r.Object(n)
	target := o.Need("target")
	nodes := o.List(rules.MaxSteps, "steps")
	if len(nodes) == 0 {
		r.Fail(n, "%q is missing", "steps")
	}
	var steps []Step
	for i, node := range nodes {
		step := r.Object(node)
		s := Step{step.Whole("waitTimeSeconds", -1, 0, lenient.MaxSeconds), r.Number(step.Need("value"))}
		step.Done()
		if i > 0 && s.Seconds <= steps[i-1].Seconds {
			r.Fail(node, "waitTimeSeconds must be more than that of the step before, which is %d", steps[i-1].Seconds)
		}
		steps = append(steps, s)
	}
	o.Done()
	if target == nil || r.Err() != nil {
		return
	}
	params, whole, err := r.target(r.Text(target), set)
	if err != nil {
		r.Fail(target, "%v", err)
		return
	}
	for _, p := range params {
		if p.Steps != nil {
			r.Fail(target, "there is another expansion of it")
			return
		}
		for i, s := range steps {
			if whole && (s.Value != float64(int(s.Value)) || s.Value < 0 || s.Value > rules.MaxPlayers) {
				r.Fail(nodes[i], "value must be a whole number from 0 to %d", rules.MaxPlayers)
			}
		}
		p.Steps = steps
	}
}

// target finds the numbers that an expansion changes, and whether they are whole.
func (r *reader) target(text string, set *RuleSet) ([]*Param, bool, error) {
	form := targetForm.FindStringSubmatch(text)
	if form == nil {
		return nil, false, fmt.Errorf("%q is not rules[…].… or teams[…].…", text)
	}
	property := strings.ToLower(form[3][:1]) + form[3][1:]
	if form[1] == "teams" {
		var names []string
		if strings.TrimSpace(form[2]) == "*" {
			for _, team := range set.Teams {
				names = append(names, team.Name)
			}
		} else {
			var err error
			if names, _, err = r.scope.named(form[2]); err != nil {
				return nil, false, err
			}
		}
		return r.teamParams(set, names, property)
	}
	rule := r.names[form[2]]
	if rule == nil {
		return nil, false, fmt.Errorf("there is no rule %q, only %s", form[2], list(r.names))
	}
	param, err := rule.param(property)
	return []*Param{param}, property == "minCount" || property == "maxCount", err
}

func (r *reader) teamParams(set *RuleSet, names []string, property string) ([]*Param, bool, error) {
	var params []*Param
	for _, name := range names {
		for i := range set.Teams {
			t := &set.Teams[i]
			if t.Name != name {
				continue
			}
			switch property {
			case "minPlayers":
				params = append(params, &t.Min)
			case "maxPlayers":
				params = append(params, &t.Max)
			default:
				return nil, false, fmt.Errorf("%q of a team does not change: minPlayers and maxPlayers do", property)
			}
		}
	}
	if len(params) < len(names) {
		return nil, false, fmt.Errorf("a copy of a team does not change by itself: name the team with all its copies")
	}
	return params, true, nil
}

// param returns a number of the rule.
func (rule *Rule) param(property string) (*Param, error) {
	found := map[string]*Param{
		"minDistance": &rule.MinDistance, "maxDistance": &rule.MaxDistance, "minCount": &rule.MinCount,
		"maxCount": &rule.MaxCount, "maxLatency": &rule.MaxLatency,
	}[property]
	if property == "referenceValue" && rule.Reference != nil {
		found = rule.Reference.Number
	}
	if found == nil || !found.Set() {
		return nil, fmt.Errorf("the rule %q has no number %q that can change", rule.Name, property)
	}
	return found, nil
}
