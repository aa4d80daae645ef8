package runner

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/sandbox"
)

// metrics are the metrics of a runner.
type metrics struct {
	projects, functions *telemetry.Labels

	waiting               metric.Int64UpDownCounter
	feedWait, took, start metric.Float64Histogram
	compute, tickets      metric.Float64Histogram
	compile, compileWait  metric.Float64Histogram
	runs, ends, leftOut   metric.Int64Counter
	checks                metric.Int64Counter
	memory, kept          metric.Int64Gauge
	logBytes, logDropped  metric.Int64Counter
	work                  work
}

// Outcomes of runs.
const (
	outcomeOK            = "ok"
	outcomeIdle          = "idle"      // there was no ticket to match
	outcomeFunctionError = "complaint" // the function returned an error or an invalid answer; its instance goes on
	outcomeKilled        = "killed"    // the instance ended
	outcomeUnserved      = "unserved"  // the index was behind, or no instance was free, for half of the run's time
)

func outcomeOf(err error) string {
	if err == nil {
		return outcomeOK
	}
	if _, ok := errors.AsType[invocation.FunctionError](err); ok {
		return outcomeFunctionError
	}
	return outcomeKilled
}

// causes are why instances fail or are killed.
var causes = []string{
	string(sandbox.Deadline), string(sandbox.Memory), string(sandbox.Trap), string(sandbox.Exit),
	string(sandbox.Garbage), string(sandbox.Invalid), string(sandbox.Died), "other",
}

// newMetrics makes a runner's instruments.
func newMetrics(m telemetry.Meter, r *Runner) *metrics {
	x := &metrics{
		projects: m.Labels("project"), functions: m.Labels("project", "function"),
		waiting: m.UpDownCounter("matchmaker.runs.waiting", "{run}",
			"Runs that wait on this runner for the index or a free instance: the length of its queue."),
		feedWait: m.WorkSeconds("matchmaker.feed.wait",
			"Time that runs waited until the index reached the position that they asked for."),
		took:    m.WorkSeconds("matchmaker.function.run", "Time of a run in its instance, as the runner sees it."),
		compute: m.WorkSeconds("matchmaker.function.compute", "The function's own part of a run's time."),
		tickets: m.Histogram("matchmaker.function.tickets", "{ticket}", "Tickets that a run was given.",
			0, 1, 10, 100, 1000, 5000, 10000, 50000, 100000, 500000, 1000000),
		start: m.WorkSeconds("matchmaker.function.start",
			"Time to start an instance, including the compilation of its module where that was needed."),
		compile: m.WorkSeconds("matchmaker.function.compile",
			"Processor time to compile a module on this runner and to start it for a trial."),
		compileWait: m.WaitSeconds("matchmaker.function.compile.wait",
			"Time that a module waited on this runner for its turn to be compiled."),
		runs: m.Counter("matchmaker.function.runs", "{run}",
			"Runs by outcome: ok, idle (no ticket waits), complaint (the function says that it cannot), "+
				"killed (the instance ended), unserved (no instance in time)."),
		checks: m.Counter("matchmaker.function.checks", "{check}",
			"Checks of functions that work on changes, by outcome: ok, overlooks (there were matches that it had not found), "+
				"failed (the instance ended)."),
		ends: m.Counter("matchmaker.function.ends", "{instance}",
			"Instances that failed or were killed, by cause: "+
				"deadline, memory, trap, exit, garbage, invalid, died, other."),
		leftOut: m.Counter("matchmaker.function.leftout", "{name}",
			"Names of attributes and properties that a function did not get in a run, because it declares none and there are "+
				"too many."),
		logBytes: m.Counter("matchmaker.function.log", "By", "Bytes that this runner sent to the log of a function."),
		logDropped: m.Counter("matchmaker.function.log.dropped", "{line}",
			"Lines that a function or its project printed beyond its rate, which its log does not have."),
		memory: m.Gauge("matchmaker.function.memory", "By", "Linear memory of the instance that ran last."),
		kept: m.Gauge("matchmaker.function.kept", "{ticket}",
			"Tickets of all configs that the instance that ran last keeps."),
		work: newWork(m),
	}
	m.ObservableGauge("matchmaker.runner.slots", "{slot}",
		"Runs that this runner works on, and the most that it does at a time; a few short ones may come on top.",
		telemetry.Usage(func() (int, int) { return r.env.gate.Usage() }))
	m.ObservableGauge("matchmaker.runner.instances", "{instance}",
		"Instances on this runner, and the most that --runner-instances allows.",
		telemetry.Usage(func() (int, int) { return r.env.instances.usage() }))
	m.ObservableGauge("matchmaker.runs.backlog", "1",
		"Runs of a project that wait or are under way on this runner, as a share of the most that it takes.",
		x.eachFeed(r, func(f *feed) float64 { return r.env.backlog.share(f.project) }))
	m.ObservableGauge("matchmaker.runner.backlog", "By",
		"About how many bytes the runs take that wait or are under way on this runner, of all projects, and the most.",
		telemetry.Usage(func() (int, int) {
			used, limit := r.env.backlog.memory.Used()
			return int(used), int(limit)
		}))
	m.ObservableGauge("matchmaker.feed.lag", "{change}",
		"Changes of a project's tickets that runs asked for and the index does not have yet.",
		x.eachFeed(r, func(f *feed) float64 { return float64(f.lag()) }))
	m.ObservableGauge("matchmaker.index.tickets", "{ticket}", "Tickets in a project's index on this runner.",
		x.eachFeed(r, func(f *feed) float64 { return float64(f.index.Len()) }))
	m.ObservableGauge("matchmaker.index.bytes", "By", "About how much memory a project's indexes take on this runner.",
		x.eachFeed(r, func(f *feed) float64 { return float64(f.size()) }))
	m.ObservableGauge("matchmaker.index.names", "{name}",
		"Names of attributes with a column in a project's index on this runner.",
		x.eachFeed(r, func(f *feed) float64 { return float64(f.index.Names()) }))
	m.ObservableGauge("matchmaker.function.instances", "{instance}",
		"Instances on this runner, by state: Running, Waiting (it starts, or waits to be started again), "+
			"Terminated (it fails again and again).",
		func(_ context.Context, observe telemetry.Observe) {
			type series struct{ project, function, state string }
			counts := map[series]float64{}
			for _, s := range r.status().GetInstances() {
				if s.GetAside() {
					continue
				}
				labels := x.functions.Of(s.GetProject(), s.GetFunction())
				counts[series{labels[0].Value.AsString(), labels[1].Value.AsString(), s.GetState()}]++
			}
			for k, n := range counts {
				observe(n, attribute.String("project", k.project), attribute.String("function", k.function),
					attribute.String("state", k.state))
			}
		})
	return x
}

// eachFeed observes a value for the feed of each hosted project, except for projects beyond the limit of labels.
func (x *metrics) eachFeed(r *Runner, value func(*feed) float64) func(context.Context, telemetry.Observe) {
	return func(_ context.Context, observe telemetry.Observe) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for project, h := range r.hosted {
			labels := x.projects.Of(project)
			h.mu.Lock()
			f := h.feed
			h.mu.Unlock()
			if f != nil && labels[0].Value.AsString() != telemetry.Other {
				observe(value(f), labels...)
			}
		}
	}
}

// labels are the labels of a function.
type labels struct {
	function   metric.MeasurementOption
	project    metric.MeasurementOption
	runs, ends telemetry.Values
	checks     telemetry.Values
}

func (x *metrics) labels(f functionKey) *labels {
	of := x.functions.Of(f.project, f.function)
	l := &labels{
		function: telemetry.WithLabels(of), project: telemetry.WithLabels(x.projects.Of(f.project)),
		runs: telemetry.LabelsByValue(of, "outcome", outcomeOK, outcomeIdle, outcomeFunctionError, outcomeKilled,
			outcomeUnserved),
		ends:   telemetry.LabelsByValue(of, "cause", causes...),
		checks: telemetry.LabelsByValue(of, "outcome", checkOK, checkOverlooks, checkFailed),
	}
	telemetry.StartAtZero(x.runs, l.runs)
	telemetry.StartAtZero(x.ends, l.ends)
	return l
}

// recordRun records a run; stats is nil when no instance had it.
func (x *metrics) recordRun(ctx context.Context, l *labels, outcome string, stats *pb.RunStats) {
	if outcome == outcomeOK && stats.GetTickets() == 0 {
		outcome = outcomeIdle
	}
	x.runs.Add(ctx, 1, l.runs.Of(outcome))
	if stats != nil {
		x.work.record(ctx, l, stats)
	}
	if stats.GetRun() == 0 {
		return
	}
	x.took.Record(ctx, seconds(stats.GetRun()), l.function)
	x.tickets.Record(ctx, float64(stats.GetTickets()), l.function)
	if stats.GetMemory() > 0 {
		x.compute.Record(ctx, seconds(stats.GetCompute()), l.function)
		x.memory.Record(ctx, stats.GetMemory(), l.function)
	}
}

// Outcomes of checks.
const (
	checkOK        = "ok"
	checkOverlooks = "overlooks"
	checkFailed    = "failed"
)

// recordCheck records a check of a function that works on changes.
func (x *metrics) recordCheck(ctx context.Context, l *labels, err error) {
	outcome := checkOK
	if _, overlooks := errors.AsType[invocation.CheckError](err); overlooks {
		outcome = checkOverlooks
	} else if err != nil {
		outcome = checkFailed
	}
	x.checks.Add(ctx, 1, l.checks.Of(outcome))
}

// loaded records the cost of loading a module, when it was not loaded before.
func (x *metrics) loaded(ctx context.Context, project string, cost sandbox.Cost) {
	if cost.Processor == 0 {
		return
	}
	labels := telemetry.WithLabels(x.projects.Of(project))
	x.compile.Record(ctx, cost.Processor.Seconds(), labels)
	x.compileWait.Record(ctx, cost.Waited.Seconds(), labels)
}

// recordEnd records why an instance ended.
func (x *metrics) recordEnd(ctx context.Context, l *labels, err error) {
	cause := "other"
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		cause = string(e.Cause)
	}
	x.ends.Add(ctx, 1, l.ends.Of(cause))
}

func seconds(micros int64) float64 { return float64(micros) / 1e6 }
