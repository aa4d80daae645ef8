package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

// namedFile lists the metrics that dashboards and alerts name, each with the labels that they select by. The services'
// e2e tests compare it with what a running system emits.
const namedFile = "dashboards/metrics.txt"

// board is what tests read of a Grafana dashboard.
type board struct {
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []struct {
			Name, Type, Definition string
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		ID      int    `json:"id"`
		Type    string `json:"type"`
		Title   string `json:"title"`
		GridPos struct{ X, Y, W, H int }
		Targets []struct {
			Expr       string `json:"expr"`
			Legend     string `json:"legendFormat"`
			Datasource struct {
				UID string `json:"uid"`
			} `json:"datasource"`
		} `json:"targets"`
	} `json:"panels"`
}

// rules are a file of rules for Prometheus.
type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

// named collects metrics and the labels that are used of each.
type named map[string]map[string]bool

func (n named) use(metric string, labels ...string) {
	if n[metric] == nil {
		n[metric] = map[string]bool{}
	}
	for _, l := range labels {
		n[metric][l] = true
	}
}

func (n named) String() string {
	var text strings.Builder
	for _, metric := range slices.Sorted(maps.Keys(n)) {
		fmt.Fprintln(&text, strings.TrimSpace(metric+" "+strings.Join(slices.Sorted(maps.Keys(n[metric])), ",")))
	}
	return text.String()
}

// expression reads a query of Prometheus, and what it names. A label that it groups by belongs to all metrics below;
// "instance" is Prometheus's own.
func (n named) expression(t *testing.T, where, text string) {
	t.Helper()
	expr, err := parser.ParseExpr(text)
	if err != nil {
		t.Errorf("%s: %v\n%s", where, err, text)
		return
	}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		n.use(selector.Name)
		for _, m := range selector.LabelMatchers {
			if m.Name != labels.MetricName {
				n.use(selector.Name, m.Name)
			}
		}
		for _, above := range path {
			if a, ok := above.(*parser.AggregateExpr); ok && !a.Without {
				n.use(selector.Name, slices.DeleteFunc(slices.Clone(a.Grouping), func(l string) bool { return l == "instance" })...)
			}
		}
		return nil
	})
}

// variables are what Grafana puts in for its own.
var variables = strings.NewReplacer("$__rate_interval", "1m", "$project", ".*", "$function", ".*")

var ofVariable = regexp.MustCompile(`^label_values\(([^,{]+)(\{[^}]*\})?, (\w+)\)$`)

func TestDashboardsAndAlerts(t *testing.T) {
	used := named{}
	files, err := filepath.Glob("dashboards/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("%d dashboards, %v", len(files), err)
	}
	for _, file := range files {
		dashboard(t, file, used)
	}
	alerts(t, used)
	if text, err := os.ReadFile(namedFile); err != nil || string(text) != used.String() {
		t.Errorf("%s (%v) is not what dashboards and alerts name, which is:\n%s", namedFile, err, used)
	}
}

func dashboard(t *testing.T, file string, used named) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b board
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if b.UID == "" || b.Title == "" {
		t.Errorf("%s has no name", file)
	}
	known := []string{"datasource"}
	for _, v := range b.Templating.List {
		known = append(known, v.Name)
		if v.Type == "query" {
			parts := ofVariable.FindStringSubmatch(v.Definition)
			if parts == nil {
				t.Errorf("%s: variable %s: %s", file, v.Name, v.Definition)
				continue
			}
			used.expression(t, file, variables.Replace(parts[1]+parts[2]))
			used.use(parts[1], parts[3])
		}
	}
	ids := map[int]bool{}
	for _, p := range b.Panels {
		if ids[p.ID] || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s: panel %q: id %d is there twice, or it is out of the grid: %+v", file, p.Title, p.ID, p.GridPos)
		}
		ids[p.ID] = true
		if (p.Type == "row") != (len(p.Targets) == 0) {
			t.Errorf("%s: panel %q shows nothing", file, p.Title)
		}
		for _, target := range p.Targets {
			if target.Datasource.UID != "${datasource}" {
				t.Errorf("%s: panel %q is bound to one data source", file, p.Title)
			}
			for _, v := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !slices.Contains(append(known, "__rate_interval"), v[1]) {
					t.Errorf("%s: panel %q: nobody sets $%s", file, p.Title, v[1])
				}
			}
			used.expression(t, file+": "+p.Title, variables.Replace(target.Expr))
		}
	}
}

func alerts(t *testing.T, used named) {
	t.Helper()
	runbook, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var groups rules
	if err := yaml.UnmarshalStrict(text, &groups); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || seen[r.Alert] {
				t.Errorf("%s: %q is there twice, or has no name", g.Name, r.Alert)
			}
			seen[r.Alert] = true
			used.expression(t, r.Alert, r.Expr)
			if !slices.Contains([]string{"critical", "warning"}, r.Labels["severity"]) || r.Annotations["summary"] == "" {
				t.Errorf("%s: without a severity or a summary", r.Alert)
			}
			if want := "docs/operations.md#" + strings.ToLower(r.Alert); r.Annotations["runbook"] != want {
				t.Errorf("%s: runbook %q, want %q", r.Alert, r.Annotations["runbook"], want)
			}
			if !strings.Contains(string(runbook), "\n### "+r.Alert+"\n") {
				t.Errorf("%s: docs/operations.md does not say what to do", r.Alert)
			}
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^### (Matchmaker\w+)$`).FindAllStringSubmatch(string(runbook), -1) {
		if !seen[heading[1]] {
			t.Errorf("docs/operations.md: there is no alert %s", heading[1])
		}
	}
}
