package flexmatch

import (
	"fmt"
	"strings"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
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
	p := &scanner{text: text}
	statement, err := r.statement(p, 0)
	if err == nil {
		p.space()
		if p.at < len(text) {
			err = p.errorf("there is text after the end of the statement")
		}
	}
	if err != nil {
		r.Fail(n, "%v", err)
		return
	}
	rule.Statement = statement
}

func (r *reader) statement(p *scanner, depth int) (*Statement, error) {
	if depth > maxCalls {
		return nil, p.errorf("statements are nested more than %d deep", maxCalls)
	}
	p.space()
	start := p.at
	name := p.word("_-. ")
	for len(name) > 0 && name[len(name)-1] == ' ' {
		name = name[:len(name)-1]
	}
	if !p.skip("(") {
		return r.part(p, name, start)
	}
	least, most := 2, maxRules
	switch name {
	case "and", "or":
	case "xor":
		most = 2
	case "not":
		least, most = 1, 1
	default:
		p.at = start
		return nil, p.errorf("%q is not a function: there are and, or, not, xor", name)
	}
	s := &Statement{Op: name}
	for {
		arg, err := r.statement(p, depth+1)
		if err != nil {
			return nil, err
		}
		s.Args = append(s.Args, arg)
		if p.skip(",") {
			continue
		}
		if err := p.expect(")"); err != nil {
			return nil, err
		}
		break
	}
	if n := len(s.Args); n < least || n > most {
		p.at = start
		wanted := "at least 2"
		if least == most {
			wanted = fmt.Sprint(least)
		}
		return nil, p.errorf("%s has %d parts, and %s are expected", name, n, wanted)
	}
	return s, nil
}

// part finds a rule that a statement names.
func (r *reader) part(p *scanner, name string, start int) (*Statement, error) {
	at := p.at
	p.at = start
	if name == "" {
		return nil, p.errorf("the name of a rule is expected")
	}
	rule := r.names[name]
	if rule == nil {
		return nil, p.errorf("no rule %q is before this one", name)
	}
	switch rule.Type {
	case "batchDistance", "distanceSort", "absoluteSort":
		return nil, p.errorf("%q is a %s rule, which cannot be part of a compound rule", name, rule.Type)
	}
	p.at = at
	rule.Part = true
	return &Statement{Rule: rule}, nil
}

// expansion reads how something grows with time, and adds it to what grows.
func (r *reader) expansion(n *document.Node, set *RuleSet) {
	o := r.Object(n)
	target := o.Need("target")
	nodes := o.List(maxSteps, "steps")
	if len(nodes) == 0 {
		r.Fail(n, "%q is missing", "steps")
	}
	var steps []Step
	for i, node := range nodes {
		step := r.Object(node)
		s := Step{Seconds: step.Whole("waitTimeSeconds", -1, 0, maxSeconds)}
		if value := step.Need("value"); value != nil {
			s.Value = r.Number(value)
		}
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
			if whole && (s.Value != float64(int(s.Value)) || s.Value < 0 || s.Value > maxPlayers) {
				r.Fail(nodes[i], "value must be a whole number from 0 to %d", maxPlayers)
			}
		}
		p.Steps = steps
	}
}

// target finds the numbers that an expansion changes, and whether they are whole.
func (r *reader) target(text string, set *RuleSet) ([]*Param, bool, error) {
	p := &scanner{text: text}
	switch {
	case p.skip("teams["):
		names := &Expr{}
		if p.skip("*]") {
			for _, team := range set.Teams {
				names.Teams = append(names.Teams, team.Name)
			}
		} else if err := p.teams(&r.scope, names); err != nil {
			return nil, false, err
		}
		property, err := p.property()
		if err != nil {
			return nil, false, err
		}
		return r.teamParams(set, names.Teams, property)
	case p.skip("rules["):
		name, err := p.bracketed()
		if err != nil {
			return nil, false, err
		}
		rule := r.names[name]
		if rule == nil {
			return nil, false, p.errorf("there is no rule %q, only %s", name, list(r.names))
		}
		property, err := p.property()
		if err != nil {
			return nil, false, err
		}
		param, err := rule.param(property)
		return []*Param{param}, property == "minCount" || property == "maxCount", err
	}
	return nil, false, p.errorf("rules[…] or teams[…] is expected")
}

// property reads what follows the bracket.
func (p *scanner) property() (string, error) {
	if err := p.expect("."); err != nil {
		return "", err
	}
	name := p.word("")
	p.space()
	if p.at < len(p.text) {
		return "", p.errorf("there is text after the end of the target")
	}
	if name != "" {
		name = strings.ToLower(name[:1]) + name[1:]
	}
	return name, nil
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
