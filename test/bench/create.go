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

// create measures how many tickets are created per second, beside bare handlers: one without checks, and one with the
// service's. Nothing matches them.
func (r *round) create(ctx context.Context, i *installation) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	hosts, pids := []string{2: i.Address(catalog.Ticket)}, [2]int{}
	for k, args := range [][]string{{"bare"}, {"bare", "--issuers", i.Issuers}} {
		bare, err := launch.Start(ctx, r.logs, self, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, bare.Stop()) }()
		hosts[k], pids[k] = hostOf(bare.URL), bare.PID()
	}
	used := func(which int) time.Duration {
		if which < len(pids) {
			return familyTimes(pids[which])[0]
		}
		return i.used().system()
	}
	for k, n := range r.Connections {
		p, err := i.newProject(ctx, fmt.Sprintf("create-%d", k), "")
		if err != nil {
			return err
		}
		var rate, each [3]float64
		for turn := range rate {
			which := (turn + r.number) % len(rate)
			// Redis rewrites its file, collectors run.
			if err := pause(ctx, r.Settle/2); err != nil {
				return err
			}
			v := &volley{address: hosts[which], connections: n, over: r.Volley,
				requests: creations(hosts[which], p.name, p.tokens)}
			before := used(which)
			out, err := v.run(ctx)
			if err != nil {
				return err
			}
			rate[which], each[which] = out.rate, in(micros, used(which)-before)/float64(max(1, out.answers))
		}
		load := fmt.Sprintf("%d connections", n)
		r.add(load, perSec, rate[2]).than("a bare handler", rate[0])
		r.add(load+", with the same checks", perSec, rate[2]).than("a bare handler", rate[1]).atLeast(createAim)
		r.add(load+": processor time of each", micros, each[2]).than("a bare handler with the same checks", each[1])
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

// createAim is for tickets beside answers of the bare handler with the same checks.
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
