package flexmatch

import (
	"fmt"
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

// Calls returns the names of the functions, the outermost first.
func (e *Expr) Calls() []string {
	var calls []string
	for ; e.Call != ""; e = e.Arg {
		calls = append(calls, e.Call)
	}
	return calls
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

// parseExpression reads an expression and finds its shape.
func parseExpression(text string, s *scope) (*Expr, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("the expression has %d bytes, and at most %d are allowed", len(text), maxExpression)
	}
	p := &scanner{text: text}
	e, err := p.expression(s, 0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(text) {
		return nil, p.errorf("there is text after the end of the expression: %q", text[p.at:])
	}
	return e, nil
}

// scanner reads expressions and statements.
type scanner struct {
	text string
	at   int
}

func (p *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("in %q, at character %d: %s", p.text, p.at+1, fmt.Sprintf(format, args...))
}

func (p *scanner) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// skip skips a token if it is next.
func (p *scanner) skip(token string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *scanner) expect(token string) error {
	if p.skip(token) {
		return nil
	}
	if p.at >= len(p.text) {
		return p.errorf("%q is expected, and the text ends", token)
	}
	return p.errorf("%q is expected", token)
}

// word reads letters, digits and any of the others.
func (p *scanner) word(others string) string {
	p.space()
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
		if !letter && strings.IndexByte(others, c) < 0 {
			break
		}
	}
	return p.text[start:p.at]
}

func (p *scanner) expression(s *scope, depth int) (*Expr, error) {
	start := p.at
	name := p.word("_")
	if functions[name] {
		if depth >= maxCalls {
			return nil, p.errorf("functions are nested more than %d deep", maxCalls)
		}
		if err := p.expect("("); err != nil {
			return nil, err
		}
		arg, err := p.expression(s, depth+1)
		if err != nil {
			return nil, err
		}
		if err := p.expect(")"); err != nil {
			return nil, err
		}
		e := &Expr{Call: name, Arg: arg}
		if err := e.shape(); err != nil {
			p.at = start
			return nil, p.errorf("%v", err)
		}
		return e, nil
	}
	switch {
	case name == "teams", name == "team": // as in some tables of the guide
		return p.path(s)
	case p.skip("("):
		p.at = start
		return nil, p.errorf("%q is not a function: there are min, max, avg, median, sum, stddev, count, flatten, "+
			"set_intersection", name)
	}
	p.at = start
	return nil, p.errorf("a function or teams[…] is expected")
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
