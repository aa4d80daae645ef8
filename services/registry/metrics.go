package registry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/telemetry"
)

// metrics are what a registry measures, by project.
type metrics struct {
	projects *telemetry.Labels

	uploads, refused, reads    metric.Int64Counter
	compile, waited            metric.Float64Histogram
	left, machineCode, modules metric.Int64Gauge
}

func newMetrics(m telemetry.Meter) *metrics {
	return &metrics{
		projects: m.Labels("project"),
		uploads: m.Counter("matchmaker.uploads", "{upload}",
			"Uploads that were checked, by outcome: ok, refused, failed (not for a reason of its own)."),
		refused: m.Counter("matchmaker.uploads.over_budget", "{upload}",
			"Uploads that were refused because the project has used up --compile-budget."),
		reads: m.Counter("matchmaker.log.reads.over_budget", "{read}",
			"Reads of logs that were refused because the project has used up --log-read-budget."),
		compile: m.WorkSeconds("matchmaker.upload.compile",
			"Processor time to compile an upload and to start it for a trial. Those that were refused count."),
		waited: m.WaitSeconds("matchmaker.upload.wait", "Time that an upload waited for its turn to be compiled."),
		left:   m.Gauge("matchmaker.compile.left", "s", "What is left of --compile-budget after the last upload."),
		machineCode: m.Gauge("matchmaker.machine_code", "By",
			"Machine code of the project's functions, as of its last upload; see --max-machine-code."),
		modules: m.Gauge("matchmaker.modules", "By",
			"Modules of the project that are kept, as of its last upload; see --max-modules."),
	}
}

func (x *metrics) of(project string) []attribute.KeyValue { return x.projects.Of(project) }

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

func (x *metrics) stored(ctx context.Context, project string, code, modules int64) {
	labels := telemetry.WithLabels(x.of(project))
	x.machineCode.Record(ctx, code, labels)
	x.modules.Record(ctx, modules, labels)
}
