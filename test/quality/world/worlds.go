package world

import (
	"slices"

	"matchmaker.dev/services/lab/population"
)

var (
	duel = Game{
		Teams: 2, Size: 1,
		Spread: Bound{100, [][2]float64{{15, 200}, {30, 400}, {60, 800}}},
		Ping:   ping,
	}
	four = Game{
		Teams: 2, Size: 4,
		Spread: Bound{300, [][2]float64{{15, 500}, {30, 800}, {60, 1200}}},
		Gap:    gap, Ping: ping,
	}
	five = Game{
		Teams: 2, Size: 5, Roles: []Role{{"tank", 1, 0.22}, {"healer", 1, 0.25}, {"damage", 3, 0.53}},
		Spread: Bound{300, [][2]float64{{15, 500}, {30, 800}, {60, 1200}}},
		Gap:    gap, Ping: ping,
	}
	ping = Bound{80, [][2]float64{{20, 120}, {45, 200}}}
	gap  = Bound{60, [][2]float64{{20, 100}, {40, 200}}}
)

// All returns the worlds.
func All() []World {
	return []World{
		{Name: "night", About: "one against one, 30 players an hour in Europe, eight hours",
			Game: duel.tunedBy(Patience{300, 1500, 40}),
			Rate: 30.0 / 3600, Steady: true, Measure: 8 * 3600, Every: 2, Cities: population.Europe},
		{Name: "day", About: "one against one, a whole day everywhere, 360 players an hour at the peak",
			Game: duel.tunedBy(Patience{120, 1500, 80}),
			Rate: 0.1, Before: 1800, Measure: 24 * 3600, Every: 5, Cities: population.Everywhere},
		{Name: "evening", About: "one against one, 2 players a second everywhere, ten minutes",
			Game: duel.tunedBy(Patience{20, 1500, 80}),
			Rate: 2, Steady: true, Before: 120, Measure: 600, Every: 1, Cities: population.Everywhere},
		{Name: "parties", About: "four against four with parties, 1 player a second in Europe, twenty minutes",
			Game: four.tunedBy(Patience{68, 1300, 40}),
			Rate: 1, Steady: true, Before: 180, Measure: 1200, Every: 2, Cities: population.Europe},
		{Name: "roles", About: "five against five with parties and roles, 2 players a second everywhere, ten minutes",
			Game: five.tunedBy(Patience{120, 960, 80}),
			Rate: 2, Steady: true, Before: 180, Measure: 600, Every: 2, Cities: population.Everywhere},
		{Name: "launch", About: "one against one, 2,000 players a second everywhere, ten minutes",
			Game: duel, Rate: 2000, Steady: true, Before: 30, Measure: 600, Every: 1, Cities: population.Everywhere,
			Large: true},
		{Name: "launch-roles", About: "five against five with parties and roles, 2,000 players a second, ten minutes",
			Game: five, Rate: 2000, Steady: true, Before: 60, Measure: 600, Every: 1, Cities: population.Everywhere,
			Large: true},
	}
}

// Find returns the world of a name.
func Find(name string) (World, bool) {
	all := All()
	i := slices.IndexFunc(all, func(w World) bool { return w.Name == name })
	if i < 0 {
		return World{}, false
	}
	return all[i], true
}
