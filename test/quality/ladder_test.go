package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/functions/rules/function"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/services/internal/match/rating"
)

var ladderPlayers = flag.Int("ladder", 500, "players of the ladder")

// ladderRules are the recipes of docs/rules.md for last opponents and newcomers, and a spread.
const ladderRules = `{"name": "ladder", "teams": [{"name": "side", "copies": 2, "size": 1}],
	"values": {"id": {"type": "string", "missing": "any"}, "recent": {"type": "set", "missing": "any"}, "games": "number",
		"skill": "number"},
	"rules": [{"spread": "skill", "max": {"start": 3, "steps": [[30, 6]]}},
		{"avoid": "recent", "active": {"start": true, "steps": [[20, false]]}},
		{"any": [{"compare": [{"max": "games"}, "<", 10]}, {"compare": [{"min": "games"}, ">", 9]}],
			"active": {"start": true, "steps": [[30, false]]}}]}`

// climber is a player of a ladder. used is the rating by which matches are made.
type climber struct {
	skill       float64
	rating      rating.Rating
	used        float64
	games       int
	wait        time.Duration
	recent      []int
	experienced int // games of a newcomer against others
}

// rung is what a round of matches was like.
type rung struct {
	matches int
	unfair  float64
	// After 30 games, and after 60.
	after [2]judged
}

// judged is what the odds of matches cost, and the odds of the hidden skill.
type judged struct{ matches, loss, trueLoss float64 }

func (j *judged) add(of judged) {
	j.matches, j.loss, j.trueLoss = j.matches+of.matches, j.loss+of.loss, j.trueLoss+of.trueLoss
}

// more is by which part the odds cost more.
func (j *judged) more() float64 { return j.loss/j.trueLoss - 1 }

// ladder plays rounds of matches that the function makes of ratings. With frozen the ratings of the first games make
// all matches. In the middle, newcomers come.
type ladder struct {
	testing.TB

	random   *rand.Rand
	model    rating.Model
	start    rating.Rating
	beta     float64
	frozen   bool
	climbers []*climber
}

// firstDay is how many games a player has on the first day, and shelter how many a newcomer has.
const firstDay, shelter = 2, 10

func (l *ladder) join(n int) {
	for range n {
		l.climbers = append(l.climbers, &climber{skill: l.start.Mean + l.start.Deviation*l.random.NormFloat64(),
			rating: l.start, used: l.start.Mean})
	}
}

func (l *ladder) tickets() []fake.Ticket {
	all := make([]fake.Ticket, len(l.climbers))
	for i, c := range l.climbers {
		all[i] = fake.Ticket{Wait: c.wait, Properties: map[string][]byte{}, Players: []fake.Player{{ID: fmt.Sprint(i),
			Attributes: map[string]float64{"skill": c.used, "games": float64(c.games)}}}}
		ids := []string{}
		for _, other := range c.recent {
			ids = append(ids, fmt.Sprint(other))
		}
		all[i].Properties["recent"], _ = json.Marshal(ids) // strings
		c.wait += 35 * time.Second
	}
	return all
}

// round lets all players search.
func (l *ladder) round() (r rung) {
	f := matchfn.New(function.Match, function.Options()...)
	proposals, err := fake.Run(f, fake.Request{Settings: ladderRules, Tickets: l.tickets()})
	if err != nil {
		l.Fatal(err)
	}
	for _, p := range proposals {
		a, b := int(p.Tickets()[0]), int(p.Tickets()[1])
		one, other := l.climbers[a], l.climbers[b]
		if slices.Contains(one.recent, b) && one.wait <= 35*time.Second && other.wait <= 35*time.Second {
			l.Errorf("%d and %d meet again at once", a, b)
		}
		l.play(one, other, &r)
		one.recent, other.recent = lately(one.recent, b), lately(other.recent, a)
	}
	return r
}

func lately(recent []int, met int) []int {
	recent = append([]int{met}, recent...)
	return recent[:min(len(recent), 3)]
}

// play plays a match, and rates it.
func (l *ladder) play(one, other *climber, r *rung) {
	if (one.games < shelter) != (other.games < shelter) {
		if max(one.wait, other.wait) <= 35*time.Second {
			l.Error("a newcomer who just came meets another player")
		}
		one.experienced, other.experienced = one.experienced+1, other.experienced+1
	}
	side := func(c *climber) rating.Team { return rating.Team{Players: []rating.Rating{c.rating}, Rank: 2} }
	teams := []rating.Team{side(one), side(other)}
	odds := l.model.Odds(teams)[0]
	chance := math.Erfc((other.skill-one.skill)/(2*l.beta)) / 2
	winner := 0
	if l.random.Float64() > chance {
		winner = 1
		odds, chance = 1-odds, 1-chance
	}
	teams[winner].Rank = 1
	r.matches++
	r.unfair += math.Abs(chance - 0.5)
	for i, games := range []int{30, 60} {
		if n := min(one.games, other.games); n >= games && n < 2*games {
			r.after[i].add(judged{1, -math.Log(odds), -math.Log(chance)})
		}
	}
	after := l.model.Rate(teams)
	for i, c := range []*climber{one, other} {
		c.rating, c.wait = after[i][0], 0
		if c.games++; c.games <= firstDay || !l.frozen {
			c.used = c.rating.Mean
		}
	}
}

// climb plays rounds, with a tenth of newcomers after the first half, and returns the first and the last ones.
func climb(t testing.TB, frozen bool) (l *ladder, first, last rung) {
	settings, err := rating.Defaults(rating.TrueSkill)
	if err != nil {
		t.Fatal(err)
	}
	settings.Draw, settings.Tau = 0.001, 0.02
	model, err := rating.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	l = &ladder{TB: t, random: rand.New(rand.NewPCG(1, 2)), model: model, start: settings.Start(), beta: settings.Beta,
		frozen: frozen}
	l.join(*ladderPlayers)
	const rounds, some = 125, 20
	for n := range rounds {
		if n == rounds/2 {
			l.join(*ladderPlayers / 10)
		}
		r := l.round()
		if n == 0 {
			first = r
		}
		last.after[0].add(r.after[0])
		last.after[1].add(r.after[1])
		if n >= rounds-some {
			last.matches, last.unfair = last.matches+r.matches, last.unfair+r.unfair
		}
	}
	return l, first, last
}

// TestLadder: matches that the function makes of ratings become fairer than on the first day and than with the ratings
// of the first day. Newcomers play among themselves. The odds cost little more than the odds by hidden skill: in even
// matches of two, 30 games say as much of a skill as its deviation of 1.4 does, which costs 3.5 %.
func TestLadder(t *testing.T) {
	l, first, last := climb(t, false)
	_, _, frozen := climb(t, true)
	unfair := func(r rung) float64 { return r.unfair / float64(r.matches) }
	early, late := &last.after[0], &last.after[1]
	t.Logf("unfairness %.3f at first, %.3f at last, %.3f by the first day's ratings; log-loss more by %.2f %% after 30 "+
		"games, by %.2f %% after 60", unfair(first), unfair(last), unfair(frozen), 100*early.more(), 100*late.more())
	if unfair(last) > 0.6*unfair(first) || unfair(last) > 0.8*unfair(frozen) {
		t.Error("the matches do not become fairer")
	}
	if early.matches < float64(*ladderPlayers) || late.matches < float64(*ladderPlayers) || early.more() > 0.045 ||
		late.more() > 0.02 {
		t.Errorf("the odds are bad, or too few players have played: %+v", last.after)
	}
	met, games := 0, 0
	for _, c := range l.climbers[*ladderPlayers:] {
		met, games = met+c.experienced, games+min(c.games, shelter)
	}
	t.Logf("newcomers met others in %d of %d games", met, games)
	if games < 8*(*ladderPlayers/10) || 100*met > 15*games {
		t.Errorf("newcomers met others in %d of %d games", met, games)
	}
}
