package main

import (
	"context"
	"fmt"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/platform/catalog"
)

// ratedAim is for the processor time of a ticket with a rating beside one without.
const ratedAim = 1.03

// rated measures what a ticket costs whose player has a rating, from its create to its assignment, beside one of the
// same project while it has no ratings.
func (r *round) rated(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "rated", false)
	if err != nil {
		return err
	}
	redis, err := dialRedis(ctx, i.Redis())
	if err != nil {
		return err
	}
	defer redis.close()
	stored := []string{"HSET", "mm:{" + p.name + "}:ratings"}
	for k := range p.tokens {
		stored = append(stored, fmt.Sprintf("player-%d", k), fmt.Sprintf("rank - %.17g 3.3 0 30 %d", 25.1+float64(k)/7000,
			time.Now().UnixMilli()))
	}
	if _, err := redis.do(stored); err != nil {
		return err
	}
	studio, err := p.studio(catalog.Config)
	if err != nil {
		return err
	}
	var costs [2]time.Duration
	tickets := 0
	// The first arrivals open connections and are not counted.
	for n, on := range []int{0, 0, 1, 1, 0} {
		var settings client.ProjectSettings
		if on == 1 {
			settings.Ratings = map[string]client.RatingRule{"rank": {Model: rating.PlackettLuce}}
		}
		if _, err := studio.PutSettings(ctx, settings, ""); err != nil {
			return err
		}
		r.report("%d/s with %d ratings", r.Rate[0], on)
		a := r.arrive(p, manner{}, r.Rate[0], r.For)
		used, err := p.together(ctx, a)
		if err != nil {
			return err
		}
		if n > 0 {
			costs[on] += used.system()
			tickets += len(a.tickets)
		}
	}
	each := func(on int) float64 { return in(micros, costs[on]) / float64(max(1, tickets/2)) }
	r.add(fmt.Sprintf("%s/s with a rating: processor time a ticket", count(r.Rate[0])), micros, each(1)).
		than("without ratings", each(0)).atMost(ratedAim)
	return nil
}
