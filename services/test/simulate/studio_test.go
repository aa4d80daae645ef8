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
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
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
	// functions is the state, and bus the bus, as the registry sees them.
	functions *state.Store
	bus       port
	// generation is that of the settings that were put last, and edition that of the function.
	generation int64
	edition    int
}

// enemyConfig is the config whose function misbehaves.
const enemyConfig = "enemy"

// configs are those of each project.
var configs = []string{
	string(lane.Hosted), string(lane.Free), string(lane.Games), string(lane.Asked), string(lane.Queued), enemyConfig,
}

// good are those whose functions do as they should.
var good = configs[:len(configs)-1]

// misbehaviours are what the enemy does.
var misbehaviours = []string{"spin", "panic", "eat", "twice", "shout"}

// open puts the configs.
func (s *studio) open(ctx context.Context) error {
	for _, config := range configs {
		if err := s.add(ctx, config); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

// add uploads a function and puts its config.
func (s *studio) add(ctx context.Context, config string) error {
	if err := s.upload(ctx, config); err != nil {
		return err
	}
	return s.put(ctx, config)
}

// work changes a config or a function now and then until ctx ends. When faults ends, all configs are put again.
func (s *studio) work(ctx, after, faults context.Context) error {
	renewed := false
	for pause(ctx, time.Duration((0.3+1.4*s.random.Float64())*float64(changePace))) {
		if faults.Err() != nil && !renewed {
			renewed = true
			if err := s.renew(after); err != nil {
				return err
			}
		}
		config := good[s.random.IntN(len(good))]
		var err error
		switch what := s.random.IntN(11); what {
		case 0, 1:
			err = s.put(after, config)
		case 5, 6, 7:
			err = s.settle(after)
		case 2, 3:
			if s.random.IntN(2) == 0 {
				config = string(lane.Queued)
			}
			if err = s.delete(after, config); err == nil {
				away := 600 * time.Millisecond
				if config == string(lane.Queued) { // its tickets may end meanwhile
					away = 4 * unservedTime
				}
				pause(ctx, time.Duration(s.random.IntN(int(away))))
				err = s.put(after, config)
			}
		case 8, 9, 10:
			if what > 8 && !renewed {
				if err = s.remove(after, config); err == nil {
					pause(ctx, time.Duration(s.random.IntN(int(600*time.Millisecond))))
				}
			}
			if err == nil {
				err = s.upload(after, config)
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

// settle puts settings of the project.
func (s *studio) settle(ctx context.Context) error {
	var settings client.ProjectSettings
	some := func() bool { return s.random.IntN(2) == 0 }
	if s.project == projects[0] || some() {
		settings.Tickets = &client.TicketRules{Listed: some(), EndsTold: some(), RefuseUnserved: some()}
		if some() {
			settings.Tickets.PerPlayer = &client.PerPlayer{Limit: 1}
			if some() {
				settings.Tickets.PerPlayer.WhenReached = "replace"
			}
		}
		if s.project == projects[0] { // for good: the time of silence begins again with each change
			settings.Tickets.Silence = &client.Silence{Seconds: 20}
		}
	}
	if some() {
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
	for _, config := range good {
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
	made.Seats = s.generation%3 > 0
	text, _ := json.Marshal(made) // no value of it fails
	one := 1.0
	c := client.Config{
		Matchmaking: client.Matchmaking{
			Name: name, TargetFunction: client.FunctionTarget{Name: lane.FunctionOf(name), Version: "1"}, Config: text,
		},
		Pools: map[string][]client.PoolFilter{"all": {{Attribute: pool, Min: &one, Max: &one}}},
		Seats: made.Seats,
	}
	if name == string(lane.Asked) || name == string(lane.Games) && s.generation%2 == 0 {
		c.Acceptance = &client.AcceptanceRule{Seconds: 3}
	}
	if name == string(lane.Queued) {
		c.Queue = name
	}
	if name == string(lane.Free) && s.generation%2 == 0 { // two segments, of which all tickets are in one
		least, most := 0.0, 1e6
		c.Pools["all"] = append(c.Pools["all"], client.PoolFilter{Attribute: "number", Min: &least, Max: &most,
			Segmentation: &client.Segmentation{DistributionType: "Uniform", SegmentBehaviorType: "BucketCount", Value: 2}})
	}
	if made.Hosted {
		c.Hosting = &client.Hosting{Profile: "duel", FleetID: name}
		if s.generation%2 == 0 {
			c.Hosting.OnAllocationError = "Requeue"
		}
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

// upload writes another edition of the function of a config into the state, as the registry does.
func (s *studio) upload(ctx context.Context, config string) error {
	s.edition++
	f := &pb.Function{Name: lane.FunctionOf(config), Module: fmt.Sprint(s.edition, ".wasm"), Version: int64(s.edition),
		Generation: int64(s.edition)}
	if config == string(lane.Free) {
		f.Module = keeps + f.Module
	}
	c := history.Change{Op: history.Upload, Name: f.Name, Edition: s.edition, Version: f.Version}
	return s.ask(ctx, c, func(ctx context.Context, _ *history.Change) error {
		if err := s.functions.NoteModule(ctx, s.project, f.Module); err != nil {
			return err
		}
		return s.change(ctx, f.Name, f)
	})
}

func (s *studio) remove(ctx context.Context, config string) error {
	c := history.Change{Op: history.Remove, Name: lane.FunctionOf(config)}
	return s.ask(ctx, c, func(ctx context.Context, c *history.Change) error { return s.change(ctx, c.Name, nil) })
}

// change writes a function, or deletes it when that is nil.
func (s *studio) change(ctx context.Context, name string, f *pb.Function) error {
	err := s.functions.ChangeFunction(ctx, s.project, name, func(*pb.Function) (*pb.Function, error) { return f, nil })
	if err == nil {
		s.bus.Poke(ctx, s.project, &pb.Poke{Functions: true})
	}
	return err
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
