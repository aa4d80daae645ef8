package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/chaos/player"
)

// studio changes the configs of a project.
type studio struct {
	project string
	configs *client.Client
	journal *history.Journal
	random  *rand.Rand
	// generation is that of the settings that were put last.
	generation int64
}

// enemyConfig is the config whose function misbehaves.
const enemyConfig = "enemy"

// configs are those of each project.
var configs = []string{string(lane.Hosted), string(lane.Free), string(lane.Games), string(lane.Asked), enemyConfig}

// functionOf is the function of a config.
func functionOf(config string) string { return config + "-function" }

// misbehaviours are what the enemy does.
var misbehaviours = []string{"spin", "panic", "eat", "twice", "shout"}

// open puts the configs.
func (s *studio) open(ctx context.Context) error {
	for _, config := range configs {
		if err := s.put(ctx, config); err != nil {
			return err
		}
	}
	return nil
}

// work changes a config now and then until ctx ends. When faults ends, all configs are put again.
func (s *studio) work(ctx, after, faults context.Context) error {
	renewed := false
	for pause(ctx, time.Duration((0.3+1.4*s.random.Float64())*float64(changePace))) {
		if faults.Err() != nil && !renewed {
			renewed = true
			if err := s.renew(after); err != nil {
				return err
			}
		}
		config := configs[s.random.IntN(4)]
		var err error
		switch s.random.IntN(6) {
		case 0, 1:
			err = s.put(after, config)
		case 5:
			err = s.settle(after)
		case 2, 3:
			if err = s.delete(after, config); err == nil {
				pause(ctx, time.Duration(s.random.IntN(600))*time.Millisecond)
				err = s.put(after, config)
			}
		default:
			err = s.put(after, enemyConfig)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle puts settings of the project. They keep no player of a crowd from a match: each has one ticket at a time.
func (s *studio) settle(ctx context.Context) error {
	var settings client.ProjectSettings
	if s.random.IntN(3) > 0 {
		settings.Tickets = &client.TicketRules{Listed: true}
	}
	if s.random.IntN(2) == 0 {
		settings.Tickets = &client.TicketRules{PerPlayer: &client.PerPlayer{Limit: 1, WhenReached: "refuse"}}
	}
	if s.random.IntN(2) == 0 {
		settings.Acceptance = &client.AcceptanceRules{Pause: &client.Pause{Seconds: 1, MaxSeconds: 4}}
	}
	ctx, cancel := context.WithTimeout(as(ctx, "studio"), restTime)
	defer cancel()
	for {
		one, cancel := context.WithTimeout(ctx, requestTime)
		_, err := s.configs.PutSettings(one, settings, "")
		cancel()
		if err == nil {
			return nil
		}
		if !pause(ctx, retryAfter(s.random)) {
			return fmt.Errorf("putting settings: %w", err)
		}
	}
}

// renew puts all configs again. A request without an answer may have taken effect after one that was sent later.
func (s *studio) renew(ctx context.Context) error {
	for _, config := range configs[:4] {
		if err := s.put(ctx, config); err != nil {
			return err
		}
	}
	return nil
}

// config makes a config, with a new generation of settings.
func (s *studio) config(name string) client.Config {
	s.generation++
	made := history.Settings{
		Config: name, Generation: s.generation, Fills: name == string(lane.Games),
		Hosted: name == string(lane.Hosted) || name == string(lane.Asked),
	}
	pool := name
	if name == enemyConfig {
		made.How, pool = misbehaviours[s.random.IntN(len(misbehaviours))], string(lane.Prey)
	}
	text, _ := json.Marshal(made) // no value of it fails
	one := 1.0
	c := client.Config{
		Matchmaking: client.Matchmaking{
			Name: name, TargetFunction: &client.FunctionTarget{Name: functionOf(name), Version: "1"}, Config: text,
		},
		Pools: map[string][]client.PoolFilter{"all": {{Attribute: pool, Min: &one, Max: &one}}},
	}
	if name == string(lane.Asked) || name == string(lane.Games) && s.generation%2 == 0 {
		c.Acceptance = &client.AcceptanceRule{Seconds: 3}
	}
	if made.Hosted {
		c.Hosting = &client.Hosting{Profile: "duel", FleetID: "simulated"}
	}
	return c
}

// put puts a config.
func (s *studio) put(ctx context.Context, name string) error {
	return s.ask(ctx, history.Change{Op: history.Put, Name: name}, func(ctx context.Context, c *history.Change) error {
		config := s.config(name)
		c.Generation = s.generation
		etag, err := s.configs.PutConfig(ctx, name, config, "")
		if err == nil {
			c.Revision, err = strconv.ParseInt(strings.Trim(etag, `"`), 10, 64)
		}
		return err
	})
}

func (s *studio) delete(ctx context.Context, name string) error {
	return s.ask(ctx, history.Change{Op: history.Delete, Name: name}, func(ctx context.Context, _ *history.Change) error {
		return s.configs.DeleteConfig(ctx, name)
	})
}

// ask repeats a request until it succeeds.
func (s *studio) ask(ctx context.Context, c history.Change, do func(context.Context, *history.Change) error) error {
	ctx, cancel := context.WithTimeout(as(ctx, "studio"), restTime)
	defer cancel()
	c.Project = s.project
	for {
		one, cancel := context.WithTimeout(ctx, requestTime)
		c.From = history.Now()
		err := do(one, &c)
		c.To = history.Now()
		cancel()
		c.Status, c.Error = player.Answer(err, http.StatusOK)
		s.journal.Change(c)
		switch {
		case c.Status == http.StatusOK:
			return nil
		case !pause(ctx, retryAfter(s.random)):
			return fmt.Errorf("%s of %s: %w", c.Op, c.Name, errors.Join(err, context.Cause(ctx)))
		}
	}
}
