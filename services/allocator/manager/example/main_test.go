package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/manager"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

const key = "a key of the example"

func open(t *testing.T) (*fleet, conformance.FaultyFixture) {
	t.Helper()
	f := &fleet{key: []byte(key), held: map[string]string{}}
	for i := range conformance.Room {
		f.free = append(f.free, fmt.Sprint("10.0.0.1:", 7000+i))
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	server := conformance.Serve(t, f, conformance.NewAuthority(t), nil)
	log := new(conformance.LogBuffer)
	p, err := manager.New(manager.Options{
		URL: server.URL, CA: server.Authority.File, KeyFile: file, Timeout: 5 * time.Second, Log: log.Logger(), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	held := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.held)
	}
	exhaust := func() func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		taken := f.free
		f.free = nil
		return func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.free = taken
		}
	}
	return f, conformance.FaultyFixture{
		Fixture: conformance.Fixture{Provider: p, Hosting: provider.Hosting{}, InUse: held, Exhaust: exhaust}, Server: server,
		Secrets: []string{key}, Log: log,
	}
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Fixture {
		_, fixture := open(t)
		return fixture.Fixture
	})
}

func TestFaults(t *testing.T) {
	conformance.RunFaults(t, func(t *testing.T) conformance.FaultyFixture {
		_, fixture := open(t)
		return fixture
	})
}

func TestWhoHasAnotherKeyIsRefused(t *testing.T) {
	f, fixture := open(t)
	f.key = []byte("another key of the example")
	_, err := fixture.Provider.Allocate(t.Context(), &provider.Request{Ref: provider.Ref{Project: "p", Match: "m"}})
	if provider.ReasonOf(err) != provider.Refused || fixture.InUse() != 0 {
		t.Errorf("%v, %d held", err, fixture.InUse())
	}
}

// The example must stay short enough to read.
func TestTheExampleIsShort(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n >= 100 {
		t.Errorf("%d lines", n)
	}
}
