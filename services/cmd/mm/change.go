package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"matchmaker.dev/pkg/client"
)

type functionRestart struct {
	Names []string `arg:"" name:"name" help:"The functions' names."`
}

func (functionRestart) Help() string {
	return `New instances take over while the old ones finish. When one of the names is unknown, nothing is restarted.

Examples:

    mm function restart duel
    mm function restart duel ranked`
}

// Run schedules the restart. A function that is not restarted is a failure.
func (c functionRestart) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	results, err := api.RestartFunctions(ctx, c.Names...)
	if err != nil {
		return err
	}
	g := grid{head: []any{"name", "state"}}
	for _, r := range results {
		g.add(r.Name, r.State)
	}
	if err := s.show(results, g); err != nil {
		return err
	}
	results = slices.DeleteFunc(results, func(r client.FunctionRestart) bool { return r.State != client.Failed })
	if len(results) == 0 {
		return nil
	}
	names := make([]string, len(results))
	for i, r := range results {
		names[i] = r.Name
	}
	return fmt.Errorf("not restarted: %s", strings.Join(names, ", "))
}

type functionDelete struct {
	Name string `arg:"" help:"The function's name."`
}

func (functionDelete) Help() string {
	return `Configs that name the function stay, and make no matches until it is uploaded again.

Example: mm function delete duel`
}

// Run deletes the function. That there is none is no failure.
func (c functionDelete) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	if err := api.DeleteFunction(ctx, c.Name); err != nil {
		return err
	}
	return s.showDeleted(c.Name)
}
