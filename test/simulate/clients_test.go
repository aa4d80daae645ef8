package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/workload"
)

// lanes has each lane as often as players choose it.
var lanes = []lane.Lane{
	lane.Hosted, lane.Hosted, lane.Hosted, lane.Hosted, lane.Free, lane.Free, lane.Both, lane.Both, lane.Games, lane.Games,
	lane.Asked, lane.Asked, lane.Queued, lane.Queued,
}

// newWorkload makes the clients and puts the configs.
func newWorkload(ctx context.Context, w *world) (*workload.Workload, error) {
	all := new(workload.Workload)
	w.fleet.began = all.Began
	streams := uint64(100)
	random := func() *rand.Rand {
		streams++
		return rand.New(rand.NewPCG(w.Seed, streams))
	}
	for _, project := range projects {
		c, err := w.clients(project)
		if err != nil {
			return nil, err
		}
		all.Crowds = append(all.Crowds, workload.New(workload.Options{
			Clients: c, Random: random(), Pace: arrivalPace, Large: 0.02, Lanes: lanes, AtOnce: true, Silence: silenceTime,
		}))
		s, err := w.newStudio(ctx, c, random())
		if err != nil {
			return nil, err
		}
		if err := s.open(ctx); err != nil {
			return nil, err
		}
		w.studios, all.Studios = append(w.studios, s), append(all.Studios, s.Studio)
		all.Games = append(all.Games, &workload.Games{Clients: c, Random: random(), Approval: approvalTime, Named: true})
		servers, err := workload.Client(w.tokens, "backfill", "http://ticket", project, front{w, project, "ticket"})
		if err != nil {
			return nil, err
		}
		all.Referees = append(all.Referees, &workload.Referee{Clients: c, Random: random(), Readers: 48,
			Servers: func() *client.Client { return servers }})
	}
	if err := w.foredoom(ctx, random()); err != nil {
		return nil, err
	}
	w.fleet.play = func(project, backfill, connection string) {
		all.Games[slices.Index(projects, project)].Host(backfill, connection)
	}
	return all, nil
}

// clients are the clients of a project.
func (w *world) clients(project string) (workload.Clients, error) {
	var errs []error
	of := func(role string) func() *client.Client {
		c, err := workload.Client(w.tokens, role, "http://"+role, project, front{w, project, role})
		errs = append(errs, err)
		return func() *client.Client { return c }
	}
	return workload.Clients{
		Project: project, Journal: w.journal, Tickets: of("ticket"), Parties: of("party"), Configs: of("config"),
		Backfills: of("backfill"), As: func(ctx context.Context, who string) context.Context { return as(ctx, "%s", who) },
	}, errors.Join(errs...)
}

// newStudio makes a studio, which is a process of its own.
func (w *world) newStudio(ctx context.Context, c workload.Clients, random *rand.Rand) (*studio, error) {
	p := newProcess(ctx, "studio-"+c.Project)
	store, err := w.open(p)
	if err != nil {
		return nil, err
	}
	functions, err := workload.Client(w.tokens, "registry", "http://registry", c.Project, front{w, c.Project, "registry"})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = store.Close() })
	s := &studio{Studio: &workload.Studio{Clients: c, Random: random, Good: configs[:len(configs)-1], Pace: changePace,
		Vary: vary}, functions: store, registry: functions, kept: map[string][]upload{}, fail: w.fail}
	s.Step = s.step
	return s, nil
}

// front sends requests to one of the processes of a role.
type front struct {
	world         *world
	project, role string
}

type whoKey struct{}

// as names the caller of the requests of a context.
func as(ctx context.Context, format string, args ...any) context.Context {
	return context.WithValue(ctx, whoKey{}, fmt.Sprintf(format, args...))
}

// RoundTrip implements http.RoundTripper.
func (f front) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	} else {
		r.Body = http.NoBody
	}
	r.RequestURI = r.URL.RequestURI()
	if workload.IsHeld(r) {
		r.Header.Set("Prefer", fmt.Sprintf("wait=%d", workload.HoldTime/time.Second))
	}
	answers := make(chan *http.Response, 1)
	f.world.gate.add(&step{
		label:  fmt.Sprintf("%s %s %v: %s", f.project, f.role, r.Context().Value(whoKey{}), r.Method),
		faults: calls, do: func(fate fault) { f.send(r, fate, answers) },
	})
	select {
	case answer := <-answers:
		if answer == nil {
			return nil, errLost
		}
		return answer, nil
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// send gives a request to a process. The answer is nil when there is none.
func (f front) send(r *http.Request, fate fault, answers chan<- *http.Response) {
	up := f.world.serving(f.role)
	if fate == lose || len(up) == 0 {
		answers <- nil
		return
	}
	p := up[f.world.gate.pick(len(up))]
	// The connection of an answer that is lost breaks before its header, or behind it if the rest comes later.
	w := &answer{ResponseRecorder: httptest.NewRecorder(), to: answers, mute: fate == mute && f.world.gate.pick(2) == 0}
	go func() {
		ctx, cancel := context.WithCancel(p.killed)
		defer cancel()
		defer context.AfterFunc(r.Context(), func() {
			cancel()
			w.breakOff()
		})()
		p.edge.ServeHTTP(w, r.WithContext(ctx))
		w.end(fate == mute || p.dead())
	}()
}
