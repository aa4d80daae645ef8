package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/services/test/workload"
)

// fleets are the fleet managers of a trial: the attacker's own, which takes calls and never answers, and the
// victims', which gives servers as long as it has some. It gives one to every caller: the service keeps others away.
type fleets struct {
	server *http.Server
	url    string

	mu    sync.Mutex
	given map[string]int // servers of the victims' fleet, by project
}

// stock is how many servers the victims' fleet has: enough for them, and few for an attacker.
const stock = 5000

func newFleets(ctx context.Context) (*fleets, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &fleets{url: "http://" + l.Addr().String(), given: map[string]int{}}
	routes := http.NewServeMux()
	routes.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	victims := workload.Fleet{Give: f.give}
	victims.Serve(routes, "/"+theirs)
	f.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: routes}
	go func() { _ = f.server.Serve(l) }()
	return f, nil
}

func (f *fleets) close() { _ = f.server.Close() }

// strangers are the projects besides the victim's that got servers of its fleet.
func (f *fleets) strangers() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	others := maps.Clone(f.given)
	delete(others, victimProject)
	return others
}

// of is how many servers a project got.
func (f *fleets) of(project string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.given[project]
}

// give gives a project a server of the victims' fleet.
func (f *fleets) give(_, project string, held int) (connection string) {
	if held == stock {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.given[project]++
	return fmt.Sprintf("127.0.0.1:%d", 10_000+stock-1-held)
}

// Hosting profiles and fleets: slowProfile belongs to the attacker's manager, theirs to the victims' project.
const (
	slowProfile = "slow"
	theirs      = "theirs"
)

// rules are the hosting rules: the victims' fleet is for their project alone, matches with the slow profile go to the
// attacker's manager, others get a server at once. key is the file of the key that calls are signed with.
func (f *fleets) rules(key string) []byte {
	manager := func(path string) map[string]any {
		return map[string]any{"kind": "http", "url": strings.TrimSuffix(f.url+"/"+path, "/"), "key-id": "1", "key-file": key}
	}
	text, _ := json.Marshal(map[string]any{ // JSON is YAML
		"default": "good",
		"providers": map[string]any{
			"good":      map[string]any{"kind": "instant", "connection": "127.0.0.1:7777"},
			slowProfile: manager(""),
			theirs:      manager(theirs),
		},
		"rules": []map[string]any{
			{"fleet": theirs, "provider": theirs, "projects": []string{victimProject}},
			{"profile": slowProfile, "provider": slowProfile},
		},
	})
	return fmt.Appendf(text, "\n")
}
