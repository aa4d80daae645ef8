package playfab

import (
	"fmt"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
)

var whole = rules.Scope{Of: rules.InMatch}

// Translate makes our rules of a queue.
func Translate(q *Queue) (*t.Translation, error) {
	x := &translator{Builder: t.New(q.Name), queue: q, entity: entity(q)}
	if len(q.Teams) == 0 {
		x.Rules.Teams = []rules.Team{{Name: "players", Copies: rules.Exactly(1), Size: between(q.Min, q.Max)}}
	} else {
		x.Rules.Players = between(q.Min, q.Max)
	}
	for _, team := range q.Teams {
		x.Rules.Teams = append(x.Rules.Teams, rules.Team{
			Name: team.Name, Copies: rules.Exactly(1), Size: between(team.Min, team.Max),
		})
		x.Say(team.At, team.Name, t.Exact, "")
	}
	x.Rule("two tickets", nil, &rules.Compare{
		Left:  &rules.StatOf{Stat: rules.StatTickets, Scope: whole},
		Op:    rules.GreaterEqual,
		Right: &rules.Literal{Bound: rules.Fixed(2)},
	})
	x.Say(q.At, "", t.Exact, "a match has at least two tickets, as in PlayFab")
	if q.MaxTicket > 0 {
		x.Rule("ticket size", nil, &rules.Compare{
			Left:  &rules.StatOf{Stat: rules.StatParty, Scope: whole},
			Op:    rules.LessEqual,
			Right: &rules.Literal{Bound: rules.Fixed(float64(q.MaxTicket))},
		})
		x.Say(lenient.Member(q.At, "MaxTicketSize"), "", t.Exact, "larger tickets wait; PlayFab refuses them")
	}
	if q.Server != nil && q.Server.True {
		x.Say(q.Server, "", t.Note, "servers are said by the hosting of the config")
	}
	for i, rule := range q.Rules {
		mark := x.Mark()
		verdict, why, err := x.rule(rule, name(rule, i))
		if err != nil {
			x.Reset(mark)
			verdict, why = t.Refused, err.Error()
		} else if rule.FromEntity {
			why = join(why, "tickets bring the value, it is not read from the player's entity")
			if from := x.entity[rule.Path]; from != rule.Path {
				why += fmt.Sprintf("; its name is %q, as tickets have another %q", from, rule.Path)
			}
		}
		x.Say(rule.At, rule.Name, verdict, "%s", why)
	}
	return x.Done()
}

func name(rule *Rule, i int) string {
	if rule.Name == "" || len(rule.Name) > 256 {
		return fmt.Sprintf("%s %d", rule.Type, i+1)
	}
	return rule.Name
}

func between(low, high int) rules.Range {
	return rules.Range{Min: rules.Fixed(float64(low)), Max: rules.Fixed(float64(high))}
}

type translator struct {
	*t.Builder
	queue  *Queue
	entity map[string]string // the names that attributes of the player's entity have in tickets, by path
}

// entity gives the attributes of the player's entity names that attributes of tickets do not have.
func entity(q *Queue) map[string]string {
	taken, names := map[string]bool{}, map[string]string{}
	for _, rule := range q.Rules {
		if !rule.FromEntity {
			taken[rule.Path] = true
		}
	}
	for _, rule := range q.Rules {
		if !rule.FromEntity || names[rule.Path] != "" {
			continue
		}
		name := rule.Path
		for taken[name] {
			name = "PlayerEntity." + name
		}
		taken[name], names[rule.Path] = true, name
	}
	return names
}

// value is the rule's value; the default is of the rule, if any.
func (x *translator) value(rule *Rule, kind rules.Kind, party rules.Merge) string {
	v := rules.Value{From: rule.Path, Kind: kind, Party: party, Missing: rules.Reject}
	if rule.FromEntity {
		v.From = x.entity[rule.Path]
	}
	switch d := rule.Default.(type) {
	case float64:
		v.Missing, v.Default.Number = rules.UseDefault, d
	case string:
		v.Missing, v.Default.String = rules.UseDefault, d
	case []string:
		v.Missing, v.Default.Set = rules.UseDefault, d
	}
	if rule.MatchAny {
		v.Missing, v.Default = rules.Any, rules.Datum{}
	}
	return x.Value(v)
}
