package main

import (
	"errors"
	"fmt"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

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
