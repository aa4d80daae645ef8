package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"matchmaker.dev/services/internal/catalog"
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
			before, beforeBare := i.used().system(), familyTime(bare.PID())
			if answers[which], err = v.run(ctx); err != nil {
				return err
			}
			used[which] = []time.Duration{familyTime(bare.PID()) - beforeBare, i.used().system() - before}[which]
		}
		load := fmt.Sprintf("%d connections", n)
		r.add(load, perSec, answers[1].rate).than("a bare handler", answers[0].rate).atLeast(createAim)
		each := func(which int) float64 { return in(micros, used[which]) / float64(max(1, answers[which].answers)) }
		r.add(load+": processor time of each", micros, each(1)).than("a bare handler", each(0))
	}
	return nil
}

// createAim is for tickets beside answers of the bare handler.
const createAim = 0.5

// creations are requests that create one ticket for each player.
func creations(host, project string, tokens []string) [][]byte {
	requests := make([][]byte, len(tokens))
	for i, token := range tokens {
		requests[i] = creation(host, project, token, "", float64(i))
	}
	return requests
}

func hostOf(url string) string { return strings.TrimPrefix(url, "http://") }
