package client

import (
	"context"
	"encoding/json"
	"time"
)

// SimulationRuns is the state of a simulation that has not ended.
const SimulationRuns = "running"

// simulationPause is how often a simulation is read.
const simulationPause = time.Second

// TryConfig plays a config on the tickets of the last hour instead of the one with that id, and returns when that has
// ended. progress is told from 0 to 1; it may be nil. The state says whether it failed.
func (c *Client) TryConfig(ctx context.Context, id string, config json.RawMessage, progress func(share float64),
) (*Simulation, error) {
	s, err := c.StartSimulation(ctx, StartSimulation{ID: id, Config: config})
	for err == nil && s.State == SimulationRuns {
		if progress != nil {
			progress(s.Progress)
		}
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-time.After(simulationPause):
			s, err = c.GetSimulation(ctx, s.ID)
		}
	}
	return s, err
}

// Wait returns how long at most a share of the matched tickets waited, in seconds; nil if none is matched.
func (s *SimulatedConfig) Wait(share float64) *float64 {
	if len(s.Waits) == 0 {
		return nil
	}
	return &s.Waits[min(max(int(share*float64(len(s.Waits)-1)+0.5), 0), len(s.Waits)-1)]
}

// SimulationNumber is a number of the two configs of a simulation. Present or Tried is nil where there is none.
type SimulationNumber struct {
	Name string `json:"name"`
	// Unit is s, % or empty.
	Unit    string   `json:"unit,omitempty"`
	Present *float64 `json:"present,omitempty"`
	Tried   *float64 `json:"tried,omitempty"`
}

// Numbers are what people compare, once the simulation has a result.
func (s *Simulation) Numbers() (all []SimulationNumber) {
	add := func(name, unit string, of func(s *SimulatedConfig) *float64) {
		n := SimulationNumber{Name: name, Unit: unit}
		if s.Present != nil {
			n.Present = of(s.Present)
		}
		if s.Alternative != nil {
			n.Tried = of(s.Alternative)
		}
		all = append(all, n)
	}
	count := func(name string, of func(s *SimulatedConfig) int64) {
		add(name, "", func(s *SimulatedConfig) *float64 { return new(float64(of(s))) })
	}
	share := func(name string, of func(s *SimulatedConfig) int64) {
		add(name, "%", func(s *SimulatedConfig) *float64 { return new(100 * float64(of(s)) / float64(max(s.Tickets, 1))) })
	}
	count("tickets", func(s *SimulatedConfig) int64 { return s.Tickets })
	count("matches", func(s *SimulatedConfig) int64 { return s.Matches })
	share("in a match", func(s *SimulatedConfig) int64 { return s.Matched })
	share("left before", func(s *SimulatedConfig) int64 { return s.Left })
	share("got an error", func(s *SimulatedConfig) int64 { return s.Failed })
	share("wait at the end", func(s *SimulatedConfig) int64 { return s.Waiting })
	add("wait p50", "s", func(s *SimulatedConfig) *float64 { return s.Wait(0.5) })
	add("wait p90", "s", func(s *SimulatedConfig) *float64 { return s.Wait(0.9) })
	seen := map[string]bool{}
	for _, side := range []*SimulatedConfig{s.Alternative, s.Present} {
		if side == nil {
			continue
		}
		for _, m := range side.Measures {
			name := m.Kind + " " + m.Name
			if m.Kind == "wait" || seen[name] {
				continue
			}
			seen[name] = true
			add("mean "+name, "", func(s *SimulatedConfig) *float64 {
				for _, other := range s.Measures {
					if other.Kind == m.Kind && other.Name == m.Name {
						return &other.Mean
					}
				}
				return nil
			})
		}
	}
	return all
}
