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
	"matchmaker.dev/services/test/chaos/player"
)

// requestTime is how long clients wait for an answer.
const requestTime = 10 * time.Second

// uploadTime is how long they wait for the answer to an upload, which comes after the module was compiled.
const uploadTime = time.Minute

// api are clients of the replicas of one service, for one kind of caller.
type api []*client.Client

// any is a client of any replica.
func (a api) any() *client.Client { return a[rand.IntN(len(a))] } //nolint:gosec // which one does not matter

// CreateTicket is that of any replica, as the following.
func (a api) CreateTicket(ctx context.Context, r client.TicketRequest) (string, error) {
	return a.any().CreateTicket(ctx, r)
}

// CreateAndWait creates a ticket and waits for its result.
func (a api) CreateAndWait(
	ctx context.Context, r client.TicketRequest, created func(id string),
) (*client.Ticket, error) {
	return a.any().CreateAndWait(ctx, r, created)
}

// GetTicket reads a ticket.
func (a api) GetTicket(ctx context.Context, id string) (*client.Ticket, error) {
	return a.any().GetTicket(ctx, id)
}

// AnswerMatch accepts or declines a match.
func (a api) AnswerMatch(ctx context.Context, said client.MatchAnswer) error {
	return a.any().AnswerMatch(ctx, said)
}

// Follow reads the events of a ticket.
func (a api) Follow(ctx context.Context, id string, tell func(client.TicketEvent)) (*client.Assignment, error) {
	return a.any().Follow(ctx, id, tell)
}

// DeleteTicket deletes a ticket.
func (a api) DeleteTicket(ctx context.Context, id, owner string) error {
	return a.any().DeleteTicket(ctx, id, owner)
}

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
	if player.IsHeld(r) {
		r = r.Clone(r.Context())
		r.Header.Set("Prefer", fmt.Sprintf("wait=%d", player.HoldTime/time.Second))
	}
	return h.RoundTripper.RoundTrip(r)
}

// retryAfter is the time between a failure and the next try.
func retryAfter() time.Duration {
	return 50*time.Millisecond + rand.N(200*time.Millisecond) //nolint:gosec // how long does not matter
}

// pause waits for d. It returns false when ctx ends before.
func pause(ctx context.Context, d time.Duration) bool { return wait.For(ctx, d) == nil }
