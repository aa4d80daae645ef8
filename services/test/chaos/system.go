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
	"time"

	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
	"matchmaker.dev/services/test/chaos/storm"
	"matchmaker.dev/services/test/proxy"
)

// system is a matchmaking system of many processes, every connection of which can be cut.
type system struct {
	dir    string
	made   *artefacts
	tokens *issuer.Issuer
	fleet  *fleet
	// issuers is the file that makes services believe the system's tokens.
	issuers string
	units   map[string]*unit
	// links by what they are between; what is cut together has one name.
	proxies map[string][]*proxy.Proxy
	// fronts are where replicas of the APIs are reached by players and others, by service.
	fronts map[string][]string
	// nats is where this process reaches NATS, over links that nobody cuts.
	nats string
}

// natsNodes is enough for one of them to be away.
var natsNodes = []string{"nats-1", "nats-2", "nats-3"}

// What a system is made of beside Redis and NATS, and how long one service waits for what.
var (
	apis      = []string{"ticket-1", "ticket-2", "config", "registry", "backfill"}
	workers   = []string{"runner-1", "runner-2", "director-1", "director-2", "allocator-1", "allocator-2"}
	claimTime = 4 * time.Second
	hostTime  = 6 * time.Second
	leaseTime = 2 * time.Second
	// approvalTime is long enough for games that speak every half second.
	approvalTime = 3 * time.Second
)

// newSystem makes the units and links of a system, and starts nothing yet.
func newSystem(dir string, made *artefacts, fleet *fleet) (s *system, err error) {
	s = &system{
		dir: dir, made: made, fleet: fleet, issuers: filepath.Join(dir, "issuers.yaml"),
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
	if err := s.redis(); err != nil {
		return nil, err
	}
	if err := s.cluster(); err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(apis, workers) {
		if err := s.service(name); err != nil {
			return nil, err
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

// uncut is the name of links that are never cut.
const uncut = "-"

// link opens a link of a name, and returns where it begins.
func (s *system) proxy(name string, dial proxy.Dial) (string, error) {
	l, err := proxy.Listen(dial)
	if err != nil {
		return "", err
	}
	s.proxies[name] = append(s.proxies[name], l)
	return l.Address(), nil
}

// redis writes every change to the disk before it answers, so that nothing that was answered is lost by a kill.
func (s *system) redis() error {
	binary := ""
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			binary = path
			break
		}
	}
	if binary == "" {
		return errors.New("a redis-server or valkey-server is needed")
	}
	dir := filepath.Join(s.dir, "redis")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	socket := filepath.Join(dir, "socket")
	s.add("redis", func() *exec.Cmd {
		return exec.Command(binary, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "",
			"--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--daemonize", "no")
	}, func(line string) string {
		if strings.Contains(strings.ToLower(line), "ready to accept connections") {
			return socket
		}
		return ""
	})
	return nil
}

// cluster is three NATS servers, which are this program again.
func (s *system) cluster() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	routes := map[string][]string{}
	for _, name := range natsNodes {
		s.add(name, func() *exec.Cmd {
			return exec.Command(self, append([]string{nodeCommand, filepath.Base(s.dir), name, filepath.Join(s.dir, name)}, routes[name]...)...)
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
			address, err := s.proxy(strings.Join(pair, "|"), s.units[other].dial(func(where string) (string, string) {
				_, routes, _ := strings.Cut(where, " ")
				return "tcp", routes
			}))
			if err != nil {
				return err
			}
			routes[name] = append(routes[name], address)
		}
	}
	s.nats, err = s.natsFor(uncut)
	return err
}

// natsFor opens links to all NATS servers, which are cut together, and returns them as a URL.
func (s *system) natsFor(name string) (string, error) {
	var urls []string
	for _, node := range natsNodes {
		address, err := s.proxy(name, s.units[node].dial(func(where string) (string, string) {
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

// service adds one service, with links to what it needs.
func (s *system) service(name string) error {
	redis, err := s.proxy(name+">redis", s.units["redis"].dial(func(where string) (string, string) { return "unix", where }))
	if err != nil {
		return err
	}
	nats, err := s.natsFor(name + ">nats")
	if err != nil {
		return err
	}
	service, _, _ := strings.Cut(name, "-")
	arguments := []string{
		service, "--name", name, "--listen", "127.0.0.1:0", "--redis", "redis://" + redis, "--nats", nats, "--stream-replicas", "3",
		"--player-rate", "0", "--project-rate", "0", "--api-rate", "0", "--drain", "5s",
	}
	modules := append([]string{"--modules", filepath.Join(s.dir, name)}, s.made.instances...)
	switch service {
	case "ticket", "config":
		arguments = append(arguments, "--issuers", s.issuers)
	case "backfill":
		arguments = append(arguments, "--issuers", s.issuers, "--readable", "10h")
	case "registry":
		arguments = append(append(arguments, "--issuers", s.issuers), modules...)
	case "runner":
		arguments = append(arguments, modules...)
	case "director":
		arguments = append(arguments, "--lease", leaseTime.String(), "--claim", claimTime.String(), "--run-time", "2s", "--readable", "10h", "--wait-limit", "10h",
			"--approval-time", approvalTime.String())
	case "allocator":
		hosting, err := s.proxy(name+">fleet", s.fleet.dial)
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
	u := s.add(name, func() *exec.Cmd {
		c := exec.Command(s.made.matchmaker, arguments...)
		c.Env = []string{"PATH=" + os.Getenv("PATH")} // no setting of the machine's user
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
	if slices.Contains(apis, name) {
		front, err := s.proxy("players>"+name, u.dial(tcp))
		if err != nil {
			return err
		}
		s.fronts[service] = append(s.fronts[service], "http://"+front)
	}
	return nil
}

// start starts everything and returns when all of it is ready.
func (s *system) start(ctx context.Context) error {
	for _, name := range s.names() {
		if err := s.units[name].start(); err != nil {
			return err
		}
	}
	return s.ready(ctx)
}

// ready waits until every service says that it is.
func (s *system) ready(ctx context.Context) error {
	probes := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, name := range slices.Concat(apis, workers) {
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

// names are those of all units, those first that others need.
func (s *system) names() []string {
	return slices.Concat([]string{"redis"}, natsNodes, apis, workers)
}

// end kills everything.
func (s *system) end() error {
	for _, name := range slices.Backward(s.names()) {
		if u := s.units[name]; u != nil && u.process() != nil {
			u.process().Kill()
		}
	}
	var err error
	for _, name := range slices.Sorted(maps.Keys(s.proxies)) {
		for _, l := range s.proxies[name] {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}

// targets are what a storm may disturb, and how.
func (s *system) targets() []storm.Target {
	process := []storm.Kind{storm.Kill, storm.Kill, storm.Freeze, storm.Freeze, storm.Restart}
	crash := []storm.Kind{storm.Kill, storm.Freeze}
	cut := []storm.Kind{storm.Refuse, storm.Silence, storm.Deafen, storm.Slow}
	var targets []storm.Target
	add := func(name string, kinds []storm.Kind, weight int, longest time.Duration) {
		t := storm.Target{Name: name, Kinds: kinds, Weight: weight, Longest: longest}
		if slices.Contains(natsNodes, name) {
			t.Group = "nats" // a cluster of three bears to lose one
		}
		targets = append(targets, t)
	}
	for _, name := range s.names() {
		switch service, _, _ := strings.Cut(name, "-"); service {
		case "redis":
			add(name, crash, 4, 4*time.Second)
		case "nats":
			add(name, crash, 3, 8*time.Second)
		case "director":
			add(name, process, 8, 3*leaseTime)
		case "allocator":
			add(name, process, 6, 14*time.Second) // longer than the queue waits for it
		case "runner":
			add(name, process, 4, 4*time.Second)
		case "ticket":
			add(name, process, 3, 3*time.Second)
		default:
			add(name, process, 1, 3*time.Second)
		}
	}
	for name := range s.proxies {
		from, to, _ := strings.Cut(name, ">")
		switch from, _, _ = strings.Cut(from, "-"); {
		case name == uncut:
		case from == "director" && to == "redis":
			add(name, cut, 6, 3*leaseTime)
		case from == "allocator":
			add(name, cut, 3, 5*time.Second)
		default:
			add(name, cut, 1, 5*time.Second)
		}
	}
	slices.SortFunc(targets, func(a, b storm.Target) int { return strings.Compare(a.Name, b.Name) })
	return targets
}

// until asks again and again until the answer is yes or ctx ends.
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
