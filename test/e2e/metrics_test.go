package e2e

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// checkMetrics: a system that ran all scenarios emits all metrics and labels that the dashboards and alerts in deploy
// use. Tests of deploy keep the list of them up to date.
func checkMetrics(t *testing.T, s *system) {
	list, err := os.ReadFile("../../deploy/dashboards/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	named := strings.Fields(strings.ReplaceAll(string(list), " ", "|"))
	if len(named) < 40 {
		t.Fatalf("only %d metrics are named", len(named))
	}
	// A ticket waits in a pool.
	p := s.project(t)
	p.upload(t, "duel", s.made.duel)
	p.ranked(t, "ranked", 1)
	p.ticket(t, "lone", attributes{"skill": 1200, "side": 1})
	var missing []string
	defer func() {
		for _, m := range missing {
			t.Errorf("no process emits %s", m)
		}
	}()
	// Leaders update their projects' metrics once a second.
	eventually(t, "all metrics are emitted", func() bool {
		emitted, counted := map[string]map[string]bool{}, map[string]float64{}
		for _, name := range s.names() {
			s.readMetrics(t, name, emitted, counted)
		}
		missing = missing[:0]
		for _, line := range named {
			metric, labels, _ := strings.Cut(line, "|")
			if emitted[metric] == nil {
				missing = append(missing, metric+", which a dashboard or an alert names")
				continue
			}
			for name := range strings.SplitSeq(labels, ",") {
				if name != "" && !emitted[metric][name] {
					missing = append(missing, "the label "+name+" of "+metric+", which a dashboard or an alert names")
				}
			}
		}
		for _, series := range expectedSeries {
			if counted[series] == 0 {
				missing = append(missing, series+", which the scenarios have counted")
			}
		}
		return len(missing) == 0
	})
}

// expectedSeries are not 0 after all scenarios.
var expectedSeries = []string{
	`matchmaker_time_to_match_seconds_count`,
	`matchmaker_time_to_assignment_seconds_count{result="connection"}`,
	`matchmaker_time_to_assignment_seconds_count{result="error"}`,
	`matchmaker_cycle_phase_seconds_count{phase="position"}`, `matchmaker_cycle_phase_seconds_count{phase="query"}`,
	`matchmaker_cycle_phase_seconds_count{phase="encode"}`, `matchmaker_cycle_phase_seconds_count{phase="function"}`,
	`matchmaker_cycle_phase_seconds_count{phase="decode"}`, `matchmaker_cycle_phase_seconds_count{phase="window"}`,
	`matchmaker_cycle_phase_seconds_count{phase="contest"}`, `matchmaker_cycle_phase_seconds_count{phase="claim"}`,
	`matchmaker_cycle_phase_seconds_count{phase="publish"}`,
	`matchmaker_function_run_seconds_count`, `matchmaker_function_compute_seconds_count`,
	`matchmaker_function_memory_bytes`,
	`matchmaker_function_ends_total{cause="deadline"}`,
	`matchmaker_proposals_total{outcome="kept"}`, `matchmaker_claims_total{outcome="ok"}`,
	`matchmaker_allocation_seconds_count{provider="local"}`,
	`matchmaker_backfill_approvals_total{outcome="filled"}`, `matchmaker_backfill_joined_total`,
	`matchmaker_backfill_players_total`, `matchmaker_tickets_players_total`,
	`matchmaker_limited_total{rule="player"}`, `matchmaker_feed_wait_seconds_count`,
	`matchmaker_tickets_waiting`, `matchmaker_pool_waiting`, `matchmaker_pool_oldest_seconds`,
	`matchmaker_players_waiting`, `matchmaker_pool_players`, `matchmaker_match_players_sum`,
	`matchmaker_match_wait_seconds_count`, `matchmaker_match_measure_count{kind="spread"}`,
	`matchmaker_match_measure_count{kind="measure"}`,
	`matchmaker_stream_size_bytes{stream="events"}`, `matchmaker_stream_size_bytes{stream="logs"}`,
	`matchmaker_stream_size_bytes{stream="matches"}`, `matchmaker_stream_size_bytes{stream="modules"}`,
	`matchmaker_redis_connections{pool="commands"}`, `matchmaker_redis_connections{pool="feeds"}`,
	`matchmaker_functions`, `matchmaker_uploads_kept`, `matchmaker_function_log_bytes_total`,
	`matchmaker_sandbox_disk_bytes{state="held"}`, `matchmaker_sandbox_disk_limit_bytes{state="held"}`,
	`matchmaker_instance_threads`, `matchmaker_instance_addresses_bytes`, `matchmaker_instance_page_tables_bytes`,
	`matchmaker_tokens{kind="used"}`, `matchmaker_tokens_size_bytes{kind="limit"}`,
	`matchmaker_issuer_questions_total{outcome="ok"}`,
}

// label matches a label and its value in the format of Prometheus.
var label = regexp.MustCompile(`\w+="(?:[^"\\]|\\.)*"`)

// readMetrics reads the metrics and labels of a replica, and adds up their values.
func (s *system) readMetrics(t *testing.T, name string, into map[string]map[string]bool, counted map[string]float64) {
	t.Helper()
	at, ok := s.replica(name).log.last("metrics", "")
	if !ok {
		t.Fatalf("%s did not log where its metrics are", name)
	}
	status, text := s.read(t, "http://"+at.Address+"/metrics")
	if status != http.StatusOK || !strings.Contains(text, "\ntarget_info{") {
		t.Fatalf("%s: status %d, or there is no target_info", name, status)
	}
	// A histogram has three kinds of samples.
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
		// Add up over all labels, and for each value of each label.
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:len(line)-1], 64)
		if err != nil {
			t.Fatalf("%s: %q", name, line)
		}
		counted[metric] += value
		for _, pair := range label.FindAllString(line, -1) {
			counted[metric+"{"+pair+"}"] += value
		}
	}
	// The API, which players reach, does not serve metrics.
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
