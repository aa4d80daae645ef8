package rules

import (
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Expression is a list of numbers. It is one of the types below, or an OddsOf.
type Expression interface {
	// written returns the expression in our language: an object, or a bound.
	written() any
	// check reports what is wrong with it.
	check(c *checker, path string)
	// estimate looks at the sizes of teams and at bounds alone: the values of players may be anything.
	estimate(s *sizes) estimate
	// parts returns what it looks at.
	parts() parts
	// words explains it.
	words() string
}

var stats = []Stat{
	StatAverage, StatSum, StatMin, StatMax, StatMedian, StatDev, StatCount, StatTickets, StatParty, StatEach,
}

// reducing are the statistics of lists of numbers.
var reducing = stats[:7]

func statNames(stats []Stat) (names []string) {
	for _, s := range stats {
		names = append(names, string(s))
	}
	return names
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

type operation struct {
	name string
	op   rune
}

var operations = []operation{{"plus", '+'}, {"minus", '-'}, {"times", '*'}, {"over", '/'}}

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
		"quality", strings.Join(statNames(stats), ", "))
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
