// Package managertest is a studio's fleet manager for tests, written from openapi.yaml. It checks every call and every
// answer against that document.
package managertest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Manager has servers, and records of their allocations.
type Manager struct {
	// Keys are the secrets by the names of the keys.
	Keys map[string]string
	// Fleet is the only fleet; "" accepts any.
	Fleet string
	// Project is the only project that may use it; "" lets every project.
	Project string
	// Polls is how often an allocation is polled before it has a server; 0 answers at once.
	Polls int
	// Late reports an empty fleet when an allocation is polled, not when it is asked for.
	Late bool

	t      *testing.T
	router routers.Router

	mu      sync.Mutex
	servers int
	zero    bool
	busy    int
	held    map[string]*allocation
}

type allocation struct {
	owner, connection string
	payload           json.RawMessage
	asked             int
	failure           string
}

// New makes a manager with free servers.
func New(t *testing.T, description []byte, servers int) *Manager {
	t.Helper()
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(description)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(loader.Context); err != nil {
		t.Fatal(err)
	}
	document.Servers = nil
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		t.Fatal(err)
	}
	return &Manager{Keys: map[string]string{}, t: t, router: router, servers: servers, held: map[string]*allocation{}}
}

// InUse counts the allocations that have a server or wait for one.
func (m *Manager) InUse() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, a := range m.held {
		if a.failure == "" {
			n++
		}
	}
	return n
}

// PayloadOf is the payload of an allocation's server.
func (m *Manager) PayloadOf(id string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.held[id]
	if a == nil {
		return nil, false
	}
	return a.payload, true
}

// End ends an allocation's game.
func (m *Manager) End(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.held, id)
}

// Resize sets how many servers there are.
func (m *Manager) Resize(servers int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.servers = servers
}

// Forbid sets the maximum to zero.
func (m *Manager) Forbid() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.zero = true
}

// Busy makes the next n allocations fail with contention.
func (m *Manager) Busy(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy = n
}

// ServeHTTP serves the three operations, and reports everything that does not fit their description.
func (m *Manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := m.router.FindRoute(r)
	if err != nil {
		m.t.Errorf("%s %s is not described: %v", r.Method, r.URL.Path, err)
		http.NotFound(w, r)
		return
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}
	if err := openapi3filter.ValidateRequest(context.WithoutCancel(r.Context()), in); err != nil {
		m.t.Errorf("%s %s does not fit its description: %v", r.Method, r.URL.Path, err)
	}
	answer := httptest.NewRecorder()
	m.serve(answer, r, body, params["allocation"])
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: answer.Code, Header: answer.Header(),
	}
	out.SetBodyBytes(answer.Body.Bytes())
	if err := openapi3filter.ValidateResponse(context.WithoutCancel(r.Context()), out); err != nil {
		m.t.Errorf("the answer to %s %s does not fit its description: %v", r.Method, r.URL.Path, err)
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (m *Manager) serve(w http.ResponseWriter, r *http.Request, body []byte, id string) {
	owner := r.Header.Get("Matchmaker-Key")
	if !m.verifies(r, body, m.Keys[owner]) {
		fail(w, http.StatusUnauthorized, "", "the signature is no good")
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case r.Method == http.MethodDelete:
		m.release(w, r, owner, id)
	case strings.HasSuffix(r.URL.Path, "/status"):
		m.status(w, owner, body)
	default:
		m.allocate(w, r, owner, body)
	}
}

// verifies checks a signature as the description says.
func (m *Manager) verifies(r *http.Request, body []byte, secret string) bool {
	stamp := r.Header.Get("Matchmaker-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute || secret == "" {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "\n" + r.Method + "\n" + r.URL.EscapedPath() + "\n" + string(body)))
	return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(r.Header.Get("Matchmaker-Signature")))
}

func (m *Manager) allocate(w http.ResponseWriter, r *http.Request, owner string, body []byte) {
	var order struct {
		Allocation, Project, Fleet string
		Payload                    json.RawMessage
	}
	if err := json.Unmarshal(body, &order); err != nil {
		fail(w, http.StatusBadRequest, "refused", err.Error())
		return
	}
	if r.Header.Get("Idempotency-Key") != order.Allocation {
		m.t.Error("the Idempotency-Key is not the allocation")
	}
	var match struct{ Project string }
	if json.Unmarshal(order.Payload, &match) != nil || order.Project != match.Project {
		m.t.Errorf("the order is of project %q, its payload of %q", order.Project, match.Project)
	}
	switch {
	case m.Project != "" && order.Project != m.Project:
		fail(w, http.StatusForbidden, "refused", "the fleet is another project's")
		return
	case m.busy > 0:
		m.busy--
		w.Header().Set("Retry-After", "0")
		fail(w, http.StatusConflict, "contention", "somebody else was faster")
		return
	case m.Fleet != "" && order.Fleet != m.Fleet:
		fail(w, http.StatusUnprocessableEntity, "refused", "there is no fleet of that name")
		return
	case m.zero:
		fail(w, http.StatusConflict, "maximum-zero", "the hosting maximum of the fleet is zero")
		return
	}
	a := m.held[order.Allocation]
	if a == nil || a.failure != "" {
		if m.inUse() >= m.servers && !m.Late {
			fail(w, http.StatusConflict, "fleet-empty", "all servers are in use")
			return
		}
		a = &allocation{owner: owner, payload: order.Payload}
		m.held[order.Allocation] = a
	}
	m.advance(a)
	respond(w, http.StatusOK, a.object(order.Allocation))
}

func (m *Manager) inUse() int {
	n := 0
	for _, a := range m.held {
		if a.connection != "" {
			n++
		}
	}
	return n
}

// advance moves an allocation on by one poll.
func (m *Manager) advance(a *allocation) {
	if a.asked++; a.connection != "" || a.failure != "" || a.asked <= m.Polls {
		return
	}
	if m.inUse() >= m.servers {
		a.failure = "fleet-empty"
		return
	}
	ports := map[string]bool{}
	for _, other := range m.held {
		ports[other.connection] = true
	}
	for port := 7000; a.connection == ""; port++ {
		if c := fmt.Sprint("10.1.2.3:", port); !ports[c] {
			a.connection = c
		}
	}
}

func (a *allocation) object(id string) map[string]any {
	switch {
	case a.failure != "":
		return map[string]any{"allocation": id, "status": "failed", "reason": a.failure, "detail": "all servers are in use"}
	case a.connection == "":
		return map[string]any{"allocation": id, "status": "pending"}
	}
	return map[string]any{"allocation": id, "status": "allocated", "connection": a.connection}
}

func (m *Manager) status(w http.ResponseWriter, owner string, body []byte) {
	var question struct{ Allocations []string }
	if err := json.Unmarshal(body, &question); err != nil {
		fail(w, http.StatusBadRequest, "refused", err.Error())
		return
	}
	known := []map[string]any{}
	for _, id := range question.Allocations {
		if a := m.held[id]; a != nil && a.owner == owner {
			m.advance(a)
			known = append(known, a.object(id))
		}
	}
	respond(w, http.StatusOK, map[string]any{"allocations": known})
}

func (m *Manager) release(w http.ResponseWriter, r *http.Request, owner, id string) {
	if r.Header.Get("Idempotency-Key") != id {
		m.t.Error("the Idempotency-Key is not the allocation")
	}
	if a := m.held[id]; a == nil || a.owner != owner {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	delete(m.held, id)
	w.WriteHeader(http.StatusNoContent)
}

func fail(w http.ResponseWriter, status int, reason, detail string) {
	body := map[string]string{"detail": detail}
	if reason != "" {
		body["reason"] = reason
	}
	respond(w, status, body)
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
