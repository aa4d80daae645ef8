package registry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/sandbox"
)

// metrics are what a registry measures, by project.
type metrics struct {
	projects *telemetry.Labels

	uploads, refused, reads metric.Int64Counter
	returns, canaries       metric.Int64Counter
	compile, waited         metric.Float64Histogram
	left                    metric.Int64Gauge
}

func newMetrics(m telemetry.Meter, r *registry) *metrics {
	x := &metrics{
		projects: m.Labels("project"),
		uploads: m.Counter("matchmaker.uploads", "{upload}",
			"Uploads that were checked, by outcome: ok, refused, failed (not for a reason of its own)."),
		refused: m.Counter("matchmaker.uploads.over_budget", "{upload}",
			"Uploads that were refused because the project has used up --compile-budget."),
		reads: m.Counter("matchmaker.log.reads.over_budget", "{read}",
			"Reads of logs that were refused because the project has used up --log-read-budget."),
		returns: m.Counter("matchmaker.function.returns", "{return}",
			"Functions of a project that went back to an earlier upload by themselves."),
		canaries: m.Counter("matchmaker.function.canaries", "{change}",
			"Changes of the canaries of a project's functions, by outcome: begun, changed, promoted, withdrawn."),
		compile: m.WorkSeconds("matchmaker.upload.compile",
			"Processor time to compile an upload and to start it for a trial. Those that were refused count."),
		waited: m.WaitSeconds("matchmaker.upload.wait", "Time that an upload waited for its turn to be compiled."),
		left:   m.Gauge("matchmaker.compile.left", "s", "What is left of --compile-budget after the last upload."),
	}
	x.eachProject(m, r, "matchmaker.machine_code", "By",
		"Machine code of a project's functions; see --max-machine-code.",
		func(s stored) float64 { return float64(s.machineCode) })
	x.eachProject(m, r, "matchmaker.modules", "By", "Modules of a project that are kept; see --max-modules.",
		func(s stored) float64 { return float64(s.modules) })
	x.eachProject(m, r, "matchmaker.functions", "{function}", "Functions of a project; see --max-functions.",
		func(s stored) float64 { return float64(s.functions) })
	x.eachProject(m, r, "matchmaker.uploads.kept", "{upload}",
		"Uploads of a project's functions that are kept; see --function-versions.",
		func(s stored) float64 { return float64(s.uploads) })
	m.ObservableGauge("matchmaker.uploads.open", "{upload}", "Uploads under way in this process.",
		func(_ context.Context, observe telemetry.Observe) {
			sums := map[string]float64{}
			r.admission.uploads.Each(func(project string, n int64) { sums[x.name(project)] += float64(n) })
			for project, n := range sums {
				observe(n, attribute.String("project", project))
			}
		})
	m.ObservableGauge("matchmaker.log.reads.open", "{read}",
		"Reads of logs under way in this process, by state: waiting (for a turn) or reading.",
		func(_ context.Context, observe telemetry.Observe) {
			sums := map[[2]string]float64{}
			r.logReads.Open(func(project string, reading, waiting int) {
				sums[[2]string{x.name(project), "reading"}] += float64(reading)
				sums[[2]string{x.name(project), "waiting"}] += float64(waiting)
			})
			for of, n := range sums {
				observe(n, attribute.String("project", of[0]), attribute.String("state", of[1]))
			}
		})
	return x
}

// eachProject makes a gauge of a project's use, as of its last change and the last sweep. Projects beyond the limit of
// labels are left out.
func (x *metrics) eachProject(m telemetry.Meter, r *registry, name, unit, text string, value func(stored) float64) {
	m.ObservableGauge(name, unit, text, func(_ context.Context, observe telemetry.Observe) {
		for project, has := range r.inventory.all() {
			if labels := x.of(project); labels[0].Value.AsString() != telemetry.Other {
				observe(value(has), labels...)
			}
		}
	})
}

func (x *metrics) of(project string) []attribute.KeyValue { return x.projects.Of(project) }

// name is the label of a project, which may be telemetry.Other.
func (x *metrics) name(project string) string { return x.of(project)[0].Value.AsString() }

// uploaded records an upload that was checked.
func (x *metrics) uploaded(ctx context.Context, project string, err error) {
	outcome := "ok"
	switch {
	case err != nil && isTemporary(err):
		outcome = "failed"
	case err != nil:
		outcome = "refused"
	}
	x.uploads.Add(ctx, 1, telemetry.WithLabels(x.of(project), attribute.String("outcome", outcome)))
}

func (x *metrics) wentBack(ctx context.Context, project string) {
	x.returns.Add(ctx, 1, telemetry.WithLabels(x.of(project)))
}

func (x *metrics) canaryChanged(ctx context.Context, project, outcome string) {
	x.canaries.Add(ctx, 1, telemetry.WithLabels(x.of(project), attribute.String("outcome", outcome)))
}

func (x *metrics) overBudget(ctx context.Context, project, bucket string) {
	counter := x.refused
	if bucket == logBucket {
		counter = x.reads
	}
	counter.Add(ctx, 1, telemetry.WithLabels(x.of(project)))
}

func (x *metrics) compiled(ctx context.Context, project string, cost sandbox.Cost, left time.Duration) {
	labels := telemetry.WithLabels(x.of(project))
	x.compile.Record(ctx, cost.Processor.Seconds(), labels)
	x.waited.Record(ctx, cost.Waited.Seconds(), labels)
	x.left.Record(ctx, int64(left.Seconds()), labels)
}

// traceStep runs work that may take seconds in a span of its own.
func (r *registry) traceStep(ctx context.Context, name string, work func(context.Context) error,
	about ...attribute.KeyValue) error {
	ctx, span := r.Tracer.Start(ctx, name)
	defer span.End()
	span.SetAttributes(about...)
	err := work(ctx)
	if err != nil {
		telemetry.Fail(span, reasonOf(err), err.Error())
	}
	return err
}

// reasonOf returns one word for why a step failed.
func reasonOf(err error) string {
	switch problem.KindOf(err) {
	case problem.Invalid:
		return "invalid"
	case problem.Unavailable:
		return "unavailable"
	}
	return "other"
}

// annotateSpan records on the span of a request which function it changed.
func annotateSpan(ctx context.Context, project, function string) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String("matchmaker.project", project), attribute.String("matchmaker.function", function))
	}
}
