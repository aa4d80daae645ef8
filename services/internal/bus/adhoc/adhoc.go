// Package adhoc asks the runners for single runs of match functions, outside of the director's cycles.
package adhoc

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/capture"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/wait"
)

const (
	// retryPause is when to ask again for a run that no runner took.
	retryPause = 100 * time.Millisecond
	// runCost is what the messages of a run cost besides what the runner counts.
	runCost = 100 * time.Microsecond
	// maxCapture is how many bytes of captures are taken: more than runners send.
	maxCapture = 2 * capture.MaxSent
)

// Bus is what a Requester needs of the bus: a *bus.Bus.
type Bus interface {
	StartRun(ctx context.Context, r *pb.RunRequest, parts func(bus.Part)) (*bus.Run, error)
}

// Requester asks for runs.
type Requester struct {
	Bus Bus
	// Tracer makes the spans; the zero Tracer makes none.
	Tracer telemetry.Tracer
	// Most is how many proposals a run may make.
	Most int
}

// Answer is the answer of a run.
type Answer struct {
	Proposals    []*pb.Proposal
	Explanations []*pb.Explanation
	// Places is the member of RunPart.
	Places []int64
	// Seen is the member of RunPart.
	Seen *pb.Seen
	// Capture is what the runner captured; empty if that was not asked for, or the runner cannot.
	Capture []byte
	// Tickets is how many the function got, and Population how many each pool of the census has.
	Tickets    int64
	Population map[string]int64
	// Listed answers a request that lists tickets; nil when the runner does not know of lists.
	Listed *pb.Listed
	// Failure is why the run failed.
	Failure string
	// Cost is what the project is to be charged.
	Cost time.Duration
}

// unanswered is the failure of a run of which nothing was heard while there was time.
const unanswered = "the runner did not answer in time"

// Run asks for a run as soon as a runner has the function and runs the upload that the request expects, until ctx ends.
// When that is while it asks again, the failure is the one before.
func (a *Requester) Run(ctx context.Context, r *pb.RunRequest) Answer {
	before := ""
	for {
		answer := a.Ask(ctx, r)
		if answer.Failure == unanswered {
			answer.Failure = cmp.Or(before, unanswered)
			return answer
		}
		if answer.Failure != bus.NoRunner && answer.Failure != bus.OtherUpload || wait.For(ctx, retryPause) != nil {
			return answer
		}
		before = answer.Failure
	}
}

// Ask asks for a run. It gives the request its id. Where no runner has the function, the failure is bus.NoRunner.
func (a *Requester) Ask(ctx context.Context, r *pb.RunRequest) (answer Answer) {
	r.Run = uuid.NewString()
	ctx, span := a.startSpan(ctx, r)
	defer func() { endSpan(span, answer) }()
	in := &parts{added: notify.New()}
	var stats *pb.RunStats
	run, err := a.Bus.StartRun(ctx, r, in.add)
	if err != nil {
		return Answer{Failure: err.Error()}
	}
	defer run.Stop()
	began, taken, answered := time.Now(), false, false
	defer func() {
		lost := time.Duration(0)
		switch {
		case stats != nil:
		case taken:
			lost = time.Since(began)
		case !answered: // a runner may have it that did not say so yet
			lost = min(time.Since(began), bus.TakenAfter)
		}
		// The runner says what it charges. All the time counts when it took the run and did not answer.
		answer.Cost = runCost + lost + time.Duration(max(0, stats.GetCharge()))*time.Microsecond
	}()
	for {
		select {
		case <-in.added.C():
			for _, p := range in.take() {
				taken, answered = taken || p.GetRunner() != "", p.GetLast()
				stats = p.GetStats()
				if answer.Proposals = append(answer.Proposals, p.GetProposals()...); len(answer.Proposals) > a.Most {
					return Answer{Failure: bus.Dropped}
				}
				if answer.Capture = append(answer.Capture, p.GetCapture()...); len(answer.Capture) > maxCapture {
					return Answer{Failure: bus.Dropped}
				}
				if p.GetLast() {
					answer.Failure, answer.Explanations = p.GetError(), p.GetExplanations()
					answer.Tickets, answer.Population = stats.GetTickets(), stats.GetPopulation()
					answer.Listed, answer.Places, answer.Seen = p.GetListed(), p.GetPlaces(), p.GetSeen()
					return answer
				}
			}
		case <-ctx.Done():
			if taken {
				return Answer{Failure: "the runner did not finish in time"}
			}
			return Answer{Failure: unanswered}
		}
	}
}

// parts collects the parts of an answer. Adding one never blocks.
type parts struct {
	added notify.Signal

	mu   sync.Mutex
	list []*pb.RunPart
}

func (p *parts) add(part bus.Part) {
	p.mu.Lock()
	p.list = append(p.list, part.RunPart)
	p.mu.Unlock()
	p.added.Notify()
}

func (p *parts) take() []*pb.RunPart {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.list
	p.list = nil
	return list
}

func (a *Requester) startSpan(ctx context.Context, r *pb.RunRequest) (context.Context, trace.Span) {
	ctx, span := a.Tracer.Start(ctx, "run", trace.WithSpanKind(trace.SpanKindProducer))
	if span.IsRecording() {
		span.SetAttributes(attribute.String("matchmaker.project", r.GetProject()),
			attribute.String("matchmaker.function", r.GetFunction()))
	}
	return ctx, span
}

// endSpan ends the span of a run. The text of a failure is only logged: it may be about tickets.
func endSpan(span trace.Span, answer Answer) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.Int("matchmaker.proposals", len(answer.Proposals)))
	switch answer.Failure {
	case "":
	case bus.NoRunner:
		telemetry.Fail(span, "absent", bus.NoRunner)
	default:
		telemetry.Fail(span, "failed", "the run failed: the log says why")
	}
	span.End()
}
