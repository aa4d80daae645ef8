package agones_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/agones"
	"matchmaker.dev/services/allocator/agones/agonestest"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

const (
	manifest = "../../../deploy/hosting/agones-rbac.yaml"
	token    = "jwt-of-the-pod-hunter2"
)

// way is a way to use Agones.
type way struct {
	service, kubernetes bool
	keep                bool
	density             *agones.Density
}

var ways = map[string]way{
	"service":             {service: true},
	"service, list":       {service: true, density: &agones.Density{List: "matches"}},
	"service, counter":    {service: true, density: &agones.Density{Counter: "rooms"}},
	"kubernetes":          {kubernetes: true},
	"kubernetes, keep":    {kubernetes: true, keep: true},
	"kubernetes, list":    {kubernetes: true, density: &agones.Density{List: "matches"}},
	"kubernetes, counter": {kubernetes: true, density: &agones.Density{Counter: "rooms"}},
	"both":                {service: true, kubernetes: true},
	"both, list":          {service: true, kubernetes: true, density: &agones.Density{List: "matches"}},
}

// Promise 7.
func TestConformance(t *testing.T) {
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, func(t *testing.T) conformance.Fixture { return w.open(t).fixture() })
		})
	}
}

// Promise 7.
func TestFaults(t *testing.T) {
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.RunFaults(t, func(t *testing.T) conformance.FaultyFixture {
				world := w.open(t)
				return conformance.FaultyFixture{
					Fixture: world.fixture(), Server: world.allocates,
					Allocates: allocates, Releases: world.releases(), Secrets: []string{token}, Log: &world.log,
				}
			})
		})
	}
}

// world is a cluster and a provider.
type world struct {
	way
	t         *testing.T
	cluster   *agonestest.Cluster
	allocates *conformance.Server // what takes allocations
	api       *conformance.Server // the cluster's API, nil without
	options   agones.Options
	provider  *agones.Provider
	log       conformance.LogBuffer
	token     string // a file
}

func (w way) open(t *testing.T) *world {
	t.Helper()
	x := w.world(t)
	x.start(t)
	return x
}

// world has all but the provider.
func (w way) world(t *testing.T) *world {
	t.Helper()
	x := &world{way: w, t: t, cluster: agonestest.NewCluster(), token: filepath.Join(t.TempDir(), "token")}
	x.cluster.Allocated = w.play
	x.cluster.AddFleet("green", w.fleet(), nil)
	x.options = agones.Options{
		Namespace: agonestest.Namespace, Density: w.density, Timeout: time.Minute, Log: x.log.Logger(), Now: time.Now,
	}
	authority := conformance.NewAuthority(t)
	if w.kubernetes {
		if err := os.WriteFile(x.token, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		x.cluster.Authorize(t, token, manifest)
		x.api = conformance.Serve(t, x.cluster.API(), authority, nil)
		x.options.Kubernetes = &agones.Kubernetes{URL: x.api.URL, CA: authority.File, Token: x.token, Keep: w.keep}
		x.allocates = x.api
	}
	if w.service {
		x.serve(t, authority)
	}
	return x
}

// fleet is large enough for every test.
func (w way) fleet() agonestest.Fleet {
	if w.density != nil {
		return agonestest.Fleet{Replicas: conformance.Room / 2, Matches: 3}
	}
	return agonestest.Fleet{Replicas: conformance.Room}
}

// serve starts the allocator service.
func (x *world) serve(t *testing.T, authority *conformance.Authority) {
	t.Helper()
	dir := t.TempDir()
	x.options.Service = &agones.Service{
		CA: authority.File, Certificate: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"),
	}
	authority.Client(t, x.options.Service.Certificate, x.options.Service.Key, time.Now().Add(time.Minute))
	x.allocates = conformance.Serve(t, x.cluster.Service(), authority, agonestest.ClientsOf(authority.Pool()))
	x.options.Service.URL = x.allocates.URL
}

func (x *world) start(t *testing.T) {
	t.Helper()
	var err error
	if x.provider, err = agones.New(x.options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.provider.Close)
}

// play is a game server that minds its annotations: one that runs a single match ends when it is released.
func (w way) play(s *agonestest.GameServer) {
	if w.density == nil && s.Annotations["matchmaker.dev/released"] != "" {
		s.Deleted = true
	}
}

func (x *world) fixture() conformance.Fixture {
	strange := provider.Hosting{Fleet: "no fleet has a name like this"}
	f := conformance.Fixture{
		Provider: x.provider, Hosting: provider.Hosting{Fleet: "green"}, InUse: x.inUse, PayloadOf: x.payloadOf,
		Strange: &strange,
		Lose:    func() { x.allocates.Break(x.changes, conformance.Lost) },
		Contend: func() { x.cluster.Contend(1) },
		Exhaust: x.exhaust,
		// The allocator service alone cannot tell a fleet of none from one that is busy, nor see that a server ended.
	}
	if x.kubernetes {
		f.Strange = &provider.Hosting{Fleet: "blue"}
		f.Maximum = func() { x.cluster.Scale("green", 0) }
		f.End = x.end
	}
	return f
}

func (x *world) inUse() int {
	n := 0
	for _, s := range x.cluster.Servers(agonestest.Allocated) {
		switch {
		case x.density == nil:
			n++
		case x.density.List != "":
			n += len(s.List)
		default:
			for key, value := range s.Labels {
				if value == "held" && len(key) > 26 {
					n++
				}
			}
		}
	}
	return n
}

func (x *world) payloadOf(r provider.Ref) ([]byte, bool) {
	key := "matchmaker.dev/match-data"
	if x.density != nil {
		key = "match-data.matchmaker.dev/" + r.Allocation()
	}
	for _, s := range x.cluster.Servers(agonestest.Allocated) {
		if s.Labels["matchmaker.dev/allocation"] == r.Allocation() || x.density != nil && s.Annotations[key] != "" {
			return []byte(s.Annotations[key]), true
		}
	}
	return nil, false
}

// exhaust takes the free servers of the fleet, and keeps its size.
func (x *world) exhaust() func() {
	var taken []string
	for _, s := range x.cluster.Servers(agonestest.Ready) {
		taken = append(taken, s.Name)
		x.cluster.Update(s.Name, func(s *agonestest.GameServer) { s.State = "Reserved" })
	}
	return func() {
		for _, name := range taken {
			x.cluster.Update(name, func(s *agonestest.GameServer) { s.State = agonestest.Ready })
		}
	}
}

// end is what a server does whose game is over.
func (x *world) end(r provider.Ref) {
	for _, s := range x.cluster.Servers(agonestest.Allocated) {
		switch {
		case x.density == nil && s.Labels["matchmaker.dev/allocation"] == r.Allocation(),
			x.density != nil && s.Annotations["match-data.matchmaker.dev/"+r.Allocation()] != "":
			x.cluster.Update(s.Name, func(s *agonestest.GameServer) { s.State = "Shutdown" })
		}
	}
}

// allocates tells the calls that take a server.
func allocates(_ *http.Request, body []byte) bool {
	return bytes.Contains(body, []byte(`"project\":`))
}

// releases tells the calls that give one back.
func (x *world) releases() conformance.Calls {
	return func(r *http.Request, body []byte) bool {
		return r.Method == http.MethodDelete || bytes.Contains(body, []byte("matchmaker.dev/released")) && !allocates(r, body)
	}
}

func (x *world) changes(r *http.Request, body []byte) bool {
	return allocates(r, body) || x.releases()(r, body)
}
