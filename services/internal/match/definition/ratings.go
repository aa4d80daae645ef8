package definition

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/match/rating"
)

// Limits of ratings. A create reads all ratings of its players, and a result changes all of its queue.
const (
	maxRatings      = 4
	longestRating   = 64
	maxRatingQueues = 64
	maxTiers        = 32
	longestTier     = 64
)

// SigmaOf is the attribute with the deviation of a rating.
func SigmaOf(name string) string { return name + ".sigma" }

// ratingRules reads the ratings of a project, in the order of the names.
func (r *Reader) ratingRules(at Path) (all []*pb.RatingRule) {
	n := r.Keys(at, func(name string, at Path) {
		if !IsRatingName(name) {
			r.Add(BadRating, at, "a name of 1 to %d letters, digits, '.', '_' and '-' is expected", longestRating)
		}
		all = append(all, r.ratingRule(at, name))
	})
	if n > maxRatings {
		r.Add(TooManyRatings, at, "%d ratings, at most %d are allowed", n, maxRatings)
	}
	slices.SortFunc(all, func(a, b *pb.RatingRule) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all
}

// IsRatingName reports whether a rating or a season can have the name. It is stored between spaces.
func IsRatingName(name string) bool {
	return name != "" && len(name) <= longestRating && name != "-" && strings.Trim(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

func (r *Reader) ratingRule(at Path, name string) *pb.RatingRule {
	rule := &pb.RatingRule{Name: name}
	before := r.count()
	given := map[string]float64{}
	number := func(name string) Member {
		return Member{name, func(at Path) {
			if n, ok := r.Number(at); ok {
				given[name] = n
			}
		}}
	}
	has, ok := r.Object(at,
		Member{"model", func(at Path) { rule.Model, _ = r.Text(at) }},
		number("mean"), number("deviation"), number("beta"), number("tau"), number("growth"), number("draw"),
		number("volatility"), number("margin"),
		Member{"queues", func(at Path) { rule.Queues = r.ratingQueues(at) }},
		Member{"start", func(at Path) {
			text, ok := r.Text(at)
			if ok && (text == "" || len(text) > r.limits.Name || text == fields.Created) {
				r.Add(BadRating, at, "the name of an attribute is expected, of 1 to %d bytes", r.limits.Name)
			}
			rule.Start = text
		}},
		Member{"season", func(at Path) { r.season(at, rule) }},
		Member{"provisional", func(at Path) {
			n, ok := r.Number(at)
			if ok && !(n > 0 && n <= 1e6) {
				r.Add(BadRating, at, "a deviation of more than 0 and at most 1e6 is expected")
			}
			rule.Provisional = n
		}},
		Member{"below", func(at Path) {
			n, ok := r.Number(at)
			if ok && !(n >= 0 && n <= 10) {
				r.Add(BadRating, at, "how many deviations is expected, 0 to 10")
			}
			rule.Below = &n
		}},
		Member{"tiers", func(at Path) { rule.Tiers = r.tiers(at) }},
		Member{"public", func(at Path) { rule.Public, _ = r.Bool(at) }},
	)
	switch {
	case !ok || r.count() > before:
		return rule
	case !has["model"]:
		r.Add(BadRating, at.Member("model"), "required, one of %s", strings.Join(rating.Models(), ", "))
		return rule
	}
	settings, err := rating.With(rule.GetModel(), given)
	if err != nil {
		r.Add(BadRating, at, "%s", err)
		return rule
	}
	rule.Mean, rule.Deviation, rule.Beta, rule.Tau = settings.Mean, settings.Deviation, settings.Beta, settings.Tau
	rule.Growth, rule.Draw, rule.Volatility = settings.Growth, settings.Draw, settings.Volatility
	rule.Margin = settings.Margin
	return rule
}

func (r *Reader) ratingQueues(at Path) (queues []string) {
	n := r.Array(at, func(at Path) {
		if name := r.Queue(at); len(queues) < maxRatingQueues {
			queues = append(queues, name)
		}
	})
	if n == 0 || n > maxRatingQueues || slices.Contains(queues, "") {
		r.Add(BadRating, at, "1 to %d names of queues are expected; leave it out for all matches", maxRatingQueues)
	}
	return queues
}

// tiers reads the table of tiers, the lowest first.
func (r *Reader) tiers(at Path) (tiers []*pb.RatingTier) {
	n := r.Array(at, func(at Path) {
		t := &pb.RatingTier{}
		given, ok := r.Object(at,
			Member{"name", func(at Path) {
				t.Name, _ = r.Text(at)
				if len(t.Name) > longestTier || !isPrintable(t.Name) ||
					slices.ContainsFunc(tiers, func(other *pb.RatingTier) bool { return other.GetName() == t.GetName() }) {
					r.Add(BadRating, at, "1 to %d bytes of printable UTF-8 are expected, another name for each tier", longestTier)
				}
			}},
			Member{"from", func(at Path) {
				n, ok := r.Number(at)
				if ok && (!(n >= -1e9 && n <= 1e9) || len(tiers) > 0 && n <= tiers[len(tiers)-1].GetFrom()) {
					r.Add(BadRating, at, "a number from -1e9 to 1e9 is expected, more than the one of the tier before")
				}
				t.From = n
			}},
		)
		if ok && (!given["name"] || !given["from"]) {
			r.Add(BadRating, at, "name and from are required")
		}
		if len(tiers) <= maxTiers {
			tiers = append(tiers, t)
		}
	})
	if n > maxTiers {
		r.Add(BadRating, at, "%d tiers, at most %d are allowed", n, maxTiers)
	}
	return tiers
}

func isPrintable(name string) bool {
	return name != "" && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (r *Reader) season(at Path, rule *pb.RatingRule) {
	rule.Keep = 1
	given, ok := r.Object(at,
		Member{"name", func(at Path) {
			text, ok := r.Text(at)
			if ok && !IsRatingName(text) {
				r.Add(BadRating, at, "1 to %d letters, digits, '.', '_' and '-' are expected", longestRating)
			}
			rule.Season = text
		}},
		Member{"keep", func(at Path) {
			n, ok := r.Number(at)
			if ok && !(n >= 0 && n <= 1) {
				r.Add(BadRating, at, "a number from 0 to 1 is expected")
			}
			rule.Keep = n
		}},
	)
	if ok && !given["name"] {
		r.Add(BadRating, at.Member("name"), "required")
	}
}

// addRatingSetters makes ratings set their attributes.
func (r *Reader) addRatingSetters(at Path, p *pb.ProjectSettings) {
	for _, rule := range p.GetRatings() {
		names := []string{rule.GetName(), SigmaOf(rule.GetName())}
		p.Attributes = add(p.GetAttributes(), ByRating, names, func(name string) {
			r.Add(BadRating, at.Member(rule.GetName()), "the attribute %s has a setter in attributes, or another rating sets "+
				"it", quote(name))
		})
	}
}
