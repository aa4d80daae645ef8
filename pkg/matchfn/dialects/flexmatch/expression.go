package flexmatch

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Limits of an expression.
const (
	maxExpression = 1000 // bytes
	maxCalls      = 8    // within each other
)

// Elem is what the innermost lists of a value have.
type Elem string

// The kinds of elements.
const (
	Numbers Elem = "numbers"
	Strings Elem = "strings"
	Players Elem = "players"
	Maps    Elem = "maps"
)

// Expr is a property expression: a function of another one, or a path.
type Expr struct {
	// Call is a function of Arg; empty for a path.
	Call string
	Arg  *Expr
	// Teams are the teams of a path, as the rule set names them; nil for all.
	Teams []string
	// Attribute is a player attribute. Without, the path is of the players, or of their ids if ID is set.
	Attribute string
	ID        bool
	// Depth is how many lists are around the elements, 0 for a single one. One that is more is per team.
	Depth int
	Elem  Elem
	// PerTeam says that the outermost list has a value for each team.
	PerTeam bool
}

// String returns the expression in the language.
func (e *Expr) String() string {
	if e.Call != "" {
		return e.Call + "(" + e.Arg.String() + ")"
	}
	teams := "*"
	if e.Teams != nil {
		teams = strings.Join(e.Teams, ",")
	}
	switch {
	case e.ID:
		return "teams[" + teams + "].players[playerId]"
	case e.Attribute != "":
		return "teams[" + teams + "].players.attributes[" + e.Attribute + "]"
	}
	return "teams[" + teams + "].players"
}

// Path returns the path that the functions are of.
func (e *Expr) Path() *Expr {
	for e.Call != "" {
		e = e.Arg
	}
	return e
}

// isExpression reports whether a string is meant as an expression, and not as a literal.
func isExpression(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "teams[") || strings.HasPrefix(text, "team[") {
		return true
	}
	name, _, found := strings.Cut(text, "(")
	return found && functions[strings.TrimSpace(name)]
}

var functions = map[string]bool{
	"min": true, "max": true, "avg": true, "median": true, "sum": true, "stddev": true,
	"count": true, "flatten": true, "set_intersection": true,
}

// scope is what a path can name.
type scope struct {
	teams      map[string]int    // quantities
	attributes map[string]string // types
}

// The forms of expressions and of what changes. As in some tables of the guide, paths may begin with "team" and end in
// "playerid".
var (
	callForm = regexp.MustCompile(`(?s)^\s*([^\s(]*)\s*\((.*)\)\s*$`)
	pathForm = regexp.MustCompile(
		`^\s*teams?\s*\[([^\]]*)\]\s*\.\s*players\s*(\[\s*player[iI]d\s*\]|\.\s*attributes\s*\[([^\]]*)\])?\s*$`)
	targetForm = regexp.MustCompile(`^\s*(teams|rules)\s*\[([^\]]*)\]\s*\.\s*(\w+)\s*$`)
)

// parseExpression reads an expression within so many functions, and finds its shape.
func parseExpression(text string, s *scope, depth int) (*Expr, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("the expression has %d bytes, and at most %d are allowed", len(text), maxExpression)
	}
	call := callForm.FindStringSubmatch(text)
	switch {
	case call == nil:
		return parsePath(text, s)
	case !functions[call[1]]:
		return nil, fmt.Errorf("in %q: %q is not a function: there are min, max, avg, median, sum, stddev, count, flatten, "+
			"set_intersection", text, call[1])
	case depth >= maxCalls:
		return nil, fmt.Errorf("functions are nested more than %d deep", maxCalls)
	}
	arg, err := parseExpression(call[2], s, depth+1)
	if err != nil {
		return nil, err
	}
	e := &Expr{Call: call[1], Arg: arg}
	if err := e.shape(); err != nil {
		return nil, fmt.Errorf("in %q: %w", text, err)
	}
	return e, nil
}

func parsePath(text string, s *scope) (*Expr, error) {
	form := pathForm.FindStringSubmatch(text)
	if form == nil {
		return nil, fmt.Errorf("%q is not an expression: a function of one, teams[…].players, teams[…].players[playerId] or "+
			"teams[…].players.attributes[…] is expected", text)
	}
	e := &Expr{Elem: Players, Depth: 1, PerTeam: true}
	if strings.TrimSpace(form[1]) != "*" {
		var err error
		if e.Teams, e.PerTeam, err = s.named(form[1]); err != nil {
			return nil, err
		}
	}
	if e.PerTeam {
		e.Depth = 2
	}
	switch {
	case form[2] == "":
		return e, nil
	case form[2][0] == '[':
		e.ID, e.Elem = true, Strings
		return e, nil
	}
	e.Attribute = strings.Trim(strings.TrimSpace(form[3]), `"'`)
	switch kind, ok := s.attributes[e.Attribute]; {
	case !ok:
		return nil, fmt.Errorf("there is no player attribute %q, only %s", e.Attribute, list(s.attributes))
	case kind == "number":
		e.Elem = Numbers
	case kind == "string":
		e.Elem = Strings
	case kind == "string_list":
		e.Elem, e.Depth = Strings, e.Depth+1
	default:
		e.Elem = Maps
	}
	return e, nil
}

// named returns the teams of a list of names, and whether they are several.
func (s *scope) named(names string) (teams []string, several bool, err error) {
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		quantity, ok := s.teams[name]
		if !ok {
			return nil, false, fmt.Errorf("there is no team %q, only %s", name, list(s.teams))
		}
		teams, several = append(teams, name), several || quantity > 1
	}
	return teams, several || len(teams) > 1, nil
}

// list returns the names of a map for an error.
func list[T any](names map[string]T) string {
	all := slices.Sorted(maps.Keys(names))
	if len(all) == 0 {
		return "none"
	}
	if len(all) > 10 {
		all = append(all[:10], "…")
	}
	return strings.Join(all, ", ")
}

// shape finds the shape of a function's value.
func (e *Expr) shape() error {
	arg := e.Arg
	e.Depth, e.Elem, e.PerTeam = arg.Depth-1, arg.Elem, arg.PerTeam
	wrong := func(wanted string) error { return fmt.Errorf("%s needs %s, not %s", e.Call, wanted, arg.Shape()) }
	switch e.Call {
	case "flatten":
		if arg.Depth < 2 {
			return wrong("a list of lists")
		}
		e.PerTeam = false
		return nil
	case "set_intersection":
		if arg.Elem != Strings || arg.Depth < 2 {
			return wrong("a list of lists of strings")
		}
		e.PerTeam = arg.PerTeam && arg.Depth > 2
		return nil
	case "count":
		if arg.Depth < 1 {
			return wrong("a list")
		}
		e.Elem = Numbers
	default:
		if arg.Depth < 1 || arg.Elem != Numbers {
			return wrong("a list of numbers")
		}
	}
	e.PerTeam = arg.PerTeam && arg.Depth > 1
	return nil
}

// Shape describes the shape of the value in words.
func (e *Expr) Shape() string {
	if e.Depth == 0 {
		return "a single one of " + string(e.Elem)
	}
	return "a list of " + strings.Repeat("lists of ", e.Depth-1) + string(e.Elem)
}
