package compose

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// monitor asks Prometheus and Jaeger, which publish no port.
type monitor struct {
	*system
	began              time.Time
	http               *http.Client
	prometheus, jaeger string // their addresses
}

// monitor finds Prometheus and Jaeger.
func (s *system) monitor(ctx context.Context, t *testing.T) *monitor {
	t.Helper()
	began, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(s.engine.must(ctx, t, "", "docker", "inspect", "--format",
		"{{.Created}}", "matchmaker-prometheus-1")))
	if err != nil {
		t.Fatal(err)
	}
	return &monitor{
		system: s, began: began, http: s.engine.client(),
		prometheus: "http://" + s.address(ctx, t, "prometheus") + ":9090",
		jaeger:     "http://" + s.address(ctx, t, "traces") + ":16686",
	}
}

// address is the one that a service's container has.
func (s *system) address(ctx context.Context, t *testing.T, service string) string {
	t.Helper()
	return strings.TrimSpace(s.engine.must(ctx, t, "", "docker", "inspect", "--format",
		"{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", "matchmaker-"+service+"-1"))
}

// get reads the member data of a JSON answer.
func (m *monitor) get(ctx context.Context, address string, query url.Values, data any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := m.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", address, answer.Status, tail(string(text)))
	}
	return json.Unmarshal(text, &struct {
		Data any `json:"data"`
	}{data})
}

// dashboards asks every query of the dashboards for the time since Prometheus was started. Each one has values.
func (m *monitor) dashboards(ctx context.Context, t *testing.T) {
	files, err := filepath.Glob(filepath.Join(m.source, "deploy", "dashboards", "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%d dashboards, %v", len(files), err)
	}
	asked := 0
	for _, file := range files {
		var board struct {
			Templating struct {
				List []struct{ Name, Type, Definition string }
			}
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &board)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, v := range board.Templating.List {
			if v.Type == "query" {
				asked++
				m.values(ctx, t, filepath.Base(file)+": variable "+v.Name, v.Definition)
			}
		}
		for _, p := range board.Panels {
			for _, target := range p.Targets {
				asked++
				m.has(ctx, t, filepath.Base(file)+": "+p.Title, target.Expr)
			}
		}
	}
	if asked < 60 {
		t.Errorf("only %d queries", asked)
	}
	t.Logf("%d queries have values", asked)
}

// inserted is what Grafana puts in for variables whose value is "all".
var inserted = strings.NewReplacer("$__rate_interval", "1m", "$project", ".+", "$function", ".+")

// has asks a query for all the time, and fails without a number.
func (m *monitor) has(ctx context.Context, t *testing.T, where, expression string) {
	t.Helper()
	var found struct {
		Result []struct{ Values [][2]any }
	}
	query := url.Values{
		"query": {inserted.Replace(expression)}, "start": {m.began.UTC().Format(time.RFC3339)},
		"end": {time.Now().UTC().Format(time.RFC3339)}, "step": {"15s"},
	}
	if err := m.get(ctx, m.prometheus+"/api/v1/query_range", query, &found); err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	for _, series := range found.Result {
		for _, v := range series.Values {
			if v[1] != "NaN" {
				return
			}
		}
	}
	t.Errorf("%s: no value for %s", where, expression)
}

// values asks for what can be chosen as a variable's value, as label_values(series, label) does.
func (m *monitor) values(ctx context.Context, t *testing.T, where, definition string) {
	t.Helper()
	inside := strings.TrimSuffix(strings.TrimPrefix(inserted.Replace(definition), "label_values("), ")")
	comma := strings.LastIndex(inside, ", ")
	if comma < 0 {
		t.Errorf("%s: %s", where, definition)
		return
	}
	var found []string
	query := url.Values{"match[]": {inside[:comma]}}
	err := m.get(ctx, m.prometheus+"/api/v1/label/"+inside[comma+2:]+"/values", query, &found)
	if err != nil || len(found) == 0 {
		t.Errorf("%s: %d values, %v", where, len(found), err)
	}
}

// trace is what Jaeger knows of one.
type trace struct {
	Spans []struct {
		OperationName string
		ProcessID     string
	}
	Processes map[string]struct{ ServiceName string }
}

// spans are the services and names of a trace's spans.
func (t trace) spans() (all []string) {
	for _, s := range t.Spans {
		all = append(all, t.Processes[s.ProcessID].ServiceName+": "+s.OperationName)
	}
	return all
}

// traces finds a ticket's trace in Jaeger, and a cycle's. The services sent them to the collector.
func (m *monitor) traces(ctx context.Context, t *testing.T) {
	token := m.mm(ctx, t, "demo", "token", "service")
	id := fmt.Sprintf("%032x", time.Now().UnixNano())
	for _, player := range []string{"traced-1", "traced-2"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost,
			"http://127.0.0.1:8080/demo/matchmaking/api/v1/tickets", strings.NewReader(`{"attributes":{"skill":4000}}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Authorization": "Bearer " + token, "Content-Type": "application/json", "X-On-Behalf-Of": player,
			"traceparent": "00-" + id + "-00f067aa0ba902b7-01", // the client wants it sampled
		} {
			request.Header.Set(name, value)
		}
		answer, err := m.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusCreated {
			t.Fatalf("creating a ticket: %s", answer.Status)
		}
	}
	m.finds(ctx, t, "/api/traces/"+id, nil,
		"matchmaker-ticket: POST /:project/matchmaking/api/v1/tickets", "matchmaker-director: ticket matched",
		"matchmaker-allocator: ticket assigned")
	m.finds(ctx, t, "/api/traces", url.Values{
		"service": {"matchmaker-director"}, "operation": {"cycle"}, "lookback": {"1h"}, "limit": {"20"},
		"start": {fmt.Sprint(m.began.UnixMicro())}, "end": {fmt.Sprint(time.Now().Add(time.Hour).UnixMicro())},
	}, "matchmaker-director: run", "matchmaker-runner: execute", "matchmaker-director: claim",
		"matchmaker-allocator: allocate")
}

// finds waits until a question to Jaeger is answered with traces that have spans.
func (m *monitor) finds(ctx context.Context, t *testing.T, path string, query url.Values, want ...string) {
	t.Helper()
	until(ctx, t, 2*time.Minute, "Jaeger has the spans of "+path, func(ctx context.Context) error {
		var found []trace
		if err := m.get(ctx, m.jaeger+path, query, &found); err != nil {
			return err
		}
		have := map[string]bool{}
		for _, trace := range found {
			for _, span := range trace.spans() {
				have[span] = true
			}
		}
		for _, span := range want {
			if !have[span] {
				return fmt.Errorf("%d traces have %s, and not %s", len(found),
					strings.Join(slices.Sorted(maps.Keys(have)), ", "), span)
			}
		}
		return nil
	})
}

// mm runs the command line in a project.
func (s *system) mm(ctx context.Context, t *testing.T, project string, arguments ...string) string {
	t.Helper()
	said, err := s.engine.inside(ctx, s.source, "bin/mm", append(slices.Clone(arguments), "--project", project)...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(said)
}
