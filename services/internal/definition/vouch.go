package definition

import (
	"maps"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/fields"
	"matchmaker.dev/services/internal/problem"
)

// CheckSetters is a Forbidden error that names the first attribute that a client may not set. at comes before its path.
func CheckSetters(at string, given map[string]float64, rules []*pb.AttributeRule) error {
	for _, rule := range rules {
		name := rule.GetAttribute()
		if _, sets := given[name]; !sets {
			continue
		}
		switch rule.GetSetBy() {
		case ByClaim:
			return problem.New(problem.Forbidden, "%sattributes.%s: a claim of the player's token sets this attribute, "+
				"clients do not: this project's settings say so", at, name)
		case ByService:
			return problem.New(problem.Forbidden, "%sattributes.%s: a game service sets this attribute, clients do not: "+
				"this project's settings say so", at, name)
		}
	}
	return nil
}

// VouchedFor is the attributes that claims of the player's token set.
func VouchedFor(rules []*pb.AttributeRule, caller *auth.Principal) (map[string]float64, error) {
	var vouched map[string]float64
	var numbers auth.Numbers
	for _, rule := range rules {
		if rule.GetSetBy() != ByClaim {
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

// AddVouched is the attributes that were given and those that a token vouches for. What was given counts where a game
// service gave it.
func AddVouched(vouched, given map[string]float64, limits fields.Limits) (map[string]float64, error) {
	all := maps.Clone(vouched)
	maps.Copy(all, given) // a player's token gives none that claims set
	if len(all) > limits.Attributes {
		return nil, problem.New(problem.Invalid, "attributes: %d of them, with those that claims of the token set; at most "+
			"%d are allowed", len(all), limits.Attributes).Exceeds("max-attributes")
	}
	return all, nil
}
