package rules

import (
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// kinds are the members that name the kind of a condition, and the other members that it may have.
var kinds = []struct {
	name   string
	others []string
}{
	{"same", []string{"in"}},
	{"different", []string{"in"}},
	{"spread", []string{"max", "in"}},
	{"share", []string{"min", "in"}},
	{"overlap", []string{"with", "union", "intersection", "count", "in"}},
	{"holders", []string{"of", "count", "in"}},
	{"total", []string{"sum", "in"}},
	{"gap", []string{"stat", "max", "in"}},
	{"compare", nil},
	{"latency", []string{"max", "over", "apart", "apartFrom"}},
	{"avoid", []string{"id", "in"}},
	{"premade", nil},
	{"all", nil},
	{"any", nil},
	{"one", nil},
	{"not", nil},
}

// condition reads a condition from an object that may have other members besides.
func (r *reader) condition(n *document.Node, besides ...string) Condition {
	if r.nodes++; r.nodes > MaxConditions {
		r.fail(n, "there are more than %d conditions", MaxConditions)
	}
	if n.Kind != document.Object {
		r.fail(n, "must be an object, not %s", n.Kind)
		return nil
	}
	found := ""
	var all []string
	for _, kind := range kinds {
		all = append(all, kind.name)
		if n.Get(kind.name) == nil {
			continue
		}
		if found != "" {
			r.fail(n, "is both %s and %s", found, kind.name)
		}
		found = kind.name
		r.only(n, slices.Concat(besides, []string{kind.name}, kind.others)...)
	}
	if found == "" {
		r.fail(n, "must have one of %s", strings.Join(all, ", "))
		return nil
	}
	if r.err != nil {
		return nil
	}
	return r.kind(n, found)
}

func (r *reader) kind(n *document.Node, kind string) Condition {
	subject := n.Get(kind)
	name := func() string { return r.text(subject, "") }
	switch kind {
	case "same", "different":
		return &Same{name(), kind == "different", r.scope(n.Get("in"), kind == "same")}
	case "spread":
		return &Spread{name(), r.need(n, "max", true), r.scope(n.Get("in"), true)}
	case "share":
		c := &Share{name(), Fixed(1), r.scope(n.Get("in"), true)}
		if n.Get("min") != nil {
			c.Min = r.bound(n.Get("min"), false)
		}
		return c
	case "overlap":
		return r.overlap(n, name())
	case "holders":
		if n.Get("of") == nil {
			r.fail(n, "has no of: the element to count")
		}
		return &Holders{name(), r.text(n.Get("of"), ""), r.needSpan(n, "count"), r.scope(n.Get("in"), false)}
	case "total":
		return &Total{name(), r.needSpan(n, "sum"), r.scope(n.Get("in"), false)}
	case "gap":
		return r.gap(n, subject)
	case "compare":
		return r.compare(subject)
	case "latency":
		c := r.latency(n, name())
		if c.Max == nil && c.Over == nil && c.Apart == nil {
			r.fail(n, "must have one of max, over, apart")
		}
		return c
	case "avoid":
		return &Avoid{name(), r.text(n.Get("id"), "id"), r.scope(n.Get("in"), false)}
	case "premade":
		return &Premade{r.bound(subject, false)}
	case "all":
		return &All{r.conditions(subject)}
	case "any":
		return &AnyOf{r.conditions(subject)}
	case "one":
		return &One{r.conditions(subject)}
	}
	return &Not{r.condition(subject)}
}

func (r *reader) conditions(n *document.Node) (all []Condition) {
	elements := r.elements(n, MaxRules)
	if len(elements) == 0 {
		r.fail(n, "must have at least one condition")
	}
	for _, e := range elements {
		all = append(all, r.condition(e))
	}
	return all
}

// need is a bound that must be there.
func (r *reader) need(n *document.Node, name string, own bool) *Bound {
	b := r.bound(n.Get(name), own)
	if b == nil {
		r.fail(n, "has no %s", name)
	}
	return b
}

func (r *reader) needSpan(n *document.Node, name string) Range {
	if n.Get(name) == nil {
		r.fail(n, "has no %s", name)
	}
	return r.span(n.Get(name))
}

func (r *reader) overlap(n *document.Node, value string) Condition {
	c := &Overlap{Value: value, Count: r.needSpan(n, "count"), Scope: r.scope(n.Get("in"), false)}
	given := 0
	if with := n.Get("with"); with != nil {
		given++
		c.With = r.texts(with)
	}
	for _, merge := range []Merge{Union, Intersection} {
		if other := n.Get(string(merge)); other != nil {
			given++
			c.Other, c.Merge = r.text(other, ""), merge
		}
	}
	if given != 1 {
		r.fail(n, "must have one of with, union, intersection")
	}
	return c
}

var stats = []Stat{
	StatAverage, StatSum, StatMin, StatMax, StatMedian, StatDev, StatCount, StatTickets, StatParty, StatEach,
}

// reducing are the statistics of lists of numbers.
var reducing = stats[:7]

func words(stats []Stat) (words []string) {
	for _, s := range stats {
		words = append(words, string(s))
	}
	return words
}

// gap reads {"gap": "skill"}, or {"gap": "count"} for the number of players.
func (r *reader) gap(n, subject *document.Node) Condition {
	c := &Gap{Stat: StatAverage, Value: r.text(subject, ""), Max: r.need(n, "max", false)}
	switch s := Stat(c.Value); s {
	case StatCount, StatTickets, StatParty:
		if n.Get("stat") == nil {
			c.Stat, c.Value = s, ""
		}
	}
	if stat := n.Get("stat"); stat != nil {
		c.Stat = Stat(r.word(stat, "", words(stats[:7])...))
	}
	if in := n.Get("in"); in != nil {
		c.Teams = r.scope(in, false).Teams
		if c.Teams == nil {
			r.fail(in, "must be a list of teams")
		}
	}
	return c
}

// compare reads [left, operator, right].
func (r *reader) compare(n *document.Node) Condition {
	if !r.is(n, document.List) || len(n.Elements) != 3 {
		r.fail(n, "must be a list of three: an expression, an operator, an expression")
		return nil
	}
	op := r.word(n.Elements[1], "", string(Less), string(LessEqual), string(Equal), string(NotEqual),
		string(GreaterEqual), string(Greater))
	if op == "" {
		r.fail(n.Elements[1], "must be an operator")
	}
	return &Compare{r.expression(n.Elements[0]), Operator(op), r.expression(n.Elements[2])}
}

// expression reads a number, a schedule, or an object with one operation.
func (r *reader) expression(n *document.Node) Expression {
	if r.nodes++; r.nodes > MaxConditions {
		r.fail(n, "there are more than %d conditions", MaxConditions)
	}
	if n.Kind == document.Number || n.Get("start") != nil {
		return &Literal{r.bound(n, false)}
	}
	if n.Kind != document.Object || len(n.Members) == 0 {
		r.fail(n, "must be a number or an expression, not %s", n.Kind)
		return nil
	}
	if r.err != nil {
		return nil
	}
	// {"avg": "skill", "in": "team"} is a statistic of a value, {"avg": {…}} one of a list of numbers.
	for _, stat := range stats {
		of := n.Get(string(stat))
		if of == nil {
			continue
		}
		if of.Kind == document.Object {
			r.only(n, string(stat))
			if !slices.Contains(reducing, stat) {
				r.fail(of, "%s is not for lists of numbers", stat)
			}
			return &Reduce{stat, r.expression(of)}
		}
		r.only(n, string(stat), "in")
		value := r.text(of, "")
		if players := stat == StatCount || stat == StatTickets || stat == StatParty; players && value == "players" {
			value = ""
		} else if stat == StatTickets || stat == StatParty {
			r.fail(of, `must be "players"`)
		}
		return &StatOf{stat, value, r.scope(n.Get("in"), false)}
	}
	return r.operation(n)
}

var operations = []struct {
	name string
	op   rune
}{{"plus", '+'}, {"minus", '-'}, {"times", '*'}, {"over", '/'}}

func (r *reader) operation(n *document.Node) Expression {
	for _, o := range operations {
		pair := n.Get(o.name)
		if pair == nil {
			continue
		}
		r.only(n, o.name)
		if !r.is(pair, document.List) || len(pair.Elements) != 2 {
			r.fail(pair, "must be a list of two expressions")
			return nil
		}
		return &Arithmetic{o.op, r.expression(pair.Elements[0]), r.expression(pair.Elements[1])}
	}
	if abs := n.Get("abs"); abs != nil {
		r.only(n, "abs")
		return &Abs{r.expression(abs)}
	}
	if value := n.Get("latency"); value != nil {
		r.only(n, "latency")
		return &LatencyOf{r.text(value, "")}
	}
	if of := n.Get("reluctance"); of != nil {
		r.only(n, "reluctance", "in")
		r.word(of, "", "players")
		return &Reluctance{r.scope(n.Get("in"), false)}
	}
	for _, odds := range []Odds{Favorite, Quality} {
		if value := n.Get(string(odds)); value != nil {
			return r.odds(n, odds, value)
		}
	}
	r.fail(n, "is not an expression: it has one of %s, plus, minus, times, over, abs, latency, reluctance, favorite, "+
		"quality", strings.Join(words(stats), ", "))
	return nil
}

func (r *reader) odds(n *document.Node, odds Odds, value *document.Node) Expression {
	r.only(n, string(odds), "deviation", "beta")
	beta := n.Get("beta")
	if beta == nil || beta.Kind == document.Null {
		r.fail(n, "has no beta: by how much the performance of a player varies from game to game")
	}
	e := &OddsOf{odds, r.text(value, ""), r.text(n.Get("deviation"), ""), r.number(beta, 0)}
	if problem := e.problem(); problem != "" {
		r.fail(beta, "%s", problem)
	}
	return e
}
