package rules

import (
	"fmt"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Compare says that the numbers of both sides, in pairs, compare so. A side with one number has it for all of the
// other; otherwise the longer side's end is left out. It holds where a side has none.
type Compare struct {
	Left  Expression
	Op    Operator
	Right Expression
}

// readCompare reads [left, operator, right].
func readCompare(r *reader, _, n *document.Node) Condition {
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

func (c *Compare) written() object {
	return object{{"compare", []any{c.Left.written(), string(c.Op), c.Right.written()}}}
}

func (c *Compare) check(k *checker, path string) {
	k.expression(path+".compare[0]", c.Left)
	k.expression(path+".compare[2]", c.Right)
}

func (c *Compare) fate(k *checker, path string) (fate, Problem) {
	left, right := c.Left.estimate(&k.sizes), c.Right.estimate(&k.sizes)
	some := left.count.low >= 1 && right.count.low >= 1 // without numbers on a side it holds
	rank, why := c.rankFate(some)
	switch {
	case rank == never:
		return neverIf(path+".compare", why)
	case rank == always:
		return always, Problem{}
	case some && c.Op.never(left.numbers, right.numbers):
		return neverIf(path+".compare", fmt.Sprintf("%v is never %s %v", left.numbers, c.Op, right.numbers))
	case c.Op.always(left.numbers, right.numbers):
		return always, Problem{}
	}
	return open, Problem{}
}

func (c *Compare) parts() parts { return parts{expressions: []Expression{c.Left, c.Right}} }

func (c *Compare) words() string {
	return c.Left.words() + " is " + operators[c.Op] + " " + c.Right.words()
}

var operators = map[Operator]string{
	Less: "less than", LessEqual: "at most", Equal: "the same as", NotEqual: "another one than",
	GreaterEqual: "at least", Greater: "greater than",
}
