package engine

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/services/test/quality/world"
)

// accelByte compares all tickets with the oldest only, the pivot. It takes the pivot's regions in turn, its best first,
// fills team after team with the nearest tickets, and exchanges tickets between the teams at last.
type accelByte struct{ game *world.Game }

func (a *accelByte) Match(now float64, waiting []*world.Ticket) ([]Match, error) {
	return greedy(waiting, func(pivot int, taken []bool) (Match, bool) {
		regions := []int{0, 1, 2, 3, 4}
		slices.SortFunc(regions, func(x, y int) int {
			return cmp.Compare(merged(waiting[pivot], x), merged(waiting[pivot], y))
		})
		for _, region := range regions {
			if !a.reaches(now, waiting[pivot], region) {
				break
			}
			if m, ok := a.in(region, pivot, now, waiting, taken); ok {
				return m, true
			}
		}
		return Match{}, false
	}), nil
}

// reaches reports whether a region is near enough to a ticket, which is relative to its best.
func (a *accelByte) reaches(now float64, t *world.Ticket, region int) bool {
	best := math.Inf(1)
	for r := range world.Regions {
		best = math.Min(best, merged(t, r))
	}
	ping := merged(t, region)
	return ping <= best+world.RelativePing(world.Age(now, t)) && ping <= a.game.Ping.Last()
}

func (a *accelByte) in(region, pivot int, now float64, waiting []*world.Ticket, taken []bool) (Match, bool) {
	d := newDraft(a.game, now, waiting)
	d.add(0, pivot)
	skill := waiting[pivot].Skill()
	gap := func(t int) float64 { return math.Abs(waiting[t].Skill() - skill) }
	var near []int
	for t := pivot + 1; t < len(waiting); t++ {
		if !taken[t] && gap(t) <= a.game.Spread.At(d.age(t)) && gap(t) <= a.game.Spread.At(d.age(pivot)) &&
			a.reaches(now, waiting[t], region) {
			near = append(near, t)
		}
	}
	slices.SortStableFunc(near, func(x, y int) int { return cmp.Compare(gap(x), gap(y)) })
	for _, t := range near {
		if team := d.first(t, true); team >= 0 {
			d.add(team, t)
		}
		if d.full() {
			rebalance(d)
			return Match{Teams: d.teams, Region: region}, true
		}
	}
	return Match{}, false
}

// rebalance exchanges tickets of the same size and roles while that brings the teams' means nearer.
func rebalance(d *draft) {
	for range 12 {
		gap := d.gap()
		best, from, to := gap, [2]int{}, [2]int{}
		for i := range d.teams[0] {
			for j := range d.teams[1] {
				if !alike(d.waiting[d.teams[0][i]], d.waiting[d.teams[1][j]]) {
					continue
				}
				d.teams[0][i], d.teams[1][j] = d.teams[1][j], d.teams[0][i]
				if g := d.gap(); g < best {
					best, from, to = g, [2]int{0, i}, [2]int{1, j}
				}
				d.teams[0][i], d.teams[1][j] = d.teams[1][j], d.teams[0][i]
			}
		}
		if best >= gap {
			return
		}
		d.teams[0][from[1]], d.teams[1][to[1]] = d.teams[1][to[1]], d.teams[0][from[1]]
	}
}

// alike reports whether two tickets have as many players of each role.
func alike(a, b *world.Ticket) bool {
	var counts [8]int
	for i := range a.Players {
		counts[a.Players[i].Role]++
	}
	for i := range b.Players {
		counts[b.Players[i].Role]--
	}
	return len(a.Players) == len(b.Players) && counts == [8]int{}
}
