package main

import (
	"context"
	"fmt"
	"strconv"

	"matchmaker.dev/pkg/client"
)

type functionVersions struct {
	Name string `arg:"" help:"The function's name."`
}

func (functionVersions) Help() string {
	return `A version is an upload. The service keeps the last few, 5 unless it is set otherwise.

Example: mm function versions duel`
}

// Run prints the versions that are kept.
func (c functionVersions) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	versions, err := api.GetFunctionVersions(ctx, c.Name)
	if err != nil {
		return err
	}
	g := grid{head: []any{"version", "current", "uploaded", "size", "implementation", "md5"}}
	for _, v := range versions {
		current := ""
		if v.Current {
			current = "*"
		}
		g.add(strconv.FormatInt(v.Version, 10), current, moment(v.Uploaded), megabytes(int(v.Size)), v.Implementation, v.MD5)
	}
	return s.show(versions, g.without())
}

type functionRollback struct {
	Name    string `arg:"" help:"The function's name."`
	Version int64  `arg:"" optional:"" help:"The version that is to run, see \"mm function versions\"; the one before the current one by default."`
	Wait    bool   `default:"true" negatable:"" help:"Wait up to 30 seconds until the function runs."`
}

func (functionRollback) Help() string {
	return `The current version goes on until the other one runs. It stays, and can be gone forward to in the same way.

Examples:

    mm function rollback duel
    mm function rollback duel 3`
}

// Run goes back, and waits until the function runs.
func (c functionRollback) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	if c.Version == 0 {
		versions, err := api.GetFunctionVersions(ctx, c.Name)
		if err != nil {
			return err
		}
		if c.Version, err = before(versions); err != nil {
			return fmt.Errorf("function %s: %w", c.Name, err)
		}
	}
	f, err := api.RollbackFunction(ctx, c.Name, c.Version)
	if err != nil {
		return err
	}
	return s.await(ctx, api, startup{f.Name, f.MD5, c.Wait, fmt.Sprintf("back at version %d", c.Version)})
}

// before is the version before the current one.
func before(versions []client.FunctionVersion) (int64, error) {
	behind := false
	for _, v := range versions { // the newest first
		if behind {
			return v.Version, nil
		}
		behind = v.Current
	}
	return 0, fmt.Errorf("no version before the current one is kept")
}
