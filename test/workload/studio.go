package workload

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
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
)

// Enemy is the config whose function misbehaves.
const Enemy = "enemy"

// misbehaviours are what the enemy does.
var misbehaviours = []string{"spin", "panic", "eat", "twice", "shout"}

// Studio changes the configs of a project, and what Step does.
type Studio struct {
	Clients
	Random *rand.Rand
	// Good are the configs whose functions do as they should. They come and go.
	Good []string
	// Pace is the time from one change to the next, on average.
	Pace time.Duration
	// Step makes a change, of a config it may be. renewed: there are no faults any more. It returns ErrSettled when all
	// is to stay as it is.
	Step func(ctx context.Context, config string, renewed bool) error
	// Vary changes a config and its settings; may be nil.
	Vary func(c *client.Config, s *history.Settings)
	// generation is the generation of the settings that were put last.
	generation int64
	settled    bool
}

// ErrSettled ends the changes of a studio.
var ErrSettled = errors.New("all configs are in place and stay")

const (
	// uploadTime is how long the answer to an upload may take, which comes after the module was compiled.
	uploadTime = time.Minute
	// askTime is how long a studio repeats a request.
	askTime = 4 * time.Minute
)

// work makes changes until ctx ends, as long as after lasts. When faults ends, all configs are put again.
func (s *Studio) work(ctx, after, faults context.Context) error {
	renewed := false
	for wait.For(ctx, time.Duration((0.3+1.4*s.Random.Float64())*float64(s.Pace))) == nil {
		if faults.Err() != nil && !renewed {
			renewed = true
			if err := s.renew(after); err != nil {
				return err
			}
		}
		err := s.Step(after, s.Good[s.Random.IntN(len(s.Good))], renewed)
		if s.settled = errors.Is(err, ErrSettled); s.settled {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// renew puts all configs again. A request without an answer may have taken effect after one that was sent later.
func (s *Studio) renew(ctx context.Context) error {
	for _, config := range s.Good {
		if err := s.Put(ctx, config); err != nil {
			return err
		}
	}
	return nil
}

// config makes a config, with a new generation of settings.
func (s *Studio) config(name string) client.Config {
	s.generation++
	made := history.Settings{Config: name, Generation: s.generation, Fills: name == string(lane.Games),
		Hosted: name == string(lane.Hosted) || name == string(lane.Asked)}
	pool := name
	if name == Enemy {
		made.How, pool = misbehaviours[s.Random.IntN(len(misbehaviours))], string(lane.Prey)
	}
	one := 1.0
	c := client.Config{
		Matchmaking: client.Matchmaking{Name: name, TargetFunction: client.FunctionTarget{Name: lane.FunctionOf(name),
			Version: "1"}},
		Pools: map[string][]client.PoolFilter{"all": {{Attribute: pool, Min: &one, Max: &one}}},
	}
	if name == string(lane.Asked) || name == string(lane.Games) && s.generation%2 == 0 {
		c.Acceptance = &client.AcceptanceRule{Seconds: 3}
	}
	if made.Hosted { // no event says that a result is missing
		c.Hosting, c.Result = &client.Hosting{Profile: "duel", FleetID: name}, &client.ResultRule{Seconds: 3600}
	}
	if s.Vary != nil {
		s.Vary(&c, &made)
	}
	c.Matchmaking.Config, _ = json.Marshal(made) // no value of it fails
	return c
}

// Put puts a config.
func (s *Studio) Put(ctx context.Context, name string) error {
	return s.Ask(ctx, history.Change{Op: history.Put, Name: name}, func(ctx context.Context, c *history.Change) error {
		config := s.config(name)
		c.Generation = s.generation
		etag, err := s.Configs().PutConfig(ctx, name, config, "")
		if err == nil {
			c.Revision, err = strconv.ParseInt(strings.Trim(etag, `"`), 10, 64)
		}
		return err
	})
}

// Delete deletes a config.
func (s *Studio) Delete(ctx context.Context, name string) error {
	return s.Ask(ctx, history.Change{Op: history.Delete, Name: name}, func(ctx context.Context, _ *history.Change) error {
		return s.Configs().DeleteConfig(ctx, name)
	})
}

// Ask repeats a request until it succeeds.
func (s *Studio) Ask(ctx context.Context, c history.Change, do func(context.Context, *history.Change) error) error {
	ctx, cancel := context.WithTimeout(s.named(ctx, "studio"), askTime)
	defer cancel()
	c.Project = s.Project
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
		c.Status, c.Error = Answer(err, http.StatusOK)
		s.Journal.Change(c)
		switch {
		case c.Status == http.StatusOK:
			return nil
		case wait.For(ctx, RetryAfter(s.Random)) != nil:
			return fmt.Errorf("%s of %s: %w", c.Op, c.Name, errors.Join(err, context.Cause(ctx)))
		}
	}
}
