package config

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestConfigsAreListedByID(t *testing.T) {
	s := start(t)
	got := s.do(t, http.MethodGet, "/configs", "")
	got.expect(t, http.StatusOK)
	if strings.TrimSpace(got.body) != `{"configs":[]}` || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("without configs: %s, %v", got.body, got.header)
	}
	duel := s.put(t, "duel", `{"matchmaking":{"name":"Duel","targetFunction":{"name":"duel"},"config":{"secret":1}},
		"pools":{"a":[],"b":[{"attribute":"skill"}]},"queue":"ranked","hosting":{"FleetId":"eu"}}`).expect(t, http.StatusOK)
	arena := s.put(t, "Arena", `{"matchmaking":{"targetFunction":{"name":"arena"}}}`).expect(t, http.StatusOK)
	want := fmt.Sprintf(`{"configs":[{"id":"Arena","etag":%q,"function":"arena","pools":0,"hosted":false},`+
		`{"id":"duel","etag":%q,"name":"Duel","function":"duel","queue":"ranked","pools":2,"hosted":true}]}`, arena, duel)
	if got := s.do(t, http.MethodGet, "/configs", ""); strings.TrimSpace(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	s.delete(t, "Arena").expect(t, http.StatusNoContent)
	if got := s.do(t, http.MethodGet, "/configs", ""); len(got.body) >= len(want) {
		t.Errorf("after a DELETE: %s", got.body)
	}
}
