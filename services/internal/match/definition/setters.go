package definition

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/receipt"
)

// The setters of an attribute or a property of tickets.
const (
	ByClient  = "client"  // every caller; the default
	ByService = "service" // service tokens
	ByClaim   = "claim"   // the service, from the player's token; and service tokens
	ByBeacon  = "beacon"  // the service, from receipts of beacons; and service tokens
	ByRating  = "rating"  // the service, from results of matches; and service tokens. Ratings have it, and nothing else

	ByStanding = "standing" // the service, from what it keeps of players; and service tokens
)

// Others stands for all attributes, or properties, without a rule of their own, in the place of a name.
const Others = "*"

// Of the rules of attributes, and of properties: how many there may be, and the most bytes of a claim's path.
const (
	maxRules     = 256
	longestClaim = 256
)

// setter is a name, and what sets it. claim is the region where beacons set it.
type setter struct{ name, setBy, claim string }

// kind is what has setters: one of it and several, and the codes of a bad rule and of too many. Where it has a region,
// beacons set it to the round trip to that one, and otherwise to the round trips to all regions.
type kind struct {
	one, several, bad, tooMany string
	hasRegion                  bool
}

func (r *Reader) attributeRules(at Path) []*pb.AttributeRule {
	all := r.setters(at, kind{"attribute", "attributes", BadAttributeRule, TooManyAttributeRules, true})
	var rules []*pb.AttributeRule
	for _, s := range all {
		if s.name == fields.Created {
			r.Add(BadAttributeRule, at.Member(s.name), "the service sets this attribute itself")
		}
		rules = append(rules, &pb.AttributeRule{Attribute: s.name, SetBy: s.setBy, Claim: s.claim})
	}
	return rules
}

func (r *Reader) propertyRules(at Path) []*pb.PropertyRule {
	all := r.setters(at, kind{"property", "properties", BadPropertyRule, TooManyPropertyRules, false})
	var rules []*pb.PropertyRule
	for _, s := range all {
		rules = append(rules, &pb.PropertyRule{Property: s.name, SetBy: s.setBy, Claim: s.claim})
	}
	return rules
}

// setters reads the setters, in the order of the names.
func (r *Reader) setters(at Path, of kind) []setter {
	var all []setter
	n := r.Keys(at, func(name string, at Path) {
		switch {
		case name == "":
			r.Add(of.bad, at, "the name of the %s is empty", of.one)
		case len(name) > r.limits.Name:
			r.Add(of.bad, at, "the name of the %s has %d bytes, at most %d are allowed", of.one, len(name), r.limits.Name)
		}
		s := r.setter(name, at, of)
		if name == Others && (s.setBy == ByClaim || s.setBy == ByBeacon) {
			r.Add(of.bad, at.Member("setBy"), "%s or %s is expected: a %s sets one %s, and %s is all that have no rule",
				ByClient, ByService, s.setBy, of.one, Others)
		}
		all = append(all, s)
	})
	if n > maxRules {
		r.Add(of.tooMany, at, "%d %s, at most %d are allowed", n, of.several, maxRules)
	}
	slices.SortFunc(all, func(a, b setter) int { return cmp.Compare(a.name, b.name) })
	return all
}

func (r *Reader) setter(name string, at Path, of kind) setter {
	s := setter{name: name}
	members := []Member{
		{"setBy", func(at Path) {
			text, ok := r.Text(at)
			if ok && text != ByClient && text != ByService && text != ByClaim && text != ByBeacon {
				r.Add(of.bad, at, "%s, %s, %s or %s is expected", ByClient, ByService, ByClaim, ByBeacon)
			}
			s.setBy = text
		}},
		{"claim", func(at Path) {
			text, ok := r.Text(at)
			switch {
			case ok && (text == "" || len(text) > longestClaim):
				r.Add(of.bad, at, "the path of a claim has 1 to %d bytes", longestClaim)
			case strings.ContainsFunc(text, unicode.IsControl):
				r.Add(of.bad, at, "control characters are not allowed")
			}
			s.claim = text
		}},
	}
	if of.hasRegion {
		members = append(members, Member{"region", func(at Path) {
			text, ok := r.Text(at)
			if err := receipt.CheckName(text); ok && err != nil {
				r.Add(of.bad, at, "%s", err)
			}
			s.claim = text
		}})
	}
	given, ok := r.Object(at, members...)
	switch {
	case !ok:
	case !given["setBy"]:
		r.Add(of.bad, at.Member("setBy"), "required: %s, %s, %s or %s", ByClient, ByService, ByClaim, ByBeacon)
	case s.setBy == ByClaim && !given["claim"]:
		r.Add(of.bad, at.Member("claim"), "required where a claim sets the %s: its path in the token", of.one)
	case s.setBy != ByClaim && given["claim"]:
		r.Add(of.bad, at.Member("claim"), "only where setBy is %s", ByClaim)
	case of.hasRegion && s.setBy == ByBeacon && !given["region"]:
		r.Add(of.bad, at.Member("region"), "required where beacons set the %s: the region that is measured", of.one)
	case s.setBy != ByBeacon && given["region"]:
		r.Add(of.bad, at.Member("region"), "only where setBy is %s", ByBeacon)
	}
	return s
}
