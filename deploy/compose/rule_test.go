package compose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// ruleTests has what makes each alert fire, minute by minute: for an hour there is a reason, and then there is none.
// The numbers are close to the bounds on both sides. Those without a reason in only are also made to fire by real
// causes, in a system that runs, by the same file with shorter times: see causes.
var ruleTests = []struct {
	alert  string
	only   string // why it fires here only; "" if causes has it too
	series []string
}{
	{"MatchmakerNoMatches", "", []string{
		`matchmaker_tickets_waiting{project="p"} ` + gauge(21, 20),
		`matchmaker_matches_total{project="p",config="c",kind="hosted"} ` + counter(0, 0),
	}},
	{"MatchmakerWaitingTooLong", "", []string{
		`matchmaker_pool_oldest_seconds{project="p",config="c",pool="all"} ` + gauge(601, 600),
	}},
	{"MatchmakerSlow", "", []string{
		`matchmaker_time_to_match_seconds_bucket{project="p",config="c",le="60"} ` + counter(90, 96),
		`matchmaker_time_to_match_seconds_bucket{project="p",config="c",le="300"} ` + counter(100, 100),
		`matchmaker_time_to_match_seconds_bucket{project="p",config="c",le="+Inf"} ` + counter(100, 100),
	}},
	{"MatchmakerFailedResults", "", []string{
		`matchmaker_time_to_assignment_seconds_count{project="p",result="error"} ` + counter(6, 4),
		`matchmaker_time_to_assignment_seconds_count{project="p",result="connection"} ` + counter(94, 96),
	}},
	{"MatchmakerRefusing", "", []string{`matchmaker_limited_total{rule="waiting"} ` + counter(66, 54)}},
	{"MatchmakerDependencyDown", "", []string{
		`matchmaker_dependency_up{instance="a",dependency="nats"} ` + gauge(0, 1),
		`matchmaker_dependency_up{instance="b",dependency="nats"} ` + gauge(1, 1),
	}},
	{"MatchmakerRedisFull", "", []string{
		`matchmaker_redis_memory_free_bytes{instance="a"} ` + gauge(99, 100),
		`matchmaker_redis_memory_reserve_bytes{instance="a"} ` + gauge(100, 100),
	}},
	{"MatchmakerRedisFills", "", []string{
		`matchmaker_redis_memory_free_bytes{instance="a"} ` + gauge(199, 200),
		`matchmaker_redis_memory_reserve_bytes{instance="a"} ` + gauge(100, 100),
	}},
	{"MatchmakerErrors", "", []string{
		`http_server_request_duration_seconds_count{http_response_status_code="503"} ` + counter(2, 0.5),
		`http_server_request_duration_seconds_count{http_response_status_code="200"} ` + counter(98, 99.5),
	}},
	{"MatchmakerNobodyLeads", "", []string{
		`matchmaker_leading{instance="a"} ` + vanished(1), // the director is killed, and away for an hour
		`http_server_request_duration_seconds_count{http_request_method="POST",` +
			`http_route="/:project/matchmaking/api/v1/tickets",http_response_status_code="201"} ` + counter(1, 1),
	}},
	{"MatchmakerHeldBack", "", []string{`matchmaker_project_debt_seconds{project="p"} ` + gauge(1.1, 1)}},
	{"MatchmakerOutboxGrows", "", []string{`matchmaker_outbox{project="p"} ` + gauge(101, 100)}},
	{"MatchmakerOverdue", "", []string{`matchmaker_repaired_total{what="overdue"} ` + counter(1, 0)}},
	{"MatchmakerClockOff", "containers have the clock of their machine", []string{
		`matchmaker_clock_ahead_seconds{instance="a"} ` + gauge(1.1, 1),
	}},
	{"MatchmakerFeedLag", "it needs a Redis that is slow for runners alone", []string{
		`matchmaker_feed_wait_seconds_bucket{le="1"} ` + counter(98, 100),
		`matchmaker_feed_wait_seconds_bucket{le="5"} ` + counter(100, 100),
		`matchmaker_feed_wait_seconds_bucket{le="+Inf"} ` + counter(100, 100),
	}},
	{"MatchmakerRunnersBusy", "", []string{
		`matchmaker_runs_waiting{instance="a"} ` + gauge(3, 2),
		`matchmaker_runs_waiting{instance="b"} ` + gauge(2, 2),
	}},
	{"MatchmakerFunctionFails", "", []string{
		`matchmaker_function_runs_total{project="p",function="f",outcome="killed"} ` + counter(11, 9),
		`matchmaker_function_runs_total{project="p",function="f",outcome="ok"} ` + counter(89, 91),
	}},
	{"MatchmakerFunctionTerminated", "the registry refuses a function that does not start", []string{
		`matchmaker_function_instances{project="p",function="f",state="Terminated"} ` + gauge(1, 0),
	}},
	{"MatchmakerNoRunner", "", []string{
		`matchmaker_runs_total{project="p",config="c",outcome="absent"} ` + counter(1, 0),
	}},
	{"MatchmakerNoServers", "", []string{
		`matchmaker_allocation_errors_total{provider="a",reason="fleet-empty"} ` + counter(1, 0),
	}},
	{"MatchmakerWaitsForServers", "", []string{
		`matchmaker_claims_total{project="p",config="c",outcome="hosting"} ` + counter(1, 0),
	}},
	{"MatchmakerUnknownTargets", "no function here names a region that does not exist", []string{
		`matchmaker_claims_total{project="p",config="c",outcome="target"} ` + counter(1, 0),
	}},
	{"MatchmakerSlowAllocation", "", []string{
		`matchmaker_allocation_seconds_bucket{provider="a",le="10"} ` + counter(90, 96),
		`matchmaker_allocation_seconds_bucket{provider="a",le="30"} ` + counter(100, 100),
		`matchmaker_allocation_seconds_bucket{provider="a",le="+Inf"} ` + counter(100, 100),
	}},
	{"MatchmakerServersNotReturned", "no hosting system here fails to take servers back", []string{
		`matchmaker_servers_unreturned_total{provider="a"} ` + counter(1, 0),
	}},
	{"MatchmakerServersDoNotApprove", "", []string{
		`matchmaker_repaired_total{what="lapsed"} ` + counter(0.6, 0.4),
	}},
}

// The bad hour has 60 samples, and the good time after it 140.
const badMinutes, goodMinutes = 60, 140

// gauge is one value during the bad hour, and another one after it.
func gauge(bad, good float64) string {
	return fmt.Sprintf("%vx%d %vx%d", bad, badMinutes-1, good, goodMinutes-1)
}

// vanished is the value of a target that goes away at the beginning of the bad hour, as Prometheus notes it, and comes
// back after it.
func vanished(value float64) string {
	return fmt.Sprintf("%v stale _x%d %vx%d", value, badMinutes-2, value, goodMinutes-1)
}

// counter grows by so much a minute.
func counter(bad, good float64) string {
	return fmt.Sprintf("0+%vx%d %v+%vx%d", bad, badMinutes-1, bad*(badMinutes-1)+good, good, goodMinutes-1)
}

// alerts is the file of rules.
const alerts = "../alerts.yaml"

// ruleFile is one of rules.
type ruleFile struct {
	Groups []struct {
		Rules []struct{ Alert, For string }
	}
}

// rules reads deploy/alerts.yaml.
func rules(t *testing.T) (f ruleFile) {
	t.Helper()
	text, err := os.ReadFile(alerts)
	if err == nil {
		err = yaml.Unmarshal(text, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRules lets promtool play the series against the file of rules as it is: each alert is silent until its time has
// passed, fires then, and ends.
func TestRules(t *testing.T) {
	if *tools == "" {
		t.Skip("this is part of make compose, which builds promtool")
	}
	ctx := bounded(t)
	promtool := program{prometheusModule, prometheusVersion, "cmd/promtool"}.build(ctx, t, "")
	waits := map[string]string{}
	for _, g := range rules(t).Groups {
		for _, r := range g.Rules {
			waits[r.Alert] = r.For
		}
	}
	var text strings.Builder
	file, err := filepath.Abs(alerts)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&text, "rule_files: [%q]\nevaluation_interval: 1m\ntests:\n", file)
	for _, r := range ruleTests {
		wait, ok := waits[r.alert]
		if !ok {
			t.Errorf("there is no alert %s", r.alert)
		}
		delete(waits, r.alert)
		fmt.Fprintf(&text, "- name: %s\n  interval: 1m\n  input_series:\n", r.alert)
		for _, s := range r.series {
			series, values, _ := strings.Cut(s, "} ")
			fmt.Fprintf(&text, "  - { series: '%s}', values: '%s' }\n", series, values)
		}
		fmt.Fprint(&text, "  promql_expr_test:\n")
		silent := []string{"199m"}
		if wait != "" {
			silent = append(silent, before(t, wait))
		}
		for _, at := range silent {
			fmt.Fprintf(&text, "  - { expr: 'count(ALERTS{alertname=%q,alertstate=%q})', eval_time: %s, exp_samples: [] }\n",
				r.alert, "firing", at)
		}
		fmt.Fprintf(&text, "  - { expr: 'count(ALERTS{alertname=%q,alertstate=%q})', eval_time: 45m, "+
			"exp_samples: [{ labels: '{}', value: 1 }] }\n", r.alert, "firing")
	}
	for alert := range waits {
		t.Errorf("no series make %s fire", alert)
	}
	tests := filepath.Join(t.TempDir(), "tests.yaml")
	if err := os.WriteFile(tests, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{
		{"check", "rules", file}, {"test", "rules", tests},
	} {
		if said, err := exec.CommandContext(ctx, promtool, line...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", line, err, tail(string(said)))
		}
	}
}

// before is a minute before a rule's time has passed.
func before(t *testing.T, wait string) string {
	t.Helper()
	var minutes int
	if _, err := fmt.Sscanf(wait, "%dm", &minutes); err != nil {
		t.Fatalf("a rule waits for %q, which is not in minutes", wait)
	}
	return fmt.Sprintf("%dm", minutes-1)
}
