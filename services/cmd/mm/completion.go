package main

import (
	"maps"
	"slices"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"
)

type completionCommand struct{ kongcompletion.Completion }

func (completionCommand) Help() string {
	return `It prints a line for your shell's start file, such as ~/.bashrc. mm must be in the PATH. Commands, flags and
their values are completed, and the names of contexts.

Examples:

    mm completion bash
    source <(mm completion -c zsh)
    mm completion -c fish | source`
}

// complete answers a shell that completes a command line, which asks by environment variables. It is done if one asks.
func (c console) complete(parser *kong.Kong) (code int, done bool) {
	kongcompletion.Register(parser,
		kongcompletion.WithExitFunc(func(status int) { code, done = status, true }),
		kongcompletion.WithPredictors(map[string]complete.Predictor{
			"context": complete.PredictFunc(func(complete.Args) []string { return c.contextNames() }),
			"file":    complete.PredictFiles("*"),
			"folder":  complete.PredictDirs("*"),
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
