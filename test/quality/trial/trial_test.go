package trial_test

import (
	"slices"
	"testing"

	"matchmaker.dev/services/test/quality/engine"
	"matchmaker.dev/services/test/quality/trial"
	"matchmaker.dev/services/test/quality/world"
)

// small returns a world that takes a second.
func small(t *testing.T, name string) world.World {
	t.Helper()
	w, ok := world.Find(name)
	if !ok {
		t.Fatal("there is no world", name)
	}
	w.Before, w.Measure = 60, 240
	return w
}

// names are the worlds that engines are compared in. With -short these are not all: CI compares them in all.
func names() []string {
	if testing.Short() {
		return []string{"roles"}
	}
	return []string{"evening", "parties", "roles"}
}

// game is a small world of a seed that an engine played. Several tests look at the same.
type game struct {
	world  string
	engine engine.Name
	seed   uint64
}

var played = map[game]*trial.Measures{}

// play plays a small world, unless another test did.
func play(t *testing.T, w world.World, name engine.Name, seed uint64) *trial.Measures {
	t.Helper()
	g := game{w.Name, name, seed}
	if m := played[g]; m != nil {
		return m
	}
	m, err := trial.Play(&w, w.Tickets(seed), name, 1)
	if err != nil {
		t.Fatal(name, err)
	}
	if m.Matches < 10 {
		t.Fatalf("%s made %d matches: this world shows nothing", name, m.Matches)
	}
	played[g] = m
	return m
}

// outcome is what an engine did with a small world of several seeds: means of the spreads and gaps, the 90 % quantile
// of the waits of all and of those at the ends of the crowd, and how many left.
type outcome struct{ spread, gap, wait, ends, left float64 }

// outcomeOf plays a small world of so many seeds. One seed says little: which tickets are left for later matches is
// chance.
func outcomeOf(t *testing.T, w world.World, name engine.Name, seeds int) (o outcome) {
	t.Helper()
	var waits, ends trial.Sample
	players := 0
	for seed := range uint64(seeds) {
		m := play(t, w, name, seed+1)
		if m.Violations > 0 {
			t.Errorf("%s: %d of %d matches are against the rules: %v", name, m.Violations, m.Matches, m.First)
		}
		o.spread, o.gap = o.spread+m.Spread.Mean()/float64(seeds), o.gap+m.Gap.Mean()/float64(seeds)
		o.left += float64(m.Abandoned)
		players += m.Players
		waits, ends = append(waits, m.Waits...), append(ends, m.Tail.Waits...)
	}
	if len(waits) != players {
		t.Errorf("%s: %d waits of %d players", name, len(waits), players)
	}
	slices.Sort(waits)
	slices.Sort(ends)
	o.wait, o.ends = waits.At(0.9), ends.At(0.9)
	return o
}

// The function makes only matches that the rules allow, and is not worse than the literal reading of the same file in
// all that counts at once.
func TestRulesAgainstLiteralReadings(t *testing.T) {
	seeds := 4
	if testing.Short() {
		seeds = 2
	}
	for _, name := range names() {
		w := small(t, name)
		for _, l := range engine.Pairs(&w.Game) {
			t.Run(name+"/"+string(l), func(t *testing.T) {
				ours, theirs := outcomeOf(t, w, engine.On(l), seeds), outcomeOf(t, w, engine.Literal(l), seeds)
				if theirs.wait < ours.wait && theirs.spread < ours.spread && theirs.gap < ours.gap && theirs.left < ours.left {
					t.Errorf("worse in all: %+.4v, and the literal reading %+.4v", ours, theirs)
				}
				t.Logf("%+.4v, and the literal reading %+.4v", ours, theirs)
			})
		}
	}
}

// Of the same players, the function makes matches that are better than a literal reading's, where it makes
// others.
func TestRulesBesideLiteralReadings(t *testing.T) {
	for _, name := range names() {
		w := small(t, name)
		for _, l := range engine.Pairs(&w.Game) {
			c, err := trial.Beside(&w, w.Tickets(1), l, 1)
			if err != nil {
				t.Fatal(name, l, err)
			}
			t.Logf("%s, %s: of %d matches %d are others, %d better and %d worse", name, l, c.Moments, c.Other, c.Better, c.Worse)
			if c.Moments < 5 {
				t.Errorf("%s, %s: %d matches: this world shows nothing", name, l, c.Moments)
			}
			if c.Other >= 5 && (c.Gap.Mean() > 0 || c.Worse > c.Better) {
				t.Errorf("%s, %s: of %d other matches %d are better and %d worse, with a gap greater by %.1f", name, l, c.Other,
					c.Better, c.Worse, c.Gap.Mean())
			}
		}
	}
}

// No other matchmaker is better than the function on its own file in all that counts at once, and no engine that keeps
// to the rules has less wait or fewer players that leave than hindsight.
func TestRulesAgainstAll(t *testing.T) {
	for _, name := range names() {
		w := small(t, name)
		ours := play(t, w, engine.On(world.Own), 1)
		if ours.Violations > 0 {
			t.Errorf("%s: %d of %d matches are against the rules: %v", name, ours.Violations, ours.Matches, ours.First)
		}
		bound := trial.Hindsight(&w, w.Tickets(1))
		for _, other := range engine.All(&w.Game)[1:] {
			theirs := play(t, w, other, 1)
			if !other.Rules().IsWide() && theirs.Waits.At(0.9) < ours.Waits.At(0.9) &&
				theirs.Spread.Mean() < ours.Spread.Mean() && theirs.Gap.Mean() < ours.Gap.Mean() &&
				theirs.Abandoned < ours.Abandoned {
				t.Errorf("%s: %s is better in all", name, other)
			}
			if theirs.Violations > 0 {
				continue
			}
			if theirs.Waits.Mean() < bound.Wait ||
				float64(theirs.Abandoned)/float64(theirs.Players) < bound.Abandoned {
				t.Errorf("%s: %s is better than %+v, which is the best", name, other, bound)
			}
		}
	}
}

// Every measured player is matched or leaves, in each part of the measures.
func TestPlayersAreCountedOnce(t *testing.T) {
	w := small(t, "roles")
	m, tickets := play(t, w, engine.OpenMatch, 1), w.Tickets(1)
	want := 0
	for i := range tickets {
		if tickets[i].Measured {
			want += len(tickets[i].Players)
		}
	}
	parts := map[string]int{"all": len(m.Waits)}
	for _, g := range m.Deciles {
		parts["deciles"] += len(g.Waits)
	}
	for _, g := range m.Regions {
		parts["regions"] += len(g.Waits)
	}
	for _, g := range m.Parties {
		parts["parties"] += len(g.Waits)
	}
	for part, n := range parts {
		if n != want {
			t.Errorf("%s: %d players, not %d", part, n, want)
		}
	}
	if m.Violations == 0 || m.First == nil {
		t.Error("an engine without rules made no match against them: the judge says nothing")
	}
}

// besideSteps plays a world of ten seeds by the steps of our own file, and with another engine.
func besideSteps(t *testing.T, name string, other engine.Name) (w world.World, steps, others outcome) {
	t.Helper()
	if testing.Short() {
		t.Skip("make check runs it")
	}
	const seeds = 10
	w = small(t, name)
	return w, outcomeOf(t, w, engine.On(world.Own), seeds), outcomeOf(t, w, other, seeds)
}

// Tickets that wait for nearer matches where players come get more even teams, at the ends of the crowd they find a
// match sooner than by fixed steps, and not more of all leave. Without patience the same file makes worse matches than
// the steps. One seed says little of the few at the ends.
func TestPatience(t *testing.T) {
	for _, name := range names() {
		w, steps, patient := besideSteps(t, name, engine.On(world.Patient))
		t.Logf("%s, by steps %+.4v, and with patience %+.4v", name, steps, patient)
		if w.Game.Size > 1 && patient.gap > 0.9*steps.gap {
			t.Errorf("%s: the gap is %.1f, by steps %.1f", name, patient.gap, steps.gap)
		}
		if w.Game.Size == 1 && patient.spread > 2*steps.spread {
			t.Errorf("%s: the spread is %.0f, by steps %.0f", name, patient.spread, steps.spread)
		}
		if patient.left > 1.05*steps.left {
			t.Errorf("%s: %.0f leave, by steps %.0f", name, patient.left, steps.left)
		}
		if patient.ends > 1.1*steps.ends {
			t.Errorf("%s: at the ends p90 is %.1f s, by steps %.1f", name, patient.ends, steps.ends)
		}
	}
}

// Patience that is tuned to a world keeps those at the ends of the crowd waiting half as long as the steps do, or
// little more, and the matches of all are about as good.
func TestTunedPatience(t *testing.T) {
	for _, name := range []string{"evening", "parties"} {
		_, steps, tuned := besideSteps(t, name, engine.On(world.Tuned))
		t.Logf("%s, by steps %+.4v, and with patience %+.4v", name, steps, tuned)
		if tuned.gap > 1.1*steps.gap || tuned.spread > 1.15*steps.spread {
			t.Errorf("%s: gap %.1f and %.1f, spread %.0f and %.0f, by steps and with patience", name, steps.gap, tuned.gap,
				steps.spread, tuned.spread)
		}
		if tuned.ends > 0.6*steps.ends {
			t.Errorf("%s: at the ends p90 is %.1f s, by steps %.1f", name, tuned.ends, steps.ends)
		}
	}
}
