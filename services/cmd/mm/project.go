package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type projectCommands struct {
	Settings settingsCommands `cmd:"" help:"Read and change what the project asks of the service."`
}

type settingsCommands struct {
	Get     settingsGet     `cmd:"" default:"1" help:"Print the settings."`
	Set     settingsSet     `cmd:"" help:"Replace all settings; they apply at once."`
	History settingsHistory `cmd:"" help:"Print the latest changes."`
}

type settingsGet struct{}

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

// Run replaces the settings.
func (c settingsSet) Run(ctx context.Context, s *session, api developerAPI) error {
	settings, err := s.readJSON(c.File)
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
	return showList[client.SettingsChange](s, "changed:time, by, etag, settings")(api.SettingsHistory(ctx))
}
