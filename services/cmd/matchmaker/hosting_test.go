package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/state"
)

// hostingBuilder has what providers need: a log and a clock.
func hostingBuilder(t *testing.T, handler slog.Handler) *builder {
	t.Helper()
	b := &builder{log: slog.New(handler)}
	var err error
	if b.store, err = state.Open(state.Options{Server: state.Server{URL: "redis://127.0.0.1:1"}, Log: b.log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.store.Close() })
	return b
}

// choiceOf makes what a file says.
func choiceOf(b *builder, text string) (*provider.Choice, error) {
	file, rules, err := parseHosting([]byte(text))
	if err != nil {
		return nil, err
	}
	return b.choice(file, rules)
}

func TestHostingFile(t *testing.T) {
	b := hostingBuilder(t, slog.DiscardHandler)
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
	if _, err := choiceOf(b, (`
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
	one, err := choiceOf(b, "providers: {only: {kind: instant, connection: a:1}}")
	if err != nil || one.Default != "only" {
		t.Errorf("a single provider is not the default: %v", err)
	}
}

// Rules that name no projects are warned about, once for all of them.
func TestHostingFileWarnsOfWhatEverybodyMayUse(t *testing.T) {
	var log bytes.Buffer
	b := hostingBuilder(t, slog.NewTextHandler(&log, nil))
	const providers = "providers: {a: {kind: instant, connection: x:1}}\n"
	for text, want := range map[string]string{
		"": "rules=[default]",
		"rules: [{fleet: f, provider: a}, {profile: p, provider: a, projects: [demo]}]": `rules="[fleet f default]"`,
		"default-projects: [demo]\nrules: [{profile: p, fleet: f, provider: a}]":        `rules="[fleet f with profile p]"`,
		"default-projects: [demo]\nrules: [{fleet: f, provider: a, projects: [demo]}]":  "",
	} {
		log.Reset()
		if _, err := b.hosting(write(t, providers+text)); err != nil {
			t.Fatal(err)
		}
		if got := log.String(); strings.Count(got, "\n") != min(len(want), 1) || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// The config service reads the rules alone: keys and certificates that the file names need not be there.
func TestHostingRulesAreReadWithoutTheProviders(t *testing.T) {
	_, rules, err := readHosting(write(t, `
default: own
default-projects: [demo]
providers:
  own: {kind: http, url: "https://fleet.example.com", key-id: a, key-file: /nowhere}
  cluster: {kind: agones, fleet: green, kubernetes: {}}
rules: [{profile: cup, provider: cluster}, {fleet: green, provider: cluster, projects: [demo]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []provider.Hosting{{}, {Fleet: "any"}, {Fleet: "green"}, {Profile: "cup"}} {
		if err := rules.Check("demo", h); err != nil {
			t.Errorf("demo, %+v: %v", h, err)
		}
		if err := rules.Check("other", h); provider.ReasonOf(err) != provider.Refused {
			t.Errorf("other, %+v: %v, want refused", h, err)
		}
	}
}

func TestHostingFileMistakes(t *testing.T) {
	b := hostingBuilder(t, slog.DiscardHandler)
	const a = "a: {kind: instant, connection: x:1}"
	for text, want := range map[string]string{
		"":                                  "providers: missing",
		"provider: {}":                      "field provider not found",
		"providers: []":                     "cannot unmarshal",
		"providers: {a: instant}":           "providers.a: a kind",
		"providers: {a: {kind: cloud}}":     `providers.a: kind: "cloud" is none of`,
		"providers: {a: {connection: x:1}}": `providers.a: kind: "" is none of`,
		"providers: {a: {kind: instant}}":   "providers.a: connection: missing",
		"providers: {a: {kind: instant, connection: x:1, max-servers: 1}}":           "providers.a: yaml: unmarshal errors",
		"providers: {a: {kind: local, server-lifetime: soon}}":                       "providers.a: yaml",
		"providers: {a: {kind: http}}":                                               "providers.a: url: missing",
		"providers: {a: {kind: http, secret: x}}":                                    "field secret not found",
		"providers: {a: {kind: multiplay}}":                                          "providers.a: project-guid: missing",
		"providers: {a: {kind: multiplay, secret: x}}":                               "field secret not found",
		"providers: {a: {kind: agones}}":                                             "providers.a: service or kubernetes",
		"providers: {a: {kind: agones, service: {uri: x}}}":                          "field uri not found",
		"providers: {a: {kind: agones, service: {url: 'http://x'}}}":                 "providers.a: service.url: http is for this machine only",
		"providers: {a: {kind: local, max-servers: -1}}":                             "providers.a: max-servers: must be",
		"providers: {a: {kind: local, server-lifetime: -1s}}":                        "providers.a: server-lifetime: must be",
		"providers: {" + a + ", b: {kind: instant, connection: y:1}}":                `default: "" is none of the providers: a, b`,
		"providers: {" + a + "}\ndefault: b":                                         `default: "b" is none of the providers: a`,
		"providers: {" + a + "}\nrules: [{fleet: f, provider: b}]":                   `rules[0].provider: "b" is none`,
		"providers: {" + a + "}\nrules: [{provider: a}]":                             "rules[0]: profile or fleet",
		"providers: {" + a + "}\nrules: [{fleet: f, provider: a, projects: []}]":     "rules[0].projects: empty",
		"providers: {" + a + "}\nrules: [{fleet: f, provider: a, projects: ['p*']}]": `rules[0].projects: "p*" is no name`,
		"providers: {" + a + "}\nrules: [{fleet: f, provider: a, project: p}]":       "field project not found",
		"providers: {" + a + "}\ndefault-projects: []":                               "default-projects: empty",
		"providers: {" + a + "}\ndefault-projects: ['']":                             `default-projects: "" is no name`,
		"providers: {" + a + "}\nrules: [{fleet: f, region: r, provider: a}]":        "field region not found",
	} {
		if _, err := choiceOf(b, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	unknown := write(t, "providers: {a: {kind: cloud}}")
	if code, _, stderr := matchmaker(t, "allocator", "--hosting", unknown); code != exitFailure ||
		!strings.Contains(stderr, "--hosting: ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
