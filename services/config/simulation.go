package config

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/state"
)

const (
	// simulationWork is the name of the budget of simulations in the state, which all replicas share.
	simulationWork = "simulationwork"
	// simulationLeast is what one is charged at least: each leaves a record.
	simulationLeast = time.Second
	// simulationLimit is for how long one may compute, and simulationTime how long it may take, its turn included.
	simulationLimit = 20 * time.Second
	simulationTime  = 5 * time.Minute
	// maxSimulations is how many one process follows, and projectSimulations how many of them a project has.
	maxSimulations, projectSimulations = 16, 2
	// simulationEvery is how often it is stored how far one is, and simulationLost after how long without that it has
	// failed: its runner, or the process that follows it, is gone.
	simulationEvery = time.Second
	simulationLost  = 15 * time.Second
	// simulationUnread is after how long without a reader one ends.
	simulationUnread = 30 * time.Second
	// sideConfigs is how many configs of a queue play together.
	sideConfigs = 8
)

// The states of a simulation.
const (
	simulationRuns   = "running"
	simulationDone   = "done"
	simulationFailed = "failed"
)

// simulations are those that this process follows.
type simulations struct {
	stopped  chan struct{} // closed when the process stops
	all      sync.WaitGroup
	mu       sync.Mutex
	projects map[string]int // how many each has; nil once the process stops
	running  int
}

// stop ends them, and returns when that is stored.
func (s *simulations) stop() {
	s.mu.Lock()
	s.projects = nil
	s.mu.Unlock()
	close(s.stopped)
	s.all.Wait()
}

// simulationRequest is the body of POST /simulations.
type simulationRequest struct {
	ID     string         `json:"id"`
	Config jsontext.Value `json:"config"`
}

// simulate answers POST /simulations: it begins to play a config on the last hour.
func (s *service) simulate(c echo.Context) error {
	if err := auth.MaySeeProperties(c, s.Store); err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	var asked simulationRequest
	if err := web.Decode(c, &asked); err != nil {
		return err
	}
	if len(asked.Config) == 0 {
		return problem.New(problem.Invalid, "config: missing: the config that is to be tried is expected")
	}
	if reason := idProblem(asked.ID); reason != "" {
		return problem.New(problem.Invalid, "id: %s", reason)
	}
	alternative, keys, err := s.parse(c, asked.ID, asked.Config)
	if err != nil {
		return respondRefused(c, err)
	}
	configs, err := s.Store.Configs(ctx, project)
	if err != nil {
		return err
	}
	r, err := simulationOf(project, alternative, configs)
	if err != nil {
		return err
	}
	if err := s.Store.HasMemory(ctx, project); err != nil {
		return err
	}
	if err := s.simulationBudget().Allow(ctx, project, problem.New(problem.ProjectLimited, "the simulations of this "+
		"project computed for longer than they may: try again later").Exceeds(simulationWork)); err != nil {
		return err
	}
	if err := s.simulations.take(project); err != nil {
		return err.Exceeds("simulations").After(time.Second)
	}
	id, err := uuid.NewV7()
	tried := bodyOf(alternative, masked(keys))
	first := &response.Simulation{ID: id.String(), Config: asked.ID, State: simulationRuns, Tried: &tried}
	if err == nil {
		_, err = s.putSimulation(ctx, project, first)
	}
	if err != nil {
		s.simulations.give(project)
		return err
	}
	answer := *first
	go func() {
		defer s.simulations.give(project)
		s.follow(context.WithoutCancel(ctx), r, first, configs[asked.ID] != nil)
	}()
	c.Response().Header().Set(echo.HeaderLocation, "simulations/"+first.ID)
	return c.JSON(http.StatusAccepted, &answer)
}

// masked masks the keys that are there: what is stored of a simulation is not encrypted.
func masked(keys *definition.HostingKeys) *pb.HostingKeys {
	of := new(pb.HostingKeys)
	if keys != nil && keys.Access != "" {
		of.Access = mask
	}
	if keys != nil && keys.Secret != "" {
		of.Secret = mask
	}
	return of
}

// take takes a place for a simulation of a project.
func (s *simulations) take(project string) *problem.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.projects[project] >= projectSimulations:
		return problem.New(problem.Limited, "%d simulations of this project run: try again when one has ended",
			projectSimulations)
	case s.projects == nil || s.running >= maxSimulations:
		return problem.New(problem.Limited, "too many simulations of all projects run: try again")
	}
	s.projects[project]++
	s.running++
	s.all.Add(1)
	return nil
}

func (s *simulations) give(project string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.projects[project]; n > 1 {
		s.projects[project] = n - 1
	} else {
		delete(s.projects, project)
	}
	s.running--
	s.all.Done()
}

func (s *service) simulationBudget() adhoc.Budget {
	return adhoc.Budget{Name: simulationWork, Budget: state.Budget{Amount: 2 * time.Minute, Window: 10 * time.Minute},
		Store: s.Store, Log: s.Log}
}

// simulationOf asks for the present configs, and for those with the alternative among them. There is one side alone if
// the config is new. The others of its queue play on both sides.
func simulationOf(project string, alternative *pb.Config, configs map[string]*pb.Config) (*pb.RunRequest, error) {
	var others []*pb.Config
	for id, c := range configs {
		if id != alternative.GetId() && c.GetQueue() == alternative.GetQueue() {
			others = append(others, played(c))
		}
	}
	if len(others) >= sideConfigs {
		return nil, problem.New(problem.Conflict, "more than %d configs serve its queue: they cannot be played together",
			sideConfigs)
	}
	slices.SortFunc(others, func(a, b *pb.Config) int { return strings.Compare(a.GetId(), b.GetId()) })
	simulation := &pb.Simulation{Limit: simulationLimit.Milliseconds()}
	if present := configs[alternative.GetId()]; present != nil {
		if present.GetQueue() != alternative.GetQueue() {
			return nil, problem.New(problem.Invalid, "config.queue: %q is not %q, the queue of the present config, whose "+
				"tickets are played", alternative.GetQueue(), present.GetQueue())
		}
		simulation.Sides = append(simulation.Sides, &pb.SimulationSide{Configs: append(others[:len(others):len(others)],
			played(present))})
	}
	simulation.Sides = append(simulation.Sides, &pb.SimulationSide{Configs: append(others[:len(others):len(others)],
		played(alternative))})
	if n := proto.Size(simulation); n > bus.MaxMessage {
		return nil, problem.New(problem.Invalid, "config: those of its queue have %d bytes on both sides together, at most "+
			"%d can be played: shorten them", n, bus.MaxMessage)
	}
	return &pb.RunRequest{Project: project, Config: alternative.GetId(), Function: alternative.GetFunction(),
		Budget: simulationTime.Milliseconds(), Simulation: simulation}, nil
}

// played is what is played of a config: no hosting keys.
func played(c *pb.Config) *pb.Config {
	return &pb.Config{Id: c.GetId(), Function: c.GetFunction(), Settings: c.GetSettings(), Pools: c.GetPools(),
		Queue: c.GetQueue(), Upload: c.GetUpload()}
}

// putSimulation stores how far a simulation is.
func (s *service) putSimulation(ctx context.Context, project string, one *response.Simulation) (time.Duration, error) {
	one.Updated = response.Time(s.Store.Now())
	text, err := web.Marshal(one)
	if err != nil {
		return 0, err
	}
	return s.Store.PutSimulation(ctx, project, one.ID, text)
}

// follow asks a runner for a simulation, and stores how far it is, until it ends.
func (s *service) follow(ctx context.Context, r *pb.RunRequest, one *response.Simulation, present bool) {
	ctx, cancel := context.WithTimeout(ctx, simulationTime)
	defer cancel()
	r.Run = uuid.NewString()
	began, last := time.Now(), (*pb.RunPart)(nil)
	parts := make(chan *pb.RunPart, 1)
	run, err := s.Bus.StartRun(ctx, r, func(p bus.Part) {
		if p.GetLast() { // it has room: what is there gives way
			select {
			case <-parts:
			default:
			}
		}
		select {
		case parts <- p.RunPart:
		default:
		}
	})
	if err == nil {
		last, err = s.await(ctx, r.GetProject(), one, parts, present)
		run.Stop()
	}
	cost := max(simulationLeast, time.Duration(last.GetStats().GetCharge())*time.Microsecond)
	if err != nil { // the runner may not have said what it computed, and rests as long
		cost = max(cost, min(time.Since(began)/2, simulationLimit))
	}
	s.simulationBudget().Charge(ctx, r.GetProject(), cost)
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), simulationLost)
	defer cancel()
	if err != nil {
		s.Bus.Poke(ctx, r.GetProject(), &pb.Poke{Unasked: r.GetRun()})
		one.State, one.Error = simulationFailed, err.Error()
	}
	if _, err := s.putSimulation(ctx, r.GetProject(), one); err != nil {
		s.Log.WarnContext(ctx, "the result of a simulation is lost", "project", r.GetProject(), "error", err)
	}
}

// await takes the parts of a simulation until the last one. The error is why it ends without a result.
func (s *service) await(ctx context.Context, project string, one *response.Simulation, parts <-chan *pb.RunPart,
	present bool) (*pb.RunPart, error) {
	heard, stored := time.Now(), time.Now()
	tick := time.Tick(simulationEvery)
	for {
		select {
		case <-ctx.Done():
			return nil, errors.New("it took too long")
		case <-s.simulations.stopped:
			return nil, errors.New("the service stops: try again")
		case p := <-parts:
			heard = time.Now()
			simulated := p.GetSimulated()
			one.Progress = max(one.Progress, simulated.GetProgress())
			if p.GetLast() {
				return p, fill(one, p, present)
			}
			continue
		case <-tick:
			if time.Since(heard) > simulationLost {
				return nil, errors.New("no runner answers any more: try again")
			}
		}
		switch unread, err := s.putSimulation(ctx, project, one); {
		case err == nil && unread > simulationUnread:
			return nil, errors.New("it was not read for half a minute")
		case err == nil:
			stored = time.Now()
		case time.Since(stored) > simulationLost:
			return nil, err
		}
	}
}

// fill writes the last part into a simulation.
func fill(one *response.Simulation, p *pb.RunPart, present bool) error {
	simulated := p.GetSimulated()
	if at := simulated.GetRecordedSince(); at > 0 {
		one.RecordedSince = response.Time(time.UnixMilli(at))
	}
	switch {
	case p.GetError() != "":
		return errors.New(p.GetError())
	case simulated == nil:
		return errors.New("the runner has an earlier version, which does not know simulations")
	}
	one.State, one.Progress, one.PlayedUntil = simulationDone, 1, response.Time(time.UnixMilli(simulated.GetPlayedUntil()))
	sides := simulated.GetSides()
	if present && len(sides) > 1 {
		one.Present = sideOf(sides[0])
	}
	if len(sides) > 0 {
		one.Alternative = sideOf(sides[len(sides)-1])
	}
	return nil
}

func sideOf(s *pb.SimulatedSide) *response.SimulatedConfig {
	of := &response.SimulatedConfig{Tickets: s.GetTickets(), Players: s.GetPlayers(), Matched: s.GetMatched(),
		Left: s.GetLeft(), Failed: s.GetFailed(), Waiting: s.GetWaiting(), Matches: s.GetMatches(), Runs: s.GetRuns(),
		Waits: append([]float64{}, s.GetWaits()...), Measures: []response.Measure{}}
	var t report.Table
	t.Add(0, s.GetReport())
	for _, row := range t.Rows() {
		of.Measures = append(of.Measures, response.NewMeasures(row.Distributions)...)
	}
	return of
}

// simulation answers GET /simulations/{id}.
func (s *service) simulation(c echo.Context) error {
	if err := auth.MaySeeProperties(c, s.Store); err != nil {
		return err
	}
	if _, err := web.Query(c); err != nil {
		return err
	}
	id := c.Param("simulation")
	if uuid.Validate(id) != nil {
		return problem.New(problem.NotFound, "there is no simulation %.64q", id)
	}
	body, err := s.Store.Simulation(c.Request().Context(), c.Param("project"), id)
	if err != nil {
		return err
	}
	one := new(response.Simulation)
	if err := json.Unmarshal(body, one); err != nil {
		return err
	}
	if one.State == simulationRuns {
		updated, err := time.Parse(time.RFC3339, one.Updated)
		if err != nil || s.Store.Now().Sub(updated) > simulationLost {
			one.State, one.Error = simulationFailed, "the process that followed it is gone: try again"
		} else if err := s.Store.KeepSimulation(c.Request().Context(), c.Param("project"), id); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, one)
}
