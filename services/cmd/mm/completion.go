package main

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	"matchmaker.dev/pkg/client"
)

type completionCommand struct{ kongcompletion.Completion }

func (completionCommand) Help() string {
	return `It prints what your shell's start file, such as ~/.bashrc, is to read. Commands, flags and their values are
completed, the names of contexts, and those of configs, functions and tickets that wait.

Examples:

    source <(mm completion bash)
    source <(mm completion zsh)
    mm completion fish | source`
}

// AfterApply is called by the parser. The library prints what to do by default, which no shell can read.
func (c *completionCommand) AfterApply() error { //nolint:unparam // the parser wants it
	c.Code = true
	return nil
}

// completionTime is how long a shell waits for names.
const completionTime = 2 * time.Second

// names predicts what a service has. They are looked up as a command would that has the flags so far.
func (c console) names(
	ctx context.Context, list func(context.Context, *client.Client) ([]string, error),
) complete.Predictor {
	return complete.PredictFunc(func(a complete.Args) []string {
		flags := commonFlags{Output: "table", Timeout: completionTime}
		for name, to := range map[string]*string{"url": &flags.URL, "project": &flags.Project, "data": &flags.Data,
			"token": &flags.Bearer, "context": &flags.Context} {
			*to = os.Getenv("MM_" + strings.ToUpper(name))
			for i, word := range a.Completed {
				if value, is := strings.CutPrefix(word, "--"+name+"="); is {
					*to = value
				} else if word == "--"+name && i+1 < len(a.Completed) {
					*to = a.Completed[i+1]
				}
			}
		}
		s, err := newSession(flags, c)
		if err != nil {
			return nil
		}
		s.err = io.Discard // the shell shows names alone
		api, err := s.connect(asDeveloper())
		if err != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, completionTime)
		defer cancel()
		names, _ := list(ctx, api) // none where it fails
		return names
	})
}

func configNames(ctx context.Context, api *client.Client) (names []string, err error) {
	configs, err := api.ListConfigs(ctx)
	for _, one := range configs {
		names = append(names, one.ID)
	}
	return names, err
}

func functionNames(ctx context.Context, api *client.Client) (names []string, err error) {
	functions, err := api.GetFunctions(ctx)
	for _, one := range functions {
		names = append(names, one.Name)
	}
	return names, err
}

func ticketIDs(ctx context.Context, api *client.Client) (ids []string, err error) {
	page, err := api.GetWaitingTickets(ctx, client.WaitingQuery{Limit: 200})
	if err != nil {
		return nil, err
	}
	for _, one := range page.Tickets {
		ids = append(ids, one.ID)
	}
	return ids, nil
}

// complete answers a shell that completes a command line, which asks by environment variables. It is done if one asks.
func (c console) complete(ctx context.Context, parser *kong.Kong) (code int, done bool) {
	kongcompletion.Register(parser,
		kongcompletion.WithExitFunc(func(status int) { code, done = status, true }),
		kongcompletion.WithPredictors(map[string]complete.Predictor{
			"context": complete.PredictFunc(func(complete.Args) []string { return c.contextNames() }),
			"config":  c.names(ctx, configNames), "function": c.names(ctx, functionNames), "ticket": c.names(ctx, ticketIDs),
			"file":   complete.PredictFiles("*"),
			"folder": complete.PredictDirs("*"),
		}),
	)
	return code, done
}

// contextNames are the names of the contexts; none if they cannot be read.
func (c console) contextNames() []string {
	kept, err := c.readContexts()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(kept.Contexts))
}
