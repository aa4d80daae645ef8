package director

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// outboxAge is how old a match in the outbox must be to be sent again, and sendTime how long sending may take. Matches
// are sent again in batches of sendBatch.
const (
	outboxAge = 2 * time.Second
	sendTime  = 5 * time.Second
	sendBatch = 1000
)

// outbox puts claimed matches into the work queue, beside the leader's loop. Matches that fail stay in the state's
// outbox, and are sent again.
type outbox struct {
	scope
	sends     sync.WaitGroup
	resending atomic.Bool
	mu        sync.Mutex
	sent      []string // matches that the work queue has since the last clear
}

// start starts to send matches, all matches of a batch of claims at a time.
func (o *outbox) start(ctx context.Context, matches []*pb.Match) {
	contents, claimed := map[string]*pb.Match{}, map[string][]string{} // by the span of their claim, empty if not traced
	for _, m := range matches {
		span := string(m.GetTrace())
		contents[m.GetId()], claimed[span] = m, append(claimed[span], m.GetId())
	}
	for span, ids := range claimed {
		o.sends.Go(func() {
			o.observed.TracePublish(ctx, []byte(span), len(ids), func(ctx context.Context) bool {
				return o.send(ctx, contents, slices.Collect(slices.Chunk(ids, bus.MatchGroup)))
			})
		})
	}
}

// resend starts to send the matches that have been in the outbox for too long.
func (o *outbox) resend(ctx context.Context) {
	if !o.resending.CompareAndSwap(false, true) {
		return
	}
	o.sends.Go(func() {
		defer o.resending.Store(false)
		for ctx.Err() == nil {
			matches, err := o.Store.Outbox(ctx, o.project, outboxAge, sendBatch)
			if !o.observed.Check(ctx, "reading the outbox", err) || len(matches) == 0 {
				return
			}
			o.observed.CountRepairs(ctx, "outbox", len(matches))
			o.log.InfoContext(ctx, "sending matches that were left in the outbox", "matches", len(matches))
			if !o.send(ctx, nil, slices.Collect(slices.Chunk(matches, 1))) || !o.clear(ctx) {
				return
			}
		}
	})
}

// wait waits until everything is sent.
func (o *outbox) wait(ctx context.Context) {
	o.sends.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer cancel()
	o.clear(ctx)
}

// clear removes from the outbox in one step what the work queue has, of which allocators have removed most already.
func (o *outbox) clear(ctx context.Context) bool {
	o.mu.Lock()
	sent := o.sent
	o.sent = nil
	o.mu.Unlock()
	return o.observed.Check(ctx, "clearing the outbox", o.Store.RemoveFromOutbox(ctx, o.project, sent))
}

// send sends groups of matches, and reports whether the work queue has all of them.
func (o *outbox) send(ctx context.Context, contents map[string]*pb.Match, groups [][]string) bool {
	// A leader that is being stopped still sends what it claimed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer cancel()
	began := time.Now()
	sent, err := o.Bus.EnqueueMatches(ctx, o.project, contents, groups...)
	o.observed.RecordPublish(ctx, time.Since(began))
	o.mu.Lock()
	o.sent = append(o.sent, sent...)
	o.mu.Unlock()
	return o.observed.Check(ctx, "sending matches to the allocators", err)
}
