package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/services/test/launch"
)

// size measures what each service takes: processor time for tickets that arrive and are matched, and memory for tickets
// that wait. Redis writes its append-only file.
type size struct {
	Matchmaker string        `help:"The server binary." default:"bin/matchmaker" type:"existingfile"`
	Function   string        `help:"The match function: one against one by skill." default:"bin/functions/duel.zip" type:"existingfile"`
	Arrive     int           `help:"How many tickets arrive a second." default:"1000" placeholder:"N"`
	For        time.Duration `help:"How long they arrive." default:"20s"`
	Stay       int           `help:"How many tickets wait." default:"100000" placeholder:"N"`
	Rest       time.Duration `help:"How long they are watched." default:"10s"`
	Seed       uint64        `help:"Seed of skills and arrivals." default:"1"`
}

// Validate is called by kong.
func (s *size) Validate() error {
	if s.Arrive < 1 || s.Stay < 1 || s.For <= 0 || s.Rest <= 0 {
		return errors.New("--arrive and --stay: must be 1 or more, --for and --rest: more than 0")
	}
	return nil
}

// Run is called by kong.
func (s *size) Run(ctx context.Context, out io.Writer) (err error) {
	i, err := install(ctx, s.Matchmaker, os.Stderr, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	p, err := i.newProject(ctx, "size", s.Function)
	if err != nil {
		return err
	}
	if err := p.put(ctx, duel, anybody(true)); err != nil {
		return err
	}
	rest := i.sample()
	progress(os.Stderr, "%d/s for %s", s.Arrive, s.For)
	a := p.arrive(manner{hosted: true}, s.Arrive, s.For, s.Seed)
	a.begin(ctx)
	busy := i.sample()
	a.play(ctx, a.tickets)
	over := i.sample()
	a.pool.stop()
	if err := a.err(); err != nil {
		return err
	}
	progress(os.Stderr, "%d tickets that wait, for %s", s.Stay, s.Rest)
	c := newCrowd(p, s.Stay)
	if err := c.come(ctx, 0, far); err != nil {
		return err
	}
	if err := pause(ctx, settleTime); err != nil {
		return err
	}
	full := i.sample()
	if err := pause(ctx, s.Rest); err != nil {
		return err
	}
	idle := i.sample()
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("each service is a process; %d/s arrive for %s and are matched one against one, with servers;\n"+
		"then %d wait, and a function reads all of them and matches none", s.Arrive, s.For, s.Stay)
	t.AppendHeader(table.Row{"", "cores per 1,000/s", "MiB at rest", "MiB at that rate", "MiB with those who wait",
		"MiB per 100,000", "cores meanwhile"})
	var total [6]float64
	for _, part := range launch.Parts() {
		cores := (over[part].time - busy[part].time).Seconds() / s.For.Seconds() * 1000 / float64(s.Arrive)
		meanwhile := (idle[part].time - full[part].time).Seconds() / s.Rest.Seconds()
		more := (idle[part].memory - over[part].memory) * 100_000 / float64(s.Stay)
		row := []float64{cores, rest[part].memory, over[part].memory, idle[part].memory, more, meanwhile}
		for k, n := range row {
			total[k] += n
		}
		t.AppendRow(sizes(part, row))
	}
	t.AppendSeparator()
	t.AppendRow(sizes("all", total[:]))
	t.Render()
	return nil
}

func sizes(name string, n []float64) table.Row {
	return table.Row{name, fmt.Sprintf("%.3f", n[0]), fmt.Sprintf("%.0f", n[1]), fmt.Sprintf("%.0f", n[2]),
		fmt.Sprintf("%.0f", n[3]), fmt.Sprintf("%.0f", n[4]), fmt.Sprintf("%.3f", n[5])}
}
