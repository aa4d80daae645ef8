package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type functionVersions struct {
	Name string `arg:"" completion-predictor:"function" help:"The function's name."`
}

// Run prints the stored versions.
func (c functionVersions) Run(ctx context.Context, s *session, api developerAPI) error {
	versions, err := api.GetFunctionVersions(ctx, c.Name)
	if err != nil {
		return err
	}
	g := grid{head: []any{"version", "current", "worked", "runs", "failed", "uploaded", "size", "implementation", "md5",
		"by", "note"}}
	for _, v := range versions {
		current, worked := "", ""
		switch {
		case v.Current:
			current = "*"
		case v.Shadow:
			current = "shadow"
		case v.Canary:
			current = "canary"
		}
		if v.Worked {
			worked = "yes"
		}
		runs, failed := "", ""
		if h := v.Health; h != nil {
			runs, failed = strconv.FormatInt(h.Runs+h.Unserved, 10), formatShare(h.FailedShare)
		}
		g.add(strconv.FormatInt(v.Version, 10), current, worked, runs, failed, formatTime(v.Uploaded), format.MB(int(v.Size)),
			v.Implementation, v.MD5, v.By, v.Note)
	}
	return s.show(versions, g.withoutEmptyColumns())
}

type functionRollback struct {
	Name    string `arg:"" completion-predictor:"function" help:"The function's name."`
	Version int64  `arg:"" optional:"" completion-predictor:"version" help:"The version to run, see \"mm function versions\"; default: the one before the current one."`
	Wait    bool   `default:"true" negatable:"" help:"Wait until the function runs, for at most 30 seconds."`
}

// Run goes back, and waits until the function runs.
func (c functionRollback) Run(ctx context.Context, s *session, api developerAPI) error {
	if c.Version == 0 {
		versions, err := api.GetFunctionVersions(ctx, c.Name)
		if err != nil {
			return err
		}
		if c.Version, err = previousVersion(versions); err != nil {
			return fmt.Errorf("function %s: %w", c.Name, err)
		}
	}
	f, err := api.RollbackFunction(ctx, c.Name, c.Version)
	if err != nil {
		return err
	}
	return s.showStart(ctx, api.Client, upload{f.Name, f.MD5, c.Wait, fmt.Sprintf("back at version %d", c.Version)})
}

// previousVersion returns the version before the current one. The versions begin with the newest.
func previousVersion(versions []client.FunctionVersion) (int64, error) {
	current := slices.IndexFunc(versions, func(v client.FunctionVersion) bool { return v.Current })
	if current < 0 || current+1 == len(versions) {
		return 0, errors.New("no version before the current one is stored")
	}
	return versions[current+1].Version, nil
}
