package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/workload"
)

// studio changes the configs and functions of a project.
type studio struct {
	*workload.Studio
	// functions is the state, for what no service does.
	functions *state.Store
	registry  *client.Client
	// edition is the latest edition of the function, and kept are the uploads of each function whose numbers are known.
	edition int
	kept    map[string][]upload
	// fail notes a fault of the world.
	fail func(format string, args ...any)
	// calm is how many steps were after the last fault, and spoiled whether a function went back by itself.
	calm    int
	spoiled bool
}

// upload is one of a function.
type upload struct {
	edition int
	version int64
}

// configs are the configs of each project.
var configs = []string{
	string(lane.Hosted), string(lane.Free), string(lane.Games), string(lane.Asked), string(lane.Queued), workload.Enemy,
}

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
	return s.Put(ctx, config)
}

// step changes a config or a function.
func (s *studio) step(ctx context.Context, config string, renewed bool) (err error) {
	if renewed {
		if s.calm == 0 {
			if err := s.restore(ctx); err != nil {
				return err
			}
		}
		if s.calm++; s.calm > 3 { // what waits now gets no help from a change
			return workload.ErrSettled
		}
		if !s.spoiled {
			return s.spoil(ctx, string(lane.Hosted))
		}
	}
	switch what := s.Random.IntN(16); what {
	case 0, 1:
		return s.Put(ctx, config)
	case 5, 6, 7:
		return s.settle(ctx)
	case 2, 3:
		if s.Random.IntN(2) == 0 {
			config = string(lane.Queued)
		}
		if err = s.Delete(ctx, config); err == nil {
			away := 600 * time.Millisecond
			if config == string(lane.Queued) { // its tickets may end meanwhile
				away = 4 * unservedTime
			}
			pause(ctx, time.Duration(s.Random.IntN(int(away))))
			err = s.Put(ctx, config)
		}
		return err
	case 8, 9, 10:
		if what > 8 && !renewed {
			if err = s.remove(ctx, config); err == nil {
				pause(ctx, time.Duration(s.Random.IntN(int(600*time.Millisecond))))
			}
		}
		if err == nil {
			err = s.upload(ctx, config)
		}
		return err
	case 11, 12, 13, 14, 15:
		return s.move(ctx, config)
	default:
		return s.Put(ctx, workload.Enemy)
	}
}

// restore uploads the functions that are lost: a replica that took over may lack an upload that was answered.
func (s *studio) restore(ctx context.Context) error {
	for _, config := range s.Good {
		missing := false
		err := ask(as(ctx, "studio"), s.Random, func(ctx context.Context) error {
			_, err := s.registry.GetFunction(ctx, lane.FunctionOf(config))
			if missing = client.Status(err) == http.StatusNotFound; missing {
				return nil
			}
			return err
		})
		if missing {
			err = s.upload(ctx, config)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle puts settings of the project.
func (s *studio) settle(ctx context.Context) error {
	settings := workload.Counted()
	some := func() bool { return s.Random.IntN(2) == 0 }
	if s.Project == projects[0] || some() {
		settings.Tickets = &client.TicketRules{Listed: some(), EndsTold: some(), RefuseUnserved: some()}
		if some() {
			settings.Tickets.PerPlayer = &client.PerPlayer{Limit: 1}
			if some() {
				settings.Tickets.PerPlayer.WhenReached = "replace"
			}
		}
		if s.Project == projects[0] { // for good: the time of silence begins again with each change
			settings.Tickets.Silence = &client.Silence{Seconds: 20}
		}
	}
	if some() {
		settings.Acceptance = &client.AcceptanceRules{Pause: &client.Pause{Seconds: 1, MaxSeconds: 4}}
	}
	ctx, cancel := context.WithTimeout(as(ctx, "studio"), restTime)
	defer cancel()
	err := ask(ctx, s.Random, func(ctx context.Context) error {
		_, err := s.Configs().PutSettings(ctx, settings, "")
		return err
	})
	if err != nil {
		return fmt.Errorf("putting settings: %w", err)
	}
	return nil
}

// ask repeats a request until it succeeds, or ctx ends.
func ask(ctx context.Context, random *rand.Rand, do func(context.Context) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := do(one)
		cancel()
		if err == nil || !pause(ctx, workload.RetryAfter(random)) {
			return err
		}
	}
}

// vary makes configs with seats, queues, segments and other answers to allocations that fail.
func vary(c *client.Config, made *history.Settings) {
	made.Seats = made.Generation%3 > 0
	c.Seats = made.Seats
	if made.Config == string(lane.Queued) {
		c.Queue = made.Config
	}
	if made.Config == string(lane.Free) && made.Generation%2 == 0 { // two segments, of which all tickets are in one
		least, most := 0.0, 1e6
		c.Pools["all"] = append(c.Pools["all"], client.PoolFilter{Attribute: "number", Min: &least, Max: &most,
			Segmentation: &client.Segmentation{DistributionType: "Uniform", SegmentBehaviorType: "BucketCount", Value: 2}})
	}
	if made.Hosted && made.Generation%2 == 0 {
		c.Hosting.OnAllocationError = "Requeue"
	}
}

// upload uploads another edition of the function of a config.
func (s *studio) upload(ctx context.Context, config string) error {
	s.edition++
	module := moduleOf(s.edition, config == string(lane.Free))
	c := history.Change{Op: history.Upload, Name: lane.FunctionOf(config), Edition: s.edition}
	return s.Ask(ctx, c, func(ctx context.Context, c *history.Change) error {
		if err := s.registry.PutFunction(ctx, c.Name, "", bytes.NewReader(module)); err != nil {
			if client.Status(err) == http.StatusConflict { // while a canary runs
				_, failed := s.registry.CanaryFunction(ctx, c.Name, client.CanaryRequest{})
				err = errors.Join(err, failed)
			}
			return err
		}
		versions, err := s.registry.GetFunctionVersions(ctx, c.Name)
		if err != nil {
			return nil //nolint:nilerr // it is uploaded, and its number is not known
		}
		for _, v := range versions {
			if v.Current {
				c.Version = v.Version
				s.kept[c.Name] = append(s.kept[c.Name], upload{c.Edition, v.Version})
			}
		}
		return nil
	})
}

// spoil uploads an edition that fails, and waits until the function goes back by itself, if it runs one that worked.
func (s *studio) spoil(life context.Context, config string) error {
	name := lane.FunctionOf(config)
	ctx, cancel := context.WithTimeout(as(life, "studio"), returnTime)
	defer cancel()
	runs := func() (client.FunctionVersion, error) {
		versions, err := s.registry.GetFunctionVersions(ctx, name)
		i := slices.IndexFunc(versions, func(v client.FunctionVersion) bool { return v.Current })
		if err != nil || i < 0 {
			return client.FunctionVersion{}, err
		}
		return versions[i], nil
	}
	good, err := runs()
	if err == nil && !good.Worked {
		return nil
	}
	if err == nil {
		_, err = s.registry.CanaryFunction(ctx, name, client.CanaryRequest{})
	}
	c := history.Change{Op: history.Upload, Project: s.Project, Name: name, Status: http.StatusConflict,
		Error: "it fails, and went back"}
	c.From = history.Now()
	if err == nil {
		err = s.registry.PutFunction(ctx, name, "", bytes.NewReader(moduleOf(failing, false)))
	}
	if err != nil { // a request of before came late, or Redis is another one
		return s.upload(life, config)
	}
	s.spoiled = true
	for v := (client.FunctionVersion{}); v.Version != good.Version; {
		pause(ctx, 100*time.Millisecond)
		if v, err = runs(); ctx.Err() != nil {
			s.fail("%s: return: the function %s did not go back to upload %d: %v", s.Project, name, good.Version, err)
			return nil
		}
	}
	c.To = history.Now()
	s.Journal.Change(c)
	return nil
}

func (s *studio) remove(ctx context.Context, config string) error {
	c := history.Change{Op: history.Remove, Name: lane.FunctionOf(config)}
	delete(s.kept, c.Name)
	return s.Ask(ctx, c, func(ctx context.Context, c *history.Change) error {
		return s.registry.DeleteFunction(ctx, c.Name)
	})
}

// returnTime is how long it may take until a function goes back from an upload that fails.
const returnTime = 10 * time.Second

// canaryTime is how long a canary runs.
const canaryTime = 2 * time.Second

// move lets one of the last uploads of a function run: from now on, in half of the next seconds, perhaps for good
// then, or in the shadow. It tries once: the upload may not be kept any more, run already, or find another canary.
func (s *studio) move(ctx context.Context, config string) error {
	name := lane.FunctionOf(config)
	if len(s.kept[name]) < 2 {
		if err := s.upload(ctx, config); err != nil {
			return err
		}
	}
	kept := s.kept[name]
	if len(kept) == 0 {
		return nil
	}
	to := kept[max(0, len(kept)-3):][s.Random.IntN(min(len(kept), 3))]
	once := func(op history.Op, ask func(context.Context) (*client.Function, error)) {
		ctx, cancel := context.WithTimeout(as(ctx, "studio"), 10*time.Second)
		defer cancel()
		c := history.Change{Op: op, Project: s.Project, Name: name, Edition: to.edition, Version: to.version}
		if op == history.Canary {
			c.Lasts = canaryTime
		}
		c.From = history.Now()
		_, err := ask(ctx)
		c.To = history.Now()
		c.Status, c.Error = workload.Answer(err, http.StatusOK)
		s.Journal.Change(c)
	}
	promote := func(ctx context.Context) (*client.Function, error) {
		return s.registry.PromoteFunction(ctx, name, to.version)
	}
	what := s.Random.IntN(6)
	switch what {
	case 0:
		once(history.Rollback, func(ctx context.Context) (*client.Function, error) {
			return s.registry.RollbackFunction(ctx, name, to.version)
		})
		return nil
	case 1:
		once(history.Shadow, func(ctx context.Context) (*client.Function, error) {
			return s.registry.ShadowFunction(ctx, name, to.version)
		})
	default:
		once(history.Canary, func(ctx context.Context) (*client.Function, error) {
			return s.registry.CanaryFunction(ctx, name, client.CanaryRequest{Version: to.version, BlockSeconds: 1, Percent: 50,
				DeadlineSeconds: int64(canaryTime / time.Second)})
		})
	}
	if what < 3 && pause(ctx, time.Duration(s.Random.IntN(int(canaryTime)))) {
		once(history.Promote, promote)
	}
	return nil
}
