package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
)

type functionCanary struct {
	Name      string        `arg:"" completion-predictor:"function" help:"The function's name."`
	Version   int64         `arg:"" optional:"" completion-predictor:"version" help:"The upload that is to be the canary, see \"mm function versions\"; without it, the canary ends."`
	Config    []string      `sep:"none" completion-predictor:"config" help:"A config that gets it at first; may be given several times."`
	Queue     []string      `sep:"none" completion-predictor:"queue" help:"A queue that gets it at first; may be given several times."`
	Blocks    time.Duration `help:"How long the blocks of time are that get it, such as 10m."`
	Steps     []int         `help:"The parts to which it grows, in percent. Default: 50,100, and 10,25,50,100 for blocks."`
	Least     int64         `help:"How many matches of it each step needs; default: 200."`
	Deadline  time.Duration `help:"When it goes back unless it runs for all, at most 22h; default: 12h."`
	Tolerance *int          `placeholder:"PERCENT" help:"By how much waits and measures may be worse in any case; default: 5."`
	More      []string      `sep:"none" placeholder:"MEASURE" help:"What the function measures of which more is better; may be given several times."`
	Less      []string      `sep:"none" placeholder:"MEASURE" help:"What the function measures of which less is better; may be given several times."`
}

func (functionCanary) Help() string {
	return `The canary runs for the configs or queues that are named, or in some blocks of time, chosen by chance. It is
compared with what the other upload did for the same configs or queues in the hour before, or in the other blocks:
failed runs, matches a minute, waits, the differences of the attributes of a config's report, and the measures that are
named. Where it is no worse after enough matches it grows, and in the end runs for all. Where it is worse it goes back.
"mm function get" says what was found so far, and how great a difference would be found. "mm function promote" lets it
run for all, and the command without a version ends it.

Examples:

    mm function put duel duel.zip --shadow
    mm function canary duel 4 --config ranked
    mm function canary duel 4 --blocks 10m --steps 10,50,100 --least 1000 --less gap
    mm function canary duel`
}

// Run begins or ends a canary.
func (c functionCanary) Run(ctx context.Context, s *session, api developerAPI) error {
	r, err := c.request()
	if err != nil {
		return err
	}
	f, err := api.CanaryFunction(ctx, c.Name, *r)
	if err != nil {
		return err
	}
	return s.showFunction(f)
}

func (c *functionCanary) request() (*client.CanaryRequest, error) {
	r := &client.CanaryRequest{
		Version: c.Version, Configs: c.Config, Queues: c.Queue, BlockSeconds: int64(c.Blocks / time.Second), Steps: c.Steps,
		LeastMatches: c.Least, DeadlineSeconds: int64(c.Deadline / time.Second),
	}
	begins := len(c.Config)+len(c.Queue)+len(c.Steps)+len(c.More)+len(c.Less) > 0 || c.Blocks != 0 || c.Least != 0 ||
		c.Deadline != 0 || c.Tolerance != nil
	if c.Version == 0 && begins {
		return nil, usageError("<version> is required with flags: without it, the canary ends")
	}
	if c.Blocks%time.Second != 0 || c.Deadline%time.Second != 0 {
		return nil, usageError("--blocks and --deadline: must be whole seconds")
	}
	switch {
	case c.Tolerance != nil && *c.Tolerance < 1:
		return nil, usageError("--tolerance: must be from 1 to 1000")
	case c.Tolerance != nil:
		r.TolerancePercent = *c.Tolerance
	}
	for better, names := range map[string][]string{"more": c.More, "less": c.Less} {
		for _, name := range names {
			if r.Measures == nil {
				r.Measures = map[string]string{}
			}
			if r.Measures[name] != "" {
				return nil, usageError(fmt.Sprintf("--more and --less: %q is given twice", name))
			}
			r.Measures[name] = better
		}
	}
	return r, nil
}

// canaryOf says which upload is the canary, and how far it is; "" without one.
func canaryOf(f *client.Function) string {
	c := f.Canary
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%d, step %d of %d", c.Version, canaryStep(c), canarySteps(c))
}

// canaryStep counts the steps from 1. Configs or queues that were named are one of them, beside the parts.
func canaryStep(c *client.FunctionCanary) int {
	if c.BlockSeconds > 0 {
		return c.Step
	}
	return c.Step + 1
}

func canarySteps(c *client.FunctionCanary) int {
	if c.BlockSeconds > 0 {
		return len(c.Steps)
	}
	return len(c.Steps) + 1
}

// addCanary adds who gets the canary, and how the last one ended.
func addCanary(about *grid, f *client.Function) {
	if c := f.Canary; c != nil {
		who := "config " + strings.Join(c.Configs, ", ")
		switch {
		case c.BlockSeconds > 0:
			part := 0
			if c.Step > 0 && c.Step <= len(c.Steps) {
				part = c.Steps[c.Step-1]
			}
			who = fmt.Sprintf("%d%% of the blocks of %v", part, time.Duration(c.BlockSeconds)*time.Second)
		case len(c.Queues) > 0:
			who = "queue " + strings.Join(c.Queues, ", ")
		}
		about.add("canary", fmt.Sprintf("upload %d, for %s", c.Version, who))
		about.add("canary's step", fmt.Sprintf("%d of %d, %d of %d matches, until %s", canaryStep(c), canarySteps(c),
			c.Matches, c.LeastMatches, formatTime(c.Until)))
		if c.TolerancePercent > 0 { // a service of an earlier version does not say it
			about.add("canary's tolerance", fmt.Sprintf("%d%%", c.TolerancePercent))
		}
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
	if c == nil || len(c.Findings) == 0 {
		return grid{}
	}
	g := grid{head: []any{"mean of matches", fmt.Sprintf("upload %d", f.Upload), fmt.Sprintf("upload %d, the canary",
		c.Version), "worse by", "p", "worse if p is below", "seen with 80%"}}
	for _, one := range c.Findings {
		value, worse, seen := formatFinding, "", ""
		if one.Name == "failures" {
			value = formatShare
		}
		if one.WorseBy != nil {
			worse = formatShare(*one.WorseBy)
		}
		if one.Seen != nil {
			seen = formatShare(*one.Seen)
		}
		g.add(findingName(one.Name), value(one.Current), value(one.Canary), worse, fmt.Sprintf("%.2g", one.P),
			fmt.Sprintf("%.2g", one.Limit), seen)
	}
	return g
}

func formatFinding(v float64) string { return fmt.Sprintf("%.4g", v) }

func findingName(name string) string {
	switch name {
	case "failures":
		return "failures of runs"
	case "matches":
		return "matches a minute"
	case "wait":
		return "wait in seconds"
	}
	return name
}
