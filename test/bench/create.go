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
// service's. Nothing matches them. Each player creates a first ticket, with a token that is new, and then more.
func (r *round) create(ctx context.Context, i *installation) (err error) {
	c, err := r.creators(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	for k, n := range r.Connections {
		p, err := i.newProject(ctx, fmt.Sprintf("create-%d", k), "")
		if err != nil {
			return err
		}
		var created, fresh [3]creates
		for turn := range created {
			which := (turn + r.number) % len(created)
			// Redis rewrites its file, collectors run.
			if err := pause(ctx, r.Settle/2); err != nil {
				return err
			}
			if which > 0 { // the first reads no token
				if fresh[which], err = c.create(ctx, which, n, p.name, p.tokens, 0); err != nil {
					return err
				}
			}
			if created[which], err = c.create(ctx, which, n, p.name, p.tokens, r.Volley); err != nil {
				return err
			}
		}
		load := fmt.Sprintf("%d connections", n)
		r.add(load, perSec, created[2].rate).than("a bare handler", created[0].rate)
		r.add(load+", with the same checks", perSec, created[2].rate).than("a bare handler", created[1].rate).
			atLeast(createAim)
		r.add(load+": processor time of each", micros, created[2].each).
			than("a bare handler with the same checks", created[1].each)
		r.add(load+", new tokens", perSec, fresh[2].rate).than("a bare handler with the same checks", fresh[1].rate)
		r.add(load+", new tokens: processor time of each", micros, fresh[2].each).
			than("a bare handler with the same checks", fresh[1].each)
		if err := r.createParties(ctx, p, i, n); err != nil {
			return err
		}
	}
	return nil
}

// signatures measures creates with new tokens as identity providers sign them, beside tokens of its own issuer.
func (r *round) signatures(ctx context.Context, i *installation) (err error) {
	c, err := r.creators(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	p, err := i.newProject(ctx, "signatures", "")
	if err != nil {
		return err
	}
	all, err := providers()
	if err != nil {
		return err
	}
	names, tokens := []string{"EdDSA"}, [][]string{p.tokens}
	for _, one := range all {
		signed, err := one.mint(p.name, len(p.tokens))
		if err != nil {
			return err
		}
		names, tokens = append(names, one.algorithm.String()), append(tokens, signed)
	}
	took := make([][2]creates, len(names))
	for turn := range 2 * len(names) {
		which := (turn + r.number) % (2 * len(names))
		if err := pause(ctx, r.Settle/2); err != nil {
			return err
		}
		of, which := which/2, which%2
		if took[of][which], err = c.create(ctx, 1+which, r.Connections[0], p.name, tokens[of], 0); err != nil {
			return err
		}
	}
	for of, name := range names {
		load := fmt.Sprintf("%d connections, %s", r.Connections[0], name)
		r.add(load, perSec, took[of][1].rate).than("a bare handler with the same checks", took[of][0].rate)
		r.add(load+": processor time of each", micros, took[of][1].each).than(names[0], took[0][1].each)
	}
	return nil
}

// creators are three servers that creates are sent to: bare handlers without the service's checks and with them, and
// the service.
type creators struct {
	*installation

	bare [2]*launch.Server
}

// creates are what one of them did: how many in a second, and the processor time of each.
type creates struct{ rate, each float64 }

func (r *round) creators(ctx context.Context, i *installation) (*creators, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &creators{installation: i}
	for k, args := range [][]string{{"bare"}, {"bare", "--issuers", i.Issuers}} {
		if c.bare[k], err = launch.Start(ctx, r.logs, self, args...); err != nil {
			return nil, errors.Join(err, c.stop())
		}
	}
	return c, nil
}

func (c *creators) stop() error {
	var errs []error
	for _, one := range c.bare {
		if one != nil {
			errs = append(errs, one.Stop())
		}
	}
	return errors.Join(errs...)
}

// create creates a ticket with each of the tokens, or for a time with all of them over and over.
func (c *creators) create(ctx context.Context, which, connections int, project string, tokens []string,
	over time.Duration) (creates, error) {
	host, used := c.Address(catalog.Ticket), func() time.Duration { return c.used().system() }
	if which < len(c.bare) {
		host = hostOf(c.bare[which].URL)
		used = func() time.Duration { return familyTimes(c.bare[which].PID())[0] }
	}
	v := &volley{address: host, connections: connections, over: over, requests: creations(host, project, tokens)}
	before := used()
	out, err := v.run(ctx)
	if err != nil {
		return creates{}, err
	}
	return creates{out.rate, in(micros, used()-before) / float64(max(1, out.answers))}, nil
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
