package rules

import (
	"fmt"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Gap says that a statistic of the teams differs by at most Max between any two teams. Teams without players that have
// the value are left out.
type Gap struct {
	Stat  Stat
	Value string // empty for StatCount, StatTickets and StatParty
	Teams []string
	Max   *Bound
}

// readGap reads {"gap": "skill"}, or {"gap": "count"} for the number of players.
func readGap(r *reader, n, subject *document.Node) Condition {
	c := &Gap{Stat: StatAverage, Value: r.text(subject, ""), Max: r.need(n, "max", false)}
	switch s := Stat(c.Value); s {
	case StatCount, StatTickets, StatParty:
		if n.Get("stat") == nil {
			c.Stat, c.Value = s, ""
		}
	}
	if stat := n.Get("stat"); stat != nil {
		c.Stat = Stat(r.word(stat, "", statNames(stats[:7])...))
	}
	if in := n.Get("in"); in != nil {
		c.Teams = r.scope(in, false).Teams
		if c.Teams == nil {
			r.fail(in, "must be a list of teams")
		}
	}
	return c
}

func (c *Gap) written() object {
	o := object{{"gap", c.Value}, {"stat", string(c.Stat)}}
	if c.Value == "" {
		o = object{{"gap", string(c.Stat)}}
	}
	o.bound("max", c.Max)
	if c.Teams != nil {
		o.add("in", listOf(c.Teams))
	}
	return o
}

func (c *Gap) check(k *checker, path string) {
	k.stat(path, c.Stat, c.Value)
	k.limit(path+".max", c.Max)
	for _, name := range c.Teams {
		k.team(path+".in", name)
	}
}

// fate looks at the teams that every match has: how much the greatest and the least of them differ at least.
func (c *Gap) fate(k *checker, path string) (fate, Problem) {
	if c.Value != "" {
		return open, Problem{}
	}
	scope := Scope{Of: InTeam}
	if c.Teams != nil {
		scope = Scope{Of: InTeams, Teams: c.Teams}
	}
	all := nothing // from the least that the greatest is to the greatest that the least is
	for _, players := range k.sizes.each(scope) {
		numbers := players
		if c.Stat != StatCount {
			numbers.low = min(1, players.low)
		}
		all = interval{min(all.low, numbers.high), max(all.high, numbers.low)}
	}
	most, off := c.Max.ever()
	if apart := all.high - all.low; !off && apart > most.high {
		return neverIf(path+".max", fmt.Sprintf("the sizes of the teams differ by at least %v, and at most %v is allowed",
			apart, most.high))
	}
	return open, Problem{}
}

func (c *Gap) parts() parts { return parts{values: []string{c.Value}} }

func (c *Gap) words() string {
	teams := ""
	if c.Teams != nil {
		teams = " " + list(quotedAll(c.Teams), "and")
	}
	return statistic(c.Stat, c.Value) + " of any two teams" + teams + " differs by at most " + bound(c.Max)
}
