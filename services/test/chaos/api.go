package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
)

// requestTime is how long a player, a studio or a server waits for an answer before it takes the request for lost.
const requestTime = 10 * time.Second

// uploadTime is the same for an upload, whose module is compiled before it is answered.
const uploadTime = time.Minute

// holdTime is how long a GET is asked to be held.
const holdTime = 4 * time.Second

// api is how one kind of caller reaches one service of a project: any of its replicas.
type api []*client.Client

// any is one of the replicas.
func (a api) any() *client.Client { return a[rand.IntN(len(a))] } //nolint:gosec // which one does not matter

// api makes the clients of a project. They never try twice: what fails is to be seen.
func (s *system) api(project, service string, c issuer.Claims) (api, error) {
	c.Project, c.TTL = project, 24*time.Hour
	token, err := s.tokens.Mint(c)
	if err != nil {
		return nil, err
	}
	http := &http.Client{Transport: patient{&http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: 5 * time.Second}}}
	var all api
	for _, front := range s.fronts[service] {
		one, err := client.New(client.Options{
			URL: front, Project: project, Token: client.StaticToken(token), HTTP: http,
			Retry: client.Retry{Attempts: -1, Reconnects: -1},
		})
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Claims of those who call.
var (
	playerClaims = issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: "matchmaking"}
	studioClaims = issuer.Claims{Kind: auth.Developer, Subject: "studio", Role: "Owner"}
	serverClaims = issuer.Claims{Kind: auth.Server, Subject: "server"}
)

// patient asks for every GET to be held that may be.
type patient struct{ http.RoundTripper }

func (p patient) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		if seconds, ok := r.Context().Value(heldKey{}).(int); ok {
			r = r.Clone(r.Context())
			r.Header.Set("Prefer", "wait="+strconv.Itoa(seconds))
		}
	}
	return p.RoundTripper.RoundTrip(r)
}

type heldKey struct{}

// held makes the GETs of a context be held.
func held(ctx context.Context) context.Context {
	return context.WithValue(ctx, heldKey{}, int(holdTime/time.Second))
}

// answer is the status of a call and what it said; 0 when it was not answered.
func answer(err error, good int) (status int, text string) {
	if err == nil {
		return good, ""
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused.Status, refused.Error()
	}
	return 0, err.Error()
}

// pause waits a while, and is false when ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
