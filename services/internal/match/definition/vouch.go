package definition

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

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
	if err := checkNames(at+"attributes.", "attribute", given.Attributes, settings.GetAttributes()); err != nil {
		return err
	}
	return checkNames(at+"properties.", "property", given.Properties, settings.GetProperties())
}

// checkNames is CheckSetters for attributes, or for properties.
func checkNames[V any](at, kind string, given map[string]V, rules []*pb.SetterRule) error {
	others := ByClient
	for _, rule := range rules {
		name := rule.GetName()
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
		ruled[rule.GetName()] = true
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
	sets, known := map[string]string{
		ByClaim:    "a claim of the player's token sets this %s",
		ByRating:   "the service sets this %s from results of matches",
		ByStanding: "the service sets this %s from the standing of players",
		ByBeacon:   "receipts of beacons set this %s",
	}[setBy]
	if !known {
		sets = "a game service sets this %s"
	}
	return problem.New(problem.Forbidden, "%s: "+sets+", clients do not: this project's settings say so", path, kind)
}

// VouchedFor is the attributes and properties that claims of the player's token set, and receipts of beacons. measured
// returns the proven round trips in milliseconds, by region; it is called where a rule asks for them.
func VouchedFor(settings *pb.ProjectSettings, caller *auth.Principal, measured func() (map[string]float64, error)) (
	vouched fields.Values, err error) {
	if takes(settings, ByBeacon) {
		proven, err := measured()
		if err != nil {
			return fields.Values{}, err
		}
		if vouched, err = provenValues(settings, proven); err != nil {
			return fields.Values{}, err
		}
	}
	if !takes(settings, ByClaim) {
		return vouched, nil
	}
	claims := caller.ClaimSet()
	attributes, err := attributesOf(claims, settings.GetAttributes())
	if err != nil {
		return fields.Values{}, err
	}
	properties, err := propertiesOf(claims, settings.GetProperties())
	if err != nil {
		return fields.Values{}, err
	}
	vouched.Attributes = merged(vouched.Attributes, attributes)
	vouched.Properties = merged(vouched.Properties, properties)
	return vouched, nil
}

// provenValues is the attributes and properties that proven round trips set.
func provenValues(settings *pb.ProjectSettings, proven map[string]float64) (values fields.Values, err error) {
	if len(proven) == 0 {
		return values, nil
	}
	values.Attributes, values.Properties = map[string]float64{}, map[string][]byte{}
	for _, rule := range settings.GetAttributes() {
		if rtt, ok := proven[rule.GetClaim()]; ok && rule.GetSetBy() == ByBeacon {
			values.Attributes[rule.GetName()] = rtt
		}
	}
	for _, rule := range settings.GetProperties() {
		if rule.GetSetBy() == ByBeacon {
			if values.Properties[rule.GetName()], err = json.Marshal(proven, json.Deterministic(true)); err != nil {
				return values, err
			}
		}
	}
	return values, nil
}

// takes reports whether any attribute or property has a setter.
func takes(settings *pb.ProjectSettings, setBy string) bool {
	is := func(r *pb.SetterRule) bool { return r.GetSetBy() == setBy }
	return slices.ContainsFunc(settings.GetAttributes(), is) || slices.ContainsFunc(settings.GetProperties(), is)
}

// IsVouched reports whether claims or receipts set what a rule is of.
func IsVouched(rule *pb.SetterRule) bool {
	return rule.GetSetBy() == ByClaim || rule.GetSetBy() == ByBeacon
}

func attributesOf(claims auth.ClaimSet, rules []*pb.SetterRule) (map[string]float64, error) {
	attributes := map[string]float64{}
	for _, rule := range rules {
		if rule.GetSetBy() != ByClaim {
			continue
		}
		number, present, ok := claims.Number(rule.GetClaim())
		if !ok {
			return nil, problem.New(problem.Forbidden, "attributes.%s: the claim %s of the token is not a number",
				rule.GetName(), rule.GetClaim())
		}
		if present {
			attributes[rule.GetName()] = number
		}
	}
	return attributes, nil
}

func propertiesOf(claims auth.ClaimSet, rules []*pb.SetterRule) (map[string][]byte, error) {
	properties, size := map[string][]byte{}, 0
	for _, rule := range rules {
		if rule.GetSetBy() != ByClaim {
			continue
		}
		text, present, ok := claims.JSON(rule.GetClaim())
		if !ok {
			return nil, problem.New(problem.Forbidden, "properties.%s: the path of the claim %s goes through something of the "+
				"token that is no object", rule.GetName(), rule.GetClaim())
		}
		if !present {
			continue
		}
		if size += len(text); size > longestClaimed {
			return nil, problem.New(problem.Forbidden, "properties.%s: with the claim %s of the token, the properties that "+
				"claims set have %d bytes, at most %d are allowed", rule.GetName(), rule.GetClaim(), size, longestClaimed).
				Exceeds("claimed-properties")
		}
		properties[rule.GetName()] = text
	}
	return properties, nil
}

// Kept is what a game service, and what a claim or receipts, set of the values that a player had: of what they set
// by the settings then, and in the same way by the settings now.
func Kept(had fields.Values, then, now *pb.ProjectSettings) (byService, vouched fields.Values) {
	byService.Attributes, vouched.Attributes = others(had.Attributes, then.GetAttributes(), now.GetAttributes())
	byService.Properties, vouched.Properties = others(had.Properties, then.GetProperties(), now.GetProperties())
	return byService, vouched
}

// others is Kept for attributes, or for properties.
func others[V any](had map[string]V, then, now []*pb.SetterRule) (byService, vouched map[string]V) {
	byService, vouched = map[string]V{}, map[string]V{}
	for name, value := range had {
		setBy, claim := setterOf(name, now)
		if thenBy, thenClaim := setterOf(name, then); thenBy != setBy || thenClaim != claim {
			continue
		}
		switch setBy {
		case ByService:
			byService[name] = value
		case ByClaim, ByBeacon:
			vouched[name] = value
		}
	}
	return byService, vouched
}

// setterOf is the setter of a name, and the claim or region.
func setterOf(name string, rules []*pb.SetterRule) (setBy, claim string) {
	setBy = ByClient
	for _, rule := range rules {
		switch rule.GetName() {
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

// merged has the values of both; what was given comes first. A player's token gives none that others set.
func merged[V any](vouched, given map[string]V) map[string]V {
	if len(vouched) == 0 {
		return given
	}
	all := maps.Clone(vouched)
	maps.Copy(all, given)
	return all
}
