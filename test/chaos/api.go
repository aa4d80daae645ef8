package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/test/workload"
)

// api are clients of the replicas of one service, for one kind of caller.
type api []*client.Client

// any is a client of any replica.
func (a api) any() *client.Client { return a[rand.IntN(len(a))] } //nolint:gosec // which one does not matter

// api makes clients for a project.
func (s *system) api(project, service string) (api, error) { return s.apiAs(project, service, service) }

// apiAs makes clients with the tokens that callers of another service have.
func (s *system) apiAs(project, service, caller string) (all api, err error) {
	transport := holding{&http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: 5 * time.Second}}
	for _, front := range s.fronts[service] {
		one, err := workload.Client(s.tokens, caller, front, project, transport)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
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
