package flexmatch

import (
	"sort"
	"strings"
)

// path reads what follows "teams".
func (p *scanner) path(s *scope) (*Expr, error) {
	e := &Expr{Elem: Players, Depth: 1}
	if err := p.expect("["); err != nil {
		return nil, err
	}
	if p.skip("*") {
		e.PerTeam = true
		if err := p.expect("]"); err != nil {
			return nil, err
		}
	} else if err := p.teams(s, e); err != nil {
		return nil, err
	}
	if e.PerTeam {
		e.Depth = 2
	}
	if err := p.expect("."); err != nil {
		return nil, err
	}
	if err := p.expect("players"); err != nil {
		return nil, err
	}
	switch {
	case p.skip("["):
		if !p.skip("playerid") { // as in a table of the guide
			if err := p.expect("playerId"); err != nil {
				return nil, err
			}
		}
		e.ID, e.Elem = true, Strings
		return e, p.expect("]")
	case p.skip("."):
		return e, p.attribute(s, e)
	}
	return e, nil
}

// teams reads names up to the bracket. Without a list of all teams, a path of one team is not per team.
func (p *scanner) teams(s *scope, e *Expr) error {
	start := p.at
	names, err := p.bracketed()
	if err != nil {
		return err
	}
	for _, name := range strings.Split(names, ",") {
		name = strings.TrimSpace(name)
		quantity, ok := s.teams[name]
		if !ok {
			p.at = start
			return p.errorf("there is no team %q, only %s", name, list(s.teams))
		}
		e.PerTeam = e.PerTeam || quantity > 1
		e.Teams = append(e.Teams, name)
	}
	e.PerTeam = e.PerTeam || len(e.Teams) > 1
	return nil
}

// bracketed reads up to the bracket that closes.
func (p *scanner) bracketed() (string, error) {
	end := strings.IndexByte(p.text[p.at:], ']')
	if end < 0 {
		return "", p.errorf("there is no ] that closes the bracket")
	}
	text := p.text[p.at : p.at+end]
	p.at += end + 1
	return text, nil
}

func (p *scanner) attribute(s *scope, e *Expr) error {
	if err := p.expect("attributes"); err != nil {
		return err
	}
	if err := p.expect("["); err != nil {
		return err
	}
	start := p.at
	name, err := p.bracketed()
	if err != nil {
		return err
	}
	name = strings.Trim(strings.TrimSpace(name), `"'`)
	kind, ok := s.attributes[name]
	if !ok {
		p.at = start
		return p.errorf("there is no player attribute %q, only %s", name, list(s.attributes))
	}
	e.Attribute = name
	switch kind {
	case "number":
		e.Elem = Numbers
	case "string":
		e.Elem = Strings
	case "string_list":
		e.Elem = Strings
		e.Depth++
	default:
		e.Elem = Maps
	}
	return nil
}

// list returns the names of a map for an error.
func list[T any](names map[string]T) string {
	if len(names) == 0 {
		return "none"
	}
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	sort.Strings(all)
	if len(all) > 10 {
		all = append(all[:10], "…")
	}
	return strings.Join(all, ", ")
}
