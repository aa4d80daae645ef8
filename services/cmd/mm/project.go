package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"matchmaker.dev/services/cmd/mm/format"
)

type projectCommands struct {
	Settings settingsCommands `cmd:"" help:"Read and change what the project asks of the service."`
}

type settingsCommands struct {
	Get     settingsGet     `cmd:"" default:"1" help:"Print the settings."`
	Set     settingsSet     `cmd:"" help:"Replace all settings; they apply at once."`
	History settingsHistory `cmd:"" help:"Print the latest changes." example:"project settings history"`
}

type settingsGet struct{}

func (settingsGet) Help() string {
	return `Examples:

    mm project settings
    mm project settings get -o json > settings.json`
}

// Run prints the settings.
func (settingsGet) Run(ctx context.Context, s *session, api developerAPI) error {
	settings, err := api.GetSettings(ctx)
	if err != nil {
		return err
	}
	var g grid
	g.add("etag", settings.ETag)
	addSettings(&g, settings.JSON)
	return s.show(settings.JSON, g)
}

// addSettings adds a row for each section.
func addSettings(g *grid, settings json.RawMessage) {
	var sections map[string]json.RawMessage
	if json.Unmarshal(settings, &sections) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		g.add(name, format.JSON(sections[name]))
	}
}

type settingsSet struct {
	File    string `arg:"" completion-predictor:"file" help:"JSON file, or - for standard input."`
	IfMatch string `placeholder:"ETAG" help:"Replace only the settings that have this ETag."`
}

func (settingsSet) Help() string {
	return `What the file does not have gets its default. docs/settings.md explains all settings.

Examples:

    mm project settings set settings.json
    mm project settings -o json | jq '.attributes.skill = {"setBy":"service"}' | mm project settings set -`
}

// Run replaces the settings.
func (c settingsSet) Run(ctx context.Context, s *session) error {
	settings, err := s.readJSON(c.File)
	if err != nil {
		return err
	}
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	etag, err := api.PutSettingsJSON(ctx, settings, c.IfMatch)
	if err != nil {
		return err
	}
	return s.showID("etag", "etag", etag)
}

type settingsHistory struct{}

// Run prints the history.
func (settingsHistory) Run(ctx context.Context, s *session, api developerAPI) error {
	changes, err := api.SettingsHistory(ctx)
	if err != nil {
		return err
	}
	g := grid{head: []any{"changed", "by", "etag", "settings"}}
	for _, c := range changes {
		g.add(formatTime(c.Changed.Truncate(time.Second)), c.By, c.ETag, format.JSON(c.Settings))
	}
	return s.show(changes, g)
}
