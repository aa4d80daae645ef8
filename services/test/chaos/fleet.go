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

// fleet is a hosting system, a fleet manager as studios write them: the truth about which match has a server. Nothing
// is done to it, but it has its moods: it takes its time, fails, and loses answers.
type fleet struct {
	journal *history.Journal
	server  *http.Server
	address string

	mu      sync.Mutex
	random  *rand.Rand
	started int
	held    map[string]*hold
	known   map[string]order // what was ever ordered, by allocation
	// returned are the allocations that were given back. An order for one that comes behind that was sent before: it is
	// late.
	returned map[string]bool
}

// hold is a server that an allocation has.
type hold struct {
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

// standing is how an allocation stands.
type standing struct {
	Allocation string `json:"allocation"`
	Status     string `json:"status,omitempty"`
	Connection string `json:"connection,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Detail     string `json:"detail,omitempty"`
}

// newFleet serves until close.
func newFleet(journal *history.Journal, seed uint64) (*fleet, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &fleet{
		journal: journal, address: listener.Addr().String(),
		random: rand.New(rand.NewPCG(seed, 1<<32)), //nolint:gosec // it must be the same every time
		held:   map[string]*hold{}, known: map[string]order{}, returned: map[string]bool{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /allocations", f.allocate)
	mux.HandleFunc("POST /allocations/status", f.status)
	mux.HandleFunc("DELETE /allocations/{allocation}", f.release)
	f.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = f.server.Serve(listener) }() // until close
	return f, nil
}

func (f *fleet) close() error { return f.server.Close() }

// dial connects to the fleet.
func (f *fleet) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", f.address)
}

// arguments make an allocator use the fleet, which it reaches at an address. What they need is written into a folder.
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

// mood is what becomes of a request.
type mood int

const (
	good     mood = iota
	failing       // nothing is done, the answer is 503
	mute          // it is done, and nobody is told
	refusing      // there is no server for it, ever
)

func (f *fleet) mood() mood {
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

// answered answers as the mood is; false when there is to be no answer.
func (f *fleet) answered(w http.ResponseWriter, m mood, status int, body any) {
	if m == mute {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.Close()
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body) // whoever asked is gone
	}
}

func (f *fleet) allocate(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.Allocation == "" ||
		o.Allocation != r.Header.Get("Idempotency-Key") {
		f.answered(w, good, http.StatusBadRequest, standing{Reason: "refused",
			Detail: fmt.Sprintf("not an order: %v", errors.Join(err))})
		return
	}
	m := f.mood()
	if m == failing {
		f.answered(w, m, http.StatusServiceUnavailable, nil)
		return
	}
	f.mu.Lock()
	f.known[o.Allocation] = o
	if f.returned[o.Allocation] {
		m = refusing
	}
	h, fresh := f.held[o.Allocation], false
	if h == nil && m != refusing {
		f.started++
		fresh = true
		h = &hold{connection: fmt.Sprintf("host-%d:7777", f.started), ready: time.Now().Add(f.delay())}
		f.held[o.Allocation] = h
	}
	s := f.standing(o.Allocation)
	f.note(history.Allocate, o, h, fresh)
	f.mu.Unlock()
	if h == nil {
		s = standing{Allocation: o.Allocation, Status: "failed", Reason: "refused",
			Detail: "the fleet does not want this match"}
	}
	f.answered(w, m, http.StatusOK, s)
}

// delay is how long a server takes to be there: mostly none, sometimes longer than a claim. mu is held.
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

// standing is how an allocation stands; mu is held.
func (f *fleet) standing(allocation string) standing {
	s := standing{Allocation: allocation, Status: "pending"}
	if h := f.held[allocation]; h != nil && !time.Now().Before(h.ready) {
		s.Status, s.Connection = "allocated", h.connection
	}
	return s
}

func (f *fleet) status(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Allocations []string `json:"allocations"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		f.answered(w, good, http.StatusBadRequest, nil)
		return
	}
	m := f.mood()
	if m == failing {
		f.answered(w, m, http.StatusServiceUnavailable, nil)
		return
	}
	f.mu.Lock()
	all := []standing{}
	for _, id := range q.Allocations {
		if f.held[id] != nil {
			all = append(all, f.standing(id))
		}
	}
	f.mu.Unlock()
	f.answered(w, m, http.StatusOK, map[string]any{"allocations": all})
}

func (f *fleet) release(w http.ResponseWriter, r *http.Request) {
	m := f.mood()
	if m == failing {
		f.answered(w, m, http.StatusServiceUnavailable, nil)
		return
	}
	id := r.PathValue("allocation")
	f.mu.Lock()
	o, known := f.known[id]
	h := f.held[id]
	delete(f.held, id)
	f.returned[id] = true
	if known {
		f.note(history.Release, o, h, h != nil)
	}
	f.mu.Unlock()
	f.answered(w, m, http.StatusNoContent, nil)
}

// note writes down what was done, at the moment that it was; mu is held.
func (f *fleet) note(op history.Op, o order, h *hold, fresh bool) {
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
