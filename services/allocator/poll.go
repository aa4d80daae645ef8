package allocator

import (
	"context"
	"fmt"
	"sync"

	"matchmaker.dev/services/allocator/provider"
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
	p.pending = append(p.pending, question{ref, told})
	if !p.asking {
		p.asking = true
		// Those who ask come and go; the poll is for all of them.
		go s.poll(context.WithoutCancel(ctx), p)
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
		results, err := s.Provider.Poll(call, refs)
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
