package e2e

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// measured: whatever the dashboards and the alerts in deploy name, a system that has played all scenarios emits, with the labels that they
// select by. The list is kept equal to what they name by deploy's own tests.
func measured(t *testing.T, s *system) {
	list, err := os.ReadFile("../../deploy/dashboards/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	named := strings.Fields(strings.ReplaceAll(string(list), " ", "|"))
	if len(named) < 40 {
		t.Fatalf("only %d metrics are named", len(named))
	}
	var missing []string
	defer func() {
		for _, m := range missing {
			t.Errorf("a dashboard or an alert names %s, which nobody emits", m)
		}
	}()
	// Leaders say how their projects stand once a second.
	eventually(t, "all metrics are emitted", func() bool {
		emitted := map[string]map[string]bool{}
		for _, name := range s.names() {
			s.emits(t, name, emitted)
		}
		missing = missing[:0]
		for _, line := range named {
			metric, labels, _ := strings.Cut(line, "|")
			if emitted[metric] == nil {
				missing = append(missing, metric)
				continue
			}
			for label := range strings.SplitSeq(labels, ",") {
				if label != "" && !emitted[metric][label] {
					missing = append(missing, "the label "+label+" of "+metric)
				}
			}
		}
		return len(missing) == 0
	})
}

// emits reads which metrics a process has, with their labels.
func (s *system) emits(t *testing.T, name string, into map[string]map[string]bool) {
	t.Helper()
	at, ok := s.process(name).log.last("metrics", "")
	if !ok {
		t.Fatalf("%s does not say where its metrics are", name)
	}
	status, text := s.read(t, "http://"+at.Address+"/metrics")
	if status != http.StatusOK || !strings.Contains(text, "\ntarget_info{") {
		t.Fatalf("%s: %d, or it does not say who it is", name, status)
	}
	// Samples and not families: a histogram has three kinds of them.
	for line := range strings.Lines(text) {
		end := strings.IndexAny(line, "{ ")
		if strings.HasPrefix(line, "#") || end < 0 {
			continue
		}
		metric := line[:end]
		if into[metric] == nil {
			into[metric] = map[string]bool{}
		}
		for part := range strings.SplitSeq(line[end:], `="`) {
			if i := strings.LastIndexAny(part, `{,`); i >= 0 {
				into[metric][part[i+1:]] = true
			}
		}
	}
	// The API has nothing of it: that is where players come in.
	if status, _ := s.read(t, "http://"+s.address(name)+"/metrics"); status != http.StatusNotFound {
		t.Errorf("%s answers /metrics on its API: %d", name, status)
	}
}

func (s *system) read(t *testing.T, url string) (status int, text string) {
	t.Helper()
	answer, err := s.http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}
