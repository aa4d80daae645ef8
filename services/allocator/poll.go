package allocator

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/telemetry"
	"matchmaker.dev/services/internal/wait"
)

// poller polls the pending allocations of one fleet, all of them with one call.
type poller struct {
	mu      sync.Mutex
	pending []question
	polling bool
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

// next waits for the next poll, and returns what it says of an allocation.
func (s *service) next(ctx context.Context, p *poller, ref provider.Ref) (provider.Result, error) {
	answers := make(chan answer, 1)
	p.mu.Lock()
	p.pending = append(p.pending, question{ref, trace.SpanContextFromContext(ctx), answers})
	if !p.polling {
		p.polling = true
		// The poll is for all pending allocations, and so it does not end with this one.
		go s.poll(telemetry.Detach(ctx), p)
	}
	p.mu.Unlock()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		return provider.Result{}, context.Cause(ctx)
	}
}

// poll polls until no allocation is pending.
func (s *service) poll(ctx context.Context, p *poller) {
	for {
		_ = wait.For(ctx, s.Settings.Poll) // nothing ends ctx
		p.mu.Lock()
		questions := p.pending
		p.pending = nil
		if len(questions) == 0 {
			p.polling = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		results, err := s.pollOnce(ctx, questions)
		for i, q := range questions {
			a := answer{err: err}
			if err == nil {
				a.result = results[i]
			}
			q.answer <- a
		}
	}
}

// pollOnce calls Poll once. Its span links to those of the sampled allocations.
func (s *service) pollOnce(ctx context.Context, questions []question) (results []provider.Result, err error) {
	refs := make([]provider.Ref, len(questions))
	var links []trace.Link
	for i, q := range questions {
		refs[i] = q.ref
		if q.span.IsSampled() {
			links = append(links, trace.Link{SpanContext: q.span})
		}
	}
	err = s.call(ctx, "hosting poll", refs[0], func(ctx context.Context) error {
		results, err = s.Provider.Poll(ctx, refs)
		return err
	}, trace.WithLinks(links...))
	if err == nil && len(results) != len(refs) {
		err = fmt.Errorf("%d results of a poll of %d allocations", len(results), len(refs))
	}
	return results, err
}
