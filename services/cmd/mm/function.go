package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/lab"
)

type functionCommands struct {
	Put      functionPut      `cmd:"" help:"Upload a match function."`
	List     functionList     `cmd:"" help:"List the project's match functions."`
	Get      functionGet      `cmd:"" help:"Print the state of a match function."`
	Log      functionLog      `cmd:"" help:"Print what a match function logged."`
	Restart  functionRestart  `cmd:"" help:"Restart match functions."`
	Versions functionVersions `cmd:"" help:"List the stored uploads of a match function."`
	Rollback functionRollback `cmd:"" help:"Go back to an earlier upload of a match function."`
	Shadow   functionShadow   `cmd:"" help:"Run an upload in the shadow of the one that runs, or none."`
	Canary   functionCanary   `cmd:"" help:"Run an upload for a part of the configs, or of the time."`
	Promote  functionPromote  `cmd:"" help:"Let the upload in the shadow, or the canary, run for all."`
	Return   functionReturn   `cmd:"" help:"Say whether a match function goes back to its last good upload by itself."`
	Delete   functionDelete   `cmd:"" help:"Delete a match function."`
	New      functionNew      `cmd:"" help:"Create a Go project for a match function."`
	Test     lab.FunctionTest `cmd:"" help:"Run a match function on this machine, without a service."`
}

type functionList struct{ watchFlag }

// Run prints the functions.
func (functionList) Run(ctx context.Context, s *session, api developerAPI) error {
	functions, err := api.ListFunctions(ctx)
	if err != nil {
		return err
	}
	if len(functions) == 0 {
		s.note("project %s has no functions: upload one with \"mm function put\"", s.Project)
	}
	g := grid{head: []any{"name", "state", "upload", "canary", "instances", "failed", "p50", "p99", "updated", "md5"}}
	for _, f := range functions {
		failed, p50, p99 := "", "", ""
		if h := f.Health; h != nil {
			failed = formatShare(h.FailedShare)
			p50, p99 = formatQuantiles(h.Milliseconds)
		}
		g.add(f.Name, f.Status.State, formatUpload(f.Upload), canaryOf(&f), len(f.Status.Instances), failed, p50, p99,
			formatTime(f.Updated), f.MD5)
	}
	return s.show(orEmpty(functions), g.withoutEmptyColumns())
}

type functionGet struct {
	Name string `arg:"" completion-predictor:"function" help:"The function's name."`
}

// Run prints the function.
func (c functionGet) Run(ctx context.Context, s *session, api developerAPI) error {
	return s.showFunction(api.GetFunction(ctx, c.Name))
}

// showFunction prints a function, unless there is an error.
func (s *session) showFunction(f *client.Function, err error) error {
	if err != nil {
		return err
	}
	var about grid
	about.addMembers(f, "function=name, state=status.state, md5=md5Hash, created:time, updated:time, upload, "+
		"last good upload=lastGoodUpload")
	addHealth(&about, f.Health)
	switch {
	case f.NoReturn:
		about.add("goes back", "not by itself")
	case !f.ReturnsUntil.IsZero():
		about.add("goes back", fmt.Sprintf("to upload %d if runs fail that it passes, until %s", f.LastGoodUpload,
			formatTime(f.ReturnsUntil)))
	}
	if b := f.Returned; b != nil {
		about.add("went back", fmt.Sprintf("from upload %d to %d at %s: %d of %d runs failed, %d of the %d that were "+
			"repeated on upload %d did not: %s", b.From, b.To, formatTime(b.Time), b.Failed, b.Runs, b.Passed, b.Repeated,
			b.To, b.Error))
	}
	addCanary(&about, f)
	return s.show(f, about, tableOf(f.Status.Instances, "instance=name, state"), aboutShadow(f), aboutCanary(f))
}

type functionRestart struct {
	Names []string `arg:"" name:"name" completion-predictor:"function" help:"The functions' names."`
}

// Run schedules the restart. It fails when a function is not restarted.
func (c functionRestart) Run(ctx context.Context, s *session, api developerAPI) error {
	results, err := api.RestartFunctions(ctx, c.Names...)
	if err != nil {
		return err
	}
	var failed []string
	for _, r := range results {
		if r.State == client.Failed {
			failed = append(failed, r.Name)
		}
	}
	if err := s.show(results, tableOf(results, "name, state")); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("not restarted: %s", strings.Join(failed, ", "))
	}
	return nil
}

type functionDelete struct {
	Name   string `arg:"" completion-predictor:"function" help:"The function's name."`
	DryRun bool   `help:"Only say what would be deleted, and which configs use it."`
}

// Run deletes the function. It succeeds when there is none.
func (c functionDelete) Run(ctx context.Context, s *session, api developerAPI) error {
	_, err := api.GetFunction(ctx, c.Name)
	if err == nil && c.DryRun {
		return c.try(ctx, s, api)
	}
	if err == nil {
		err = api.DeleteFunction(ctx, c.Name)
	}
	return s.showDeletion("function", c.Name, err)
}

// try says what would be deleted, and which configs use it.
func (c functionDelete) try(ctx context.Context, s *session, api developerAPI) error {
	configs, err := api.ListConfigs(ctx)
	if err != nil {
		return err
	}
	users := []string{}
	for _, config := range configs {
		if config.Function == c.Name {
			users = append(users, config.ID)
		}
	}
	s.note("nothing was deleted")
	var g grid
	g.add("would delete", c.Name)
	g.add("used by configs", strings.Join(users, " "))
	return s.show(map[string]any{"wouldDelete": c.Name, "configs": users}, g)
}

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
