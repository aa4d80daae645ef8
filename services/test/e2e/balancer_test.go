package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/token"
)

// balancer is a gateway that does what one in production does: it sends requests to the services by their paths, to those replicas in turn that say they are
// ready, and to the next one where nobody listens any more. Nothing else is tried again.
type balancer struct {
	s      *system
	way    *http.Transport
	routes []route
}

// route is whose a path is.
type route struct {
	path     *regexp.Regexp
	replicas []*replica
	turn     *atomic.Uint64
}

// replica is a process that may be sent requests.
type replica struct {
	name string
	// address is where it is, empty unless it was ready when it was asked last.
	address atomic.Pointer[string]
}

// noticing is how often replicas are asked whether they are ready; grace is how long they go on after they
// have said that they are not.
const (
	noticing = 50 * time.Millisecond
	grace    = 2 * time.Second
)

// balanced is the front of a system whose answers are noted.
func balanced(t *testing.T, s *system, log *slog.Logger) string {
	front := httptest.NewServer(recorded(newBalancer(t, s).handler(log), &s.answers))
	t.Cleanup(front.Close)
	return front.URL
}

// newBalancer asks the replicas of a system how they are until the test ends.
func newBalancer(t *testing.T, s *system) *balancer {
	b := &balancer{s: s, way: &http.Transport{
		MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second,
		// A body that its sender holds back is not sent before a service, however slow, has said that it wants it.
		ExpectContinueTimeout: patience,
	}}
	t.Cleanup(b.way.CloseIdleConnections)
	replicas := map[string]*replica{}
	for _, r := range []struct{ path, replicas string }{
		{`^/[^/]+/matchmaking/api/v1/configs(/|$)`, "config-1 config-2"},
		{`^/[^/]+/matchmaking/api/v1/functions(/|$)`, "registry-1 registry-2"},
		{`^(/[^/]+/matchmaking(/api/v1)?)?/api/v2/backfill(/|$)`, "backfill-1 backfill-2"},
		{`^/[^/]+/matchmaking/api/v1/backfill$`, "backfill-1 backfill-2"},
		{`^(/[^/]+/matchmaking/api/v1/servers(/|$)|` + regexp.QuoteMeta(token.Path) + `$)`, "allocator-1 allocator-2"},
		// What nobody serves too: the Tickets API answers it as the contract wants.
		{``, "ticket-1 ticket-2"},
	} {
		own := route{path: regexp.MustCompile(r.path), turn: new(atomic.Uint64)}
		for name := range strings.FieldsSeq(r.replicas) {
			if replicas[name] == nil {
				replicas[name] = &replica{name: name}
			}
			own.replicas = append(own.replicas, replicas[name])
		}
		b.routes = append(b.routes, own)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var asking sync.WaitGroup
	t.Cleanup(func() { stop(); asking.Wait() })
	for _, r := range replicas {
		asking.Go(func() { b.watch(ctx, r) })
	}
	return b
}

// watch asks a replica again and again whether it is ready.
func (b *balancer) watch(ctx context.Context, r *replica) {
	again := time.NewTicker(noticing)
	defer again.Stop()
	for {
		address := b.s.address(r.name)
		if address == "" || b.s.probe(b.s.process(r.name), "/readyz") != nil {
			address = ""
		}
		r.address.Store(&address)
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// candidates are the addresses to try, in order: those that are ready, the next in turn first. When there are none
// it is better to try all than to refuse.
func (b *balancer) candidates(path string) []string {
	for _, route := range b.routes {
		if !route.path.MatchString(path) {
			continue
		}
		var ready, all []string
		turn := int(route.turn.Add(1) % uint64(len(route.replicas)))
		for i := range route.replicas {
			r := route.replicas[(turn+i)%len(route.replicas)]
			if address := r.address.Load(); address != nil && *address != "" {
				ready = append(ready, *address)
			}
			if address := b.s.address(r.name); address != "" {
				all = append(all, address)
			}
		}
		if len(ready) > 0 {
			return ready
		}
		return all
	}
	return nil
}

// RoundTrip sends a request to the first candidate that listens.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	err := errors.New("no replica has started")
	for _, address := range b.candidates(r.URL.Path) {
		try := r.Clone(r.Context())
		try.URL.Host = address
		// Even where there is none a body, which cannot be had again: the transport would send such a GET a second time by
		// itself, and hide what is looked for here.
		try.Body = io.NopCloser(bytes.NewReader(body))
		var answer *http.Response
		if answer, err = b.way.RoundTrip(try); !unheard(err) {
			return answer, err
		}
	}
	return nil, err
}

// unheard tells that nobody listens, so that nothing was sent.
func unheard(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

func (b *balancer) handler(log *slog.Logger) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "replica"}) },
		Transport: b,
		ErrorLog:  slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
