package main

import (
	"log/slog"
	"strings"
	"testing"

	"matchmaker.dev/services/allocator/provider"
)

func TestHostingFile(t *testing.T) {
	b := &builder{log: slog.New(slog.DiscardHandler)}
	defer func() {
		if err := b.close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	servers, err := b.hosting(write(t, `
default: everywhere
providers:
  everywhere: {kind: instant, connection: a:1}
  europe: {kind: instant, connection: b:1}
  here: {kind: local, max-servers: 3, server-lifetime: 1m}
rules:
  - {fleet: eu, provider: europe}
  - {profile: small, provider: here}
`))
	if err != nil {
		t.Fatal(err)
	}
	for fleet, want := range map[string]string{"eu": "b:1", "us": "a:1"} {
		got, err := servers.Allocate(t.Context(),
			&provider.Request{Ref: provider.Ref{Hosting: provider.Hosting{Fleet: fleet}}})
		if err != nil || got.Connection != want {
			t.Errorf("%s: %+v, %v, want %s", fleet, got, err, want)
		}
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "1")
	token := write(t, "jwt")
	if _, err := b.choice([]byte(`
providers:
  cluster:
    kind: agones
    namespace: games
    fleet: green
    selectors: [{version: "2"}, {}]
    profile-label: map
    port: game
    density: {list: matches}
    timeout: 3s
    kubernetes: {url: "https://127.0.0.1:1", token: ` + token + `, keep-released: true}
  cloud:
    kind: multiplay
    project-guid: x
    auth: basic
    api: v2
    region: eu
    regions: {eu: "1"}
    wait-ready: true
    ipv6: true
    timeout: 3s
  own: {kind: http, url: "https://fleet.example.com", key-id: a, key-file: ` + write(t, "sixteen bytes or more") + `, timeout: 3s}
default: cloud
`)); err != nil {
		t.Error(err)
	}
	one, err := b.choice([]byte("providers: {only: {kind: instant, connection: a:1}}"))
	if err != nil || one.Default == nil {
		t.Errorf("a single provider is not the default: %v", err)
	}
}

func TestHostingFileMistakes(t *testing.T) {
	b := &builder{log: slog.New(slog.DiscardHandler)}
	const a = "a: {kind: instant, connection: x:1}"
	for text, want := range map[string]string{
		"":                                  "providers: missing",
		"provider: {}":                      "field provider not found",
		"providers: []":                     "cannot unmarshal",
		"providers: {a: instant}":           "providers.a: a kind",
		"providers: {a: {kind: cloud}}":     `providers.a: kind: "cloud" is none of`,
		"providers: {a: {connection: x:1}}": `providers.a: kind: "" is none of`,
		"providers: {a: {kind: instant}}":   "providers.a: connection: missing",
		"providers: {a: {kind: instant, connection: x:1, max-servers: 1}}":    "providers.a: yaml: unmarshal errors",
		"providers: {a: {kind: local, server-lifetime: soon}}":                "providers.a: yaml",
		"providers: {a: {kind: http}}":                                        "providers.a: url: missing",
		"providers: {a: {kind: http, secret: x}}":                             "field secret not found",
		"providers: {a: {kind: multiplay}}":                                   "providers.a: project-guid: missing",
		"providers: {a: {kind: multiplay, secret: x}}":                        "field secret not found",
		"providers: {a: {kind: agones}}":                                      "providers.a: service or kubernetes",
		"providers: {a: {kind: agones, service: {uri: x}}}":                   "field uri not found",
		"providers: {a: {kind: agones, service: {url: 'http://x'}}}":          "providers.a: service.url: http is for this machine only",
		"providers: {a: {kind: local, max-servers: -1}}":                      "providers.a: local fleet",
		"providers: {" + a + ", b: {kind: instant, connection: y:1}}":         `default: "" is none of the providers: a, b`,
		"providers: {" + a + "}\ndefault: b":                                  `default: "b" is none of the providers: a`,
		"providers: {" + a + "}\nrules: [{fleet: f, provider: b}]":            `rules[0].provider: "b" is none`,
		"providers: {" + a + "}\nrules: [{provider: a}]":                      "rules[0]: profile or fleet",
		"providers: {" + a + "}\nrules: [{fleet: f, region: r, provider: a}]": "field region not found",
	} {
		if _, err := b.choice([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	unknown := write(t, "providers: {a: {kind: cloud}}")
	if code, _, stderr := matchmaker(t, "allocator", "--hosting", unknown); code != exitFailure ||
		!strings.Contains(stderr, "--hosting: ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
