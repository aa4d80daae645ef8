package e2e

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest/proxy"
)

// system is a running matchmaking system.
type system struct {
	made   *artefacts
	keys   string // the folder of its token issuer
	tokens *issuer.Issuer
	http   *http.Client
	// front is the URL of its API, without a slash at the end.
	front func() string
	// between has what went wrong between the front and the services.
	between buffer
	// nats is the URL of its message bus, for programs that follow its events.
	nats func() string

	// The rest is known only of a system of many processes.

	// redis is the address of its Redis, and users are the users of its Redis and NATS.
	redis string
	users *users
	// stores are the folders of Redis and NATS, answers the bodies of all HTTP answers, and traces what the services
	// sent to a collector of OpenTelemetry.
	stores  map[string]string
	answers buffer
	traces  collector
	// proxies lead to Redis and NATS.
	proxies map[string]*proxy.Proxy
	// settings is a file of settings; "" for none. Flags take precedence over it.
	settings string
	// env is the environment of each process.
	env []string
	// listen are the addresses of replicas that must be known before they start.
	listen map[string]string
	// commands are the arguments of each replica.
	commands map[string][]string

	mu       sync.Mutex
	replicas map[string]*replica // the latest of each name
	ended    []*replica          // replaced processes
}

// newSystem makes a system without processes. They end with the test.
func newSystem(t *testing.T, made *artefacts, keys string) *system {
	t.Helper()
	tokens, err := issuer.Open(keys, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := &system{
		made: made, keys: keys, tokens: tokens,
		http:     &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second}},
		commands: map[string][]string{}, replicas: map[string]*replica{},
		// No argument: the version before does not know it.
		env: []string{"MATCHMAKER_UNSERVED_GRACE=1s"},
	}
	t.Cleanup(func() { s.end(t) })
	return s
}

// end kills all processes and looks for data races and players in their logs. When the test failed it logs the ends of
// their output. All output is in the files that go test -artifacts keeps.
func (s *system) end(t *testing.T) {
	s.http.CloseIdleConnections()
	all := s.all()
	for i, p := range all {
		p.Kill()
		p.findPeople(t)
		if p.log.contains("WARNING: DATA RACE") {
			t.Errorf("%s has a data race:\n%s", p.name, p.log.all())
		}
		file := filepath.Join(t.ArtifactDir(), fmt.Sprintf("%02d-%s.log", i, p.name))
		if err := os.WriteFile(file, []byte(p.log.all()), 0o600); err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		for _, p := range all {
			t.Logf("──── %s (%v)\n%s", p.name, p.Err(), p.log)
		}
		t.Logf("──── the front\n%s", &s.between)
	}
}

// all lists all processes: the replaced ones, then the latest ones by name.
func (s *system) all() []*replica {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.ended)
	for _, name := range slices.Sorted(maps.Keys(s.replicas)) {
		all = append(all, s.replicas[name])
	}
	return all
}

// replica is the latest process with a name.
func (s *system) replica(name string) *replica {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replicas[name]
}

// start starts replicas, or starts them again, and waits until they are ready.
func (s *system) start(t *testing.T, names ...string) {
	t.Helper()
	started := make([]*replica, len(names))
	for i, name := range names {
		p, err := launch(name, s.made.matchmaker, s.env, s.commands[name]...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		started[i] = p
		s.adopt(p)
	}
	for _, p := range started {
		p.await(t, "listening", func() bool {
			e, ok := p.log.last("serving", "")
			s.mu.Lock()
			defer s.mu.Unlock()
			p.address = e.Address
			return ok
		})
		p.await(t, "ready", func() bool { return s.probe(p, "/readyz") == nil })
	}
}

// adopt makes p the latest process with its name.
func (s *system) adopt(p *replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.replicas[p.name]; before != nil {
		s.ended = append(s.ended, before)
	}
	s.replicas[p.name] = p
}

// address is where a replica listens; "" before it does.
func (s *system) address(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.replicas[name]; p != nil {
		return p.address
	}
	return ""
}

// probe returns nil when the replica answers 200 at the path.
func (s *system) probe(p *replica, path string) error {
	answer, err := s.http.Get("http://" + s.address(p.name) + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body) // or the next probe needs another connection
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", path, answer.StatusCode)
	}
	return nil
}

// kill ends a replica as a crash does.
func (s *system) kill(name string) { s.replica(name).Kill() }

// stop stops replicas. They must end in good order.
func (s *system) stop(t *testing.T, names ...string) {
	t.Helper()
	var all sync.WaitGroup
	for _, name := range names {
		p := s.replica(name)
		all.Go(func() {
			if err := p.Stop(patience); err != nil {
				t.Errorf("%s did not stop in good order: %v\n%s", name, err, p.log)
			}
		})
	}
	all.Wait()
}

// names lists the replicas that have commands.
func (s *system) names() []string { return slices.Sorted(maps.Keys(s.commands)) }
