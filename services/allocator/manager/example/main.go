// Command example is the smallest fleet manager: it hands out the addresses it was started with. It does not tell the
// servers their payload, does not start or stop them, and forgets its allocations when it stops.
//
//	FLEET_KEY=at-least-16-bytes go run ./services/allocator/manager/example 10.0.0.1:7777 10.0.0.2:7777
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// fleet is a fixed set of servers, and the allocations that have them.
type fleet struct {
	key  []byte
	mu   sync.Mutex
	free []string
	held map[string]string
}

type allocation struct {
	Allocation string `json:"allocation"`
	Status     string `json:"status"`
	Connection string `json:"connection"`
}

func (f *fleet) allocate(w http.ResponseWriter, id string) {
	if f.held[id] == "" {
		if len(f.free) == 0 {
			answer(w, http.StatusConflict, map[string]string{"reason": "fleet-empty", "detail": "all servers are in use"})
			return
		}
		f.held[id], f.free = f.free[0], f.free[1:]
	}
	answer(w, http.StatusOK, allocation{id, "allocated", f.held[id]})
}

func (f *fleet) status(w http.ResponseWriter, ids []string) {
	known := []allocation{}
	for _, id := range ids {
		if f.held[id] != "" {
			known = append(known, allocation{id, "allocated", f.held[id]})
		}
	}
	answer(w, http.StatusOK, map[string]any{"allocations": known})
}

func (f *fleet) release(w http.ResponseWriter, r *http.Request) {
	if id := r.PathValue("id"); f.held[id] != "" {
		f.free = append(f.free, f.held[id])
		delete(f.held, id)
	}
	w.WriteHeader(http.StatusNoContent)
}

// ServeHTTP serves requests that are signed with the key, one at a time.
func (f *fleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	sent, _ := strconv.ParseInt(r.Header.Get("Matchmaker-Timestamp"), 10, 64)
	signature, _ := hex.DecodeString(r.Header.Get("Matchmaker-Signature"))
	mac := hmac.New(sha256.New, f.key)
	fmt.Fprintf(mac, "%d\n%s\n%s\n%s", sent, r.Method, r.URL.EscapedPath(), body)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute || !hmac.Equal(signature, mac.Sum(nil)) {
		answer(w, http.StatusUnauthorized, map[string]string{"reason": "refused", "detail": "the signature is no good"})
		return
	}
	var q struct { // DELETE has no body, and asks for nothing
		Allocation  string
		Allocations []string
	}
	_ = json.Unmarshal(body, &q)
	f.mu.Lock()
	defer f.mu.Unlock()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /allocations", func(w http.ResponseWriter, _ *http.Request) { f.allocate(w, q.Allocation) })
	mux.HandleFunc("POST /allocations/status", func(w http.ResponseWriter, _ *http.Request) { f.status(w, q.Allocations) })
	mux.HandleFunc("DELETE /allocations/{id}", f.release)
	mux.ServeHTTP(w, r)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func main() {
	f := &fleet{key: []byte(os.Getenv("FLEET_KEY")), free: os.Args[1:], held: map[string]string{}}
	server := &http.Server{Addr: "127.0.0.1:9090", ReadHeaderTimeout: 5 * time.Second, Handler: f}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
}
