package observe_test

import (
	"errors"
	"iter"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
	"matchmaker.dev/services/internal/state"
)

var config = &pb.Config{Id: "ranked", Function: "pairs"}

func newSegment(t *testing.T, o *observe.Observer) (*observe.Project, *observe.Segment, *strings.Builder) {
	t.Helper()
	log := new(strings.Builder)
	p := o.Project("demo", 1, slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(p.Close)
	return p, p.Segment(config, nil, nil), log
}

// counts returns a counter's counts by the values of a label, without zeros.
func counts(t *testing.T, reader sdkmetric.Reader, name, label string) map[string]int64 {
	t.Helper()
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	counted := map[string]int64{}
	for _, m := range got.ScopeMetrics[0].Metrics {
		if m.Name != name {
			continue
		}
		for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
			if value, _ := point.Attributes.Value(attribute.Key(label)); point.Value > 0 {
				counted[value.AsString()] += point.Value
			}
		}
	}
	return counted
}

func TestRunsAreCountedByOutcome(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("")
	_, s, _ := newSegment(t, observe.New(telemetry.NewMeter(meter, 0, slog.New(slog.DiscardHandler)), telemetry.Tracer{}))
	want := map[string]int64{}
	for _, o := range []schedule.Outcome{
		schedule.OK, schedule.Failed, schedule.Absent, schedule.Late, schedule.Bus, schedule.Bus,
	} {
		want[string(o)]++
		s.StartRun(t.Context())
		s.EndRun(t.Context(), o, "", nil)
	}
	counted := counts(t, reader, "matchmaker.runs", "outcome")
	if !maps.Equal(counted, want) {
		t.Errorf("counted %v, want %v", counted, want)
	}
}

func TestFailureIsLoggedOnceUntilItChanges(t *testing.T) {
	p, s, log := newSegment(t, observe.New(telemetry.Meter{}, telemetry.Tracer{}))
	for _, step := range []struct {
		failure string
		line    string
	}{
		{"", ""},
		{"crashed", `msg="a run failed" config=ranked function=pairs reason=crashed`},
		{"crashed", ""},
		{"slow", `msg="a run failed" config=ranked function=pairs reason=slow`},
		{"", `msg="the function runs again" config=ranked function=pairs`},
		{"", ""},
		{"crashed", `msg="a run failed" config=ranked function=pairs reason=crashed`},
		{"crashed", ""}, // of the segment that replaces this one
	} {
		outcome := schedule.OK
		if step.failure != "" {
			outcome = schedule.Failed
		}
		log.Reset()
		s.EndRun(t.Context(), outcome, step.failure, nil)
		if !strings.Contains(log.String(), step.line) || step.line == "" && log.Len() > 0 {
			t.Errorf("after %q: %q, want %q", step.failure, log, step.line)
		}
		s = p.Segment(config, nil, s)
	}
}

func TestErrorIsLoggedOnceUntilItWorks(t *testing.T) {
	p, _, log := newSegment(t, observe.New(telemetry.Meter{}, telemetry.Tracer{}))
	failed := errors.New("refused")
	for _, err := range []error{nil, failed, failed, nil, nil} {
		if p.Check(t.Context(), "sending", err) != (err == nil) {
			t.Errorf("%v", err)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), "works again") {
		t.Errorf("the log is %s", log)
	}
}

func TestClaimsAreCountedByOutcome(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("")
	p, s, _ := newSegment(t, observe.New(telemetry.NewMeter(meter, 0, slog.New(slog.DiscardHandler)), telemetry.Tracer{}))
	claim := func(refusal, backfill string, assignments ...*pb.Assignment) *state.Claim {
		m := &pb.Match{Proposal: &pb.Proposal{}}
		if backfill != "" {
			m.Proposal.Filling = &pb.Filling{Backfill: backfill}
		}
		return &state.Claim{Match: m, Tickets: []string{"a", "b"}, Assignments: assignments, Refusal: refusal}
	}
	assigned := &pb.Assignment{Connection: "x"}
	record := func(failure error, claims ...*state.Claim) {
		err := p.RecordClaims(t.Context(), time.Now(), time.Now(), func(yield func(*observe.Segment, *state.Claim) bool) {
			for _, c := range claims {
				if !yield(s, c) {
					return
				}
			}
		}, func() error { return failure })
		if !errors.Is(err, failure) {
			t.Errorf("%v, want %v", err, failure)
		}
	}
	record(nil, claim("", ""), claim("", ""), claim("", "", assigned), claim("", "", assigned), claim("", "", assigned),
		claim("", "game"), claim("config", ""), claim("full", "", assigned), claim("ticket-1", ""), claim("ticket-2", ""),
		claim("backfill", "game"), claim("hosting", ""), claim("target", ""), claim("players", ""))
	record(errors.New("the state store did not answer"), claim("", ""), claim("", ""))
	for _, test := range []struct {
		name, label string
		want        map[string]int64
	}{
		{"matchmaker.claims", "outcome", map[string]int64{
			"ok": 6, "config": 1, "full": 1, "ticket": 2, "backfill": 1, "failed": 2,
			"hosting": 1, "target": 1, "players": 1,
		}},
		{"matchmaker.matches", "kind", map[string]int64{"hosted": 2, "direct": 3, "filling": 1}},
		{"matchmaker.proposals", "outcome", map[string]int64{"kept": 14}},
	} {
		if got := counts(t, reader, test.name, test.label); !maps.Equal(got, test.want) {
			t.Errorf("%s are %v, want %v", test.name, got, test.want)
		}
	}
}

// TestAcceptedMatchesAreMeasured: a match that needs no server has its results when all of its players accepted it.
func TestAcceptedMatchesAreMeasured(t *testing.T) {
	meter, measured := telemetrytest.New()
	p, _, _ := newSegment(t, observe.New(meter, telemetry.Tracer{}))
	now := time.Now()
	tickets := []string{state.NewID(now), "not ours", state.NewID(now)}
	p.RecordAccepted(t.Context(), now, &pb.Match{Config: "c", Proposal: &pb.Proposal{}}, tickets)
	p.RecordAccepted(t.Context(), now, &pb.Match{Config: "c", Proposal: &pb.Proposal{Error: "no"}}, tickets[:1])
	for result, want := range map[string]float64{"connection": 2, "error": 1} {
		if got := measured.Value(t, "matchmaker.time_to_assignment", "config", "c", "result", result); got != want {
			t.Errorf("%v tickets are counted as %s, want %v", got, result, want)
		}
	}
}

// TestUseOfAProjectIsMeasured: what a project uses of limits is measured as long as it is led.
func TestUseOfAProjectIsMeasured(t *testing.T) {
	meter, measured := telemetrytest.New()
	p, _, _ := newSegment(t, observe.New(meter, telemetry.Tracer{}))
	p.Measure(time.Now(), state.Counts{Unpublished: 7}, observe.Usage{ProposalBytes: 9},
		func(func(*observe.Segment) bool) {})
	for name, want := range map[string]float64{"matchmaker.events.unpublished": 7, "matchmaker.proposals.memory": 9} {
		if got := measured.Value(t, name, "project", "demo"); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	usage := observe.Usage{Queues: map[string]int64{"ranked": 3, "casual": 0}, Unserved: 5}
	for _, waiting := range []int64{8, 0} { // where no ticket waits, no run counts the queues
		p.Measure(time.Now(), state.Counts{Waiting: waiting}, usage, func(func(*observe.Segment) bool) {})
		for queue, n := range usage.Queues {
			want := float64(min(n, waiting))
			if got := measured.Value(t, "matchmaker.queue.waiting", "project", "demo", "queue", queue); got != want {
				t.Errorf("%d wait in all: in queue %s are %v, want %v", waiting, queue, got, want)
			}
		}
		want := float64(min(usage.Unserved, waiting))
		if got := measured.Value(t, "matchmaker.queue.unserved", "project", "demo"); got != want {
			t.Errorf("%d wait in all: in other queues are %v, want %v", waiting, got, want)
		}
	}
	p.Close()
	if got := measured.Value(t, "matchmaker.events.unpublished"); got != -1 {
		t.Errorf("after the project went elsewhere it is %v", got)
	}
}

// Matches, pools and queues are measured in players too. Where nothing is said of players, as by runners of an earlier
// version, each ticket has one.
func TestPlayersAreMeasured(t *testing.T) {
	meter, measured := telemetrytest.New()
	o := observe.New(meter, telemetry.Tracer{})
	p := o.Project("demo", 1, slog.New(slog.DiscardHandler))
	t.Cleanup(p.Close)
	s := p.Segment(config, map[string]*pb.Pool{"all": {}}, nil)
	for _, players := range []int32{7, 0} {
		claim := &state.Claim{Tickets: []string{"a", "b"}, Match: &pb.Match{Proposal: &pb.Proposal{Players: players}}}
		one := func(yield func(*observe.Segment, *state.Claim) bool) { yield(s, claim) }
		if err := p.RecordClaims(t.Context(), time.Now(), time.Now(), one, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if all := measured.Sum(t, "matchmaker.match.players", "config", "ranked"); all != 7+2 {
		t.Errorf("%v players were matched, want 9", all)
	}
	if all := measured.Sum(t, "matchmaker.match.tickets", "config", "ranked"); all != 4 {
		t.Errorf("%v tickets were matched, want 4", all)
	}
	measure := func(waiting int64, pool *pb.PoolCount, u observe.Usage, want map[string]float64) {
		t.Helper()
		s.EndRun(t.Context(), schedule.OK, "", &pb.RunStats{Pools: map[string]*pb.PoolCount{"all": pool}})
		p.Measure(time.Now(), state.Counts{Waiting: waiting}, u, func(yield func(*observe.Segment) bool) { yield(s) })
		for name, want := range want {
			if got := measured.Value(t, name, "project", "demo"); got != want {
				t.Errorf("%d wait: %s is %v, want %v", waiting, name, got, want)
			}
		}
	}
	queues := map[string]int64{"ranked": 3}
	usage := observe.Usage{Queues: queues, Unserved: 2, Players: 11, UnservedPlayers: 4,
		QueuePlayers: map[string]int64{"ranked": 6}}
	measure(6, &pb.PoolCount{Tickets: 5, Players: 9}, usage, map[string]float64{"matchmaker.players.waiting": 11,
		"matchmaker.pool.players": 9, "matchmaker.queue.players": 6, "matchmaker.queue.unserved.players": 4})
	measure(6, &pb.PoolCount{Tickets: 5}, observe.Usage{Queues: queues, Unserved: 2}, map[string]float64{
		"matchmaker.players.waiting": 6, "matchmaker.pool.players": 5, "matchmaker.queue.players": 3,
		"matchmaker.queue.unserved.players": 2})
	measure(0, &pb.PoolCount{Tickets: 5, Players: 9}, usage, map[string]float64{"matchmaker.players.waiting": 0,
		"matchmaker.pool.players": 0, "matchmaker.queue.players": 0, "matchmaker.queue.unserved.players": 0})
}

// Every span that is opened is closed, whatever becomes of the run and of its proposals.
func TestEverySpanIsClosed(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := telemetry.NewProvider(sdktrace.AlwaysSample(), sdktrace.WithSpanProcessor(spans))
	p, s, _ := newSegment(t, observe.New(telemetry.Meter{}, telemetry.NewTracer(provider, "director")))
	once := func(yield func(*observe.Segment) bool) { yield(s) }
	for _, outcome := range []schedule.Outcome{schedule.OK, schedule.Failed, schedule.Late, schedule.Bus} {
		s.StartRun(t.Context())
		s.EndRun(t.Context(), outcome, "", nil)
		s.EndCycle()
	}
	for _, failure := range []error{nil, errors.New("the state store did not answer")} {
		s.StartRun(t.Context())
		s.TraceTickets([]*pb.Traced{{Ticket: "a", Trace: make([]byte, 24)}})
		s.EndRun(t.Context(), schedule.OK, "", nil)
		p.RecordEvaluation(t.Context(), 0, time.Now(), once, once)
		claim := &state.Claim{Match: &pb.Match{}, Tickets: []string{"a"}}
		var claims iter.Seq2[*observe.Segment, *state.Claim] = func(yield func(*observe.Segment, *state.Claim) bool) {
			yield(s, claim)
		}
		err := p.RecordClaims(t.Context(), time.Now(), time.Now(), claims, func() error { return failure })
		if !errors.Is(err, failure) || len(claim.Match.GetTraced()) != 1 || len(claim.Match.GetTrace()) == 0 {
			t.Errorf("the claim is %v, %v", claim.Match, err)
		}
		s.EndCycle()
	}
	s.StartRun(t.Context())
	s.EndCycle() // the director stops
	if opened, closed := len(spans.Started()), len(spans.Ended()); opened != closed || opened < 16 {
		t.Errorf("%d spans are opened and %d closed", opened, closed)
	}
}
