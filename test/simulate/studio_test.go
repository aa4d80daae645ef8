package simulate

import (
	"context"
	"fmt"
	"time"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/workload"
)

// studio changes the configs of a project, and its functions in the state.
type studio struct {
	*workload.Studio
	// functions is the state, and bus the bus, as the registry sees them.
	functions *state.Store
	bus       port
	// edition is the edition of the function.
	edition int
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
	switch what := s.Random.IntN(11); what {
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
	default:
		return s.Put(ctx, workload.Enemy)
	}
}

// settle puts settings of the project.
func (s *studio) settle(ctx context.Context) error {
	var settings client.ProjectSettings
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
	for {
		one, cancel := context.WithTimeout(ctx, 10*time.Second)
		_, err := s.Configs().PutSettings(one, settings, "")
		cancel()
		if err == nil {
			return nil
		}
		if !pause(ctx, workload.RetryAfter(s.Random)) {
			return fmt.Errorf("putting settings: %w", err)
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

// upload writes another edition of the function of a config into the state, as the registry does.
func (s *studio) upload(ctx context.Context, config string) error {
	s.edition++
	f := &pb.Function{Name: lane.FunctionOf(config), Module: fmt.Sprint(s.edition, ".wasm"), Version: int64(s.edition),
		Generation: int64(s.edition)}
	if config == string(lane.Free) {
		f.Module = keeps + f.Module
	}
	c := history.Change{Op: history.Upload, Name: f.Name, Edition: s.edition, Version: f.Version}
	return s.Ask(ctx, c, func(ctx context.Context, _ *history.Change) error {
		if err := s.functions.NoteModule(ctx, s.Project, f.Module); err != nil {
			return err
		}
		return s.change(ctx, f.Name, f)
	})
}

func (s *studio) remove(ctx context.Context, config string) error {
	c := history.Change{Op: history.Remove, Name: lane.FunctionOf(config)}
	return s.Ask(ctx, c, func(ctx context.Context, c *history.Change) error { return s.change(ctx, c.Name, nil) })
}

// change writes a function, or deletes it when that is nil.
func (s *studio) change(ctx context.Context, name string, f *pb.Function) error {
	err := s.functions.ChangeFunction(ctx, s.Project, name, func(*pb.Function) (*pb.Function, error) { return f, nil })
	if err == nil {
		s.bus.Poke(ctx, s.Project, &pb.Poke{Functions: true})
	}
	return err
}
