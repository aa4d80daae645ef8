package backfill

import (
	"strings"
	"testing"

	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
)

const first = "/demo/matchmaking/api/v1/backfill"

const asked = `{"connection":"10.0.0.1:7777","function":{"name":"Duel","version":"1"},"pools":{"all":[{"attribute":"skill","min":0,"max":10}]},"config":{"missing":["a"]}}`

func (r reply) deprecated(t *testing.T) reply {
	t.Helper()
	if since := r.header.Get("Deprecation"); since != "@1767225600" {
		t.Errorf("Deprecation: %q", since)
	}
	for _, link := range []string{`</openapi.json>; rel="deprecation"`, `<../v2/backfill>; rel="successor-version"`} {
		if !strings.Contains(r.header.Get("Link"), link) {
			t.Errorf("Link: %q, want %q in it", r.header.Get("Link"), link)
		}
	}
	return r
}

func TestFirstGeneration(t *testing.T) {
	m := start(t)
	m.post(t, first, asked).deprecated(t).problem(t, 400, `function.name: the project has no function "duel"`)
	m.upload(t, "duel")
	m.post(t, first, asked).deprecated(t).problem(t, 503, "does not run backfill of the first generation")
	m.post(t, first, `{"Connection":"a:1","FUNCTION":{"name":"duel"}}`).deprecated(t).problem(t, 503, "")
	if r := m.post(t, base, "{}"); r.header.Get("Deprecation") != "" {
		t.Error("the second generation is deprecated as well")
	}
}

func TestFirstGenerationRefuses(t *testing.T) {
	m := start(t)
	m.upload(t, "duel")
	for body, words := range map[string]string{
		`{}`:   "connection: required, ip:port of the server; function: required",
		`null`: "an object is expected, got null",
		`{"connection":"","function":{"name":"duel"}}`:                                      "connection: empty",
		`{"connection":"a b","function":{"name":"duel"}}`:                                   "connection: spaces",
		`{"connection":5,"function":{"name":""},"x":1}`:                                     "connection: a string is expected, got a number; function.name: required, the name of an uploaded function; x: unknown member",
		`{"connection":"a:1","function":"duel"}`:                                            "function: an object is expected",
		`{"connection":"a:1","function":{"name":"?"}}`:                                      `function.name: "?" is no function name`,
		strings.Replace(asked, `"max":10`, `"max":-1`, 1):                                   "pools.all[0]: max -1 is below min 0",
		strings.Replace(asked, `"missing"`, `"a":1,"a"`, 1):                                 "config.a: given twice",
		strings.Replace(asked, `"config"`, `"Connection":"b:1","config"`, 1):                "connection: given twice",
		strings.Replace(asked, `["a"]`, strings.Repeat("[", 20)+strings.Repeat("]", 20), 1): "nest deeper than 16",
		`{"connection":`: "not JSON",
	} {
		m.post(t, first, body).deprecated(t).problem(t, 400, words)
	}
	m.post(t, first, "").deprecated(t).problem(t, 415, "Content-Type")
}

func TestFirstGenerationIsForServers(t *testing.T) {
	m := start(t)
	player := &match{url: m.url, token: m.mint(t, issuer.Claims{Kind: auth.Player, Project: "demo"})}
	player.post(t, first, asked).deprecated(t).problem(t, 403, "player")
	elsewhere := &match{url: m.url, token: m.mint(t, issuer.Claims{Kind: auth.Server, Project: "other"})}
	elsewhere.post(t, first, asked).deprecated(t).problem(t, 403, "project")
	stranger := &match{url: m.url}
	stranger.post(t, first, asked).deprecated(t).problem(t, 401, "token")
}
