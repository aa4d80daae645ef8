package accelbyte

import (
	t "matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
)

// option translates a match option. AccelByte takes single values and lists alike, and numbers for their text. A ticket
// with a value of another kind than ours is in no match: it must not count as one that does not care.
func (x *translator) option(o Option) {
	value := func(kind rules.Kind) string {
		return x.Value(rules.Value{From: o.Name, Kind: kind, Party: rules.Each, Missing: rules.Reject})
	}
	const otherwise = ": a ticket without one is in no match; AccelByte takes %s, too, and tickets without the option " +
		"where the oldest has none"
	switch {
	case o.Type == "disable":
		x.Say(o.At, o.Name, t.Exact, "it is disabled, so it is left out")
	case o.Type == "all":
		x.Rule("same "+o.Name, nil, &rules.Same{Value: value(rules.String), Scope: whole})
		x.Say(o.At, o.Name, t.Stricter, "clients must send one string"+otherwise, "lists and numbers")
	case o.Type == "any" && o.Name == crossPlatform:
		x.crossPlay(o, value(rules.Set))
	case o.Type == "any":
		x.Rule("shared "+o.Name, nil, &rules.Share{Value: value(rules.Set), Min: rules.Fixed(1), Scope: whole})
		x.Say(o.At, o.Name, t.Stricter, "all tickets share a value; clients must send a list of strings"+otherwise,
			"single values and numbers")
	default:
		x.Say(o.At, o.Name, t.Refused, "our rules have no values that differ between tickets and not within one")
	}
}

// The attributes of which platforms a player plays with, and which he plays on.
const (
	crossPlatform   = "cross_platform"
	currentPlatform = "current_platform"
)

// crossPlay says that each player's platform is one that all want to play with. In a match, AccelByte wants the same of
// any two tickets.
func (x *translator) crossPlay(o Option, wanted string) {
	current := x.Value(rules.Value{From: currentPlatform, Kind: rules.String, Party: rules.Each, Missing: rules.Reject})
	x.Rule("wanted "+currentPlatform, nil, &rules.Overlap{
		Value: current, Other: wanted, Merge: rules.Intersection, Count: rules.Exactly(1), Scope: whole,
	})
	x.Say(o.At, o.Name, t.Stricter, "the %s of each player is one that all players want, himself too, and AccelByte "+
		"does not ask that a ticket wants its own; clients must send %s as a list of strings and %s as a string: "+
		"a ticket without both is in no match", currentPlatform, crossPlatform, currentPlatform)
}
