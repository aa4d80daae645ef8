package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// fleets are the fleet managers of a trial: the attacker's own, which takes calls and never answers, and the
// victims', which gives servers as long as it has some. It gives one to every caller: the service keeps others away.
type fleets struct {
	server *http.Server
	url    string

	mu   sync.Mutex
	left int
	// held are the servers by allocation, and given how many were given to each project.
	held  map[string]string
	given map[string]int
}

// stock is how many servers the victims' fleet has: enough for them, and few for an attacker.
const stock = 5000

func newFleets(ctx context.Context) (*fleets, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &fleets{url: "http://" + l.Addr().String(), left: stock, held: map[string]string{}, given: map[string]int{}}
	routes := http.NewServeMux()
	routes.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	routes.HandleFunc("POST /"+theirs+"/allocations", f.allocate)
	routes.HandleFunc("POST /"+theirs+"/allocations/status", f.status)
	routes.HandleFunc("DELETE /"+theirs+"/allocations/{id}", f.release)
	f.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: routes}
	go func() { _ = f.server.Serve(l) }()
	return f, nil
}

func (f *fleets) close() { _ = f.server.Close() }

// strangers are the projects besides the victim's that got servers of its fleet.
func (f *fleets) strangers() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	others := maps.Clone(f.given)
	delete(others, victimProject)
	return others
}

// of is how many servers a project got.
func (f *fleets) of(project string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.given[project]
}

func (f *fleets) allocate(w http.ResponseWriter, r *http.Request) {
	var order struct{ Allocation, Project string }
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"reason": "refused", "detail": err.Error()})
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held[order.Allocation] == "" {
		if f.left == 0 {
			answer(w, http.StatusConflict, map[string]string{"reason": "fleet-empty", "detail": "all servers are in use"})
			return
		}
		f.left--
		f.given[order.Project]++
		f.held[order.Allocation] = fmt.Sprintf("127.0.0.1:%d", 10_000+f.left)
	}
	answer(w, http.StatusOK, f.state(order.Allocation))
}

func (f *fleets) status(w http.ResponseWriter, r *http.Request) {
	var question struct{ Allocations []string }
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"reason": "refused", "detail": err.Error()})
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := []map[string]string{}
	for _, id := range question.Allocations {
		if f.held[id] != "" {
			known = append(known, f.state(id))
		}
	}
	answer(w, http.StatusOK, map[string]any{"allocations": known})
}

func (f *fleets) release(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := r.PathValue("id")
	if f.held[id] == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	delete(f.held, id)
	f.left++
	w.WriteHeader(http.StatusNoContent)
}

// state is an allocation as the manager describes it.
func (f *fleets) state(id string) map[string]string {
	return map[string]string{"allocation": id, "status": "allocated", "connection": f.held[id]}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// Hosting profiles and fleets: slowProfile belongs to the attacker's manager, theirs to the victims' project.
const (
	slowProfile = "slow"
	theirs      = "theirs"
)

// rules are the hosting rules: the victims' fleet is for their project alone, matches with the slow profile go to the
// attacker's manager, others get a server at once. key is the file of the key that calls are signed with.
func (f *fleets) rules(key string) []byte {
	manager := func(path string) map[string]any {
		return map[string]any{"kind": "http", "url": strings.TrimSuffix(f.url+"/"+path, "/"), "key-id": "1", "key-file": key}
	}
	text, _ := json.Marshal(map[string]any{ // JSON is YAML
		"default": "good",
		"providers": map[string]any{
			"good":      map[string]any{"kind": "instant", "connection": "127.0.0.1:7777"},
			slowProfile: manager(""),
			theirs:      manager(theirs),
		},
		"rules": []map[string]any{
			{"fleet": theirs, "provider": theirs, "projects": []string{victimProject}},
			{"profile": slowProfile, "provider": slowProfile},
		},
	})
	return fmt.Appendf(text, "\n")
}
