package rules

import (
	"cmp"
	"math"
	"slices"
)

// Literal is one number. It has none while its bound is off.
type Literal struct{ Bound *Bound }

func (e *Literal) written() any { return boundOf(e.Bound) }

func (e *Literal) check(c *checker, path string) {
	if e.Bound == nil {
		c.add(path, "there is no number")
	}
}

func (e *Literal) estimate(*sizes) estimate {
	numbers, off := e.Bound.ever()
	if off {
		return estimate{numbers, interval{0, 1}}
	}
	return estimate{numbers, interval{1, 1}}
}

func (*Literal) parts() parts { return parts{} }

func (e *Literal) words() string { return bound(e.Bound) }

// StatOf is a statistic of a value: one number for the match, or one for each team of the scope, in the order of
// teams.
type StatOf struct {
	Stat  Stat
	Value string
	Scope Scope // InMatch, InTeam or InTeams
}

func (e *StatOf) written() any {
	value := cmp.Or(e.Value, "players")
	o := object{{string(e.Stat), value}}
	o.scope(e.Scope)
	return o
}

func (e *StatOf) check(c *checker, path string) {
	c.stat(path, e.Stat, e.Value)
	c.scope(path, e.Scope)
}

func (e *StatOf) estimate(s *sizes) estimate { return s.stat(e) }

func (e *StatOf) parts() parts { return parts{values: []string{e.Value}} }

func (e *StatOf) words() string { return statistic(e.Stat, e.Value) + ofEach(e.Scope) }

// Reduce makes one number of a list, with StatAverage to StatCount; of an empty list as of no player.
type Reduce struct {
	Stat Stat
	Of   Expression
}

func (e *Reduce) written() any {
	of := e.Of.written()
	if _, is := of.(object); !is {
		of = object{{"start", of}}
	}
	return object{{string(e.Stat), of}}
}

func (e *Reduce) check(c *checker, path string) { c.expression(path+"."+string(e.Stat), e.Of) }

func (e *Reduce) estimate(s *sizes) estimate { return e.Of.estimate(s).reduce(e.Stat) }

func (e *Reduce) parts() parts { return parts{expressions: []Expression{e.Of}} }

func (e *Reduce) words() string { return statistics[e.Stat] + " of [" + e.Of.words() + "]" }

// Arithmetic is Left Op Right for each pair of numbers. A side with one number has it for all of the other; otherwise
// the longer list's end is left out. A division by 0 has no number.
type Arithmetic struct {
	Op          rune // + - * /
	Left, Right Expression
}

func (e *Arithmetic) written() any {
	return object{{e.name(), []any{e.Left.written(), e.Right.written()}}}
}

// name is the member that names the operation.
func (e *Arithmetic) name() string {
	i := slices.IndexFunc(operations, func(o operation) bool { return o.op == e.Op })
	if i < 0 {
		return ""
	}
	return operations[i].name
}

func (e *Arithmetic) check(c *checker, path string) {
	c.expression(path+"."+e.name()+"[0]", e.Left)
	c.expression(path+"."+e.name()+"[1]", e.Right)
}

func (e *Arithmetic) estimate(s *sizes) estimate {
	return e.Left.estimate(s).arithmetic(e.Op, e.Right.estimate(s))
}

func (e *Arithmetic) parts() parts { return parts{expressions: []Expression{e.Left, e.Right}} }

func (e *Arithmetic) words() string {
	words := map[rune]string{'+': "plus", '-': "minus", '*': "times", '/': "divided by"}
	return "(" + e.Left.words() + " " + words[e.Op] + " " + e.Right.words() + ")"
}

// Abs is the distance to 0 of each number.
type Abs struct{ Of Expression }

func (e *Abs) written() any { return object{{"abs", e.Of.written()}} }

func (e *Abs) check(c *checker, path string) { c.expression(path+".abs", e.Of) }

func (e *Abs) estimate(s *sizes) estimate {
	of := e.Of.estimate(s)
	return estimate{of.numbers.abs(), of.count}
}

func (e *Abs) parts() parts { return parts{expressions: []Expression{e.Of}} }

func (e *Abs) words() string { return "the distance to 0 of " + e.Of.words() }

// LatencyOf is the latencies of all players to the region of the match, in ascending order.
type LatencyOf struct{ Value string }

func (e *LatencyOf) written() any { return object{{"latency", e.Value}} }

func (e *LatencyOf) check(c *checker, path string) {
	if c.rules.RegionValue == "" {
		c.add(path, "a match has a region only if the rules have regions")
	}
	c.value(path, e.Value, Map)
}

func (*LatencyOf) estimate(*sizes) estimate { return unknown(math.Inf(1)) }

func (e *LatencyOf) parts() parts { return parts{values: []string{e.Value}} }

func (e *LatencyOf) words() string { return "the players' " + quoted(e.Value) + " to the region" }

// Reluctance is how reluctantly players take the roles that they have, as the map of roles says, with their weights:
// the sum over the match, or over each team of the scope. It is for preferences.
type Reluctance struct{ Scope Scope }

func (e *Reluctance) written() any {
	o := object{{"reluctance", "players"}}
	o.scope(e.Scope)
	return o
}

func (e *Reluctance) check(c *checker, path string) {
	if !c.prefers {
		c.add(path, "reluctance is for low and high in prefer: roles are given as players like them best")
	}
	c.value("roles", c.rules.RoleValue, Map)
	c.scope(path, e.Scope)
}

func (*Reluctance) estimate(*sizes) estimate { return unknown(math.Inf(1)) }

func (*Reluctance) parts() parts { return parts{} }

func (e *Reluctance) words() string {
	return "how reluctantly the players" + ofEach(e.Scope) + " take their roles"
}
