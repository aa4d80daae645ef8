package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/chaos/player"
)

// studio changes the configs and functions of a project.
type studio struct {
	project   string
	configs   api
	functions api
	journal   *history.Journal
	random    *rand.Rand
	made      *artefacts
	// generation is that of the settings that were put last.
	generation int64
}

// enemyConfig is the config whose function misbehaves.
const enemyConfig = "enemy"

// changed are the configs that come and go.
var changed = []string{string(lane.Hosted), string(lane.Free), string(lane.Games), string(lane.Asked)}

// misbehaviours are what the enemy does.
var misbehaviours = []string{"spin", "panic", "eat", "twice", "shout"}

func newStudio(s *system, project string, journal *history.Journal, random *rand.Rand) (*studio, error) {
	configs, err := s.api(project, "config", studioClaims)
	if err != nil {
		return nil, err
	}
	functions, err := s.api(project, "registry", studioClaims)
	return &studio{project: project, configs: configs, functions: functions, journal: journal, random: random,
		made: s.made}, err
}

// open uploads the functions and puts the configs.
func (s *studio) open(ctx context.Context) error {
	last := s.made.editions[len(s.made.editions)-1]
	if err := s.upload(ctx, lane.FunctionOf(changed[0]), last); err != nil { // so that it can go back
		return err
	}
	for _, config := range append(slices.Clone(changed), enemyConfig) {
		if err := s.upload(ctx, lane.FunctionOf(config), s.made.editions[0]); err != nil {
			return err
		}
		if err := s.put(ctx, config); err != nil {
			return err
		}
	}
	// A short run may see no other one.
	return s.ask(ctx, history.Change{Op: history.Canary, Name: lane.FunctionOf(changed[0])},
		func(ctx context.Context, c *history.Change) error {
			_, err := s.functions.any().CanaryFunction(ctx, c.Name, canaryOf(1))
			return err
		})
}

// canaryOf begins a canary of an upload, for some seconds.
func canaryOf(upload int64) client.CanaryRequest {
	return client.CanaryRequest{Version: upload, BlockSeconds: 1, Percent: 50, DeadlineSeconds: 5}
}

// work changes a config or function now and then until ctx ends. When faults ends, all configs are put again.
func (s *studio) work(ctx, after, faults context.Context) error {
	renewed := false
	for pause(ctx, time.Duration((0.3+1.4*s.random.Float64())*float64(changePace))) {
		if faults.Err() != nil && !renewed {
			renewed = true
			if err := s.renew(after); err != nil {
				return err
			}
		}
		config := changed[s.random.IntN(len(changed))]
		var err error
		switch s.random.IntN(12) {
		case 0, 1, 2, 3:
			err = s.put(after, config)
		case 4, 5, 6:
			if err = s.delete(after, config); err == nil {
				pause(ctx, time.Duration(s.random.IntN(600))*time.Millisecond)
				err = s.put(after, config)
			}
		case 7, 8:
			err = s.put(after, enemyConfig)
		case 9:
			err = s.upload(after, lane.FunctionOf(config), s.made.editions[s.random.IntN(len(s.made.editions))])
		case 10, 11:
			s.move(after, lane.FunctionOf(changed[0]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// renew puts all configs again. A request without an answer may have taken effect after one that was sent later.
func (s *studio) renew(ctx context.Context) error {
	for _, config := range changed {
		if err := s.put(ctx, config); err != nil {
			return err
		}
	}
	return nil
}

// config makes a config, with a new generation of settings.
func (s *studio) config(name string) client.Config {
	s.generation++
	settings := history.Settings{Config: name, Generation: s.generation, Fills: name == string(lane.Games),
		Hosted: name == string(lane.Hosted) || name == string(lane.Asked)}
	pool := name
	if name == enemyConfig {
		settings.How, pool = misbehaviours[s.random.IntN(len(misbehaviours))], string(lane.Prey)
	}
	text, _ := json.Marshal(settings) // no value of it fails
	one := 1.0
	c := client.Config{
		Matchmaking: client.Matchmaking{Name: name, TargetFunction: client.FunctionTarget{Name: lane.FunctionOf(name),
			Version: "1"}, Config: text},
		Pools: map[string][]client.PoolFilter{"all": {{Attribute: pool, Min: &one, Max: &one}}},
	}
	if name == string(lane.Asked) || name == string(lane.Games) && s.generation%2 == 0 {
		c.Acceptance = &client.AcceptanceRule{Seconds: 3}
	}
	if settings.Hosted {
		c.Hosting = &client.Hosting{Profile: "duel", FleetID: "chaos"}
	}
	return c
}

// put puts a config.
func (s *studio) put(ctx context.Context, name string) error {
	return s.ask(ctx, history.Change{Op: history.Put, Name: name}, func(ctx context.Context, c *history.Change) error {
		config := s.config(name)
		c.Generation = s.generation
		etag, err := s.configs.any().PutConfig(ctx, name, config, "")
		if err == nil {
			c.Revision, err = strconv.ParseInt(strings.Trim(etag, `"`), 10, 64)
		}
		return err
	})
}

func (s *studio) delete(ctx context.Context, name string) error {
	return s.ask(ctx, history.Change{Op: history.Delete, Name: name}, func(ctx context.Context, _ *history.Change) error {
		return s.configs.any().DeleteConfig(ctx, name)
	})
}

// upload uploads a function.
func (s *studio) upload(ctx context.Context, name, archive string) error {
	text, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	c := history.Change{Op: history.Upload, Name: name, Edition: 1 + slices.Index(s.made.editions, archive)}
	return s.ask(ctx, c, func(ctx context.Context, _ *history.Change) error {
		return s.functions.any().PutFunction(ctx, name, "", bytes.NewReader(text))
	})
}

// move lets another upload run that is kept: from now on, or in half of the next seconds. It tries once: there may be a
// canary already. Uploads are refused until it ended.
func (s *studio) move(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c := history.Change{Project: s.project, Name: name}
	versions, err := s.functions.any().GetFunctionVersions(ctx, name)
	if err != nil {
		return
	}
	versions = slices.DeleteFunc(versions, func(v client.FunctionVersion) bool { return v.Current })
	if len(versions) == 0 {
		return
	}
	to := versions[s.random.IntN(len(versions))].Version
	c.From = history.Now()
	if s.random.IntN(2) == 0 {
		c.Op = history.Rollback
		_, err = s.functions.any().RollbackFunction(ctx, c.Name, to)
	} else {
		c.Op = history.Canary
		_, err = s.functions.any().CanaryFunction(ctx, c.Name, canaryOf(to))
	}
	c.To = history.Now()
	c.Status, c.Error = player.Answer(err, http.StatusOK)
	s.journal.Change(c)
}

// ask repeats a request until it succeeds.
func (s *studio) ask(ctx context.Context, c history.Change, do func(context.Context, *history.Change) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	c.Project = s.project
	for {
		patience := requestTime
		if c.Op == history.Upload {
			patience = uploadTime
		}
		one, cancel := context.WithTimeout(ctx, patience)
		c.From = history.Now()
		err := do(one, &c)
		c.To = history.Now()
		cancel()
		c.Status, c.Error = player.Answer(err, http.StatusOK)
		s.journal.Change(c)
		switch {
		case c.Status == http.StatusOK:
			return nil
		case !pause(ctx, retryAfter()):
			return fmt.Errorf("%s of %s: %w", c.Op, c.Name, errors.Join(err, context.Cause(ctx)))
		}
	}
}
