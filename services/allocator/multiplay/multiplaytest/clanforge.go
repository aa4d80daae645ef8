// Package multiplaytest is Multiplay Clanforge for tests, as far as a matchmaker sees it. It is written from
// Clanforge's documentation and public code of its owner, not from our client; FACTS.md in the folder above names
// the sources, and what is made up because there are none.
package multiplaytest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Clanforge is an account with one fleet of one region and one profile.
type Clanforge struct {
	Access, Secret         string
	Fleet, Region, Profile string
	Servers                int

	// Polls is how often an allocation is polled before it is fulfilled, and Readies how often until it is ready.
	Polls, Readies int
	// Strict answers 404 to a look-up with any allocation in it that is not known; otherwise those are left out.
	Strict bool
	// Known is what a second call for a UUID that is known gets: 0 for the allocation as it is, or a status.
	Known int

	mu          sync.Mutex
	allocations map[string]*Allocation
	zero        bool
	busy        int
	largest     int
	signatures  int
}

// Allocation is an allocation in Clanforge's records.
type Allocation struct {
	UUID    string
	Payload []byte
	Type    string // of the payload
	Port    int
	asked   int
	failure string
}

// New makes a fleet with free servers.
func New(servers int) *Clanforge {
	return &Clanforge{
		Access: "access-key-7f3a9c", Secret: "secret-key-hunter2-e81b", Fleet: "2e4c8e9a-6b61-4c0e-93c1-1d0b7a3f5c21",
		Region:  "5c2a1d04-0f7e-4b9f-8f83-9f6a1c7b2e10",
		Profile: "1234567", Servers: servers, Polls: 1, allocations: map[string]*Allocation{},
	}
}

// InUse counts the allocations that have a server or wait for one.
func (c *Clanforge) InUse() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, a := range c.allocations {
		if a.failure == "" {
			n++
		}
	}
	return n
}

// Of is an allocation, nil when there is none.
func (c *Clanforge) Of(uuid string) *Allocation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.allocations[uuid]
}

// End ends an allocation, like Clanforge does when it is too old or its server ended.
func (c *Clanforge) End(uuid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.allocations, uuid)
}

// Resize sets how many servers there are.
func (c *Clanforge) Resize(servers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Servers = servers
}

// Spoil gives an allocation an error beside its server.
func (c *Clanforge) Spoil(uuid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allocations[uuid].failure = "server is unhealthy"
}

// Forbid sets the maximum of the region to zero.
func (c *Clanforge) Forbid() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.zero = true
}

// Busy makes the next n allocations fail with 429.
func (c *Clanforge) Busy(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = n
}

// Largest is the most UUIDs in one look-up.
func (c *Clanforge) Largest() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.largest
}

// Signed counts the calls that were signed, not authenticated by password.
func (c *Clanforge) Signed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.signatures
}

// Handler is the API.
func (c *Clanforge) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, do func(r *http.Request, body []byte) (int, any)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			status, answer := http.StatusForbidden, failure("Forbidden")
			if c.authentic(r, body) {
				status, answer = do(r, body)
			}
			w.Header().Set("Content-Type", "application/json")
			if status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "0")
			}
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	handle(
		"GET /cfp/v1/server/allocate",
		func(r *http.Request, body []byte) (int, any) { return c.allocate(r, r.FormValue("fleetid"), nil) },
	)
	handle("POST /cfp/v2/fleet/{fleet}/server/allocate", func(r *http.Request, body []byte) (int, any) {
		if r.Header.Get("X-Enable-Payload") != "true" {
			body = nil
		}
		return c.allocate(r, r.PathValue("fleet"), body)
	})
	handle("GET /cfp/v1/server/allocations", c.list)
	handle(
		"GET /cfp/v1/server/deallocate",
		func(r *http.Request, _ []byte) (int, any) { return c.deallocate(r, r.FormValue("fleetid")) },
	)
	handle(
		"POST /cfp/v2/fleet/{fleet}/server/deallocate",
		func(r *http.Request, _ []byte) (int, any) { return c.deallocate(r, r.PathValue("fleet")) },
	)
	return mux
}

func failure(message string) any {
	return map[string]any{"success": false, "messages": []string{message}}
}

func (c *Clanforge) allocate(r *http.Request, fleet string, payload []byte) (int, any) {
	query := r.URL.Query()
	uuid := query.Get("uuid")
	switch {
	case c.busy > 0:
		c.busy--
		return http.StatusTooManyRequests, failure("Too many requests")
	case fleet != c.Fleet || query.Get("regionid") != c.Region || query.Get("profileid") != c.Profile:
		return http.StatusBadRequest, failure("No rows in result set")
	case !isUUID(uuid):
		return http.StatusBadRequest, failure("uuid: invalid")
	case len(payload) > 30_000:
		return http.StatusBadRequest, failure("payload exceeds limit")
	case payload != nil && query.Get("project_guid") == "":
		return http.StatusBadRequest, failure("project_guid: missing")
	}
	a := c.allocations[uuid]
	if a != nil && c.Known != 0 {
		return c.Known, failure("allocation " + uuid + " exists")
	}
	if a == nil {
		a = &Allocation{UUID: uuid, Payload: payload, Type: r.Header.Get("Content-Type")}
		c.allocations[uuid] = a
	}
	return http.StatusOK, map[string]any{"success": true, "messages": []string{}, "allocation": map[string]any{
		"profileid": json.Number(c.Profile), "uuid": uuid, "regions": c.Region, "created": stamp, "requested": stamp,
		"fleetid": c.Fleet,
	}}
}

const stamp = "2026-01-02T03:04:05Z"

// list answers with the state of allocations. One is fulfilled when a server is free, or fails.
func (c *Clanforge) list(r *http.Request, _ []byte) (int, any) {
	query := r.URL.Query()
	c.largest = max(c.largest, len(query["uuid"]))
	found := []map[string]any{}
	for _, uuid := range query["uuid"] {
		a := c.allocations[uuid]
		if a == nil || query.Get("fleetid") != c.Fleet {
			if c.Strict {
				return http.StatusNotFound, failure("allocation not found")
			}
			continue
		}
		a.asked++
		if a.Port == 0 && a.failure == "" && a.asked > c.Polls {
			c.fulfil(a)
		}
		one := map[string]any{
			"profileid": json.Number(c.Profile), "uuid": uuid, "regions": c.Region, "created": stamp, "requested": stamp,
			"fleetid":   c.Fleet,
			"fulfilled": "", "ready": "", "serverid": "", "regionid": "", "machineid": "", "ip": "", "ipv6": "", "game_port": "",
			"error": a.failure,
		}
		if a.Port != 0 {
			one["fulfilled"], one["serverid"], one["regionid"], one["machineid"] = stamp, a.Port, c.Region, 77
			one["ip"], one["ipv6"], one["game_port"] = "198.51.100.7", "2001:db8::7", a.Port
			if a.asked > c.Readies {
				one["ready"] = stamp
			}
		}
		found = append(found, one)
	}
	return http.StatusOK, map[string]any{"success": true, "messages": []string{}, "allocations": found}
}

// fulfil gives an allocation a server, or an error.
func (c *Clanforge) fulfil(a *Allocation) {
	var taken []int
	for _, other := range c.allocations {
		if other.Port != 0 {
			taken = append(taken, other.Port)
		}
	}
	switch {
	case c.zero:
		a.failure = "maximum servers for fleet region is 0"
	case len(taken) >= c.Servers:
		a.failure = "maximum capacity reached"
	default:
		for a.Port = 9000; slices.Contains(taken, a.Port); {
			a.Port++
		}
	}
}

// deallocate answers an unknown UUID with an error. Clanforge does not document whether that is so.
func (c *Clanforge) deallocate(r *http.Request, fleet string) (int, any) {
	uuid := r.URL.Query().Get("uuid")
	if c.allocations[uuid] == nil || fleet != c.Fleet {
		return http.StatusBadRequest, failure("No rows in result set")
	}
	delete(c.allocations, uuid)
	return http.StatusOK, map[string]any{"success": true, "messages": []string{}, "uuid": uuid}
}

func isUUID(text string) bool {
	parts := strings.Split(text, "-")
	if len(text) != 36 || len(parts) != 5 {
		return false
	}
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(parts[i]) != n || strings.Trim(strings.ToLower(parts[i]), "0123456789abcdef") != "" {
			return false
		}
	}
	return true
}

// authentic is whether the caller has the account's keys.
func (c *Clanforge) authentic(r *http.Request, body []byte) bool {
	if access, secret, ok := r.BasicAuth(); ok {
		return access == c.Access && secret == c.Secret
	}
	if Verify(r, body, c.Access, c.Secret, time.Now()) != nil {
		return false
	}
	c.signatures++
	return true
}

// String hides the keys from test output.
func (c *Clanforge) String() string { return fmt.Sprint("fleet of ", c.Servers) }
