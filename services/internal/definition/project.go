package definition

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/fields"
)

// Who may set an attribute of tickets.
const (
	ByClient  = "client"  // everybody; so it is when the settings say nothing
	ByService = "service" // service tokens
	ByClaim   = "claim"   // the service, from the player's token; and service tokens
)

// Of the rules of attributes: how many there may be, and the most bytes of a claim's path.
const (
	maxRules     = 256
	longestClaim = 256
)

// ProjectSettings reads the settings of a project.
func (r *Reader) ProjectSettings() *pb.ProjectSettings {
	p := new(pb.ProjectSettings)
	r.Object("",
		Member{"attributes", func(at Path) { p.Attributes = r.attributeRules(at) }},
	)
	return p
}

func (r *Reader) attributeRules(at Path) []*pb.AttributeRule {
	var rules []*pb.AttributeRule
	n := r.Keys(at, func(name string, at Path) {
		switch {
		case name == "":
			r.Add(BadAttributeRule, at, "the name of an attribute is empty")
		case name == fields.Created:
			r.Add(BadAttributeRule, at, "the service sets this attribute itself")
		case len(name) > r.limits.Name:
			r.Add(BadAttributeRule, at, "the name of the attribute has %d bytes, at most %d are allowed", len(name),
				r.limits.Name)
		}
		rules = append(rules, r.attributeRule(name, at))
	})
	if n > maxRules {
		r.Add(TooManyAttributeRules, at, "%d attributes, at most %d are allowed", n, maxRules)
	}
	slices.SortFunc(rules, func(a, b *pb.AttributeRule) int { return cmp.Compare(a.GetAttribute(), b.GetAttribute()) })
	return rules
}

func (r *Reader) attributeRule(name string, at Path) *pb.AttributeRule {
	rule := &pb.AttributeRule{Attribute: name}
	given, ok := r.Object(at,
		Member{"setBy", func(at Path) {
			text, ok := r.Text(at)
			if ok && text != ByClient && text != ByService && text != ByClaim {
				r.Add(BadAttributeRule, at, "%s, %s or %s is expected", ByClient, ByService, ByClaim)
			}
			rule.SetBy = text
		}},
		Member{"claim", func(at Path) {
			text, ok := r.Text(at)
			switch {
			case ok && (text == "" || len(text) > longestClaim):
				r.Add(BadAttributeRule, at, "the path of a claim has 1 to %d bytes", longestClaim)
			case strings.ContainsFunc(text, unicode.IsControl):
				r.Add(BadAttributeRule, at, "control characters are not allowed")
			}
			rule.Claim = text
		}},
	)
	switch {
	case !ok:
	case !given["setBy"]:
		r.Add(BadAttributeRule, at.Member("setBy"), "required: %s, %s or %s", ByClient, ByService, ByClaim)
	case rule.SetBy == ByClaim && !given["claim"]:
		r.Add(BadAttributeRule, at.Member("claim"), "required where a claim sets the attribute: its path in the token")
	case rule.SetBy != ByClaim && given["claim"]:
		r.Add(BadAttributeRule, at.Member("claim"), "only where setBy is %s", ByClaim)
	}
	return rule
}
