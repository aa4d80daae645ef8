package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// fleet is a hosting system: a fleet manager as studios write them. It has no faults of the schedule, but it is
// sometimes slow, fails, and loses answers.
type fleet struct {
	journal *history.Journal
	server  *http.Server
	address string

	// began is told of new servers: of the match, how many teams it has, and when the server is ready.
	began func(project, match string, teams int, ready time.Duration)

	mu      sync.Mutex
	random  *rand.Rand
	started int
	servers map[string]*server // by allocation
	orders  map[string]order   // all there were, by allocation
	// returned are the allocations that were given back. An order for one of them was sent before, and arrives late.
	returned map[string]bool
}

// server is the server of an allocation.
type server struct {
	connection string
	ready      time.Time
}

// order is a request for a server.
type order struct {
	Allocation string `json:"allocation"`
	Payload    struct {
		Project string `json:"project"`
		Match   string `json:"match"`
		Teams   []struct {
			Tickets []string `json:"tickets"`
		} `json:"teams"`
	} `json:"payload"`
}

// status is the answer about an allocation.
type status struct {
	Allocation string `json:"allocation"`
	Status     string `json:"status,omitempty"`
	Connection string `json:"connection,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Detail     string `json:"detail,omitempty"`
}

// newFleet starts a fleet. It serves until close.
func newFleet(journal *history.Journal, seed uint64) (*fleet, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &fleet{
		journal: journal, address: listener.Addr().String(),
		random:  rand.New(rand.NewPCG(seed, 1<<32)), //nolint:gosec // it must be the same every time
		servers: map[string]*server{}, orders: map[string]order{}, returned: map[string]bool{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /allocations", f.allocate)
	mux.HandleFunc("POST /allocations/status", f.status)
	mux.HandleFunc("DELETE /allocations/{allocation}", f.release)
	f.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = f.server.Serve(listener) }() // until close
	return f, nil
}

// watch lets began know of new servers.
func (f *fleet) watch(began func(project, match string, teams int, ready time.Duration)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began = began
}

func (f *fleet) close() error { return f.server.Close() }

// dial connects to the fleet.
func (f *fleet) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", f.address)
}

// arguments make an allocator use the fleet at an address. Their files are written to dir.
func (f *fleet) arguments(dir, name, address string) ([]string, error) {
	key := filepath.Join(dir, "fleet.key")
	if err := os.WriteFile(key, []byte("the key of this fleet"), 0o600); err != nil {
		return nil, err
	}
	settings := fmt.Sprintf(`providers:
  fleet:
    kind: http
    url: http://%s
    key-id: chaos
    key-file: %s
    timeout: 3s
`, address, key)
	file := filepath.Join(dir, name+".yaml")
	return []string{"--hosting", file}, os.WriteFile(file, []byte(settings), 0o600)
}

// outcome is what becomes of a request.
type outcome int

const (
	good     outcome = iota
	failing          // nothing is done, the answer is 503
	mute             // it is done, and the answer is lost
	refusing         // no server will be there for it
)

// outcome draws the outcome of a request.
func (f *fleet) outcome() outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n := f.random.IntN(100); {
	case n < 3:
		return failing
	case n < 6:
		return mute
	case n < 7:
		return refusing
	}
	return good
}

// answer answers a request, unless the answer is lost.
func (f *fleet) answer(w http.ResponseWriter, m outcome, code int, body any) {
	if m == mute {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.Close()
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body) // an error means that the client is gone
	}
}

func (f *fleet) allocate(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.Allocation == "" ||
		o.Allocation != r.Header.Get("Idempotency-Key") {
		f.answer(w, good, http.StatusBadRequest, status{Reason: "refused",
			Detail: fmt.Sprintf("not an order: %v", errors.Join(err))})
		return
	}
	m := f.outcome()
	if m == failing {
		f.answer(w, m, http.StatusServiceUnavailable, nil)
		return
	}
	f.mu.Lock()
	f.orders[o.Allocation] = o
	if f.returned[o.Allocation] {
		m = refusing
	}
	h, fresh := f.servers[o.Allocation], false
	if h == nil && m != refusing {
		f.started++
		fresh = true
		delay := f.delay()
		h = &server{connection: fmt.Sprintf("host-%d:7777", f.started), ready: time.Now().Add(delay)}
		if f.began != nil {
			f.began(o.Payload.Project, o.Payload.Match, len(o.Payload.Teams), delay)
		}
		f.servers[o.Allocation] = h
	}
	s := f.statusOf(o.Allocation)
	f.note(history.Allocate, o, h, fresh)
	f.mu.Unlock()
	if h == nil {
		s = status{Allocation: o.Allocation, Status: "failed", Reason: "refused",
			Detail: "the fleet does not want this match"}
	}
	f.answer(w, m, http.StatusOK, s)
}

// delay is how long a server takes to start: mostly no time, sometimes longer than a claim. The caller holds mu.
func (f *fleet) delay() time.Duration {
	switch n := f.random.IntN(100); {
	case n < 70:
		return 0
	case n < 97:
		return time.Duration(f.random.IntN(800)) * time.Millisecond
	default:
		return time.Duration(f.random.IntN(9)) * time.Second
	}
}

// statusOf is the status of an allocation. The caller holds mu.
func (f *fleet) statusOf(allocation string) status {
	s := status{Allocation: allocation, Status: "pending"}
	if h := f.servers[allocation]; h != nil && !time.Now().Before(h.ready) {
		s.Status, s.Connection = "allocated", h.connection
	}
	return s
}

func (f *fleet) status(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Allocations []string `json:"allocations"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		f.answer(w, good, http.StatusBadRequest, nil)
		return
	}
	m := f.outcome()
	if m == failing {
		f.answer(w, m, http.StatusServiceUnavailable, nil)
		return
	}
	f.mu.Lock()
	all := []status{}
	for _, id := range q.Allocations {
		if f.servers[id] != nil {
			all = append(all, f.statusOf(id))
		}
	}
	f.mu.Unlock()
	f.answer(w, m, http.StatusOK, map[string]any{"allocations": all})
}

func (f *fleet) release(w http.ResponseWriter, r *http.Request) {
	m := f.outcome()
	if m == failing {
		f.answer(w, m, http.StatusServiceUnavailable, nil)
		return
	}
	id := r.PathValue("allocation")
	f.mu.Lock()
	o, known := f.orders[id]
	h := f.servers[id]
	delete(f.servers, id)
	f.returned[id] = true
	if known {
		f.note(history.Release, o, h, h != nil)
	}
	f.mu.Unlock()
	f.answer(w, m, http.StatusNoContent, nil)
}

// note writes what was done to the journal. The caller holds mu.
func (f *fleet) note(op history.Op, o order, h *server, fresh bool) {
	n := history.Hosting{At: history.Now(), Op: op, Project: o.Payload.Project, Match: o.Payload.Match, Key: o.Allocation,
		Fresh: fresh}
	for _, team := range o.Payload.Teams {
		n.Tickets = append(n.Tickets, team.Tickets...)
	}
	if h != nil {
		n.Connection = h.connection
	}
	f.journal.Hosting(n)
}
