package rating

import (
	"cmp"
	"math"
	"slices"
)

// trueSkill is TrueSkill: messages in a graph from the players' skills by the performances of teams to the differences
// of teams that follow each other.
type trueSkill struct{ Settings }

// How often messages run at most between more than two teams, and which change is the last.
const (
	mostRounds = 11
	lastChange = 1e-4
)

// normal is a normal distribution, or the message of one: its precision, and that times its mean.
type normal struct{ pi, tau float64 }

func (n normal) times(o normal) normal { return normal{n.pi + o.pi, n.tau + o.tau} }
func (n normal) by(o normal) normal    { return normal{n.pi - o.pi, n.tau - o.tau} }

// of returns the distribution with a mean and a variance.
func of(mean, variance float64) normal { return normal{1 / variance, mean / variance} }

// mean is 0 where the distribution is flat, and the variance is infinite there.
func (n normal) mean() float64 {
	if n.pi == 0 {
		return 0
	}
	return n.tau / n.pi
}

func (n normal) variance() float64 { return 1 / n.pi }

// difference is a difference of the performances of two teams that follow each other.
type difference struct {
	margin float64
	drawn  bool
	// outcome is what the result says of it, above and below what it says of the two teams.
	outcome, above, below normal
}

// Rate implements Model.
func (m trueSkill) Rate(teams []Team) [][]Rating {
	order := make([]int, len(teams))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(teams[a].Rank, teams[b].Rank) })

	before := make([][]Rating, len(teams)) // in order
	skill := make([]normal, len(teams))    // performances of the teams, by their players alone
	for i, t := range order {
		before[i] = m.uncertain(teams[t].Players)
		mean, variance := (&Team{Players: before[i]}).sums()
		skill[i] = of(mean, variance+float64(len(before[i]))*m.Beta*m.Beta)
	}
	all := make([]difference, len(teams)-1)
	for i := range all {
		a, b := &teams[order[i]], &teams[order[i+1]]
		all[i].drawn = a.Rank == b.Rank
		all[i].margin = quantile((m.Draw+1)/2) * math.Sqrt(float64(len(a.Players)+len(b.Players))) * m.Beta
	}
	exchange(skill, all)

	after := make([][]Rating, len(teams))
	for i, t := range order {
		told := normal{} // what the result says of the team's performance
		if i > 0 {
			told = told.times(all[i-1].below)
		}
		if i < len(all) {
			told = told.times(all[i].above)
		}
		after[t] = learned(before[i], skill[i], told)
	}
	return after
}

// exchange runs the messages between the differences until they stay as they are.
func exchange(skill []normal, all []difference) {
	last := len(all) - 1
	// teams is what is known of the two teams of a difference without it.
	teams := func(i int) (a, b normal) {
		a, b = skill[i], skill[i+1]
		if i > 0 {
			a = a.times(all[i-1].below)
		}
		if i < last {
			b = b.times(all[i+1].above)
		}
		return a, b
	}
	for range mostRounds {
		change := 0.0
		if last == 0 {
			change = all[0].update(teams(0))
		}
		for i := range last { // downwards, and what the lower team is told
			a, b := teams(i)
			change = max(change, all[i].update(a, b))
			all[i].below = all[i].message(a, -1)
		}
		for i := last; i > 0; i-- { // upwards
			a, b := teams(i)
			change = max(change, all[i].update(a, b))
			all[i].above = all[i].message(b, 1)
		}
		if change <= lastChange {
			break
		}
	}
	_, second := teams(0)
	all[0].above = all[0].message(second, 1)
	lastButOne, _ := teams(last)
	all[last].below = all[last].message(lastButOne, -1)
}

// update compares a difference with its outcome anew, by what is known of its teams, and returns by how much its
// distribution changed.
func (d *difference) update(a, b normal) float64 {
	known := of(a.mean()-b.mean(), a.variance()+b.variance())
	previous := known.times(d.outcome)
	root := math.Sqrt(known.pi)
	correct := won
	if d.drawn {
		correct = drew
	}
	v, w := correct(known.tau/root, d.margin*root)
	w = min(w, 1-1e-12)
	next := normal{known.pi / (1 - w), (known.tau + root*v) / (1 - w)}
	d.outcome = next.by(known)
	return max(math.Abs(next.tau-previous.tau), math.Sqrt(math.Abs(next.pi-previous.pi)))
}

// message is what the outcome says of one team, by what is known of the other; sign is 1 for the upper team.
func (d *difference) message(other normal, sign float64) normal {
	return of(other.mean()+sign*d.outcome.mean(), d.outcome.variance()+other.variance())
}

// learned returns the ratings of a team's players after what the match told of its performance.
func learned(players []Rating, skill, told normal) []Rating {
	after := make([]Rating, len(players))
	for i, p := range players {
		own := of(p.Mean, p.Deviation*p.Deviation)
		// The player's performance is what was told less the performances of the others.
		mean := told.mean() - (skill.mean() - p.Mean)
		variance := told.variance() + skill.variance() - p.Deviation*p.Deviation
		own = own.times(of(mean, variance))
		after[i] = Rating{Mean: own.mean(), Deviation: math.Sqrt(own.variance())}
	}
	return after
}

// Odds implements Model.
func (m trueSkill) Odds(teams []Team) []float64 {
	return odds(teams, func(a, b *Team) float64 { return m.beats(a, b, len(a.Players)+len(b.Players)) })
}
