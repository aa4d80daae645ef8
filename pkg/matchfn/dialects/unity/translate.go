package unity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// LatencyValue names the latencies by region.
const LatencyValue = "latency"

var clocks = map[string]rules.Clock{"Youngest": rules.Newest, "Oldest": rules.Oldest, "Average": rules.Mean}

// Translate makes our rules of the pool of a queue.
func Translate(q *Queue) (*t.Translation, error) {
	p, names := q.Pool, q.Pools
	x := &translator{Builder: t.New(p.Name), pool: p, kinds: map[string]rules.Kind{}, known: map[string]bool{},
		defaults: map[string]*document.Node{}}
	x.infer(p)
	x.around(q, p, names)
	for _, team := range p.Teams {
		x.Rules.Teams = append(x.Rules.Teams, rules.Team{
			Name: team.Name, Copies: between(team.Count), Size: between(team.Players),
		})
		x.Say(team.At, team.Name, t.Exact, "")
	}
	for _, rule := range p.Rules {
		x.rule(rule, rules.Scope{Of: rules.InMatch})
	}
	for _, team := range p.Teams {
		for _, rule := range team.Rules {
			x.rule(rule, rules.Scope{Of: rules.InTeams, Teams: []string{team.Name}})
		}
	}
	return x.Done()
}

type translator struct {
	*t.Builder
	pool     *Pool
	kinds    map[string]rules.Kind // of sources
	known    map[string]bool       // sources whose kind the file says, and which is not guessed
	defaults map[string]*document.Node
}

// around tells what the queue says besides.
func (x *translator) around(q *Queue, p *Pool, names []string) {
	if q.MaxTicket > 0 {
		x.Rule("ticket size", nil, &rules.Compare{
			Left:  &rules.StatOf{Stat: rules.StatParty, Scope: rules.Scope{Of: rules.InMatch}},
			Op:    rules.LessEqual,
			Right: &rules.Literal{Bound: rules.Fixed(float64(q.MaxTicket))},
		})
		x.Say(q.At, "maxPlayersPerTicket", t.Exact, "larger tickets wait; Unity refuses them")
	}
	if len(names) > 1 {
		x.Say(q.At, "", t.Note, "this is the pool %q; each pool is a config of its own: %s", p.Name,
			strings.Join(names, ", "))
	}
	for _, f := range p.Filters {
		x.Say(p.At, f.Attribute, t.Note, "the filter %s %s %q is for the pools of the config", f.Attribute, f.Operator,
			f.Value)
	}
	if p.Variants > 0 {
		x.Say(p.At, "variants", t.Note, "variants are not imported: each is a config of its own")
	}
	if p.Timeout > 0 {
		x.Say(p.At, "timeoutSeconds", t.Note, "how long tickets wait is a setting of the service")
	}
	x.Rules.Backfill.First = rules.GamesFirst
	switch {
	case p.Backfill:
		x.Rules.Backfill.Create = rules.CreateShort
		x.Say(p.At, "backfillEnabled", t.Exact, "running games are filled first, and a match that is not full gets a "+
			"backfill ticket")
	case p.Closed:
		x.Say(p.At, "backfillEnabled", t.Exact, "running games are filled first, if their servers make backfill tickets; "+
			"new matches get none")
	}
}

func between(s Range) rules.Range {
	least := &rules.Bound{Clock: rules.Oldest, Start: float64(s.Min)}
	for _, r := range sorted(s.Relaxations) {
		least.Clock = clocks[r.Age]
		v, _ := number(r.Value)
		least.Step(r.After, v)
	}
	return rules.Range{Min: least, Max: rules.Fixed(float64(s.Max))}
}

func sorted(all []Relaxation) []Relaxation {
	return slices.SortedStableFunc(slices.Values(all), func(a, b Relaxation) int { return cmp.Compare(a.After, b.After) })
}

// sources are the beginnings of sources, in lower case, and what the values are not read from. The documentation has
// external data in the custom data, too.
var sources = []struct{ prefix, from string }{
	{"players.externaldata.cloudsave.", "Cloud Save"}, {"players.customdata.externaldata.cloudsave.", "Cloud Save"},
	{"players.externaldata.leaderboard.", "a leaderboard"},
	{"players.customdata.externaldata.leaderboard.", "a leaderboard"}, {"players.customdata.", ""},
}

// value returns the value of a source, and what to say about it.
func (x *translator) value(rule *Rule) (name, why string, err error) {
	v := rules.Value{Party: rules.Each, Missing: rules.Reject, Kind: x.kinds[rule.Source]}
	for _, s := range sources {
		if n := len(s.prefix); len(rule.Source) > n && strings.EqualFold(rule.Source[:n], s.prefix) {
			if v.From = rule.Source[n:]; s.from != "" {
				why = "tickets bring the value, it is not read from " + s.from
			}
			break
		}
	}
	if v.From == "" {
		return "", "", fmt.Errorf("there is no value for the source %q", rule.Source)
	}
	if d := x.defaults[rule.Source]; d != nil {
		v.Missing = rules.UseDefault
		if v.Default, err = datum(v.Kind, d); err != nil {
			return "", "", err
		}
	}
	return x.Value(v), why, nil
}

// number reads a number, which may be in a string.
func number(n *document.Node) (float64, bool) {
	switch {
	case n == nil:
	case n.Kind == document.Number:
		return n.Number, true
	case n.Kind == document.String:
		return lenient.ParseNumber(n.Text)
	}
	return 0, false
}
