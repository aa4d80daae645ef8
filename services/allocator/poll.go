package allocator

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/telemetry"
)

// poller asks after the pending allocations of one fleet, all of them with one call.
type poller struct {
	mu      sync.Mutex
	pending []question
	asking  bool
}

// question is a match that waits for the next poll.
type question struct {
	ref    provider.Ref
	span   trace.SpanContext // of the allocation
	answer chan<- answer
}

type answer struct {
	result provider.Result
	err    error
}

// next is how an allocation stands when it is polled next, in a while.
func (s *service) next(ctx context.Context, p *poller, ref provider.Ref) (provider.Result, error) {
	told := make(chan answer, 1)
	p.mu.Lock()
	p.pending = append(p.pending, question{ref, trace.SpanContextFromContext(ctx), told})
	if !p.asking {
		p.asking = true
		// Those who ask come and go; the poll is for all of them.
		go s.poll(telemetry.Apart(ctx), p)
	}
	p.mu.Unlock()
	select {
	case a := <-told:
		return a.result, a.err
	case <-ctx.Done():
		return provider.Result{}, context.Cause(ctx)
	}
}

// poll polls until nobody asks any more.
func (s *service) poll(ctx context.Context, p *poller) {
	for {
		_ = sleep(ctx, s.Settings.Poll) // nobody ends it
		p.mu.Lock()
		questions := p.pending
		p.pending = nil
		if len(questions) == 0 {
			p.asking = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		refs := make([]provider.Ref, len(questions))
		for i, q := range questions {
			refs[i] = q.ref
		}
		call, cancel := context.WithTimeout(ctx, s.Settings.Call)
		call, span := s.polled(call, questions)
		results, err := s.Provider.Poll(call, refs)
		s.answered(span, err)
		cancel()
		if err == nil && len(results) != len(refs) {
			err = fmt.Errorf("%d results of a poll of %d allocations", len(results), len(refs))
		}
		for i, q := range questions {
			a := answer{err: err}
			if err == nil {
				a.result = results[i]
			}
			q.answer <- a
		}
	}
}

// polled begins the span of a poll, which is about many allocations and links to those that are sampled.
func (s *service) polled(ctx context.Context, questions []question) (context.Context, trace.Span) {
	var links []trace.Link
	for _, q := range questions {
		if q.span.IsSampled() {
			links = append(links, trace.Link{SpanContext: q.span})
		}
	}
	return s.called(ctx, "hosting poll", questions[0].ref.Hosting, trace.WithLinks(links...))
}
