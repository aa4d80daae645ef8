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

// kind is what has setters: one of it and several, and the codes of a bad rule and of too many. Where it has a region,
// beacons set it to the round trip to that one, and otherwise to the round trips to all regions.
type kind struct {
	one, several, bad, tooMany string
	hasRegion                  bool
}

func (r *Reader) attributeRules(at Path) []*pb.SetterRule {
	rules := r.setters(at, kind{"attribute", "attributes", BadAttributeRule, TooManyAttributeRules, true})
	for _, rule := range rules {
		if rule.GetName() == fields.Created {
			r.Add(BadAttributeRule, at.Member(rule.GetName()), "the service sets this attribute itself")
		}
	}
	return rules
}

func (r *Reader) propertyRules(at Path) []*pb.SetterRule {
	return r.setters(at, kind{"property", "properties", BadPropertyRule, TooManyPropertyRules, false})
}

// setters reads the rules, in the order of the names.
func (r *Reader) setters(at Path, of kind) []*pb.SetterRule {
	var all []*pb.SetterRule
	n := r.Keys(at, func(name string, at Path) {
		switch {
		case name == "":
			r.Add(of.bad, at, "the name of the %s is empty", of.one)
		case len(name) > r.limits.Name:
			r.Add(of.bad, at, "the name of the %s has %d bytes, at most %d are allowed", of.one, len(name), r.limits.Name)
		}
		s := r.setter(name, at, of)
		if name == Others && IsVouched(s) {
			r.Add(of.bad, at.Member("setBy"), "%s or %s is expected: a %s sets one %s, and %s is all that have no rule",
				ByClient, ByService, s.GetSetBy(), of.one, Others)
		}
		all = append(all, s)
	})
	if n > maxRules {
		r.Add(of.tooMany, at, "%d %s, at most %d are allowed", n, of.several, maxRules)
	}
	return sorted(all)
}

func sorted(rules []*pb.SetterRule) []*pb.SetterRule {
	slices.SortFunc(rules, func(a, b *pb.SetterRule) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return rules
}

// add adds rules of what the service sets. taken is called with a name that has a rule already.
func add(rules []*pb.SetterRule, setBy string, names []string, taken func(name string)) []*pb.SetterRule {
	for _, name := range names {
		if slices.ContainsFunc(rules, func(r *pb.SetterRule) bool { return r.GetName() == name }) {
			taken(name)
		}
		rules = append(rules, &pb.SetterRule{Name: name, SetBy: setBy})
	}
	return sorted(rules)
}

func (r *Reader) setter(name string, at Path, of kind) *pb.SetterRule {
	s := &pb.SetterRule{Name: name}
	members := []Member{
		{"setBy", func(at Path) { s.SetBy = r.oneOf(at, of.bad, ByClient, ByService, ByClaim, ByBeacon) }},
		{"claim", func(at Path) {
			text, ok := r.Text(at)
			switch {
			case ok && (text == "" || len(text) > longestClaim):
				r.Add(of.bad, at, "the path of a claim has 1 to %d bytes", longestClaim)
			case strings.ContainsFunc(text, unicode.IsControl):
				r.Add(of.bad, at, "control characters are not allowed")
			}
			s.Claim = text
		}},
	}
	if of.hasRegion {
		members = append(members, Member{"region", func(at Path) {
			text, ok := r.Text(at)
			if err := receipt.CheckName(text); ok && err != nil {
				r.Add(of.bad, at, "%s", err)
			}
			s.Claim = text
		}})
	}
	given, ok := r.Object(at, members...)
	switch {
	case !ok:
	case !given["setBy"]:
		r.Add(of.bad, at.Member("setBy"), "required: %s, %s, %s or %s", ByClient, ByService, ByClaim, ByBeacon)
	case s.GetSetBy() == ByClaim && !given["claim"]:
		r.Add(of.bad, at.Member("claim"), "required where a claim sets the %s: its path in the token", of.one)
	case s.GetSetBy() != ByClaim && given["claim"]:
		r.Add(of.bad, at.Member("claim"), "only where setBy is %s", ByClaim)
	case of.hasRegion && s.GetSetBy() == ByBeacon && !given["region"]:
		r.Add(of.bad, at.Member("region"), "required where beacons set the %s: the region that is measured", of.one)
	case s.GetSetBy() != ByBeacon && given["region"]:
		r.Add(of.bad, at.Member("region"), "only where setBy is %s", ByBeacon)
	}
	return s
}
