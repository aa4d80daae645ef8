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

// What happens when a player has as many tickets as the project allows.
const (
	Refuse  = "refuse"  // the new one is refused; so it is when the settings say nothing
	Replace = "replace" // the oldest ends
)

// maxPerPlayer is the most that tickets.perPlayer.limit may be: scripts look at all of them.
const maxPerPlayer = 16

// For how many seconds nobody may ask for a ticket. A stream asks every 10 s, and it is noted four times in this time
// that somebody did.
const (
	shortestSilence = 20
	longestSilence  = 5 * 60
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
		Member{"tickets", func(at Path) { p.Tickets = r.ticketRules(at) }},
		Member{"acceptance", func(at Path) { p.Acceptance = r.acceptanceRules(at) }},
		Member{"attributes", func(at Path) { p.Attributes = r.attributeRules(at) }},
		Member{"support", func(at Path) {
			r.Object(at, Member{"properties", func(at Path) { p.SupportProperties, _ = r.Bool(at) }})
		}},
	)
	return p
}

// longestPause is for how many seconds a player may pause who missed a match.
const longestPause = 24 * 60 * 60

func (r *Reader) acceptanceRules(at Path) *pb.AcceptanceRules {
	rules := new(pb.AcceptanceRules)
	seconds := func(to *int64) func(Path) {
		return func(at Path) {
			n, ok := r.Integer(at)
			if ok && (n < 1 || n > longestPause) {
				r.Add(BadPause, at, "a whole number from 1 to %d is expected", longestPause)
			}
			*to = n * 1000
		}
	}
	r.Object(at,
		Member{"pause", func(at Path) {
			given, ok := r.Object(at,
				Member{"seconds", seconds(&rules.FirstPause)},
				Member{"maxSeconds", seconds(&rules.LongestPause)},
			)
			for _, name := range []string{"seconds", "maxSeconds"} {
				if ok && !given[name] {
					r.Add(BadPause, at.Member(name), "required: how long a player pauses who missed a match, the first time "+
						"(seconds) and at most (maxSeconds)")
				}
			}
			if given["seconds"] && given["maxSeconds"] && rules.LongestPause < rules.FirstPause {
				r.Add(BadPause, at.Member("maxSeconds"), "must not be less than seconds")
			}
		}},
	)
	return rules
}

func (r *Reader) ticketRules(at Path) *pb.TicketRules {
	rules := new(pb.TicketRules)
	r.Object(at,
		Member{"perPlayer", func(at Path) {
			given, ok := r.Object(at,
				Member{"limit", func(at Path) {
					n, ok := r.Integer(at)
					if ok && (n < 1 || n > maxPerPlayer) {
						r.Add(BadTicketRule, at, "1 to %d are allowed; leave perPlayer out for any number", maxPerPlayer)
					}
					rules.PlayerLimit = n
				}},
				Member{"whenReached", func(at Path) {
					text, ok := r.Text(at)
					if ok && text != Refuse && text != Replace {
						r.Add(BadTicketRule, at, "%s is expected, or %s", Refuse, Replace)
					}
					rules.WhenReached = text
				}},
			)
			if ok && !given["limit"] {
				r.Add(BadTicketRule, at.Member("limit"), "required: how many tickets a player may have")
			}
		}},
		Member{"listed", func(at Path) { rules.Listed, _ = r.Bool(at) }},
		Member{"endsTold", func(at Path) { rules.EndsTold, _ = r.Bool(at) }},
		Member{"refuseUnserved", func(at Path) { rules.RefuseUnserved, _ = r.Bool(at) }},
		Member{"silence", func(at Path) {
			given, ok := r.Object(at,
				Member{"seconds", func(at Path) {
					n, ok := r.Integer(at)
					if ok && (n < shortestSilence || n > longestSilence) {
						r.Add(BadTicketRule, at, "a whole number from %d to %d is expected", shortestSilence, longestSilence)
					}
					rules.Silence = n * 1000
				}},
			)
			if ok && !given["seconds"] {
				r.Add(BadTicketRule, at.Member("seconds"), "required: for how long nobody may ask for a ticket that waits")
			}
		}},
	)
	return rules
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
