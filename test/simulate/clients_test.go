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
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/chaos/player"
)

// requestTime is how long studios and games wait for an answer.
const requestTime = 10 * time.Second

// clients are all who use a world.
type clients struct {
	world   *world
	crowds  []*player.Crowd
	studios []*studio
	games   []*games

	// faults ends with the last fault, arrivals when no new player comes and nothing is changed any more, lives when all
	// clients stop.
	faults, arrivals, lives          context.Context
	endFaults, endArrivals, endLives context.CancelFunc
	arriving, playing                sync.WaitGroup
}

// lanes has each lane as often as players choose it.
var lanes = []lane.Lane{
	lane.Hosted, lane.Hosted, lane.Hosted, lane.Hosted, lane.Free, lane.Free, lane.Both, lane.Both, lane.Games, lane.Games,
	lane.Asked, lane.Asked, lane.Queued, lane.Queued,
}

// newClients makes the clients and puts the configs.
func newClients(ctx context.Context, w *world) (*clients, error) {
	c := &clients{world: w}
	streams := uint64(100)
	random := func() *rand.Rand {
		streams++
		return rand.New(rand.NewPCG(w.Seed, streams))
	}
	for _, project := range projects {
		tickets, err := w.api(project, "ticket", issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: "matchmaking"})
		if err != nil {
			return nil, err
		}
		parties, err := w.api(project, "party", issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: "matchmaking"})
		if err != nil {
			return nil, err
		}
		backfills, err := w.api(project, "backfill", issuer.Claims{Kind: auth.Server, Subject: "server"})
		if err != nil {
			return nil, err
		}
		c.crowds = append(c.crowds, player.New(player.Options{
			Project: project, Tickets: tickets, Journal: w.journal, Random: random(), Pace: arrivalPace, Large: 0.02,
			Lanes: lanes, AtOnce: true, Parties: func() *client.Client { return parties }, Silence: silenceTime,
			As: func(ctx context.Context, name string) context.Context { return as(ctx, "%s", name) },
		}))
		s, err := w.newStudio(ctx, project, random())
		if err != nil {
			return nil, err
		}
		c.studios = append(c.studios, s)
		c.games = append(c.games, &games{project: project, backfills: backfills, journal: w.journal, random: random()})
	}
	for _, s := range c.studios {
		if err := s.open(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.foredoom(ctx, random()); err != nil {
		return nil, err
	}
	w.fleet.play = func(project, backfill, connection string) {
		c.games[slices.Index(projects, project)].host(backfill, connection)
	}
	return c, nil
}

func (c *clients) begin(ctx context.Context) {
	c.lives, c.endLives = context.WithCancel(ctx)
	c.arrivals, c.endArrivals = context.WithCancel(c.lives)
	c.faults, c.endFaults = context.WithCancel(c.lives)
	for n := range c.crowds {
		c.arriving.Go(func() { c.crowds[n].Arrive(c.arrivals, c.lives) })
		c.arriving.Go(func() {
			if err := c.studios[n].work(c.arrivals, c.lives, c.faults); err != nil {
				c.world.fail("%v", err)
			}
		})
		c.playing.Go(func() { c.games[n].run(c.arrivals, c.lives) })
	}
	c.arriving.Go(func() { c.world.doom(c.lives, c.faults) })
}

// newStudio makes a studio, which is a process of its own.
func (w *world) newStudio(ctx context.Context, project string, random *rand.Rand) (*studio, error) {
	configs, err := w.api(project, "config", issuer.Claims{Kind: auth.Developer, Subject: "studio", Role: "Owner"})
	if err != nil {
		return nil, err
	}
	p := newProcess(ctx, "studio-"+project)
	store, err := w.open(p)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = store.Close() })
	return &studio{project: project, configs: configs, journal: w.journal, random: random, functions: store,
		bus: port{w.hub, p}}, nil
}

// close ends the arrivals, and puts all configs again.
func (c *clients) close(ctx context.Context) (err error) {
	c.endArrivals()
	c.arriving.Wait()
	for _, s := range c.studios {
		err = errors.Join(err, s.renew(ctx))
	}
	return err
}

// end stops all clients, whatever they wait for. It may be called twice.
func (c *clients) end() {
	c.endLives()
	c.arriving.Wait()
	c.playing.Wait()
	for _, one := range c.crowds {
		one.Wait()
	}
}

// settle waits until all waiting players are matched.
func (c *clients) settle(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	player.Settle(ctx, c.crowds, func(int) {})
}

// last reads every ticket once more.
func (c *clients) last(ctx context.Context) {
	for _, one := range c.crowds {
		one.Last(ctx, 1)
	}
}

// api makes a client for a project. It repeats no request, so that the history has every failure.
func (w *world) api(project, role string, c issuer.Claims) (*client.Client, error) {
	c.Project, c.TTL = project, 24*time.Hour
	token, err := w.tokens.Mint(c)
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{
		URL: "http://" + role, Project: project, Token: client.StaticToken(token),
		HTTP:  &http.Client{Transport: front{w, project, role}},
		Retry: client.Retry{Attempts: -1, Reconnects: -1},
	})
}

// front sends requests to one of the processes of a role.
type front struct {
	world         *world
	project, role string
}

type whoKey struct{}

// as names who makes the requests of a context.
func as(ctx context.Context, format string, args ...any) context.Context {
	return context.WithValue(ctx, whoKey{}, fmt.Sprintf(format, args...))
}

// RoundTrip is that of http.RoundTripper.
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
	if player.IsHeld(r) {
		r.Header.Set("Prefer", fmt.Sprintf("wait=%d", player.HoldTime/time.Second))
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

// retryAfter is the time between a failure and the next try.
func retryAfter(r *rand.Rand) time.Duration {
	return 50*time.Millisecond + time.Duration(r.IntN(200))*time.Millisecond
}
