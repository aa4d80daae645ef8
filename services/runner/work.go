package runner

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// work is what a runner does for each project, in units that do not depend on what else runs on the machine, as far as
// that is possible.
type work struct {
	charge, processor, wait            metric.Float64Counter
	waited, cells, request             metric.Int64Counter
	proposals, mentions, parts, answer metric.Int64Counter
}

func newWork(m telemetry.Meter) work {
	return work{
		charge: m.Seconds("matchmaker.run.charge",
			"Time that runs took on this runner: its own, and the processor time of the instances. A project's runs wait "+
				"for other projects' runs that took less."),
		processor: m.Seconds("matchmaker.run.processor", "Processor time of the instances in runs."),
		wait:      m.Seconds("matchmaker.run.wait", "Time that runs waited for a slot and an instance."),
		waited:    m.Counter("matchmaker.run.waited", "{run}", "Runs that waited for a slot or an instance."),
		cells: m.Counter("matchmaker.run.cells", "{cell}",
			"Values that runs looked at to select tickets, and values that they wrote into requests."),
		request:   m.Counter("matchmaker.run.request", "By", "Bytes of the requests that functions were given."),
		proposals: m.Counter("matchmaker.run.proposals", "{proposal}", "Proposals of functions."),
		mentions: m.Counter("matchmaker.run.mentions", "{ticket}",
			"Tickets in proposals; a ticket in two proposals counts twice."),
		parts:  m.Counter("matchmaker.run.parts", "{message}", "Messages with which runs were answered."),
		answer: m.Counter("matchmaker.run.answer", "By", "Bytes of the proposals in these messages, about."),
	}
}

// record records the work of a run that an instance was given.
func (w *work) record(ctx context.Context, l *labels, s *pb.RunStats) {
	w.charge.Add(ctx, seconds(s.GetCharge()), l.project)
	w.processor.Add(ctx, seconds(s.GetProcessor()), l.project)
	w.cells.Add(ctx, s.GetCells(), l.project)
	w.request.Add(ctx, s.GetBytes(), l.project)
	w.proposals.Add(ctx, s.GetProposals(), l.project)
	w.mentions.Add(ctx, s.GetMentions(), l.project)
	w.parts.Add(ctx, s.GetMessages(), l.project)
	w.answer.Add(ctx, s.GetAnswerBytes(), l.project)
}

// recordWait records that a run waited.
func (w *work) recordWait(ctx context.Context, l *labels, d time.Duration) {
	w.wait.Add(ctx, d.Seconds(), l.project)
	w.waited.Add(ctx, 1, l.project)
}
