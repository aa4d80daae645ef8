package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/services/cmd/mm/format"
)

type configCheck struct {
	configFile
	ID string `placeholder:"ID" completion-predictor:"config" help:"Check whether the file can replace this config; default: whether it can be created."`
}

// Run checks the file.
func (c configCheck) Run(ctx context.Context, s *session, config configText, api developerAPI) error {
	return s.checkConfig(ctx, api.Client, c.ID, []byte(config), "")
}

// checkConfig has the service check a config, and shows what it found.
func (s *session) checkConfig(ctx context.Context, api *client.Client, id string, config json.RawMessage,
	etag string) error {
	checked, err := api.CheckConfig(ctx, id, config, etag)
	if err != nil {
		s.noteRules(config)
		return err
	}
	s.warn(checked.Warnings)
	s.noteVersion(config)
	would := "replace the config"
	if checked.Creates {
		would = "create a config"
	}
	var g grid
	g.add("checked", "it would "+would)
	return s.show(checked, g)
}

// noteVersion says that the version of a function does nothing, where it looks as if it did.
func (s *session) noteVersion(config json.RawMessage) {
	var c client.Config
	if json.Unmarshal(config, &c) != nil {
		return
	}
	if f := c.Matchmaking.TargetFunction; f.Version != "" && f.Upload == 0 {
		s.note("matchmaking.targetFunction.version does nothing: the upload that the function runs is used. To stay with " +
			"one, name it in matchmaking.targetFunction.upload")
	}
}

// noteRules says what to do with a refused file that is a rule set instead of a config.
func (s *session) noteRules(file json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(file, &members) != nil || members["matchmaking"] != nil {
		return
	}
	is := members["teams"] != nil || dialects.Guess(file) != ""
	for _, language := range dialects.Languages() {
		is = is || members[language] != nil
	}
	if is {
		s.note(`the file seems to be a rule set, which is the settings of a config: ` +
			`{"matchmaking": {"targetFunction": {"name": "rules"}, "config": RULES}}`)
	}
}

// mostChecked is how many configs of a function are checked when it changes.
const mostChecked = 16

// checkConfigsOf has the configs checked that use a function, now that another upload of it runs, and notes what is
// wrong. The upload stays: to rename a setting, the function or the config has to change first.
func (s *session) checkConfigsOf(ctx context.Context, api *client.Client, function string) {
	configs, err := api.ListConfigs(ctx)
	if err != nil {
		s.note("the configs that use it were not checked: %s", s.errorText(err))
		return
	}
	checked := 0
	for _, c := range configs {
		if c.Function != function {
			continue
		}
		if checked == mostChecked {
			s.note("warning: only %d of the configs that use it were checked", mostChecked)
			return
		}
		checked++
		stored, err := api.GetConfig(ctx, c.ID)
		switch {
		case client.IsNotFound(err): // it was deleted meanwhile
		case err != nil:
			s.note("config %s was not checked: %s", c.ID, s.errorText(err))
		default:
			s.checkStored(ctx, api, c.ID, stored.JSON)
		}
	}
}

// checkStored notes what is wrong with a config that is stored.
func (s *session) checkStored(ctx context.Context, api *client.Client, id string, config json.RawMessage) {
	result, err := api.CheckConfig(ctx, id, config, "")
	if refused, ok := errors.AsType[*client.Error](err); ok && len(refused.Validation) > 0 {
		result.Warnings, err = refused.Validation, nil
	}
	if err != nil {
		s.note("config %s was not checked: %s", id, s.errorText(err))
		return
	}
	for _, w := range result.Warnings {
		s.note("warning: config %s: %s: %s", id, w.ResultCode, w.Message)
	}
}

type configTry struct {
	ID string `arg:"" name:"id" completion-predictor:"config" help:"The config that it would replace; there may be none."`
	configFile
}

// tried is the result of "mm config try", with the fields of the JSON.
type tried struct {
	*client.Simulation
	Numbers []client.SimulationNumber `json:"numbers"`
}

// Run plays the file. It has no deadline: --timeout is for single requests.
func (c configTry) Run(ctx untimed, s *session, config configText, api developerAPI) error {
	bar := s.startProgress("playing the last hour", 0)
	defer bar.stop()
	one, err := api.TryConfig(ctx, c.ID, []byte(config), func(share float64) {
		bar.setMessage(fmt.Sprintf("playing the last hour: %.0f %%", 100*share))
	})
	bar.stop()
	switch {
	case err != nil:
		s.noteRules([]byte(config))
		return err
	case one.Error != "":
		if !one.RecordedSince.IsZero() {
			s.note("a runner knows tickets since %s", one.RecordedSince.Local().Format("15:04:05"))
		}
		return errors.New("it was not played: " + one.Error)
	}
	s.note("played the tickets that came from %s to %s", one.RecordedSince.Local().Format("15:04:05"),
		one.PlayedUntil.Local().Format("15:04:05"))
	g := grid{head: []any{"", "present", "tried"}}
	for _, n := range one.Numbers() {
		g.add(n.Name, numberOf(n.Present, n.Unit), numberOf(n.Tried, n.Unit))
	}
	return s.show(tried{one, one.Numbers()}, g)
}

// numberOf writes a number with its unit; empty if there is none.
func numberOf(n *float64, unit string) string {
	switch {
	case n == nil:
		return ""
	case unit == "":
		return format.Number(*n)
	}
	return format.Number(*n) + " " + unit
}
