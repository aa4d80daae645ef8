package allocator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/wait"
)

// poller polls the pending allocations of one fleet, all of them with one call, while callers wait for an answer.
type poller struct {
	mu      sync.Mutex
	pending []question
	waiting int
	stop    context.CancelFunc // of the polls; nil while no caller waits
}

// question is a match that waits for the next poll.
type question struct {
	request *provider.Request
	span    trace.SpanContext // of the allocation
	answer  chan<- answer
}

type answer struct {
	result provider.Result
	err    error
}

// next waits for the next poll, and returns what it says of an allocation.
func (s *service) next(ctx context.Context, p *poller, r *provider.Request) (provider.Result, error) {
	answers := make(chan answer, 1)
	p.mu.Lock()
	p.pending = append(p.pending, question{r, trace.SpanContextFromContext(ctx), answers})
	if p.waiting++; p.waiting == 1 {
		// The polls are for all pending allocations, and so they do not end with this one.
		polls, stop := context.WithCancel(telemetry.Detach(ctx))
		p.stop = stop
		go s.poll(polls, p)
	}
	p.mu.Unlock()
	defer p.leave()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		return provider.Result{}, context.Cause(ctx)
	}
}

// leave ends the polls when the last one leaves.
func (p *poller) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting--; p.waiting == 0 {
		p.stop()
		p.pending, p.stop = nil, nil
	}
}

// take takes the questions for a poll, none when the polls ended.
func (p *poller) take(ctx context.Context) []question {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return nil // those that wait now have polls of their own
	}
	questions := p.pending
	p.pending = nil
	return questions
}

// poll polls until ctx ends.
func (s *service) poll(ctx context.Context, p *poller) {
	for wait.For(ctx, s.Settings.Poll) == nil {
		questions := p.take(ctx)
		if len(questions) == 0 {
			continue
		}
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

// pollOnce calls Poll once. Its span links to the spans of the sampled allocations.
func (s *service) pollOnce(ctx context.Context, questions []question) (results []provider.Result, err error) {
	refs := make([]provider.Ref, len(questions))
	var links []trace.Link
	for i, q := range questions {
		refs[i] = q.request.Ref
		if q.span.IsSampled() {
			links = append(links, trace.Link{SpanContext: q.span})
		}
	}
	err = s.call(ctx, "hosting poll", refs[0], func(ctx context.Context) error {
		results, err = s.Provider.Poll(ctx, refs)
		for i, q := range questions {
			err = redacted(err, q.request)
			if i < len(results) {
				results[i].Err = redacted(results[i].Err, q.request)
			}
		}
		return err
	}, trace.WithLinks(links...))
	if err == nil && len(results) != len(refs) {
		err = fmt.Errorf("%d results of a poll of %d allocations", len(results), len(refs))
	}
	return results, err
}

// redacted is an error of a poll without what it repeats of a match: the provider did not know what must not be told.
func redacted(err error, r *provider.Request) error {
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return errors.New(transport.Redact(err.Error(), r.Secret()))
	}
	detail := transport.Redact(e.Detail, r.Secret())
	return provider.Fail(e.Reason, "%s", detail).After(e.RetryAfter).Because(redacted(e.Unwrap(), r))
}
