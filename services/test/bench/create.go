package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/test/launch"
)

// players is how many players a load comes from.
const players = 1000

// create measures how many tickets are created per second, in turns with the bare handler.
func (b *bench) create(ctx context.Context) error {
	t := table.NewWriter()
	t.SetOutputMirror(b.out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("create: answers per second, %s a round", b.Round)
	t.AppendHeader(table.Row{"connections", "round", "bare", "p50", "p99", "matchmaker", "p50", "p99", "ratio"})
	for _, connections := range b.Connections {
		if err := b.turns(ctx, connections, t); err != nil {
			return err
		}
		t.AppendSeparator()
	}
	t.Render()
	return nil
}

// turns measures both in each round, so that other load on the machine affects both. It also prints the processor time
// of an answer, which other load changes less.
func (b *bench) turns(ctx context.Context, connections int, t table.Writer) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bare, err := launch.Start(ctx, b.errs, self, "bare")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Stop()) }()
	server, err := b.server(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()

	var base, made, ratios []float64
	var answers [2]int
	for round := range b.Rounds {
		b.progress("create: %d connections, round %d of %d", connections, round+1, b.Rounds)
		project := fmt.Sprintf("create-%d", round) // of its own: rounds do not share tickets
		tokens, err := tokensOf(server, project)
		if err != nil {
			return err
		}
		var results [2]*result
		for turn := range 2 {
			which := (turn + round) % 2
			url := []string{bare.URL, server.URL}[which]
			if err := settle(ctx); err != nil {
				return err
			}
			l := &volley{address: hostOf(url), connections: connections, over: b.Round,
				requests: creations(hostOf(url), project, tokens)}
			if results[which], err = l.run(ctx); err != nil {
				return err
			}
			answers[which] += results[which].answers
		}
		r := results[1].rate / results[0].rate
		t.AppendRow(append(append(table.Row{connections, round + 1}, results[0].cells()...),
			append(results[1].cells(), fmt.Sprintf("%.2f", r))...))
		base, made, ratios = append(base, results[0].rate), append(made, results[1].rate), append(ratios, r)
	}
	if err := errors.Join(bare.Stop(), server.Stop()); err != nil {
		return err
	}
	cpu := func(p *launch.Server, answers int) string {
		return fmt.Sprintf("%.0f µs", float64(p.CPU().Microseconds())/float64(max(1, answers)))
	}
	t.AppendRow(table.Row{connections, "CPU each", cpu(bare, answers[0]), "", "", cpu(server.Server, answers[1])})
	t.AppendRow(table.Row{connections, "median", fmt.Sprintf("%.0f", median(base)), "", "",
		fmt.Sprintf("%.0f", median(made)), "", "", fmt.Sprintf("%.2f", median(ratios))})
	return nil
}

// settle waits until the machine has finished the work of the measurement before: Redis rewrites its file, collectors
// run.
func settle(ctx context.Context) error {
	return pause(ctx, 2*time.Second)
}

// server starts the service for one measurement. The rate limits are on, but too high to be reached: a thousand players
// stand for millions.
func (b *bench) server(ctx context.Context) (*launch.Matchmaker, error) {
	args := []string{
		"--provider", "instant",
		"--player-rate", "1000", "--player-burst", "10000",
		"--project-rate", "1000000", "--project-burst", "1000000",
		"--read-rate", "100000", "--read-burst", "100000",
	}
	return launch.Dev(ctx, b.errs, b.Matchmaker, append(args, b.Dev...)...)
}

// tokensOf mints the tokens of the players of a project.
func tokensOf(s *launch.Matchmaker, project string) ([]string, error) {
	tokens := make([]string, players)
	for i := range tokens {
		var err error
		if tokens[i], err = s.Token(auth.Player, project, fmt.Sprintf("player-%d", i)); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

// creations are requests that create one ticket for each player.
func creations(host, project string, tokens []string) [][]byte {
	requests := make([][]byte, len(tokens))
	for i, token := range tokens {
		requests[i] = creation(host, project, token, "", float64(i))
	}
	return requests
}

func creation(host, project, token, header string, skill float64) []byte {
	return post(host, "/"+project+"/matchmaking/api/v1/tickets", token, header,
		fmt.Sprintf(`{"attributes":{"skill":%g}}`, skill))
}

func hostOf(url string) string { return strings.TrimPrefix(url, "http://") }

// volley repeats the same requests, one after the other on each connection.
type volley struct {
	address     string
	connections int
	over        time.Duration
	requests    [][]byte
}

// result is the result of a volley.
type result struct {
	rate    float64 // answers per second
	times   times
	answers int // including those of the warm-up
}

func (r *result) cells() table.Row {
	return table.Row{fmt.Sprintf("%.0f", r.rate), ms(r.times.quantile(0.50)), ms(r.times.quantile(0.99))}
}

// warmup is how long requests are sent before they count. Connections are opened and tokens verified in this time.
const warmup = 500 * time.Millisecond

func (v *volley) run(ctx context.Context) (*result, error) {
	from := time.Now().Add(warmup)
	to := from.Add(v.over)
	parts := make([]result, v.connections)
	errs := make([]error, v.connections)
	var all sync.WaitGroup
	for i := range v.connections {
		all.Go(func() { parts[i], errs[i] = v.connection(ctx, i, from, to) })
	}
	all.Wait()
	r := &result{}
	for _, part := range parts {
		r.times = append(r.times, part.times...)
		r.answers += part.answers
	}
	r.rate = float64(len(r.times)) / v.over.Seconds()
	return r, first(errs)
}

// connection sends requests until to. It measures those that are answered after from.
func (v *volley) connection(ctx context.Context, first int, from, to time.Time) (r result, err error) {
	w, err := dial(ctx, v.address)
	if err != nil {
		return r, err
	}
	defer w.close()
	w.patience(to.Add(10 * time.Second))
	began := time.Now()
	for i := first; began.Before(to); i += v.connections {
		status, body, err := w.do(v.requests[i%len(v.requests)])
		if err != nil {
			return r, err
		}
		if err := checkCreated(status, body); err != nil {
			return r, err
		}
		now := time.Now()
		if now.After(from) && now.Before(to) {
			r.times = append(r.times, now.Sub(began))
		}
		r.answers++
		began = now
	}
	return r, context.Cause(ctx)
}

// checkCreated returns an error unless the answer is that of a created ticket.
func checkCreated(status int, body []byte) error {
	if status != http.StatusCreated {
		return fmt.Errorf("a create was answered %d: %s", status, body)
	}
	return nil
}
