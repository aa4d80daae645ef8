package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/bustest"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/lab/simulation"
)

// Players of a game whose waits are seconds: so many come a second, for simulatedTurn times --for. Those are measured
// who come after a fifth of it, and before the last tenth. Some leave before they have a match.
const (
	simulatedRate     = 200
	simulatedTurn     = 100
	simulatedDuel     = `{"attribute": "skill", "window": 0, "widen": 0.3}`
	simulatedSkill    = "normal:1500:400"
	simulatedPatience = "exponential:60"
)

// simulationAim is how far a simulated world may be from the real one, in percent.
const simulationAim = 10.0

// simulated plays the same players on real processes, in real time, and in a simulation.
func (r *round) simulated(ctx context.Context, i *installation) error {
	scenario, err := r.scenario()
	if err != nil {
		return err
	}
	p, err := r.newProject(ctx, i, "simulated")
	if err != nil {
		return err
	}
	config := anybody(false)
	config.Matchmaking.Config = json.RawMessage(simulatedDuel)
	config.Pools = nil
	if err := p.put(ctx, duel, config); err != nil {
		return err
	}
	began := time.Now()
	r.report("%g/s come for %s", scenario.Population.Rate, scenario.Population.Duration)
	actual, err := r.really(ctx, p, scenario)
	if err != nil {
		return err
	}
	r.report("%d players of %d were measured, in %s", len(actual.Waits), actual.Tickets,
		time.Since(began).Round(time.Second))
	began = time.Now()
	virtual, err := r.virtually(ctx, scenario)
	if err != nil {
		return err
	}
	r.report("%d players of %d were simulated, in %s", len(virtual.Waits), virtual.Tickets,
		time.Since(began).Round(100*time.Millisecond))
	a, b := actual.Whole(), virtual.Whole()
	for _, n := range simulation.Numbers() {
		if !slices.Contains([]string{"wait p50, s", "wait p90, s", "left, %", "spread"}, n.Name) {
			continue
		}
		was, is := n.Of(a), n.Of(b)
		off := 100 * math.Abs(is/was-1)
		r.report("%s: %.3f really, %.3f simulated: %.1f %% off", n.Name, was, is, off)
		r.add(n.Name+": how far a simulation is from it", percent, off).than("the aim", simulationAim).atMost(1)
	}
	return nil
}

// scenario is what is played.
func (r *round) scenario() (*simulation.Scenario, error) {
	skill, err := population.ParseDistribution(simulatedSkill)
	if err != nil {
		return nil, err
	}
	patience, err := population.ParseDistribution(simulatedPatience)
	if err != nil {
		return nil, err
	}
	module, err := moduleOf(r.binary.Function)
	if err != nil {
		return nil, err
	}
	s := &simulation.Scenario{
		Name:      "simulated",
		Configs:   []*pb.Config{{Id: duel, Function: duel, Settings: []byte(simulatedDuel)}},
		Functions: map[string][]byte{duel: module},
		Service:   simulation.Defaults(),
		Population: population.Population{
			Duration: simulatedTurn * r.For, Rate: simulatedRate, Patience: patience,
			Attributes: map[string]population.Distribution{"skill": skill},
		},
	}
	s.Measure = simulation.Measure{Attribute: "skill", From: s.Population.Duration / 5, To: s.Population.Duration * 9 / 10}
	return s, s.Population.Validate()
}

// moduleOf is the module in an archive.
func moduleOf(archive string) (module []byte, err error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	for _, f := range z.File {
		if path.Ext(f.Name) != ".wasm" {
			continue
		}
		file, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		return io.ReadAll(file)
	}
	return nil, fmt.Errorf("%s has no module", archive)
}

// virtually plays a scenario in a simulation.
func (r *round) virtually(ctx context.Context, s *simulation.Scenario) (result *simulation.Result, err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	box, err := sandbox.New(sandbox.Options{
		Dir: dir, Binary: r.binary.Matchmaker, Log: slog.New(slog.DiscardHandler),
		Limits: sandbox.Limits{Run: time.Minute, Start: time.Minute},
	})
	if err != nil {
		return nil, err
	}
	defer box.Close()
	return simulation.Run(ctx, simulation.Options{Box: box, Scenario: s, Seed: r.seed()})
}

// really plays a scenario on real processes: its result has the times of the events.
func (r *round) really(ctx context.Context, p *project, s *simulation.Scenario) (*simulation.Result, error) {
	c := newCrowd(p, 0)
	var due []time.Duration
	var patience []time.Duration
	var skills []float64
	for crowd := s.Population.Generate(r.seed()); ; {
		a, more := crowd.Next()
		if !more {
			break
		}
		due, patience = append(due, a.At), append(patience, a.Patience)
		skills = append(skills, a.Ticket.GetAttributeValues()[0])
	}
	c.ids = make([]string, len(due))
	ends, err := followEnds(ctx, p)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	leaving := make([]int, len(due))
	for n := range leaving {
		leaving[n] = n
	}
	leaves := func(n int) time.Duration { return due[n] + patience[n] }
	slices.SortFunc(leaving, func(a, b int) int { return int(leaves(a) - leaves(b)) })
	last := s.Measure.To + min(s.Measure.To, 2*time.Minute) // then nearly all have ended
	var creates, deletes error
	var all sync.WaitGroup
	var ids sync.Mutex // of c.ids, which both read
	playing, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	all.Go(func() {
		creates = c.each(ctx, 0, func(w *wire, n int) error {
			if err := pause(ctx, time.Until(begin.Add(due[n]))); err != nil {
				return err
			}
			status, body, err := w.do(c.create("player", n, skills[n]))
			if err != nil {
				return err
			}
			id, err := idOf(status, body)
			ids.Lock()
			c.ids[n] = id
			ids.Unlock()
			return err
		})
		if creates != nil {
			fail(creates)
		}
	})
	all.Go(func() {
		deletes = c.each(playing, 0, func(_ *wire, k int) error {
			n := leaving[k]
			if leaves(n) > last {
				return nil
			}
			if err := pause(playing, time.Until(begin.Add(leaves(n)))); err != nil {
				return err
			}
			id := ""
			for id == "" { // its create may be under way
				ids.Lock()
				id = c.ids[n]
				ids.Unlock()
				if id == "" {
					if err := pause(playing, 5*time.Millisecond); err != nil {
						return err
					}
				}
			}
			if ends.has(id) {
				return nil
			}
			w, err := dial(playing, c.host) // one that was idle for long is closed
			if err != nil {
				return err
			}
			defer w.close()
			status, body, err := w.do(deletion(c.host, c.name, c.lobby, fmt.Sprintf("X-On-Behalf-Of: player-%d\r\n", n), id))
			if err == nil && status != http.StatusOK && status != http.StatusNotFound {
				err = fmt.Errorf("a delete was answered %d: %s", status, body)
			}
			return err
		})
	})
	all.Wait()
	if err := first([]error{creates, deletes}); err != nil {
		return nil, err
	}
	result := &simulation.Result{Scenario: s, Tickets: len(due)}
	of := make(map[string]int, len(due))
	for n, id := range c.ids {
		of[id] = n
	}
	measured := func(n int) bool { return due[n] >= s.Measure.From && due[n] < s.Measure.To }
	ends.mu.Lock()
	defer ends.mu.Unlock()
	for id, n := range of {
		if !measured(n) {
			continue
		}
		end, created := ends.at[id], ends.created[id]
		how := simulation.Matched
		switch {
		case created == 0:
			return nil, fmt.Errorf("there is no event of the ticket %s", id)
		case end == 0: // it waits on
			end, how = begin.Add(last).UnixMilli(), simulation.Left
		case ends.left[id]:
			how = simulation.Left
		}
		result.Waits = append(result.Waits, simulation.Wait{Arrived: due[n].Seconds(),
			Seconds: float64(end-created) / 1000, Value: skills[n], Players: 1, Outcome: how})
	}
	for _, m := range ends.matches {
		a, b := of[m[0]], of[m[1]]
		if measured(a) || measured(b) {
			result.Matches = append(result.Matches, simulation.Match{At: max(due[a], due[b]).Seconds(),
				Spread: math.Abs(skills[a] - skills[b]), Gap: math.NaN(), Latency: math.NaN(), Players: 2})
		}
	}
	return result, nil
}

// deletion is a request that deletes a ticket.
func deletion(host, project, token, header, id string) []byte {
	return fmt.Appendf(nil, "DELETE /%s/matchmaking/api/v1/tickets?id=%s HTTP/1.1\r\nHost: %s\r\n"+
		"Authorization: Bearer %s\r\n%s\r\n", project, id, host, token, header)
}

// ends are when tickets were created and ended, in Unix milliseconds, and which players are in a match.
type ends struct {
	mu          sync.Mutex
	created, at map[string]int64
	left        map[string]bool
	matches     [][2]string
}

func followEnds(ctx context.Context, p *project) (*ends, error) {
	b, err := bus.Connect(ctx, bus.Options{Server: bus.Server{URL: p.NATS()}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	e := &ends{created: map[string]int64{}, at: map[string]int64{}, left: map[string]bool{}}
	if err := b.Prepare(ctx); err != nil {
		return nil, err
	}
	go func() {
		_ = bustest.FollowEvents(ctx, b, p.name, e.handle) // a missing event fails the measurement
		_ = b.Close(context.WithoutCancel(ctx))
	}()
	return e, nil
}

func (e *ends) has(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at[id] > 0
}

func (e *ends) handle(batch *pb.Events) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range batch.GetEvents() {
		switch one.GetKind() {
		case pb.Event_KIND_CREATED:
			for _, id := range one.GetTickets() {
				e.created[id] = one.GetTime()
			}
		case pb.Event_KIND_ASSIGNED, pb.Event_KIND_CANCELLED:
			for _, id := range one.GetTickets() {
				if e.at[id] == 0 { // a result that is read and deleted has ended before
					e.at[id], e.left[id] = one.GetTime(), one.GetKind() == pb.Event_KIND_CANCELLED
				}
			}
			if tickets := one.GetTickets(); one.GetKind() == pb.Event_KIND_ASSIGNED && len(tickets) == 2 {
				e.matches = append(e.matches, [2]string{tickets[0], tickets[1]})
			}
		}
	}
	return nil
}
