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
	"matchmaker.dev/services/internal/wait"
)

// requestTime is how long clients wait for an answer.
const requestTime = 10 * time.Second

// uploadTime is how long they wait for the answer to an upload, which comes after the module was compiled.
const uploadTime = time.Minute

// holdTime is how long the service is asked to hold a GET.
const holdTime = 4 * time.Second

// api are clients of the replicas of one service, for one kind of caller.
type api []*client.Client

// any is a client of any replica.
func (a api) any() *client.Client { return a[rand.IntN(len(a))] } //nolint:gosec // which one does not matter

// api makes clients for a project. They repeat no request, so that the history has every failure.
func (s *system) api(project, service string, c issuer.Claims) (api, error) {
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

// Claims of the callers.
var (
	playerClaims = issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: "matchmaking"}
	studioClaims = issuer.Claims{Kind: auth.Developer, Subject: "studio", Role: "Owner"}
	serverClaims = issuer.Claims{Kind: auth.Server, Subject: "server"}
)

// holding asks the service to hold GETs, and creates that wait, as long as their context says.
type holding struct{ http.RoundTripper }

func (h holding) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || r.Header.Get("Prefer") != "" {
		if seconds, ok := r.Context().Value(holdKey{}).(int); ok {
			r = r.Clone(r.Context())
			r.Header.Set("Prefer", "wait="+strconv.Itoa(seconds))
		}
	}
	return h.RoundTripper.RoundTrip(r)
}

type holdKey struct{}

// withHold makes the service hold the requests of a context.
func withHold(ctx context.Context) context.Context {
	return context.WithValue(ctx, holdKey{}, int(holdTime/time.Second))
}

// answer is the status and the error text of a call; 0 when it was not answered.
func answer(err error, good int) (status int, text string) {
	if err == nil {
		return good, ""
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused.Status, refused.Error()
	}
	return 0, err.Error()
}

// pause waits for d. It returns false when ctx ends before.
func pause(ctx context.Context, d time.Duration) bool { return wait.For(ctx, d) == nil }
