package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type functionCanary struct {
	Name     string        `arg:"" completion-predictor:"function" help:"The function's name."`
	Version  int64         `arg:"" optional:"" completion-predictor:"version" help:"The upload that is to be the canary, see \"mm function versions\"; without it, the canary ends."`
	Config   []string      `sep:"none" completion-predictor:"config" help:"A config that gets it; may be given several times."`
	Queue    []string      `sep:"none" completion-predictor:"queue" help:"A queue that gets it; may be given several times."`
	Blocks   time.Duration `help:"How long the blocks of time are that get it, such as 10m."`
	Percent  *int          `help:"Which percentage of the blocks gets it; default: 10."`
	Deadline time.Duration `help:"When it ends unless it runs for all, at most 22h; default: 12h."`
}

// Run begins, changes or ends a canary.
func (c functionCanary) Run(ctx context.Context, s *session, api developerAPI) error {
	begins := len(c.Config)+len(c.Queue) > 0 || c.Percent != nil || c.Blocks != 0 || c.Deadline != 0
	switch {
	case c.Version == 0 && begins:
		return usageError("<version> is required with flags: without it, the canary ends")
	case c.Blocks%time.Second != 0 || c.Deadline%time.Second != 0:
		return usageError("--blocks and --deadline: must be whole seconds")
	case c.Percent != nil && (*c.Percent < 1 || *c.Percent > 99):
		return usageError("--percent: must be from 1 to 99")
	}
	request := client.CanaryRequest{
		Version: c.Version, Configs: c.Config, Queues: c.Queue, BlockSeconds: int64(c.Blocks / time.Second),
		DeadlineSeconds: int64(c.Deadline / time.Second),
	}
	if c.Percent != nil {
		request.Percent = *c.Percent
	}
	return s.showFunction(api.CanaryFunction(ctx, c.Name, request))
}

// canaryOf says which upload is the canary, and which runs get it; "" without one.
func canaryOf(f *client.Function) string {
	c := f.Canary
	if c == nil {
		return ""
	}
	who := fmt.Sprintf("%d%% of the blocks of %v", c.Percent, time.Duration(c.BlockSeconds)*time.Second)
	for kind, names := range map[string][]string{"config": c.Configs, "queue": c.Queues} {
		switch {
		case len(names) > 3:
			who = format.Plural(len(names), kind)
		case len(names) > 0:
			who = kind + " " + strings.Join(names, ", ")
		}
	}
	return fmt.Sprintf("%d, for %s", c.Version, who)
}

// addCanary adds which runs get the canary, and how the last one ended.
func addCanary(about *grid, f *client.Function) {
	if c := f.Canary; c != nil {
		about.add("canary", "upload "+canaryOf(f))
		about.add("canary's end", formatTime(c.Until))
		about.add("canary's runs", fmt.Sprintf("%d, %d failed", c.Runs, c.Failed))
		if c.Health != nil && c.Health.LastError != "" {
			about.add("canary's last error", c.Health.LastError)
		}
	}
	if e := f.CanaryEnded; e != nil {
		how := "withdrawn"
		if e.Promoted {
			how = "promoted"
		}
		about.add("last canary", fmt.Sprintf("upload %d, %s at %s: %s", e.Version, how, formatTime(e.Time), e.Reason))
	}
}

// aboutCanary compares the canary with the upload that runs for the others.
func aboutCanary(f *client.Function) grid {
	c := f.Canary
	if c == nil || len(c.Report) == 0 {
		return grid{}
	}
	g := grid{head: []any{"mean", fmt.Sprintf("upload %d", f.Upload), "of", fmt.Sprintf("upload %d, the canary",
		c.Version), "of", "difference", "95% interval"}}
	for _, q := range c.Report {
		format := func(v float64) string { return fmt.Sprintf("%.4g", v) }
		name := q.Name
		switch name {
		case "failures":
			name, format = "failed runs", formatShare
		case "matches":
			name = "matches a minute"
		case "wait":
			name = "wait in seconds"
		}
		difference, between := "too few", ""
		if d := q.Difference; d != nil {
			difference, between = format(d.Value), format(d.Low)+" to "+format(d.High)
		}
		g.add(name, format(q.Current), q.CurrentOf, format(q.Canary), q.CanaryOf, difference, between)
	}
	return g
}
