package rules

// Odds is what an OddsOf says of two teams.
type Odds string

const (
	// Favorite is how probably the favoured team wins: Φ(|d| / √v), from 0.5 to 1.
	Favorite Odds = "favorite"
	// Quality is TrueSkill's quality of a match: √(n·beta² / v) · exp(-d² / 2v), from 0 to 1.
	Quality Odds = "quality"
)

// OddsOf is one number: of all pairs of teams, the greatest Favorite or the least Quality. Of two teams with n players
// in all, d is how much the sums of their skills differ, and v is n·beta² and the squares of all deviations. A team is
// as good as the sum of its players, so that fewer players are worse.
//
// Only players count that have the skill and, where it is named, the deviation. A skill that a party has once counts
// for its first player, and so does a deviation. With fewer than two teams that have such players there is no number.
type OddsOf struct {
	Odds Odds
	// Value is the mean of what is known of a player's skill, Deviation the standard deviation, or empty for none.
	Value, Deviation string
	// Beta is by how much the performance of a player varies from game to game.
	Beta float64
}

func (e *OddsOf) written() any {
	o := object{{string(e.Odds), e.Value}}
	o.text("deviation", e.Deviation)
	o.add("beta", e.Beta)
	return o
}

func (e *OddsOf) check(c *checker, path string) {
	c.value(path+"."+string(e.Odds), e.Value, Number)
	if e.Deviation != "" {
		c.value(path+".deviation", e.Deviation, Number)
	}
	if problem := e.problem(); problem != "" {
		c.add(path+".beta", "%s", problem)
	}
}

// estimate has no number where not two teams have players that count.
func (e *OddsOf) estimate(s *sizes) estimate {
	one := interval{0, 1}
	if s.taken >= 2 && s.has(e.Value) && (e.Deviation == "" || s.has(e.Deviation)) {
		one.low = 1
	}
	if e.Odds == Favorite {
		return estimate{interval{0.5, 1}, one}
	}
	return estimate{interval{0, 1}, one}
}

func (e *OddsOf) parts() parts { return parts{values: []string{e.Value, e.Deviation}} }

func (e *OddsOf) words() string {
	what := "the favoured team's probability of winning"
	if e.Odds == Quality {
		what = "the quality of the match"
	}
	by := quoted(e.Value)
	if e.Deviation != "" {
		by += " and its uncertainty " + quoted(e.Deviation)
	}
	return what + " by " + by + " (a player's performance varies by " + decimal(e.Beta) + ")"
}

// problem is what is wrong with Beta, if anything is.
func (e *OddsOf) problem() string {
	if e.Beta >= minBeta && e.Beta <= MaxSkill {
		return ""
	}
	return "must be greater than 0, from 1e-100 to 1e100"
}

const (
	// MaxSkill bounds skills and deviations in an OddsOf, so that no sum of squares is infinite: those beyond it, on
	// either side of 0, count as it. It is the greatest Beta, too.
	MaxSkill = 1e100
	// minBeta is the least Beta, of which the square is not 0.
	minBeta = 1e-100
)

// BoundedOdds returns the odds that a condition bounds, the favourite from above and the quality from below, and
// whether the bound itself is excluded; nil for another condition.
func BoundedOdds(need Condition) (odds *OddsOf, bound *Bound, strict bool) {
	c, _ := need.(*Compare)
	if c == nil {
		return nil, nil, false
	}
	odds, is := c.Left.(*OddsOf)
	literal, fixed := c.Right.(*Literal)
	within, strictly := LessEqual, Less
	if is && odds.Odds == Quality {
		within, strictly = GreaterEqual, Greater
	}
	if !is || !fixed || c.Op != within && c.Op != strictly {
		return nil, nil, false
	}
	return odds, literal.Bound, c.Op == strictly
}
