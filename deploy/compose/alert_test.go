package compose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hurried are settings with which what alerts wait for happens soon. They replace the provider's in settings.yaml.
const hurried = `
provider: local # one server at a time, for three seconds
max-servers: 1
server-lifetime: 3s
allocation-time: 6s
claim: 10s
approval-time: 2s
max-waiting: 150
player-rate: 0
project-cores: 0.3
max-instances: 1
`

// shorter are the times and bounds of alerts.yaml that are too long for a test, and what they become.
var shorter = []struct{ long, short string }{
	{`\[(5m|10m|1h)\]`, "[20s]"}, {`for: \d+m`, "for: 2s"}, {`> 600\b`, "> 10"}, {`> 120\b`, "> 3"}, {`> 15\b`, "> 2"},
}

// hurry lets Prometheus look each second, by rules with shorter times, and the services run with the settings above.
// Prometheus is not started again: for five minutes, it would take the last word of a container whose address another
// one got meanwhile for what is true, such as that a director leads.
func (m *monitor) hurry(ctx context.Context, t *testing.T) {
	m.edit(t, "deploy/alerts.yaml", func(text string) string {
		for _, s := range shorter {
			expression := regexp.MustCompile(s.long)
			if !expression.MatchString(text) {
				t.Errorf("alerts.yaml has no %s", s.long)
			}
			text = expression.ReplaceAllString(text, s.short)
		}
		return text
	})
	m.edit(t, "deploy/observability/prometheus.yaml", func(text string) string {
		return regexp.MustCompile(`_interval: (10|15)s`).ReplaceAllString(text, "_interval: 1s")
	})
	m.edit(t, "deploy/settings.yaml", func(text string) string {
		return regexp.MustCompile(`(?m)^(provider|instant-connection):.*$`).ReplaceAllString(text, "") + hurried
	})
	m.compose(ctx, t, "kill", "--signal", "HUP", "prometheus")
	until(ctx, t, patience, "Prometheus looks each second", func(ctx context.Context) error {
		var config struct{ YAML string }
		err := m.get(ctx, m.prometheus+"/api/v1/status/config", nil, &config)
		if err == nil && !strings.Contains(config.YAML, "evaluation_interval: 1s") {
			err = errors.New("it has the settings of before")
		}
		return err
	})
	hurrying := []string{"ticket", "director", "runner", "allocator", "backfill"}
	m.compose(ctx, t, append([]string{"restart"}, hurrying...)...)
	for _, service := range hurrying {
		m.engine.awaitHealthy(ctx, t, service)
	}
}

// edit changes a file of the copy in its place: containers have this very file.
func (m *monitor) edit(t *testing.T, name string, change func(string) string) {
	t.Helper()
	path := filepath.Join(m.source, name)
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(change(string(text))), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// cause makes alerts fire, and ends it.
type cause struct {
	name  string
	fires []string
	begin func(ctx context.Context, t *testing.T, m *monitor) (end func())
}

// causes are tried one group after the other; the causes of a group happen together.
var causes = [][]cause{
	{
		{"players wait for nobody", []string{"MatchmakerNoMatches", "MatchmakerWaitingTooLong", "MatchmakerRefusing"},
			waitForNobody},
		{"players give up", []string{"MatchmakerFailedResults"}, giveUp},
		{"a function panics", []string{"MatchmakerFunctionFails"}, panics},
		{"there is one server", []string{
			"MatchmakerNoServers", "MatchmakerWaitsForServers", "MatchmakerSlowAllocation", "MatchmakerSlow",
		}, oneServer},
		{"games approve nobody", []string{"MatchmakerServersDoNotApprove"}, approveNobody},
	},
	{{"functions compute", []string{"MatchmakerHeldBack", "MatchmakerRunnersBusy"}, compute}},
	{{"no runner", []string{"MatchmakerNoRunner"}, without("runner")}},
	{{"no director", []string{"MatchmakerNobodyLeads"}, without("director")}},
	{{"no allocator", []string{"MatchmakerOverdue"}, without("allocator")}},
	{{"no NATS", []string{"MatchmakerDependencyDown"}, without("nats")}},
	{{"a work queue that takes nothing", []string{"MatchmakerOutboxGrows"}, fullQueue}},
	{{"a full Redis", []string{"MatchmakerRedisFull", "MatchmakerRedisFills", "MatchmakerErrors"}, fullRedis}},
}

// alerts makes alerts fire by real causes, and waits for their end.
func (m *monitor) alerts(ctx context.Context, t *testing.T) {
	only := map[string]bool{}
	for _, r := range ruleTests {
		only[r.alert] = r.only != ""
	}
	for _, c := range slices.Concat(causes...) {
		for _, name := range c.fires {
			if there, ok := only[name]; !ok || there {
				t.Errorf("%s: the table of rules says that %s has no cause here", c.name, name)
			}
			delete(only, name)
		}
	}
	for name, known := range only {
		if !known {
			t.Errorf("%s has no cause", name)
		}
	}
	step(t, "shorter times", func(t *testing.T) { m.hurry(ctx, t) })
	work(ctx, t, m.source, "go", "run", "matchmaker.dev/pkg/matchfn/pack", "-o", "bin/functions/actor.zip",
		"test/e2e/testdata/actor")
	for _, group := range causes {
		var names, fires []string
		for _, c := range group {
			names, fires = append(names, c.name), append(fires, c.fires...)
		}
		t.Run(strings.Join(names, ", "), func(t *testing.T) {
			var ends []func()
			ended := false
			end := func() {
				for _, e := range ends {
					e()
				}
				ended = true
			}
			defer func() {
				if !ended {
					end()
				}
			}()
			began := time.Now()
			for _, c := range group {
				ends = append(ends, c.begin(ctx, t, m))
			}
			m.fire(ctx, t, fires)
			fired := time.Since(began)
			end()
			until(ctx, t, patience, "the alerts end", func(ctx context.Context) error {
				still, err := m.firing(ctx)
				for _, name := range fires {
					if still[name] {
						err = errors.Join(err, fmt.Errorf("%s fires", name))
					}
				}
				return err
			})
			t.Logf("%s: fired after %s, ended after %s", strings.Join(fires, ", "), fired.Round(time.Second),
				time.Since(began).Round(time.Second))
		})
	}
}

// fire waits until all of some alerts have fired.
func (m *monitor) fire(ctx context.Context, t *testing.T, want []string) {
	t.Helper()
	seen := map[string]bool{}
	until(ctx, t, patience, "the alerts fire", func(ctx context.Context) error {
		now, err := m.firing(ctx)
		maps.Copy(seen, now)
		for _, name := range want {
			if !seen[name] {
				err = errors.Join(err, fmt.Errorf("%s does not fire", name))
			}
		}
		return err
	})
}

// firing are the alerts that fire. What they say is complete.
func (m *monitor) firing(ctx context.Context) (map[string]bool, error) {
	var found struct {
		Alerts []struct {
			State               string
			Labels, Annotations map[string]string
		}
	}
	if err := m.get(ctx, m.prometheus+"/api/v1/alerts", nil, &found); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, a := range found.Alerts {
		for _, text := range a.Annotations {
			if strings.Contains(text, "<error") || strings.Contains(text, "<no value>") {
				return nil, fmt.Errorf("%s says %q", a.Labels["alertname"], text)
			}
		}
		if a.State == "firing" {
			names[a.Labels["alertname"]] = true
		}
	}
	return names, nil
}

// configured puts a function and a config into a project.
func (m *monitor) configured(ctx context.Context, t *testing.T, project, function, settings, more string) {
	t.Helper()
	m.mm(ctx, t, project, "function", "put", function, filepath.Join("bin", "functions", function+".zip"))
	m.config(ctx, t, project, "main", function, settings, more)
}

// config puts a config. more is the JSON of further members.
func (m *monitor) config(ctx context.Context, t *testing.T, project, name, function, settings, more string) {
	t.Helper()
	text := fmt.Sprintf(`{"matchmaking": {"targetFunction": {"name": %q}, "config": %s}, "pools": {"all": []}%s}`,
		function, settings, more)
	if !json.Valid([]byte(text)) {
		t.Fatalf("no JSON: %s", text)
	}
	file := filepath.Join(t.TempDir(), name+".json")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m.mm(ctx, t, project, "config", "put", name, file)
}

// often does something again and again, until it is stopped.
func often(ctx context.Context, pause time.Duration, do func(ctx context.Context, number int)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		pace := time.NewTicker(pause)
		defer pace.Stop()
		for number := 0; ; number++ {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
				do(ctx, number)
			}
		}
	})
	return func() { cancel(); done.Wait() }
}
