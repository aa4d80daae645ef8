package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/test/launch"
	"matchmaker.dev/services/test/workload"
)

// rank is the rating of the third act, and its queue.
const rank = "rank"

// ladder is the players of the third act, whose skill only the demo knows.
type ladder struct {
	arena
	model    rating.Model
	settings rating.Settings
	climbers []*climber
}

// climber is a player of the ladder: the rating is what the service says before a round.
type climber struct {
	name   string
	skill  float64
	rating rating.Rating
}

// score is what some rounds were like.
type score struct {
	matches, favorite, loss, trueLoss float64
}

// thirdAct lets players of hidden skill play, and servers report the winners.
func thirdAct(ctx context.Context, s *launch.Matchmaker, o options, out io.Writer) error {
	fmt.Fprintf(out, "\nThird act: a ladder of %d players, who all begin alike. They play %d rounds of duels, whose "+
		"servers report who won.\n", o.Climbers, o.Rounds)
	l := &ladder{arena: arena{server: s, patience: o.Patience,
		random: rand.New(rand.NewPCG(o.Seed, 2))}} //nolint:gosec // a simulation
	var err error
	if l.settings, err = rating.Defaults(rating.TrueSkill); err != nil {
		return err
	}
	l.settings.Draw = 0.001
	if l.model, err = rating.New(l.settings); err != nil {
		return err
	}
	if err := step(out, "Settings with a rating, and a config", func() error { return l.stage(ctx) }); err != nil {
		return err
	}
	for i := range o.Climbers {
		skill := l.settings.Mean + l.settings.Deviation*l.random.NormFloat64()
		l.climbers = append(l.climbers, &climber{name: fmt.Sprintf("climber-%d", i+1), skill: skill})
	}
	scores := make([]score, o.Rounds)
	var round atomic.Int64
	m := newMeter(out, func() string { return fmt.Sprintf("  rounds %3d of %d", round.Load(), o.Rounds) })
	for n := range scores {
		if err = errors.Join(l.know(ctx), l.round(ctx, &scores[n])); err != nil {
			break
		}
		round.Add(1)
	}
	m.done()
	if err = errors.Join(err, l.know(ctx)); err != nil {
		return err
	}
	l.summary(out, scores)
	return nil
}

// stage puts the rating and the config.
func (l *ladder) stage(ctx context.Context) error {
	studio, err := l.server.Client(auth.Developer, project, "studio")
	if err != nil {
		return err
	}
	rules := client.ProjectSettings{Ratings: map[string]client.RatingRule{rank: {Model: l.settings.Model,
		Draw: &l.settings.Draw, Queues: []string{rank}}}}
	if _, err := studio.PutSettings(ctx, rules, ""); err != nil {
		return err
	}
	config := workload.Config("duel", rank, 1000, map[string]any{"attribute": rank, "window": 6, "widen": 100})
	config.Queue, config.Result = rank, &client.ResultRule{Seconds: 600}
	config.Hosting = &client.Hosting{Profile: "demo", FleetID: "local"}
	_, err = studio.PutConfig(ctx, rank, config, "")
	return err
}

// each calls do for all players at the same time.
func (l *ladder) each(do func(c *climber) error) error {
	errs := make([]error, len(l.climbers))
	var all sync.WaitGroup
	for i, c := range l.climbers {
		all.Go(func() { errs[i] = do(c) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// know reads the ratings of all players.
func (l *ladder) know(ctx context.Context) error {
	studio, err := l.server.Client(auth.Developer, project, "studio")
	if err != nil {
		return err
	}
	return l.each(func(c *climber) error {
		c.rating = l.settings.Start()
		ratings, err := studio.PlayerRatings(ctx, c.name)
		for _, r := range ratings {
			c.rating.Mean, c.rating.Deviation = r.Mean, r.Sigma
		}
		return err
	})
}

// round lets all players play once.
func (l *ladder) round(ctx context.Context, s *score) error {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	var mu sync.Mutex
	type seat struct {
		*climber
		ticket string
	}
	games := map[string][]seat{}
	if err := l.each(func(c *climber) error {
		api, err := l.server.Client(auth.Player, project, c.name)
		if err != nil {
			return err
		}
		t, err := workload.Play(ctx, api, client.TicketRequest{Queues: []string{rank}})
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		mu.Lock()
		defer mu.Unlock()
		at := t.Assignment.Connection
		games[at] = append(games[at], seat{c, t.ID})
		return nil
	}); err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make(chan error, len(games))
	for at, pair := range games {
		if len(pair) != 2 {
			return fmt.Errorf("%d players were sent to the server of a duel", len(pair))
		}
		winner := l.duel(pair[0].climber, pair[1].climber, s)
		all.Go(func() { errs <- gameservertest.Won(ctx, at, pair[winner].ticket) })
	}
	all.Wait()
	close(errs)
	var failed error
	for err := range errs {
		failed = errors.Join(failed, err)
	}
	return failed
}

// duel draws the winner of a match, 0 or 1, and judges the odds that the ratings gave.
func (l *ladder) duel(one, other *climber, s *score) (winner int) {
	chance := math.Erfc((other.skill-one.skill)/(2*l.settings.Beta)) / 2
	side := func(c *climber) rating.Team { return rating.Team{Players: []rating.Rating{c.rating}} }
	odds := l.model.Odds([]rating.Team{side(one), side(other)})[0]
	s.matches++
	s.favorite += max(chance, 1-chance)
	if l.random.Float64() > chance {
		winner, chance, odds = 1, 1-chance, 1-odds
	}
	s.loss, s.trueLoss = s.loss-math.Log(odds), s.trueLoss-math.Log(chance)
	return winner
}

// summary compares the first fifth of the rounds with the last one.
func (l *ladder) summary(out io.Writer, rounds []score) {
	some := max(1, len(rounds)/5)
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendRow(table.Row{"", fmt.Sprintf("first %d rounds", some), fmt.Sprintf("last %d", some)})
	sum := func(rounds []score) (all score) {
		for _, r := range rounds {
			all.matches, all.favorite = all.matches+r.matches, all.favorite+r.favorite
			all.loss, all.trueLoss = all.loss+r.loss, all.trueLoss+r.trueLoss
		}
		return all
	}
	first, last := sum(rounds[:some]), sum(rounds[len(rounds)-some:])
	row := func(what, format string, of func(score) float64) {
		begin, end := of(first)/first.matches, of(last)/last.matches
		t.AppendRow(table.Row{what, fmt.Sprintf(format, begin), fmt.Sprintf(format, end)})
	}
	row("the favorite's chance of winning", "%.2f", func(s score) float64 { return s.favorite })
	row("log-loss of the ratings' odds", "%.3f", func(s score) float64 { return s.loss })
	row("log-loss of the hidden skill's odds", "%.3f", func(s score) float64 { return s.trueLoss })
	t.AppendRow(table.Row{"correlation of rating and hidden skill", "0.00", fmt.Sprintf("%.2f", l.correlation())})
	t.Render()
}

// correlation is the one of the players' ratings with their skill.
func (l *ladder) correlation() float64 {
	var x, y, xx, yy, xy float64
	n := float64(len(l.climbers))
	for _, c := range l.climbers {
		a, b := c.skill-l.settings.Mean, c.rating.Mean-l.settings.Mean
		x, y, xx, yy, xy = x+a, y+b, xx+a*a, yy+b*b, xy+a*b
	}
	return (xy - x*y/n) / math.Sqrt((xx-x*x/n)*(yy-y*y/n))
}
