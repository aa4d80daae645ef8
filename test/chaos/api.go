package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
	"matchmaker.dev/services/internal/wait"
	"matchmaker.dev/services/test/workload"
)

// api are clients of the replicas of one service, for one kind of caller.
type api []*client.Client

// any is a client of any replica.
func (a api) any() *client.Client { return a[rand.IntN(len(a))] } //nolint:gosec // which one does not matter

// api makes clients for a project. They repeat no request, so that the history has every failure.
func (s *system) api(project, service string) (api, error) {
	c := claims[service]
	c.Project, c.TTL = project, 24*time.Hour
	token, err := s.tokens.Mint(c)
	if err != nil {
		return nil, err
	}
	http := &http.Client{Transport: holding{&http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: 5 * time.Second}}}
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

// claims are those of the callers of each service.
var claims = map[string]issuer.Claims{
	"ticket":   {Kind: auth.Service, Subject: "lobby", Scope: "matchmaking"},
	"party":    {Kind: auth.Service, Subject: "lobby", Scope: "matchmaking"},
	"config":   {Kind: auth.Developer, Subject: "studio", Role: "Owner"},
	"registry": {Kind: auth.Developer, Subject: "studio", Role: "Owner"},
	"backfill": {Kind: auth.Server, Subject: "server"},
}

// holding asks the service to hold GETs, and creates that wait, as long as their context says.
type holding struct{ http.RoundTripper }

func (h holding) RoundTrip(r *http.Request) (*http.Response, error) {
	if workload.IsHeld(r) {
		r = r.Clone(r.Context())
		r.Header.Set("Prefer", fmt.Sprintf("wait=%d", workload.HoldTime/time.Second))
	}
	return h.RoundTripper.RoundTrip(r)
}

// pause waits for d. It returns false when ctx ends before.
func pause(ctx context.Context, d time.Duration) bool { return wait.For(ctx, d) == nil }
