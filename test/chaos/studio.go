package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/workload"
)

// changePace is the time from one change of a studio to the next, on average.
const changePace = time.Second

// lanes has each lane as often as players choose it: more would not find a place in the running games.
var lanes = []lane.Lane{
	lane.Hosted, lane.Hosted, lane.Hosted, lane.Hosted, lane.Free, lane.Free, lane.Free, lane.Both, lane.Both, lane.Games,
	lane.Asked,
}

// changed are the configs that come and go.
var changed = []string{string(lane.Hosted), string(lane.Free), string(lane.Games), string(lane.Asked)}

// newWorkload creates the projects with their configs and functions, and one that will be deleted.
func newWorkload(
	ctx context.Context, o options, s *system, journal *history.Journal,
) (*workload.Workload, *removal, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	w := new(workload.Workload)
	streams := uint64(0)
	random := func() *rand.Rand {
		streams++
		return rand.New(rand.NewPCG(o.Seed, streams)) //nolint:gosec // it must be the same every time
	}
	for n := range o.Projects {
		c := workload.Clients{Project: fmt.Sprintf("game-%d", n+1), Journal: journal}
		st, err := newStudio(s, &c)
		if err != nil {
			return nil, nil, err
		}
		w.Crowds = append(w.Crowds, workload.New(workload.Options{
			Clients: c, Random: random(), Large: o.Large, AtOnce: true, Lanes: lanes, Silence: silenceTime,
			Pace: time.Duration(float64(o.Projects) / o.Rate * float64(time.Second)),
		}))
		st.Studio = &workload.Studio{Clients: c, Random: random(), Good: changed, Pace: changePace, Step: st.step}
		servers, err := s.apiAs(c.Project, catalog.Ticket, catalog.Backfill)
		if err != nil {
			return nil, nil, err
		}
		w.Referees = append(w.Referees, &workload.Referee{Clients: c, Random: random(), Servers: servers.any})
		w.Games = append(w.Games, &workload.Games{Clients: c, Random: random(), Approval: approvalTime})
		if err := st.open(ctx); err != nil {
			return nil, nil, err
		}
		w.Studios = append(w.Studios, st.Studio)
	}
	c := workload.Clients{Project: doomed, Journal: journal}
	st, err := newStudio(s, &c)
	if err != nil {
		return nil, nil, err
	}
	st.Studio = &workload.Studio{Clients: c, Random: random()}
	r, err := newRemoval(ctx, s, st)
	return w, r, err
}

// newStudio makes the clients of a project.
func newStudio(s *system, c *workload.Clients) (*studio, error) {
	st := &studio{made: s.made}
	for service, to := range map[string]*func() *client.Client{"ticket": &c.Tickets, "party": &c.Parties,
		"config": &c.Configs, "backfill": &c.Backfills, "registry": &st.functions} {
		all, err := s.api(c.Project, service)
		if err != nil {
			return nil, err
		}
		*to = all.any
	}
	return st, nil
}

// studio changes the configs and functions of a project.
type studio struct {
	*workload.Studio
	functions func() *client.Client
	made      *artefacts
}

// open uploads the functions and puts the configs.
func (s *studio) open(ctx context.Context) error {
	if _, err := s.Configs().PutSettings(ctx, workload.Counted(), ""); err != nil {
		return err
	}
	last := s.made.editions[len(s.made.editions)-1]
	if err := s.upload(ctx, lane.FunctionOf(changed[0]), last); err != nil { // so that it can go back
		return err
	}
	for _, config := range append(slices.Clone(changed), workload.Enemy) {
		if err := s.upload(ctx, lane.FunctionOf(config), s.made.editions[0]); err != nil {
			return err
		}
		if err := s.Put(ctx, config); err != nil {
			return err
		}
	}
	// A short run may see no other one.
	return s.Ask(ctx, history.Change{Op: history.Canary, Name: lane.FunctionOf(changed[0])},
		func(ctx context.Context, c *history.Change) error {
			_, err := s.functions().CanaryFunction(ctx, c.Name, canaryOf(1))
			return err
		})
}

// canaryOf begins a canary of an upload, for some seconds.
func canaryOf(upload int64) client.CanaryRequest {
	return client.CanaryRequest{Version: upload, BlockSeconds: 1, Percent: 50, DeadlineSeconds: 5}
}

// step changes a config or function.
func (s *studio) step(ctx context.Context, config string, _ bool) error {
	switch s.Random.IntN(12) {
	case 0, 1, 2, 3:
		return s.Put(ctx, config)
	case 4, 5, 6:
		if err := s.Delete(ctx, config); err != nil {
			return err
		}
		pause(ctx, time.Duration(s.Random.IntN(600))*time.Millisecond)
		return s.Put(ctx, config)
	case 7, 8:
		return s.Put(ctx, workload.Enemy)
	case 9:
		return s.upload(ctx, lane.FunctionOf(config), s.made.editions[s.Random.IntN(len(s.made.editions))])
	default:
		s.move(ctx, lane.FunctionOf(changed[0]))
		return nil
	}
}

// upload uploads a function.
func (s *studio) upload(ctx context.Context, name, archive string) error {
	text, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	c := history.Change{Op: history.Upload, Name: name, Edition: 1 + slices.Index(s.made.editions, archive)}
	return s.Ask(ctx, c, func(ctx context.Context, _ *history.Change) error {
		return s.functions().PutFunction(ctx, name, "", bytes.NewReader(text))
	})
}

// move lets another upload run that is kept: from now on, or in half of the next seconds. It tries once: there may be a
// canary already. Uploads are refused until it ended.
func (s *studio) move(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c := history.Change{Project: s.Project, Name: name}
	versions, err := s.functions().GetFunctionVersions(ctx, name)
	if err != nil {
		return
	}
	versions = slices.DeleteFunc(versions, func(v client.FunctionVersion) bool { return v.Current })
	if len(versions) == 0 {
		return
	}
	to := versions[s.Random.IntN(len(versions))].Version
	c.From = history.Now()
	if s.Random.IntN(2) == 0 {
		c.Op = history.Rollback
		_, err = s.functions().RollbackFunction(ctx, c.Name, to)
	} else {
		c.Op = history.Canary
		_, err = s.functions().CanaryFunction(ctx, c.Name, canaryOf(to))
	}
	c.To = history.Now()
	c.Status, c.Error = workload.Answer(err, http.StatusOK)
	s.Journal.Change(c)
}
