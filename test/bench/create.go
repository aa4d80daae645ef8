package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/test/launch"
)

// create measures how many tickets are created per second, beside the bare handler. Nothing matches them.
func (r *round) create(ctx context.Context, i *installation) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bare, err := launch.Start(ctx, r.logs, self, "bare")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Stop()) }()
	for k, n := range r.Connections {
		p, err := i.newProject(ctx, fmt.Sprintf("create-%d", k), "")
		if err != nil {
			return err
		}
		var answers [2]*result
		var used [2]time.Duration
		for turn := range 2 {
			which := (turn + r.number) % 2
			host := []string{hostOf(bare.URL), i.Address(catalog.Ticket)}[which]
			// Redis rewrites its file, collectors run.
			if err := pause(ctx, r.Settle/2); err != nil {
				return err
			}
			v := &volley{address: host, connections: n, over: r.Volley, requests: creations(host, p.name, p.tokens)}
			before, beforeBare := i.used().system(), familyTimes(bare.PID())[0]
			if answers[which], err = v.run(ctx); err != nil {
				return err
			}
			used[which] = []time.Duration{familyTimes(bare.PID())[0] - beforeBare, i.used().system() - before}[which]
		}
		load := fmt.Sprintf("%d connections", n)
		r.add(load, perSec, answers[1].rate).than("a bare handler", answers[0].rate).atLeast(createAim)
		each := func(which int) float64 { return in(micros, used[which]) / float64(max(1, answers[which].answers)) }
		r.add(load+": processor time of each", micros, each(1)).than("a bare handler", each(0))
		if err := r.createParties(ctx, p, i, n); err != nil {
			return err
		}
	}
	return nil
}

// createParties measures what a player of a ticket of three costs, beside one with a ticket alone.
func (r *round) createParties(ctx context.Context, p *project, i *installation, connections int) error {
	host, sizes := i.Address(catalog.Ticket), [2]int{1, partySize}
	var each [2]float64
	for turn := range 2 {
		which := (turn + r.number) % 2
		if err := pause(ctx, r.Settle/2); err != nil {
			return err
		}
		v := &volley{address: host, connections: connections, over: r.Volley,
			requests: partyCreations(host, p, sizes[which])}
		before := i.used().system()
		out, err := v.run(ctx)
		if err != nil {
			return err
		}
		each[which] = in(micros, i.used().system()-before) / float64(max(1, out.answers*sizes[which]))
	}
	r.add(fmt.Sprintf("%d connections: processor time of a player, three in a ticket", connections), micros, each[1]).
		than("one in a ticket", each[0]).atMost(1)
	return nil
}

// partySize is how many players the tickets of parties have.
const partySize = 3

// partyCreations are requests of a game service that create tickets of so many players. The players of one are in no
// other.
func partyCreations(host string, p *project, size int) [][]byte {
	requests := make([][]byte, len(p.tokens)/size)
	for i := range requests {
		listed := make([]string, size)
		for k := range listed {
			listed[k] = fmt.Sprintf(`{"id":"player-%d","attributes":{"skill":%d}}`, i*size+k, i)
		}
		requests[i] = post(host, "/"+p.name+"/matchmaking/api/v1/tickets", p.lobby,
			fmt.Sprintf("X-On-Behalf-Of: player-%d\r\n", i*size),
			fmt.Sprintf(`{"attributes":{"skill":%d},"players":[%s]}`, i, strings.Join(listed, ",")))
	}
	return requests
}

// createAim is for tickets beside answers of the bare handler.
const createAim = 0.5

// creations are requests that create one ticket for each player.
func creations(host, project string, tokens []string) [][]byte {
	requests := make([][]byte, len(tokens))
	for i, token := range tokens {
		requests[i] = creation(host, project, token, "", "", float64(i))
	}
	return requests
}

func hostOf(url string) string { return strings.TrimPrefix(url, "http://") }
