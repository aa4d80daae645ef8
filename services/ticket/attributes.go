package ticket

import (
	"fmt"
	"maps"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/fields"
	"matchmaker.dev/services/internal/problem"
)

// believe checks that the caller sets only attributes that are its own to set, and returns the ticket with those that
// the player's token vouches for: the ticket has them, and so has the player, if the ticket names players. given is not
// changed, since settings that change meanwhile decide anew.
//
// A service token sets any attribute. A player's token sets those that clients may set; a claim that it does not have,
// or that is null, sets nothing, and one that is no number refuses the ticket.
func believe(given creation, settings *pb.ProjectSettings, caller *auth.Principal, limits fields.Limits) (
	creation, error) {
	rules := settings.GetAttributes()
	if len(rules) == 0 || caller.Kind == auth.Service {
		return given, nil
	}
	if err := checkSetters("", given.Attributes, rules); err != nil {
		return given, err
	}
	for i := range given.Players {
		if err := checkSetters(fmt.Sprintf("players.%d.", i), given.Players[i].Attributes, rules); err != nil {
			return given, err
		}
	}
	vouched, err := vouchedFor(rules, caller)
	if err != nil || len(vouched) == 0 {
		return given, err
	}
	all := given
	all.Players = slices.Clone(given.Players)
	if all.Attributes, err = add(vouched, given.Attributes, limits); err != nil {
		return given, err
	}
	for i := range all.Players { // all of them are the token's player
		p := &all.Players[i]
		if p.Attributes, err = add(vouched, p.Attributes, limits); err != nil {
			return given, err
		}
	}
	return all, nil
}

// checkSetters is a Forbidden error that names the first attribute that a client may not set. at comes before its path.
func checkSetters(at string, given map[string]float64, rules []*pb.AttributeRule) error {
	for _, rule := range rules {
		name := rule.GetAttribute()
		if _, sets := given[name]; !sets {
			continue
		}
		switch rule.GetSetBy() {
		case definition.ByClaim:
			return problem.New(problem.Forbidden, "%sattributes.%s: a claim of the player's token sets this attribute, "+
				"clients do not: this project's settings say so", at, name)
		case definition.ByService:
			return problem.New(problem.Forbidden, "%sattributes.%s: a game service sets this attribute, clients do not: "+
				"this project's settings say so", at, name)
		}
	}
	return nil
}

// vouchedFor is the attributes that claims of the player's token set.
func vouchedFor(rules []*pb.AttributeRule, caller *auth.Principal) (map[string]float64, error) {
	var vouched map[string]float64
	var numbers auth.Numbers
	for _, rule := range rules {
		if rule.GetSetBy() != definition.ByClaim {
			continue
		}
		if vouched == nil {
			vouched, numbers = map[string]float64{}, caller.Numbers()
		}
		number, present, ok := numbers.At(rule.GetClaim())
		if !ok {
			return nil, problem.New(problem.Forbidden, "attributes.%s: the claim %s of the token is not a number",
				rule.GetAttribute(), rule.GetClaim())
		}
		if present {
			vouched[rule.GetAttribute()] = number
		}
	}
	return vouched, nil
}

// add is the attributes that were given and those that a token vouches for.
func add(vouched, given map[string]float64, limits fields.Limits) (map[string]float64, error) {
	all := maps.Clone(vouched)
	maps.Copy(all, given) // no name is in both
	if len(all) > limits.Attributes {
		return nil, problem.New(problem.Invalid, "attributes: %d of them, with those that claims of the token set; at most "+
			"%d are allowed", len(all), limits.Attributes).Exceeds("max-attributes")
	}
	return all, nil
}
