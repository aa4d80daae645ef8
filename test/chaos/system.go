package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest/proxy"
	"matchmaker.dev/services/test/chaos/mistake"
)

// system is a matchmaking system of many processes. All its connections can be cut.
type system struct {
	layout
	tokens *issuer.Issuer
	stores *stores
	// issuers is the file that makes services trust the system's tokens.
	issuers string
	units   map[string]*unit
	// proxies have the name of their connection, "client>server". Proxies with the same name are cut together.
	proxies map[string][]*proxy.Proxy
	// fronts are the URLs of the APIs' replicas, by service.
	fronts map[string][]string
	// nats is where this process reaches NATS. The nemesis does not cut its connections.
	nats string
}

// layout says what a system is made of.
type layout struct {
	// dir is the folder for all files.
	dir   string
	made  *artefacts
	fleet *fleet
	// state is the way in which Redis keeps the state. disk tells that its files get a file system that can be full.
	state string
	disk  bool
	// clocks tells that the clocks of the services' processes are wrong.
	clocks bool
	// mistakes are the mistakes that the services make.
	mistakes []string
}

// natsNodes are enough for the cluster to work without one of them.
var natsNodes = []string{"nats-1", "nats-2", "nats-3"}

// Settings of the services.
const (
	claimTime    = 4 * time.Second
	hostTime     = 6 * time.Second
	leaseTime    = 2 * time.Second
	silenceTime  = 10 * time.Second // of members of parties
	approvalTime = 3 * time.Second  // games speak every half second
)

// replicas names the processes of a service.
func replicas(service catalog.Service) []string {
	switch service.Name {
	case catalog.Config, catalog.Registry, catalog.Backfill:
		return []string{service.Name}
	default:
		return []string{service.Name + "-1", service.Name + "-2"}
	}
}

// services names the processes of all services.
func services() (names []string) {
	for _, s := range catalog.Services() {
		names = append(names, replicas(s)...)
	}
	return names
}

// newSystem makes the units and proxies of a system, and starts no process yet.
func newSystem(ctx context.Context, l layout, log logFunc) (s *system, err error) {
	dir := l.dir
	s = &system{
		layout: l, issuers: filepath.Join(dir, "issuers.yaml"),
		units: map[string]*unit{}, proxies: map[string][]*proxy.Proxy{}, fronts: map[string][]string{},
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o750); err != nil {
		return nil, err
	}
	if s.tokens, err = issuer.Open(filepath.Join(dir, "keys"), time.Now); err != nil {
		return nil, err
	}
	text, err := json.Marshal([]auth.Issuer{s.tokens.Trust()}) // JSON is YAML
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.issuers, text, 0o600); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.end())
		}
	}()
	if err := s.newStores(log); err != nil {
		return nil, err
	}
	if err := s.cluster(ctx); err != nil {
		return nil, err
	}
	for _, service := range catalog.Services() {
		for _, name := range replicas(service) {
			if err := s.service(ctx, service, name); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// add adds a unit.
func (s *system) add(name string, command func() *exec.Cmd, address func(line string) string) *unit {
	u := &unit{name: name, command: command, address: address, logs: filepath.Join(s.dir, "logs")}
	s.units[name] = u
	return u
}

// uncut is the name of connections that are never cut.
const uncut = "-"

// proxy opens a proxy for a connection and returns its address.
func (s *system) proxy(ctx context.Context, name string, dial proxy.Dial) (string, error) {
	p, err := proxy.Listen(ctx, dial)
	if err != nil {
		return "", err
	}
	s.proxies[name] = append(s.proxies[name], p)
	return p.Address(), nil
}

// cluster adds the NATS servers. They run this program.
func (s *system) cluster(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	routes := map[string][]string{}
	for _, name := range natsNodes {
		s.add(name, func() *exec.Cmd {
			arguments := []string{nodeCommand, filepath.Base(s.dir), name, filepath.Join(s.dir, name)}
			return exec.Command(self, append(arguments, routes[name]...)...)
		}, func(line string) string {
			where, found := strings.CutPrefix(line, nodeListens)
			if !found {
				return ""
			}
			return where
		})
	}
	for _, name := range natsNodes {
		for _, other := range natsNodes {
			if other == name {
				continue
			}
			pair := []string{name, other}
			slices.Sort(pair)
			address, err := s.proxy(ctx, strings.Join(pair, "|"), s.units[other].dial(func(where string) (string, string) {
				_, routes, _ := strings.Cut(where, " ")
				return "tcp", routes
			}))
			if err != nil {
				return err
			}
			routes[name] = append(routes[name], address)
		}
	}
	s.nats, err = s.natsFor(ctx, uncut)
	return err
}

// natsFor opens proxies to all NATS servers, which are cut together, and returns their URLs.
func (s *system) natsFor(ctx context.Context, name string) (string, error) {
	var urls []string
	for _, node := range natsNodes {
		address, err := s.proxy(ctx, name, s.units[node].dial(func(where string) (string, string) {
			clients, _, _ := strings.Cut(where, " ")
			return "tcp", clients
		}))
		if err != nil {
			return "", err
		}
		urls = append(urls, "nats://"+address)
	}
	return strings.Join(urls, ","), nil
}

// service adds a process of a service, with proxies to the servers it needs.
func (s *system) service(ctx context.Context, service catalog.Service, name string) error {
	redis, err := s.redisOf(ctx, name)
	if err != nil {
		return err
	}
	nats, err := s.natsFor(ctx, name+">nats")
	if err != nil {
		return err
	}
	arguments := []string{
		service.Name, "--name", name, "--listen", "127.0.0.1:0", "--redis", redis, "--nats", nats,
		"--stream-replicas", "3", "--player-rate", "0", "--project-rate", "0", "--api-rate", "0", "--drain", "5s",
	}
	if service.Issuers {
		arguments = append(arguments, "--issuers", s.issuers)
	}
	if service.Modules {
		arguments = append(arguments, "--modules", filepath.Join(s.dir, name))
		arguments = append(arguments, s.made.instances...)
	}
	switch service.Name {
	case catalog.Backfill:
		arguments = append(arguments, "--readable", "10h")
	case catalog.Party:
		arguments = append(arguments, "--party-silence", silenceTime.String(), "--party-join-rate", "0")
	case catalog.Director:
		arguments = append(arguments, "--lease", leaseTime.String(), "--claim", claimTime.String(), "--run-time", "2s",
			"--readable", "10h", "--wait-limit", "10h", "--approval-time", approvalTime.String(),
			"--project-cores", "8") // a run that is lost counts as seconds of work, and its config would rest for them
	case catalog.Allocator:
		hosting, err := s.proxy(ctx, name+">fleet", s.fleet.dial)
		if err != nil {
			return err
		}
		arguments = append(arguments, "--allocation-time", hostTime.String(), "--readable", "10h")
		more, err := s.fleet.arguments(s.dir, name, hosting)
		if err != nil {
			return err
		}
		arguments = append(arguments, more...)
	}
	number, starts := len(s.units), new(atomic.Int64)
	u := s.add(name, func() *exec.Cmd {
		c := exec.Command(s.made.matchmaker, arguments...)
		// Without settings of the machine's user.
		c.Env = []string{"PATH=" + os.Getenv("PATH"), mistake.Variable + "=" + strings.Join(s.mistakes, ",")}
		if s.clocks {
			c.Env = append(c.Env, clockOf(number+int(starts.Add(1))))
		}
		return c
	}, func(line string) string {
		var e struct {
			Message string `json:"msg"`
			Address string `json:"address"`
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.Message != "serving" {
			return ""
		}
		return e.Address
	})
	if service.Issuers {
		front, err := s.proxy(ctx, "players>"+name, u.dial(tcp))
		if err != nil {
			return err
		}
		s.fronts[service.Name] = append(s.fronts[service.Name], "http://"+front)
	}
	return nil
}

// start starts all processes and returns when they are ready.
func (s *system) start(ctx context.Context) error {
	stores := s.stores.processes()
	for n, name := range s.names() {
		if n == len(stores) {
			if err := s.stores.form(ctx); err != nil {
				return err
			}
		}
		if err := s.units[name].start(); err != nil {
			return err
		}
	}
	return s.ready(ctx)
}

// ready waits until all services are ready.
func (s *system) ready(ctx context.Context) error {
	probes := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, name := range services() {
		u := s.units[name]
		err := until(ctx, func() bool {
			if !u.process().Running() {
				return false
			}
			where, err := u.listening(ctx)
			return err == nil && probe(ctx, probes, "http://"+where+"/readyz")
		})
		if err != nil {
			return fmt.Errorf("%s is not ready: %w", name, err)
		}
	}
	return nil
}

func probe(ctx context.Context, client *http.Client, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	answer, err := client.Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// names lists all units in the order in which they start.
func (s *system) names() []string {
	return slices.Concat(s.stores.processes(), natsNodes, services())
}

// end kills all processes and closes all proxies.
func (s *system) end() error {
	for _, u := range s.units {
		if u.process() != nil {
			u.process().Kill()
		}
	}
	var err error
	for _, name := range slices.Sorted(maps.Keys(s.proxies)) {
		for _, p := range s.proxies[name] {
			err = errors.Join(err, p.Close())
		}
	}
	return errors.Join(err, s.stores.close())
}

// until waits until ok is true. An error means that ctx ended.
func until(ctx context.Context, ok func() bool) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
