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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/platform/catalog"
)

// balancer is a gateway like one in production. It chooses the service by the path and takes the service's ready
// replicas in turn. When no process listens at one, it takes the next. It repeats nothing else.
type balancer struct {
	s      *system
	way    *http.Transport
	routes []route
}

// route says which service a path belongs to.
type route struct {
	path     *regexp.Regexp
	backends []*backend
	turn     *atomic.Uint64
}

// backend is a replica that may get requests.
type backend struct {
	name string
	// address is where it listens; "" unless it was ready when it was probed last.
	address atomic.Pointer[string]
}

// noticing is how often backends are probed. grace is how long a replica serves requests after it stopped being ready.
const (
	noticing = 250 * time.Millisecond
	grace    = 2 * time.Second
)

// startBalancer starts a balancer as the front of a system, and records the answers.
func startBalancer(t *testing.T, s *system, log *slog.Logger) string {
	front := httptest.NewServer(openapitest.Handler(t, record(newBalancer(t, s).handler(log), &s.answers)))
	t.Cleanup(front.Close)
	return front.URL
}

// newBalancer starts a balancer that probes the replicas of a system until the test ends.
func newBalancer(t *testing.T, s *system) *balancer {
	b := &balancer{s: s, way: newWay(t)}
	backends := map[string]*backend{}
	add := func(service, path string) {
		r := route{path: regexp.MustCompile(path), turn: new(atomic.Uint64)}
		for _, name := range []string{service + "-1", service + "-2"} {
			if backends[name] == nil {
				backends[name] = &backend{name: name}
			}
			r.backends = append(r.backends, backends[name])
		}
		b.routes = append(b.routes, r)
	}
	for _, service := range catalog.Services() {
		for _, r := range service.Routes {
			end := "$"
			if r.Below {
				end = "(/|$)"
			}
			add(service.Name, "^("+r.Path+")"+end)
		}
	}
	add(catalog.Ticket, "") // answers paths of no service as the contract wants
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var asking sync.WaitGroup
	t.Cleanup(func() { stop(); asking.Wait() })
	for _, r := range backends {
		asking.Go(func() { b.watch(ctx, r) })
	}
	return b
}

// newWay is the way from a front to the services.
func newWay(t *testing.T) *http.Transport {
	way := &http.Transport{
		MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second,
		// A body that its sender holds back is not sent before a service, however slow, has said that it wants it.
		ExpectContinueTimeout: patience,
	}
	t.Cleanup(way.CloseIdleConnections)
	return way
}

// watch probes a backend until ctx ends.
func (b *balancer) watch(ctx context.Context, r *backend) {
	again := time.NewTicker(noticing)
	defer again.Stop()
	for {
		address := b.s.address(r.name)
		if address == "" || b.s.probe(b.s.replica(r.name), "/readyz") != nil {
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

// candidates lists the addresses to try: ready backends', the next in turn first. When none is ready it lists
// all.
func (b *balancer) candidates(path string) []string {
	for _, route := range b.routes {
		if !route.path.MatchString(path) {
			continue
		}
		var ready, all []string
		turn := int(route.turn.Add(1) % uint64(len(route.backends)))
		for i := range route.backends {
			r := route.backends[(turn+i)%len(route.backends)]
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
		// A request always has a body here that cannot be read twice. Otherwise the transport repeats a GET by itself,
		// and hides the errors that tests look for.
		try.Body = io.NopCloser(bytes.NewReader(body))
		var answer *http.Response
		if answer, err = b.way.RoundTrip(try); !unreachable(err) {
			return answer, err
		}
	}
	return nil, err
}

// unreachable reports whether no process listened, so that nothing was sent.
func unreachable(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

func (b *balancer) handler(log *slog.Logger) http.Handler {
	return passOn(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "replica"}) },
		Transport: b,
		ErrorLog:  slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	})
}

// passOn lets an answer begin while its request is still passed on. By default net/http closes the body of a request
// when its answer begins: a proxy that is about to look whether more of the body comes fails then, and drops the
// connection to the service with the answer on it.
func passOn(to *httputil.ReverseProxy) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/1.1 always can
		to.ServeHTTP(w, r)
	})
}
