package definition

import (
	"maps"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
)

// longestClaimed is the most bytes of all properties that claims of a token set, without their names. A token has no
// more, but several rules may take the same of it.
const longestClaimed = 16 << 10

// HasSetters reports whether the settings name the setter of any attribute or property.
func HasSetters(settings *pb.ProjectSettings) bool {
	return len(settings.GetAttributes()) > 0 || len(settings.GetProperties()) > 0
}

// CheckSetters is a Forbidden error that names the first attribute or property that a client may not set. at comes
// before its path.
func CheckSetters(at string, given fields.Values, settings *pb.ProjectSettings) error {
	if rules := settings.GetAttributes(); len(rules) > 0 && len(given.Attributes) > 0 {
		err := checkNames(at+"attributes.", "attribute", given.Attributes, rules, (*pb.AttributeRule).GetAttribute)
		if err != nil {
			return err
		}
	}
	if rules := settings.GetProperties(); len(rules) > 0 && len(given.Properties) > 0 {
		return checkNames(at+"properties.", "property", given.Properties, rules, (*pb.PropertyRule).GetProperty)
	}
	return nil
}

// checkNames is CheckSetters for attributes, or for properties.
func checkNames[V any, R ruled](
	at, kind string, given map[string]V, rules []R, nameOf func(R) string,
) error {
	others := ByClient
	for _, rule := range rules {
		name := nameOf(rule)
		if name == Others {
			others = rule.GetSetBy()
		} else if _, sets := given[name]; sets && rule.GetSetBy() != ByClient {
			return mayNotSet(at+name, kind, rule.GetSetBy())
		}
	}
	if others != ByService {
		return nil
	}
	ruled := make(map[string]bool, len(rules))
	for _, rule := range rules {
		ruled[nameOf(rule)] = true
	}
	delete(ruled, Others) // what has that name has no rule of its own
	first, found := "", false
	for name := range given {
		if !ruled[name] && (!found || name < first) {
			first, found = name, true
		}
	}
	if found {
		return mayNotSet(at+first, kind, others)
	}
	return nil
}

// mayNotSet refuses a value that a client may not set, and names its setter.
func mayNotSet(path, kind, setBy string) error {
	if setBy == ByClaim {
		return problem.New(problem.Forbidden, "%s: a claim of the player's token sets this %s, clients do not: this "+
			"project's settings say so", path, kind)
	}
	return problem.New(problem.Forbidden, "%s: a game service sets this %s, clients do not: this project's settings say "+
		"so", path, kind)
}

// VouchedFor is the attributes and properties that claims of the player's token set.
func VouchedFor(settings *pb.ProjectSettings, caller *auth.Principal) (fields.Values, error) {
	var vouched fields.Values
	if !takesClaims(settings) {
		return vouched, nil
	}
	claims := caller.ClaimSet()
	var err error
	if vouched.Attributes, err = attributesOf(claims, settings.GetAttributes()); err != nil {
		return fields.Values{}, err
	}
	if vouched.Properties, err = propertiesOf(claims, settings.GetProperties()); err != nil {
		return fields.Values{}, err
	}
	return vouched, nil
}

func takesClaims(settings *pb.ProjectSettings) bool {
	return slices.ContainsFunc(settings.GetAttributes(), isByClaim) ||
		slices.ContainsFunc(settings.GetProperties(), isByClaim)
}

// ruled is a rule that names a setter.
type ruled interface {
	GetSetBy() string
	GetClaim() string
}

func isByClaim[R ruled](rule R) bool { return rule.GetSetBy() == ByClaim }

func attributesOf(claims auth.ClaimSet, rules []*pb.AttributeRule) (map[string]float64, error) {
	attributes := map[string]float64{}
	for _, rule := range rules {
		if rule.GetSetBy() != ByClaim {
			continue
		}
		number, present, ok := claims.Number(rule.GetClaim())
		if !ok {
			return nil, problem.New(problem.Forbidden, "attributes.%s: the claim %s of the token is not a number",
				rule.GetAttribute(), rule.GetClaim())
		}
		if present {
			attributes[rule.GetAttribute()] = number
		}
	}
	return attributes, nil
}

func propertiesOf(claims auth.ClaimSet, rules []*pb.PropertyRule) (map[string][]byte, error) {
	properties, size := map[string][]byte{}, 0
	for _, rule := range rules {
		if rule.GetSetBy() != ByClaim {
			continue
		}
		text, present, ok := claims.JSON(rule.GetClaim())
		if !ok {
			return nil, problem.New(problem.Forbidden, "properties.%s: the path of the claim %s goes through something of the "+
				"token that is no object", rule.GetProperty(), rule.GetClaim())
		}
		if !present {
			continue
		}
		if size += len(text); size > longestClaimed {
			return nil, problem.New(problem.Forbidden, "properties.%s: with the claim %s of the token, the properties that "+
				"claims set have %d bytes, at most %d are allowed", rule.GetProperty(), rule.GetClaim(), size, longestClaimed).
				Exceeds("claimed-properties")
		}
		properties[rule.GetProperty()] = text
	}
	return properties, nil
}

// Kept is what a game service, and what a claim, set of the values that a player had: of those that they set by the
// settings then, and in the same way by the settings now.
func Kept(had fields.Values, then, now *pb.ProjectSettings) (byService, byClaim fields.Values) {
	byService.Attributes, byClaim.Attributes = others(had.Attributes, then.GetAttributes(), now.GetAttributes(),
		(*pb.AttributeRule).GetAttribute)
	byService.Properties, byClaim.Properties = others(had.Properties, then.GetProperties(), now.GetProperties(),
		(*pb.PropertyRule).GetProperty)
	return byService, byClaim
}

// others is Kept for attributes, or for properties.
func others[V any, R ruled](had map[string]V, then, now []R, nameOf func(R) string) (byService, byClaim map[string]V) {
	byService, byClaim = map[string]V{}, map[string]V{}
	for name, value := range had {
		setBy, claim := setterOf(name, now, nameOf)
		if thenBy, thenClaim := setterOf(name, then, nameOf); thenBy != setBy || thenClaim != claim {
			continue
		}
		switch setBy {
		case ByService:
			byService[name] = value
		case ByClaim:
			byClaim[name] = value
		}
	}
	return byService, byClaim
}

// setterOf is the setter of a name, and the claim.
func setterOf[R ruled](name string, rules []R, nameOf func(R) string) (setBy, claim string) {
	setBy = ByClient
	for _, rule := range rules {
		switch nameOf(rule) {
		case Others: // what has that name has no rule of its own
			setBy = rule.GetSetBy()
		case name:
			return rule.GetSetBy(), rule.GetClaim()
		}
	}
	return setBy, ""
}

// AddVouched is what was given and what a token vouches for. What was given counts where a game service gave it.
func AddVouched(vouched, given fields.Values, limits fields.Limits) (fields.Values, error) {
	all := fields.Values{
		Attributes: merged(vouched.Attributes, given.Attributes),
		Properties: merged(vouched.Properties, given.Properties),
	}
	if n := len(all.Attributes); n > limits.Attributes {
		return fields.Values{}, problem.New(problem.Invalid, "attributes: %d of them, with those that claims and game "+
			"services set; at most %d are allowed", n, limits.Attributes).Exceeds("max-attributes")
	}
	if n := len(all.Properties); n > limits.Properties {
		return fields.Values{}, problem.New(problem.Invalid, "properties: %d of them, with those that claims and game "+
			"services set; at most %d are allowed", n, limits.Properties).Exceeds("max-properties")
	}
	return all, nil
}

// merged has the values of both; what was given comes first. A player's token gives none that claims set.
func merged[V any](vouched, given map[string]V) map[string]V {
	if len(vouched) == 0 {
		return given
	}
	all := maps.Clone(vouched)
	maps.Copy(all, given)
	return all
}
