// Package agonestest is a cluster with Agones for tests: its game servers, its allocator service and the part of the
// Kubernetes API that concerns them. It is written from Agones' own sources, not from our client. FACTS.md in the
// folder above names them.
package agonestest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The states that matter to an allocation.
const (
	Ready     = "Ready"
	Allocated = "Allocated"
)

// Namespace is where the game servers of a cluster in memory are.
const Namespace = "games"

// Cluster is a cluster with Agones.
type Cluster struct {
	// UnallocatedStatus is the allocator service's setting of that name: what it answers when there is no server.
	UnallocatedStatus int
	// Namespace is where the game servers are.
	Namespace string
	// Allocated is what a game server does when the SDK tells it that it was allocated, or allocated again.
	Allocated func(s *GameServer)

	mu       sync.Mutex
	objects  *objects // nil: everything is in memory
	version  int      // of the last change of any object
	created  int
	servers  []*GameServer
	fleets   map[string]*Fleet
	scalers  map[string]bool // fleets that have an autoscaler
	contend  int
	broken   int
	stale    bool
	former   map[string]bool // servers whose allocation a stale cache does not know yet
	token    string
	rules    []rule
	recorded []string
}

// Fleet is a set of game servers.
type Fleet struct {
	Replicas int
	// Matches is the capacity of the counter "rooms" and of the list "matches" of its servers; 0 for neither.
	Matches int
}

// GameServer is one server, as Kubernetes has it.
type GameServer struct {
	Name, UID, State, Address string
	Port                      int
	Version                   int
	Labels, Annotations       map[string]string
	Count, Capacity           int
	List                      []string
	Deleted                   bool

	read string // the version that the API server had
}

// NewCluster makes a cluster without servers.
func NewCluster() *Cluster {
	return &Cluster{
		UnallocatedStatus: 429, Namespace: Namespace,
		fleets: map[string]*Fleet{}, scalers: map[string]bool{}, former: map[string]bool{},
	}
}

// AddFleet makes a fleet, whose servers are all ready. Labels are what its servers have besides the fleet's name.
func (c *Cluster) AddFleet(name string, f Fleet, labels map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pull()
	c.fleets[name] = &f
	c.pushFleet(name)
	for range f.Replicas {
		c.add(name, labels)
	}
}

func (c *Cluster) add(fleet string, labels map[string]string) {
	c.created++
	c.version++
	capacity := c.fleets[fleet].Matches
	s := &GameServer{
		Name: fmt.Sprintf("%s-%04d", fleet, c.created), UID: fmt.Sprint("uid-", c.created), State: Ready, Version: c.version,
		Address: fmt.Sprintf("10.0.%d.%d", c.created/250, c.created%250+1), Port: 7000 + c.created%1000,
		Labels: map[string]string{"agones.dev/fleet": fleet}, Annotations: map[string]string{}, Capacity: capacity,
	}
	maps.Copy(s.Labels, labels)
	c.servers = append(c.servers, s)
	c.create(s)
}

// Scale sets the size of a fleet: it removes free servers or makes new ones.
func (c *Cluster) Scale(fleet string, replicas int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pull()
	c.fleets[fleet].Replicas = replicas
	c.pushFleet(fleet)
	c.reconcile()
}

// Autoscale gives a fleet an autoscaler.
func (c *Cluster) Autoscale(fleet string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scalers[fleet] = true
	c.pushScaler(fleet)
}

// reconcile does what Agones' controllers do: it removes deleted servers and fills fleets up.
func (c *Cluster) reconcile() {
	c.servers = slices.DeleteFunc(c.servers, func(s *GameServer) bool {
		if s.Deleted {
			c.remove(s)
		}
		return s.Deleted
	})
	for _, name := range slices.Sorted(maps.Keys(c.fleets)) {
		have := 0
		for _, s := range c.servers {
			if s.fleet() == name {
				have++
			}
		}
		for ; have < c.fleets[name].Replicas; have++ {
			c.add(name, nil)
		}
		for i := len(c.servers) - 1; i >= 0 && have > c.fleets[name].Replicas; i-- {
			if s := c.servers[i]; s.fleet() == name && s.State == Ready {
				c.remove(s)
				c.servers = slices.Delete(c.servers, i, i+1)
				have--
			}
		}
	}
}

func (s *GameServer) fleet() string { return s.Labels["agones.dev/fleet"] }

// Contend makes the next n allocations fail with contention.
func (c *Cluster) Contend(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.contend = n
}

// Conflict makes the next n allocations fail as if the chosen server could not be updated.
func (c *Cluster) Conflict(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = n
}

// Stale makes the allocator's cache miss the allocations from now on, like the cache of another replica for a moment.
func (c *Cluster) Stale(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale, c.former = yes, map[string]bool{}
}

// Servers returns copies of the servers in a state.
func (c *Cluster) Servers(state string) []GameServer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pull()
	var all []GameServer
	for _, s := range c.servers {
		if s.State == state && !s.Deleted {
			one := *s
			one.Labels, one.Annotations, one.List = maps.Clone(s.Labels), maps.Clone(s.Annotations), slices.Clone(s.List)
			all = append(all, one)
		}
	}
	return all
}

// Update changes a server, as its process can with the SDK.
func (c *Cluster) Update(name string, change func(s *GameServer)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range tries {
		c.pull()
		i := slices.IndexFunc(c.servers, func(s *GameServer) bool { return s.Name == name })
		if i < 0 {
			return
		}
		c.version++
		c.servers[i].Version = c.version
		change(c.servers[i])
		if c.push(c.servers[i]) {
			return
		}
	}
}

// request is an allocation, however it came.
type request struct {
	selectors           []selector
	labels, annotations map[string]string
	counters            map[string]counterAction
	lists               map[string]listAction
}

type selector struct {
	labels    map[string]string
	state     string
	available int // of the counter or the list
	contains  string
	counter   string
	list      string
}

type counterAction struct {
	action string
	amount int
}

type listAction struct{ add, remove []string }

// outcome is how an allocation ended: a server, or the reason why none.
type outcome uint8

const (
	allocated outcome = iota
	unallocated
	contention
	conflict
)

// tries is how often Agones looks for another server when the one that it chose changed meanwhile.
const tries = 5

// allocate is findGameServerForAllocation and applyAllocationToGameServer. Servers that are allocated come first, as
// ListSortedGameServers has them.
func (c *Cluster) allocate(r request) (outcome, *GameServer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pull()
	c.reconcile()
	switch {
	case c.contend > 0:
		c.contend--
		return contention, nil
	case c.broken > 0:
		c.broken--
		return conflict, nil
	}
	for range tries {
		s := c.choose(r)
		if s == nil {
			return unallocated, nil
		}
		c.apply(r, s)
		if c.push(s) {
			one := *s
			one.Labels, one.Annotations, one.List = maps.Clone(s.Labels), maps.Clone(s.Annotations), slices.Clone(s.List)
			return allocated, &one
		}
		c.pull()
	}
	return conflict, nil
}

// choose is the server that a request gets, nil for none.
func (c *Cluster) choose(r request) *GameServer {
	sorted := slices.Clone(c.servers)
	slices.SortStableFunc(sorted, func(a, b *GameServer) int { return strings.Compare(a.State, b.State) })
	for _, want := range r.selectors {
		for _, s := range sorted {
			if !s.Deleted && c.inCache(s, want) && want.matches(s) {
				return s
			}
		}
	}
	return nil
}

// inCache reports whether the cache knows that a server is what the selector asks for.
func (c *Cluster) inCache(s *GameServer, want selector) bool {
	return want.state == Ready || !c.former[s.Name]
}

func (w selector) matches(s *GameServer) bool {
	for key, value := range w.labels {
		if s.Labels[key] != value {
			return false
		}
	}
	if s.State != w.state {
		return false
	}
	if (w.counter != "" || w.list != "") && s.Capacity == 0 {
		return false
	}
	if w.counter != "" && s.Capacity-s.Count < w.available {
		return false
	}
	if w.list != "" && (s.Capacity-len(s.List) < w.available || w.contains != "" && !slices.Contains(s.List, w.contains)) {
		return false
	}
	return true
}

func (c *Cluster) apply(r request, s *GameServer) {
	c.version++
	if c.stale {
		c.former[s.Name] = true
	}
	maps.Copy(s.Labels, r.labels)
	maps.Copy(s.Annotations, r.annotations)
	s.Annotations["agones.dev/last-allocated"] = time.Now().Format(time.RFC3339Nano)
	s.State, s.Version = Allocated, c.version
	if a, ok := r.counters["rooms"]; ok && s.Capacity > 0 {
		if a.action == "Decrement" {
			a.amount = -a.amount
		}
		s.Count = min(max(s.Count+a.amount, 0), s.Capacity)
	}
	if a, ok := r.lists["matches"]; ok && s.Capacity > 0 {
		for _, value := range a.add {
			if !slices.Contains(s.List, value) && len(s.List) < s.Capacity {
				s.List = append(s.List, value)
			}
		}
		s.List = slices.DeleteFunc(s.List, func(value string) bool { return slices.Contains(a.remove, value) })
	}
	if c.Allocated != nil {
		c.Allocated(s)
	}
}

// invalid is what Agones' validation says of labels and annotations, "" when they are good.
func (r request) invalid() string {
	size := 0
	for key, value := range r.annotations {
		if !qualified(key) {
			return fmt.Sprintf("spec.metadata.annotations: Invalid value: %q", key)
		}
		size += len(key) + len(value)
	}
	if size > 256<<10 {
		return "spec.metadata.annotations: Too long: may not be more than 262144 bytes"
	}
	for key, value := range r.labels {
		if !qualified(key) || !word(value, true) {
			return fmt.Sprintf("spec.metadata.labels: Invalid value: %q", key+"="+value)
		}
	}
	return ""
}

// qualified: a name of at most 63 characters, after a prefix that is a DNS subdomain.
func qualified(key string) bool {
	if prefix, name, found := strings.Cut(key, "/"); found {
		return len(prefix) > 0 && len(prefix) <= 253 && prefix == strings.ToLower(prefix) && word(name, false)
	}
	return word(key, false)
}

func word(text string, empty bool) bool {
	if text == "" {
		return empty
	}
	if len(text) > 63 {
		return false
	}
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (!strings.ContainsRune("-_.", r) || i == 0 || i == len(text)-1) {
			return false
		}
	}
	return true
}

func number(text string) int {
	n, _ := strconv.Atoi(strings.Trim(text, `"`))
	return n
}
