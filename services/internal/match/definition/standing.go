package definition

import (
	"cmp"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
)

// The attributes and the property of tickets that say what results of matches tell of their players.
const (
	Games  = "games"
	Left   = "left"
	Recent = "recent"
)

// Which of its players' numbers a ticket has.
const (
	Least    = "least" // so it is when the settings say nothing
	Greatest = "greatest"
	Mean     = "mean"
)

// Limits of a standing. A create reads all of its players'.
const (
	maxStandingNumbers = 8
	maxRecent          = 16
	// MaxStanding is the most that a number of a standing is, and -MaxStanding the least.
	MaxStanding = 1e15
)

func (r *Reader) standingRules(at Path) *pb.StandingRules {
	rules := new(pb.StandingRules)
	r.Object(at,
		Member{"games", func(at Path) { rules.Games, _ = r.Bool(at) }},
		Member{"left", func(at Path) { rules.Left, _ = r.Bool(at) }},
		Member{"recent", func(at Path) {
			n, ok := r.Integer(at)
			if ok && (n < 1 || n > maxRecent) {
				r.Add(BadStanding, at, "1 to %d are allowed; leave it out for none", maxRecent)
			}
			rules.Recent = n
		}},
		Member{"numbers", func(at Path) {
			n := r.Keys(at, func(name string, at Path) {
				if !IsRatingName(name) || slices.Contains([]string{fields.Created, Games, Left}, name) {
					r.Add(BadStanding, at, "a name of 1 to %d letters, digits, '.', '_' and '-' is expected, but for %s, %s "+
						"and %s", longestRating, fields.Created, Games, Left)
				}
				rules.Numbers = append(rules.Numbers, r.standingNumber(at, name))
			})
			if n > maxStandingNumbers {
				r.Add(BadStanding, at, "%d numbers, at most %d are allowed", n, maxStandingNumbers)
			}
		}},
	)
	slices.SortFunc(rules.GetNumbers(), func(a, b *pb.StandingNumber) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return rules
}

func (r *Reader) standingNumber(at Path, name string) *pb.StandingNumber {
	rule := &pb.StandingNumber{Name: name, Ticket: Least}
	r.Object(at,
		Member{"start", func(at Path) {
			n, ok := r.Number(at)
			if ok && (n < -MaxStanding || n > MaxStanding) {
				r.Add(BadStanding, at, "-%g to %[1]g are allowed", float64(MaxStanding))
			}
			rule.Start = n
		}},
		Member{"ticket", func(at Path) {
			rule.Ticket = r.oneOf(at, BadStanding, Least, Greatest, Mean)
		}},
	)
	return rule
}

// StandingAttributes are the attributes that tickets have of their players' standing.
func StandingAttributes(rules *pb.StandingRules) []*pb.StandingNumber {
	if rules == nil {
		return nil
	}
	all := slices.Clone(rules.GetNumbers())
	if rules.GetGames() {
		all = append(all, &pb.StandingNumber{Name: Games, Ticket: Greatest})
	}
	if rules.GetLeft() {
		all = append(all, &pb.StandingNumber{Name: Left, Ticket: Greatest})
	}
	return all
}

// addStandingSetters makes the service set what a standing gives to tickets.
func (r *Reader) addStandingSetters(standing Path, p *pb.ProjectSettings) {
	var names, properties []string
	for _, one := range StandingAttributes(p.GetStanding()) {
		names = append(names, one.GetName())
	}
	p.Attributes = add(p.GetAttributes(), ByStanding, names, func(name string) {
		at := standing.Member(name)
		if name != Games && name != Left {
			at = standing.Member("numbers").Member(name)
		}
		r.Add(BadStanding, at, "the attribute %s has a rule in attributes, or a rating of that name sets it: the service "+
			"would set it, too. Take one of them away, or name the other otherwise", quote(name))
	})
	if p.GetStanding().GetRecent() > 0 {
		properties = []string{Recent}
	}
	p.Properties = add(p.GetProperties(), ByStanding, properties, func(name string) {
		r.Add(BadStanding, standing.Member("recent"), "the property %s has a rule in properties: the service would set it, "+
			"too", quote(name))
	})
}
