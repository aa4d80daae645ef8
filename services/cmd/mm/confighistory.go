package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
)

type configHistory struct {
	ID string `arg:"" name:"id" completion-predictor:"config" help:"The config's identifier."`
}

// Run prints the history.
func (c configHistory) Run(ctx context.Context, s *session, api developerAPI) error {
	changes, err := api.ConfigHistory(ctx, c.ID)
	if err != nil {
		return err
	}
	g := grid{head: []any{"changed", "by", "etag", "is", "function"}}
	for _, change := range changes {
		g.add(formatTime(change.Changed.Truncate(time.Second)), change.By, change.ETag, stateOfChange(change),
			functionOf(change))
	}
	return s.show(changes, g.withoutEmptyColumns())
}

func stateOfChange(c client.ConfigChange) string {
	switch {
	case c.Current:
		return "current"
	case c.Deleted:
		return "deleted"
	case c.Config == nil:
		return "not kept"
	}
	return ""
}

// functionOf is the function of a config in a history; empty if that is not known.
func functionOf(c client.ConfigChange) string {
	var config client.Config
	if json.Unmarshal(c.Config, &config) != nil {
		return ""
	}
	return config.Matchmaking.TargetFunction.Name
}

type configRollback struct {
	ID string `arg:"" name:"id" completion-predictor:"config" help:"The config's identifier."`
	To string `placeholder:"ETAG" help:"The change to go back to, see \"mm config history\"; default: the one before the last."`

	DryRun bool `help:"Only check whether the config can become that."`
}

// Run goes back.
func (c configRollback) Run(ctx context.Context, s *session, api developerAPI) error {
	changes, err := api.ConfigHistory(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.To == "" {
		if c.To, err = changeBefore(changes); err != nil {
			return fmt.Errorf("config %s: %w", c.ID, err)
		}
	}
	if c.DryRun {
		return s.checkRollback(ctx, api.Client, c.ID, quoteETag(c.To), changes)
	}
	now := client.Absent
	if i := slices.IndexFunc(changes, func(change client.ConfigChange) bool { return change.Current }); i >= 0 {
		now = changes[i].ETag
	}
	saved, err := api.RollbackConfig(ctx, c.ID, quoteETag(c.To), now)
	if err != nil {
		return err
	}
	return s.showSaved(saved)
}

// checkRollback has the service check what a config would become.
func (s *session) checkRollback(
	ctx context.Context, api *client.Client, id, to string, changes []client.ConfigChange,
) error {
	i := slices.IndexFunc(changes, func(change client.ConfigChange) bool { return change.ETag == to })
	if i < 0 || changes[i].Config == nil {
		return fmt.Errorf("config %s: nothing is kept of the change %s: see \"mm config history %s\"", id, to, id)
	}
	return s.checkConfig(ctx, api, id, changes[i].Config, "")
}

// quoteETag adds the quotes that a shell takes away.
func quoteETag(tag string) string {
	if tag != "" && tag[0] != '"' {
		return `"` + tag + `"`
	}
	return tag
}

// changeBefore returns the latest change before the last one to go back to.
func changeBefore(changes []client.ConfigChange) (string, error) {
	for _, change := range changes[min(1, len(changes)):] {
		if change.Config != nil {
			return change.ETag, nil
		}
	}
	return "", errors.New("nothing is kept of what it was before")
}

// showSaved shows a config that was stored, and what the service warns of.
func (s *session) showSaved(saved client.SavedConfig) error {
	s.warn(saved.Warnings)
	shown := map[string]string{"id": saved.ID}
	if saved.ETag != "" {
		shown["etag"] = saved.ETag
	}
	return s.showMembers(shown, "config=id, etag")
}

// warn notes what the service warns of.
func (s *session) warn(warnings []client.Validation) {
	for _, w := range warnings {
		s.note("warning: %s: %s", w.ResultCode, w.Message)
	}
}
