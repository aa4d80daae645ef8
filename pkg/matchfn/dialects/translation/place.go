package translation

import (
	"fmt"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules"
)

// places remember which part of the file each team, value, rule and preference of ours is from, by its path. What a
// translator adds is from the part of which it says a verdict next.
type places struct {
	of   map[string]Line
	done map[string]int // how many of each list have a place
}

// said gives a place to what was added since the verdict before.
func (p *places) said(r *rules.Rules, l Line) {
	if p.of == nil {
		p.of, p.done = map[string]Line{}, map[string]int{}
	}
	for _, list := range []struct {
		name   string
		length int
	}{{"teams", len(r.Teams)}, {"rules", len(r.Rules)}, {"prefer", len(r.Prefer)}, {"order", len(r.Order)}} {
		for i := p.done[list.name]; i < list.length; i++ {
			p.of[fmt.Sprintf("%s[%d]", list.name, i)] = l
		}
		p.done[list.name] = list.length
	}
	for _, v := range r.Values {
		if _, known := p.of["values."+v.Name]; !known {
			p.of["values."+v.Name] = l
		}
	}
}

// find returns the part of the file that a problem is of, without a place if it is not known, and what the problem is.
func (p *places) find(problem rules.Problem) (of Line, why string) {
	for path := problem.Path; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		l, known := p.of[path]
		if !known {
			continue
		}
		in := strings.TrimPrefix(problem.Path[len(path):], ".")
		if in != "" {
			in = ", at " + in
		}
		return l, fmt.Sprintf("as our %s%s: %s", kind(path), in, problem.Text)
	}
	return Line{}, fmt.Sprintf("as our rules, at %s", problem)
}

// kind is what a part of our rules is.
func kind(path string) string {
	for list, one := range map[string]string{"teams": "team", "rules": "rule", "prefer": "preference", "order": "order"} {
		if strings.HasPrefix(path, list+"[") {
			return one
		}
	}
	return "value"
}

// where is the place of a line in the file, with the name; without a row where the file has one line.
func (l Line) where() string {
	text := l.Place
	if l.Row > 0 {
		text = fmt.Sprintf("line %d, %s", l.Row, l.Place)
	}
	if l.Name != "" {
		text += fmt.Sprintf(" %q", l.Name)
	}
	return text
}
