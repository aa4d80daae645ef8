package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// fleet is the attacker's own fleet manager. It takes calls and never answers.
type fleet struct {
	server *http.Server
	url    string
}

func newFleet(ctx context.Context) (*fleet, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &fleet{url: "http://" + l.Addr().String(), server: &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler:           http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
	}}
	go func() { _ = f.server.Serve(l) }()
	return f, nil
}

func (f *fleet) close() { _ = f.server.Close() }

// slowProfile is the hosting profile of the fleet.
const slowProfile = "slow"

// rules are the hosting rules: matches with the profile go to the fleet, others get a server at once.
// key is the file of the key that calls are signed with.
func (f *fleet) rules(key string) []byte {
	text, _ := json.Marshal(map[string]any{ // JSON is YAML
		"default": "good",
		"providers": map[string]any{
			"good":      map[string]any{"kind": "instant", "connection": "127.0.0.1:7777"},
			slowProfile: map[string]any{"kind": "http", "url": f.url, "key-id": "1", "key-file": key},
		},
		"rules": []map[string]any{{"profile": slowProfile, "provider": slowProfile}},
	})
	return fmt.Appendf(text, "\n")
}
