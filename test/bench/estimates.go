package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"time"
)

// Players of a game whose waits are seconds: so many come a second, for estimatesTurn times --for, and those are
// measured that come after half of it: at first too little is known.
const (
	estimatesRate = 20
	estimatesTurn = 40
	estimatesDuel = `{"attribute": "skill", "window": 1, "widen": 10}`
)

// Of all ranges so many are to hold, and as much more or less is within the aim, in percent.
const (
	rangesAim   = 80.0
	rangesSlack = 5.0
)

// told is what a player was told after the create, and when.
type told struct {
	at       time.Time
	Estimate *struct{ Low, High float64 } // milliseconds from then
}

// estimates measures how many of the ranges hold that players are told for how long they wait.
func (r *round) estimates(ctx context.Context, i *installation) error {
	p, err := r.newProject(ctx, i, "estimates")
	if err != nil {
		return err
	}
	config := anybody(false)
	config.Matchmaking.Config = json.RawMessage(estimatesDuel)
	if err := p.put(ctx, duel, config); err != nil {
		return err
	}
	o, err := observe(ctx, i.NATS(), p.name)
	if err != nil {
		return err
	}
	c := newCrowd(p, int(estimatesTurn*r.For.Seconds()*estimatesRate))
	random := rand.New(rand.NewPCG(r.seed(), 3)) //nolint:gosec // no secret
	skills, due, all := make([]float64, len(c.ids)), make([]time.Time, len(c.ids)), make([]told, len(c.ids))
	next := time.Now()
	for n := range due {
		next = next.Add(time.Duration(random.ExpFloat64() / estimatesRate * float64(time.Second)))
		skills[n], due[n] = max(0, 1500+300*random.NormFloat64()), next
	}
	r.report("%d come at %d/s, and ask how long they wait", len(c.ids), estimatesRate)
	if err := c.each(ctx, 0, func(w *wire, n int) (err error) {
		if err := pause(ctx, time.Until(due[n])); err != nil {
			return err
		}
		status, body, err := w.do(c.create("player", n, skills[n]))
		if err != nil {
			return err
		}
		if c.ids[n], err = idOf(status, body); err == nil {
			all[n], err = c.estimated(w, c.ids[n])
		}
		return err
	}); err != nil {
		return err
	}
	if err := pause(ctx, r.Settle); err != nil {
		return err
	}
	ranges, held := 0, 0
	for n, t := range all {
		if n < len(all)/2 || t.Estimate == nil {
			continue
		}
		until := time.Now() // where it waits on
		if at := o.assigned(c.ids[n]); at > 0 {
			until = time.UnixMilli(at)
		}
		ranges++
		if waited := in(millis, until.Sub(t.at)); waited >= t.Estimate.Low && waited <= t.Estimate.High {
			held++
		}
	}
	share := 100 * float64(held) / float64(max(1, ranges))
	r.report("%d of %d players were told a range, and %d ranges hold", ranges, len(all)-len(all)/2, held)
	load := count(estimatesRate) + "/s"
	r.add(load+": ranges that hold", percent, share)
	r.add(load+": how far that is from 80 %", percent, math.Abs(share-rangesAim)).than("the aim", rangesSlack).atMost(1)
	return nil
}

// estimated reads a ticket and for how long it waits on.
func (c *crowd) estimated(w *wire, id string) (t told, err error) {
	path := "/" + c.name + "/matchmaking/api/v1/tickets?estimate=true&id=" + id
	status, body, err := w.do(get(c.host, path, c.lobby, ""))
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("a ticket was answered %d: %s", status, body)
	}
	if err == nil {
		err = json.Unmarshal(body, &t)
	}
	t.at = time.Now()
	return t, err
}
