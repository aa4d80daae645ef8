package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/wait"
)

// idle measures the cost of projects without tickets: the processor time of the server and its Redis.
func (b *bench) idle(ctx context.Context) error {
	t := table.NewWriter()
	t.SetOutputMirror(b.out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("idle: projects with a config and nobody who waits, over %s", b.Rest)
	t.AppendHeader(table.Row{"projects", "processors", "of one processor, each"})
	var none float64
	for _, projects := range []int{0, b.Projects} {
		used, err := b.rest(ctx, projects)
		if err != nil {
			return err
		}
		each := ""
		if projects == 0 {
			none = used
		} else {
			each = fmt.Sprintf("%.4f %%", 100*(used-none)/float64(projects))
		}
		t.AppendRow(table.Row{projects, fmt.Sprintf("%.3f", used), each})
	}
	t.Render()
	return nil
}

// rest is how many processors a server with so many idle projects takes.
func (b *bench) rest(ctx context.Context, projects int) (used float64, err error) {
	b.progress("idle: %d projects", projects)
	server, err := b.server(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	for i := range projects {
		studio, err := server.Client(auth.Developer, fmt.Sprintf("idle-%d", i), "studio")
		if err != nil {
			return 0, err
		}
		if err := putConfig(ctx, studio, false); err != nil {
			return 0, err
		}
	}
	if err := pause(ctx, settleTime); err != nil { // the creation of the projects causes work
		return 0, err
	}
	before := usedBy(server.PID())
	if err := pause(ctx, b.Rest); err != nil {
		return 0, err
	}
	return usedBy(server.PID()).since(before).server().Seconds() / b.Rest.Seconds(), nil
}

// settleTime is how long a server has to come to rest.
const settleTime = 5 * time.Second

func pause(ctx context.Context, d time.Duration) error {
	if wait.For(ctx, d) != nil {
		return context.Cause(ctx)
	}
	return nil
}
