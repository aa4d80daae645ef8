package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"matchmaker.dev/services/internal/issuer"
	"matchmaker.dev/services/test/proxy"
)

// system is a matchmaking system that runs.
type system struct {
	made   *artefacts
	keys   string // the folder of its token issuer
	tokens *issuer.Issuer
	http   *http.Client
	// front is where its API is, without a slash at the end.
	front func() string
	// nats is where its message bus is, for those who follow its events.
	nats func() string
	// redis is where its Redis is, host:port, and users are those of its servers, where it has any.
	redis string
	users *users
	// stores are the folders of what keeps the state, by its name, answers is what all HTTP clients were told, and traces what a
	// collector of OpenTelemetry got; where the system is one that they are known of.
	stores  map[string]string
	answers journal
	traces  collector
	// links lead to Redis and NATS; where the system is one that they are known of.
	links map[string]*proxy.Link
	// settings is a file of settings, "" for none; flags go before it.
	settings string
	// env is what the environment of each process has.
	env []string
	// listen are the addresses of processes that have to be at one that is known before.
	listen map[string]string
	// commands are the arguments of each process, by its name.
	commands map[string][]string

	mu        sync.Mutex
	processes map[string]*process // the latest of each name
	ended     []*process          // those before
}

// newSystem has no process yet. Those that it will have end with the test.
func newSystem(t *testing.T, made *artefacts, keys string) *system {
	t.Helper()
	tokens, err := issuer.Open(keys, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := &system{
		made: made, keys: keys, tokens: tokens,
		http:     &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second}},
		commands: map[string][]string{}, processes: map[string]*process{},
	}
	t.Cleanup(func() { s.end(t) })
	return s
}

// end kills what still runs, and tells the story when something went wrong; all
// of it is in the files that go test -artifacts keeps.
func (s *system) end(t *testing.T) {
	s.http.CloseIdleConnections()
	all := s.all()
	for i, p := range all {
		p.signal(os.Kill)
		<-p.done
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
			t.Logf("──── %s (%v)\n%s", p.name, p.cmd.ProcessState, p.log)
		}
	}
}

// all are the processes that live or lived, by name.
func (s *system) all() []*process {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.ended)
	for _, name := range slices.Sorted(maps.Keys(s.processes)) {
		all = append(all, s.processes[name])
	}
	return all
}

// process is the latest of a name.
func (s *system) process(name string) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[name]
}

// start starts processes, again if need be, and waits until they are ready.
func (s *system) start(t *testing.T, names ...string) {
	t.Helper()
	started := make([]*process, len(names))
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

func (s *system) adopt(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.processes[p.name]; before != nil {
		s.ended = append(s.ended, before)
	}
	s.processes[p.name] = p
}

// address is where a process listens; "" before it does.
func (s *system) address(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.processes[name]; p != nil {
		return p.address
	}
	return ""
}

// probe asks a process how it is.
func (s *system) probe(p *process, path string) error {
	answer, err := s.http.Get("http://" + s.address(p.name) + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", path, answer.StatusCode)
	}
	return nil
}

// kill ends a process as a crash does.
func (s *system) kill(name string) {
	p := s.process(name)
	p.signal(os.Kill)
	<-p.done
}

// stop asks processes to end, and wants them to do so in good order.
func (s *system) stop(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		s.process(name).signal(syscall.SIGTERM)
	}
	for _, name := range names {
		p := s.process(name)
		eventually(t, name+" ends", p.gone)
		if p.err != nil {
			t.Errorf("%s was asked to stop, and ended with %v:\n%s", name, p.err, p.log)
		}
	}
}

// names are those of all processes.
func (s *system) names() []string { return slices.Sorted(maps.Keys(s.commands)) }
