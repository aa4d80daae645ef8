package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/services/cmd/mm/format"

	"matchmaker.dev/services/lab"
)

type configCommands struct {
	Create   configCreate   `cmd:"" help:"Create a config with an identifier that the service chooses."`
	Put      configPut      `cmd:"" help:"Create or replace a config; it is used at once."`
	Check    configCheck    `cmd:"" help:"Check a config without storing it."`
	Try      configTry      `cmd:"" help:"Try a config on the tickets of the last hour, without storing it."`
	List     configList     `cmd:"" help:"List the project's configs."`
	Get      configGet      `cmd:"" help:"Print a config."`
	History  configHistory  `cmd:"" help:"Print the changes of a config, with authors and times."`
	Diff     configDiff     `cmd:"" help:"Print what changed in a config, or what a file would change."`
	Rollback configRollback `cmd:"" help:"Make a config what it was before; also one that was deleted."`
	Delete   configDelete   `cmd:"" help:"Delete a config; it makes no more matches."`
}

// configFile is the file of a config, or - for standard input.
type configFile struct {
	File string `arg:"" completion-predictor:"file" help:"JSON file, or - for standard input."`
	lab.Translation
}

type configText []byte

// ProvideConfig is called by the parser.
func (c configFile) ProvideConfig(s *session) (configText, error) {
	return s.readConfig(c.File, c.Translation)
}

type configCreate struct {
	configFile
	DryRun bool `help:"Only check it, as \"mm config check\" does."`
}

// Run stores the config.
func (c configCreate) Run(ctx context.Context, s *session, config configText, api developerAPI) error {
	return configPut{DryRun: c.DryRun}.Run(ctx, s, config, api)
}

type configPut struct {
	ID string `arg:"" name:"id" completion-predictor:"config" help:"The config's identifier."`
	configFile
	IfMatch string `placeholder:"ETAG" help:"Replace only the config that has this ETag."`
	DryRun  bool   `help:"Only check it, as \"mm config check\" does."`
}

// Run stores the config.
func (c configPut) Run(ctx context.Context, s *session, config configText, api developerAPI) error {
	if c.DryRun {
		return s.checkConfig(ctx, api.Client, c.ID, []byte(config), c.IfMatch)
	}
	saved, err := api.SaveConfig(ctx, c.ID, []byte(config), c.IfMatch)
	if err != nil {
		s.noteRules([]byte(config))
		return err
	}
	return s.showSaved(saved)
}

// readText reads a file, or standard input for -, which must not be empty.
func (s *session) readText(file string) (content []byte, err error) {
	if file == stdin {
		content, err = io.ReadAll(s.in)
	} else {
		content, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	if content, err = document.Text(content); err != nil {
		return nil, fmt.Errorf("%s: %w", displayName(file), err)
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return nil, fmt.Errorf("%s: empty", displayName(file))
	}
	return content, nil
}

// readJSON reads a file as readText does. A syntax error has its line and column.
func (s *session) readJSON(file string) ([]byte, error) {
	content, err := s.readText(file)
	if err != nil {
		return nil, err
	}
	file = displayName(file)
	var value jsontext.Value
	// Duplicate names are left to the reader of the value: it can say where they are.
	if err := json.Unmarshal(content, &value, jsontext.AllowDuplicateNames(true)); err != nil {
		bad, ok := errors.AsType[*jsontext.SyntacticError](err)
		if !ok {
			return nil, fmt.Errorf("%s: not JSON: %w", file, err)
		}
		reason := bad.Err.Error()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = "it ends too early"
		}
		line, column := position(content, bad.ByteOffset)
		return nil, fmt.Errorf("%s:%d:%d: not JSON: %s", file, line, column, reason)
	}
	return content, nil
}

// stdin is the file name for standard input.
const stdin = "-"

// displayName returns a file's name for messages.
func displayName(file string) string {
	if file == stdin {
		return "standard input"
	}
	return file
}

// position returns the line and column of an offset, both from 1.
func position(content []byte, offset int64) (line, column int) {
	before := content[:offset]
	return bytes.Count(before, []byte{'\n'}) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

type configList struct{ watchFlag }

// Run prints the list.
func (configList) Run(ctx context.Context, s *session, api developerAPI) error {
	configs, err := api.ListConfigs(ctx)
	if err != nil {
		return err
	}
	if len(configs) == 0 {
		s.note("project %s has no configs: make one with \"mm config put\"", s.Project)
	}
	return s.show(orEmpty(configs), tableOf(configs, "config=id, function, queue, pools, server=hosted, name, etag"))
}

type configGet struct {
	ID     string `arg:"" name:"id" completion-predictor:"config" help:"The config's identifier."`
	Source bool   `help:"Print only the file of another matchmaker that the settings were translated from."`
}

// Run prints the config.
func (c configGet) Run(ctx context.Context, s *session, api developerAPI) error {
	config, err := api.GetConfig(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.Source {
		source, _ := splitSource(config.Matchmaking.Config)
		if source.Document == "" {
			return fmt.Errorf("config %s keeps no file of another matchmaker", c.ID)
		}
		_, err := io.WriteString(s.out, source.Document)
		return err
	}
	if err := s.show(config.JSON, aboutConfig(c.ID, config), poolsOf(config)); err != nil || s.structured() {
		return err
	}
	s.checkStored(ctx, api.Client, c.ID, config.JSON)
	return nil
}

func aboutConfig(id string, c *client.StoredConfig) grid {
	var g grid
	g.add("config", id)
	g.add("etag", c.ETag)
	g.add("name", c.Matchmaking.Name)
	g.add("function", c.Matchmaking.TargetFunction.Name)
	source, settings := splitSource(c.Matchmaking.Config)
	g.add("settings", format.JSON(settings))
	g.add("source", source.Language)
	if c.Seats {
		g.add("seats", "players get seat passes")
	}
	if c.Report != nil {
		g.add("report", strings.Join(append([]string{"waits", "parties"}, c.Report.Attributes...), " "))
	}
	if c.Hosting != nil {
		g.add("fleet", c.Hosting.FleetID)
		g.add("profile", c.Hosting.Profile)
	}
	return g
}

func poolsOf(c *client.StoredConfig) grid {
	g := grid{head: []any{"pool", "attribute", "min", "max", "segments"}}
	for _, name := range slices.Sorted(maps.Keys(c.Pools)) {
		if len(c.Pools[name]) == 0 {
			g.add(name, "(every ticket)")
		}
		for _, f := range c.Pools[name] {
			g.add(name, f.Attribute, bound(f.Min), bound(f.Max), segments(f.Segmentation))
		}
	}
	return g
}

func bound(f *float64) string {
	if f == nil {
		return ""
	}
	return number(*f)
}

// number writes a number without the digits that are there by rounding.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 15, 64) }

func segments(s *client.Segmentation) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %d", s.DistributionType, s.SegmentBehaviorType, s.Value)
}

type configDelete struct {
	ID     string `arg:"" name:"id" completion-predictor:"config" help:"The config's identifier."`
	DryRun bool   `help:"Only say what would be deleted."`
}

// Run deletes the config. It succeeds when there is none.
func (c configDelete) Run(ctx context.Context, s *session, api developerAPI) error {
	config, err := api.GetConfig(ctx, c.ID)
	if err == nil && c.DryRun {
		s.note("nothing was deleted")
		return s.show(map[string]string{"wouldDelete": c.ID}, aboutConfig(c.ID, config))
	}
	if err == nil {
		err = api.DeleteConfig(ctx, c.ID)
	}
	return s.showDeletion("config", c.ID, err)
}
