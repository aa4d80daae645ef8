package workload

import (
	"encoding/json"
	"net/http"
	"sync"
)

// Fleet is a fleet manager. It checks no signatures. A release of what has no server is answered as others are.
type Fleet struct {
	// Give returns the connection of a server for an allocation of a project, "" if all are in use. held is how many
	// allocations have one. It is called for one at a time.
	Give func(allocation, project string, held int) (connection string)

	mu   sync.Mutex
	held map[string]string // connections by allocation
}

// Serve adds the manager's routes, below a path.
func (f *Fleet) Serve(mux *http.ServeMux, below string) {
	mux.HandleFunc("POST "+below+"/allocations", f.allocate)
	mux.HandleFunc("POST "+below+"/allocations/status", f.status)
	mux.HandleFunc("DELETE "+below+"/allocations/{id}", func(w http.ResponseWriter, r *http.Request) {
		f.Release(r.PathValue("id"))
		w.WriteHeader(http.StatusNoContent)
	})
}

// Release takes the server of an allocation back.
func (f *Fleet) Release(allocation string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held, allocation)
}

// allocation is how the manager tells of one.
type allocation struct {
	Allocation string `json:"allocation"`
	Status     string `json:"status"`
	Connection string `json:"connection"`
}

func (f *Fleet) allocate(w http.ResponseWriter, r *http.Request) {
	var order struct{ Allocation, Project string }
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"reason": "refused", "detail": err.Error()})
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		f.held = map[string]string{}
	}
	if f.held[order.Allocation] == "" {
		connection := f.Give(order.Allocation, order.Project, len(f.held))
		if connection == "" {
			answer(w, http.StatusConflict, map[string]string{"reason": "fleet-empty", "detail": "all servers are in use"})
			return
		}
		f.held[order.Allocation] = connection
	}
	answer(w, http.StatusOK, allocation{order.Allocation, "allocated", f.held[order.Allocation]})
}

func (f *Fleet) status(w http.ResponseWriter, r *http.Request) {
	var question struct{ Allocations []string }
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"reason": "refused", "detail": err.Error()})
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := []allocation{}
	for _, id := range question.Allocations {
		if f.held[id] != "" {
			known = append(known, allocation{id, "allocated", f.held[id]})
		}
	}
	answer(w, http.StatusOK, map[string]any{"allocations": known})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
